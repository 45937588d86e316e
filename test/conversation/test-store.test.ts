import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  ConversationConflictError,
  type ConversationState,
  type ConversationStore,
  memoryStore,
  type StoredMessage,
  wordsOf,
} from 'context-gateway/conversation';
import { testStore } from 'context-gateway/conversation/testing';
import { createEmulator, emulatorStore } from 'context-gateway-emulator';
import { expect, test } from 'vitest';
import { builtURL } from '../helpers/programs.js';
import { failureOf } from '../helpers/service.js';

test.each([
  { name: 'memoryStore without states', store: { ...memoryStore(), saveState: undefined } as never },
  { name: 'emulatorStore', store: emulatorStore(createEmulator()) as ConversationStore },
])('$name keeps every rule', async ({ store }) => {
  await testStore(store);
});

interface Talk {
  rows: (StoredMessage & { position: number })[];
  edits: number;
  state?: ConversationState | undefined;
  revision: number;
}

/** A store on rows that returns parts, with one fault. */
function storeWith(fault: string): ConversationStore {
  const is = (...names: string[]): boolean => names.includes(fault);
  const talks = new Map<string, Talk>();
  const of = (id: string): Talk => talks.get(id) ?? { rows: [], edits: 0, revision: 0 };
  const keyOf = (id: string): string => {
    if (is('ids without case')) return id.toLowerCase();
    return is('ids without spaces') ? id.trim() : id;
  };
  const stored = (message: StoredMessage, position: number): Talk['rows'][number] => {
    const { content, ...row } = structuredClone({ ...message, position });
    if (is('ids in lower case')) row.id = row.id.toLowerCase();
    if (is('ids made here')) row.id = String(position);
    if (is('ids as numbers') && /^\d+$/.test(row.id)) row.id = String(Number(row.id));
    if (is('time cut')) row.createdAt = row.createdAt.slice(0, 10);
    const { role, id, createdAt, name, excluded, stopped, replyTo, recalled, finish_reason, model, usage } = row;
    const known = { role, id, createdAt, name, excluded, stopped, replyTo, recalled, finish_reason, model, usage };
    const fields = is('own fields lost') ? { ...known, position } : row;
    return {
      ...fields,
      ...(is('stopped lost') && { stopped: undefined }),
      content: typeof content === 'string' ? textOf(content) : content,
    };
  };
  const textOf = (text: string): string => {
    if (is('text cut')) return text.slice(0, 65_535);
    if (is('spaces cut')) return text.trimEnd();
    if (is('line breaks changed')) return text.replaceAll('\r\n', '\n');
    return is('Unicode normalized') ? text.normalize('NFC') : text;
  };
  const everyId = (): string[] => [...talks.values()].flatMap(({ rows }) => rows.map((row) => row.id));

  return {
    load: async (id, wanted) => {
      const { rows: all, ...facts } = of(id);
      const rows = all.map((row) => ({ ...row }));
      if (is('by time')) rows.sort((a, b) => a.createdAt.localeCompare(b.createdAt));
      if (is('by id')) rows.sort((a, b) => (a.id < b.id ? -1 : 1));
      if (is('newest first')) rows.reverse();
      if (is('shared state')) facts.state = of('one').state;
      if (is('edits not loaded')) facts.edits = 0;
      if (is('cap of all')) return { ...facts, messages: rows.slice(-1_000) };
      if (wanted === undefined) return { ...facts, messages: rows };
      const count = all.length;
      const part = all.filter(
        (row, at) =>
          at >= count - wanted.newest ||
          (wanted.ids.includes(row.id) && !is('ids not found')) ||
          wanted.positions.includes(row.position) ||
          (wordsOf(row).some((word) => wanted.words.includes(word)) && !is('words not found')),
      );
      if (is('part without count')) return { ...facts, messages: part };
      if (is('no state in a part')) return { ...facts, state: null, messages: part, count };
      if (is('cap of a part')) return { ...facts, messages: part.slice(-500), count };
      if (is('numbered on reading'))
        return { ...facts, messages: part.map((row, position) => ({ ...row, position })), count };
      if (is('numbered from 1'))
        return { ...facts, messages: part.map((row) => ({ ...row, position: row.position + 1 })), count: count + 1 };
      if (is('no edits in a part')) return { messages: part, count, state: facts.state, revision: facts.revision };
      return {
        ...facts,
        messages: part,
        count: is('count of a part') ? part.length : count + Number(is('one too many')),
      };
    },
    append: async (id, messages, { edits, newest, after }) => {
      const before = of(id);
      if (is('no lock')) await Promise.resolve(); // reads, then writes
      const { rows } = before;
      const isSame = (row: StoredMessage, other: unknown): boolean => keyOf(row.id) === keyOf(String(other));
      const last = rows.at(-1);
      const newestFits =
        newest === null ? last === undefined || is('null as newest not checked') : last && isSame(last, newest);
      const found = rows.findIndex((row) => after != null && isSame(row, after)) + 1;
      if (edits !== before.edits && !is('edits not checked')) throw new ConversationConflictError();
      if (newest !== undefined && !newestFits && !is('newest not checked')) throw new ConversationConflictError();
      if (after != null && found === 0 && !is('after not checked')) throw new ConversationConflictError();
      const isEdit = after !== undefined && !(is('null as after not known') && after === null);
      const left = isEdit && !is('nothing deleted') ? rows.slice(0, found) : rows;
      const excluded = new Set(rows.filter((row) => row.excluded).map((row) => row.id));
      const known = new Set(
        (is('unique over all', 'refused over all') ? everyId() : left.map((row) => row.id)).map(keyOf),
      );
      if (is('refused over all') && messages.some((message) => everyId().includes(message.id)))
        throw new Error('unique');
      if (is('repeat refused') && messages.some((message) => known.has(message.id))) throw new Error('unique');
      if (is('two repeats at once')) await Promise.resolve(); // knows, then writes
      const added = messages.flatMap((message, at) => {
        if (known.has(keyOf(message.id)) && !is('repeat added again')) return [];
        const mark = excluded.has(message.id) && !is('excluded lost') ? { excluded: true } : {};
        return [stored({ ...message, ...mark }, left.length + (is('hole after a repeat') ? at : 0))];
      });
      if (!is('hole after a repeat')) for (const [at, row] of added.entries()) row.position = left.length + at;
      const now = is('two repeats at once') ? of(id).rows : left;
      const raised = edits + Number(isEdit && !is('edits not raised')) + Number(is('edits always raised'));
      talks.set(id, {
        ...before,
        rows: [...now, ...added],
        edits: raised,
        ...(is('state lost') && { state: undefined }),
      });
      if (is('deleted everywhere') && isEdit)
        for (const [other, talk] of talks) if (other !== id) talks.set(other, { ...talk, rows: [] });
      return is('all counted') ? messages.length : added.length;
    },
    setExcluded: async (id, messageId, mark) => {
      for (const [other, talk] of talks)
        if ((other === id || is('excluded everywhere')) && !is('excluded not stored'))
          for (const row of talk.rows) if (row.id === messageId) row.excluded = mark === 1 || is('never taken in');
    },
    saveState: async (id, state, revision) => {
      if (of(id).revision !== revision && !is('revision not checked')) throw new ConversationConflictError();
      talks.set(id, { ...of(id), state, revision: revision + Number(!is('revision not raised')) });
      if (is('shared state')) talks.set('one', { ...of('one'), state });
    },
  };
}

