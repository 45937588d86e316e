import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  ConversationConflictError,
  type ConversationState,
  type ConversationStore,
  memoryStore,
  type StoredMessage,
  type StoredRow,
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

/** A store on rows, with one mistake. */
function storeWith(mistake: string): ConversationStore {
  const rows = new Map<string, StoredMessage[]>();
  const states = new Map<string, ConversationState>();
  return {
    load: async (id) => {
      const messages: StoredRow[] = (rows.get(id) ?? []).map((row) => ({
        ...row,
        createdAt: mistake === 'time' ? row.createdAt.slice(0, 10) : row.createdAt,
        stopped: mistake === 'fields' ? null : row.stopped,
      }));
      return { messages: mistake === 'order' ? messages.reverse() : messages, state: states.get(id) };
    },
    append: async (id, messages, { after, newest }) => {
      const before = rows.get(id) ?? [];
      const isNewest = mistake === 'conflict' || before.at(-1)?.id === newest;
      const end = before.findIndex((row) => row.id === after) + 1;
      if (!isNewest || (end === 0 && after !== undefined && mistake !== 'after')) throw new ConversationConflictError();
      if (mistake === 'lost') await Promise.resolve(); // reads, then writes, without a transaction
      const kept = mistake === 'replaced' ? before : before.slice(0, end);
      const added = messages.map((one, at) => ({
        ...one,
        id: mistake === 'ids' ? String(kept.length + at) : one.id,
        content: mistake === 'text' ? one.content.slice(0, 65_535) : one.content,
      }));
      rows.set(id, [...kept, ...added]);
      if (mistake === 'state') states.delete(id);
      return added.map((row) => row.id);
    },
    saveState: async (id, state) => void states.set(mistake === 'shared' ? 'one' : id, state),
  };
}

test.each([
  { mistake: 'order', rule: /in order/ },
  { mistake: 'fields', rule: /name, stopped, excluded, replyTo and recalled, as append got them: expected/ },
  { mistake: 'conflict', rule: /if `newest` is not the newest message: it takes/ },
  { mistake: 'after', rule: /if `after` is not stored/ },
  { mistake: 'replaced', rule: /replaces what follows the message `after`: expected "One. New.", got "One. Two/ },
  { mistake: 'lost', rule: /two turns that begin at once, and refuses the other: it refuses 0 of 2/ },
  { mistake: 'state', rule: /append no state: after append, the revision is undefined/ },
  { mistake: 'shared', rule: /the state that saveState got last/ },
  { mistake: 'time', rule: /createdAt: expected/ },
  { mistake: 'text', rule: /the text has changed/ },
  { mistake: 'ids', rule: /the new message has the id 1 of a deleted one/ },
])('names the rule that a store breaks: $mistake', async ({ mistake, rule }) => {
  expect(await failureOf(testStore(storeWith(mistake)))).toMatchObject({
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
  expect(stdout).toContain('your app stores the messages itself');
});