test('a store on rows keeps every rule without a fault', () => testStore(storeWith('none')));

test.each([
  ['ids in lower case', /load returns ids unchanged/],
  ['ids without case', /load returns ids unchanged.*got \[\[1,0,1,1,1,1\]/],
  ['ids without spaces', /load returns ids unchanged.*got \[\[1,1,1,0,1,1\]/],
  ['ids made here', /load returns ids unchanged/],
  ['ids as numbers', /load returns ids unchanged/],
  ['spaces cut', /load returns text unchanged.*: the text has changed/],
  ['line breaks changed', /load returns text unchanged/],
  ['Unicode normalized', /load returns text unchanged/],
  ['text cut', /load returns text unchanged/],
  ['time cut', /load returns the messages in order.*createdAt/],
  ['stopped lost', /load returns every field/],
  ['own fields lost', /load returns every field/],
  ['by time', /load returns the messages in order/],
  ['by id', /load returns the messages in order/],
  ['newest first', /load returns the messages in order/],
  ['cap of all', /load returns all messages, however many.*it returns 1000 of 1050/],
  ['cap of a part', /load returns all messages, however many/],
  ['no lock', /append stores all of several that add at the same moment/],
  ['no lock', /append makes one of two edits at the same moment.*it refuses 0 of 2/],
  ['edits not checked', /if `edits` is another number: it takes 1 for the 0 edits/],
  ['edits not raised', /append replaces what follows `after`, and adds 1 to edits/],
  ['edits always raised', /and append adds to the newest/],
  ['edits not loaded', /append replaces what follows `after`, and adds 1 to edits/],
  ['newest not checked', /if `newest` is not the newest message: it takes unknown for the newest of no message/],
  ['null as newest not checked', /if `newest` is not the newest message: it takes null for the newest of three/],
  ['after not checked', /if `after` is not stored: it stores messages after an unknown one/],
  ['null as after not known', /append replaces everything with `after: null`/],
  ['nothing deleted', /append replaces what follows `after`/],
  ['repeat added again', /append returns how many messages it added.*expected \[2,1,0\], got \[2,3,3\]/],
  ['repeat refused', /append returns how many messages it added.*: it throws Error: unique/],
  ['all counted', /append returns how many messages it added/],
  ['hole after a repeat', /a part has the count of all messages, positions from 0 without gaps/],
  ['two repeats at once', /append stores a message once that is stored twice at the same moment/],
  ['unique over all', /append stores a message of which another conversation has the id/],
  ['refused over all', /append stores a message of which another conversation has the id.*: it throws Error: unique/],
  ['deleted everywhere', /and changes only its own conversation/],
  ['excluded everywhere', /and changes only its own conversation/],
  ['excluded not stored', /setExcluded marks a message, and takes it in again/],
  ['never taken in', /setExcluded marks a message, and takes it in again/],
  ['excluded lost', /append gives a message that it deletes and gets again its place and its excluded/],
  ['numbered on reading', /a part has the newest messages, those with the ids/],
  ['numbered from 1', /a part has the newest messages, those with the ids/],
  ['one too many', /a part has the count of all messages/],
  ['count of a part', /a part has the newest messages, those with the ids/],
  ['part without count', /a part has the newest messages.*a part without the count of all messages/],
  ['ids not found', /a part has the newest messages, those with the ids/],
  ['words not found', /a part has each message of which wordsOf has a wanted word.*: the word/],
  ['no state in a part', /a part has the count of all messages/],
  ['no edits in a part', /a part has the count of all messages/],
  ['state lost', /saveState changes no messages, and append no state/],
  ['shared state', /load returns the state that saveState got last/],
  ['revision not checked', /if `revision` is not the stored one: it takes 0 for revision 1/],
  ['revision not raised', /load returns the state that saveState got last/],
])('names the rule that a store breaks: %s', async (fault, rule) => {
  expect(await failureOf(testStore(storeWith(fault)))).toMatchObject({
    name: 'ConfigurationError',
    message: expect.stringMatching(rule),
  });
});

test('works in node:test', async () => {
  const program = `import { test } from 'node:test';
    import { memoryStore } from '${builtURL('context-gateway/conversation')}';
    import { testStore } from '${builtURL('context-gateway/conversation/testing')}';
    test('every rule', () => testStore(memoryStore()));
    test('no append', async () => { await testStore({ load: () => null }); });`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    env: { PATH: process.env.PATH, NO_COLOR: '1' },
  });

  const { stdout } = (await run.catch((error: unknown) => error)) as { stdout: string };

  expect(stdout).toMatch(/ok 1 - every rule|✔ every rule/);
  expect(stdout).toContain('there is no append, so that no turn is stored');
});
