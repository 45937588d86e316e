import { RequestValidationError } from 'context-gateway';
import {
  type ConversationMessage,
  memoryStore,
  type ReplyStream,
  type StoredMessage,
  textOf,
} from 'context-gateway/conversation';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atLength } from '../helpers/endurance.js';
import { failureOf } from '../helpers/service.js';
import { chatWorld } from './world.js';

type World = ReturnType<typeof chatWorld>;
type Talk = ReturnType<World['open']>;

const readAll = (reply: ReplyStream): Promise<unknown> => reply.final();

/** Each way in which a message may be sent: in a turn, or in a prompt for another client. */
const WAYS: Readonly<Record<string, (talk: Talk, rows: readonly StoredMessage[]) => Promise<unknown>>> = {
  send: (talk) => talk.send('Where is the lamp, and which secret do you know?'),
  stream: (talk) => readAll(talk.stream('Where is the lamp?')),
  regenerate: (talk) => readAll(talk.regenerate()),
  edit: (talk, rows) => readAll(talk.edit(rows.findLast(({ role }) => role === 'user')?.id ?? '', 'Which lamp?')),
  'send again': (talk, rows) => talk.send(withoutFlags(rows.filter(({ role }) => role === 'user').slice(-2))),
  'send of all': (talk, rows) =>
    talk.send([...withoutFlags(rows.slice(-3)), { role: 'user', content: 'And now?', id: 'new' }]),
  prepare: async (talk) => JSON.stringify(await talk.prepare('Where is the lamp?')),
  'prepare with an edit': async (talk, rows) =>
    JSON.stringify(await talk.prepare('Which lamp?', { edit: rows.findLast(({ role }) => role === 'user')?.id ?? '' })),
  'prepare with a history': async (talk) =>
    JSON.stringify(await talk.prepare('Where is the lamp?', { history: await talk.messages() })),
  fork: async (talk, rows) => (await talk.fork(rows.at(-1)?.id ?? '')).send('Where is the lamp?'),
};

/** A page sends what it shows, and knows nothing of what is excluded. */
function withoutFlags(rows: readonly StoredMessage[]): ConversationMessage[] {
  const input = rows.map(({ id, role, content }) => ({ id, role, content }));
  const first = input.findIndex(({ role }) => role === 'user');
  return first === -1 ? [{ role: 'user', content: 'Nothing yet?' }] : input.slice(first);
}

test.each(Object.entries(WAYS))('an excluded message is in no prompt: %s', async (_, way) => {
  const row = fc.record({
    role: fc.constantFrom('user', 'assistant'),
    excluded: fc.boolean(),
    isPinned: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      fc.boolean(),
      async (all, isStored, isShort) => {
        const world = chatWorld();
        const rows: StoredMessage[] = all.map(({ role, excluded }, at) => ({
          ...{ id: `m${at}`, role, createdAt: new Date(at).toISOString() },
          content: excluded ? `The lamp, secret number ${at}.` : `The lamp number ${at} is red.`,
          ...(isStored && excluded && { excluded }),
        }));
        const messages = rows.map((row) => ({
          id: row.id,
          role: row.role as 'user' | 'assistant',
          content: textOf(row),
        }));
        world.emulator.conversations.create({ id: 'rows', messages });
        for (const [at, { isPinned, excluded }] of all.entries())
          if (isPinned && !excluded) await world.context.pin('rows', `m${at}`);
        const talk = world.open({
          ...{ conversationId: 'rows', store: memoryStore({ rows }), budget: isShort ? 120 : 16_000 },
          context: undefined,
        });
        const isExcluded = (at: number): boolean => all[at]?.excluded === true;
        for (const at of rows.keys()) if (!isStored && isExcluded(at)) await talk.exclude(`m${at}`);
        // What is asked once more is taken in again.
        const asked = rows.findLastIndex(({ role }) => role === 'user');

        // Some have no message of the user to reply to.
        const built = await way(talk, rows).catch((error: unknown) => {
          if (!RequestValidationError.is(error)) throw error;
        });

        const sent = `${JSON.stringify(world.prompts)} ${typeof built === 'string' ? built : ''}`;
        const shown = [...sent.matchAll(/secret number (\d+)/g)].map(([, at]) => Number(at));
        expect(shown.filter((at) => at !== asked)).toEqual([]);
      },
    ),
    { numRuns: atLength(12, 100) },
  );
});

test.each([undefined, null, 5, {}, 'none', ''])('exclude(%j) is an error, and changes nothing', async (id) => {
  const { open, prompts } = chatWorld();
  const store = memoryStore({
    talk: [{ id: 'm1', role: 'user', content: 'The secret number.', createdAt: '2026-01-01' }],
  });
  const talk = open({ context: undefined, store });
  await talk.exclude('m1');

  const issues = [{ path: ['messageId'], message: 'must be the id of a message of this conversation' }];
  expect(await failureOf(talk.exclude(id as never))).toMatchObject({ name: 'RequestValidationError', issues });
  expect(await failureOf(talk.exclude(id as never, { undo: true }))).toMatchObject({
    name: 'RequestValidationError',
    issues,
  });

  await open({ context: undefined, store }).send('Hello?');
  expect(JSON.stringify(prompts)).not.toContain('secret');
});

test('the reply to an excluded question is neither sent nor found, also one that is stored late', async () => {
  const { open, prompts } = chatWorld();
  const history = [
    { role: 'user', content: 'Which secret?', id: 'q1', excluded: true },
    { role: 'assistant', content: 'This secret.', id: 'a1' },
    { role: 'user', content: 'Which lamp?', id: 'q2' },
    { role: 'assistant', content: 'That secret.', id: 'a2', replyTo: 'q1' },
  ];
  const talk = open({ context: undefined, history });

  await talk.send('Hello?');

  expect(prompts[0]?.messages.map(({ content }) => content)).toEqual(['Which lamp?', 'Hello?']);
  expect(await talk.search('secret')).toEqual([]);
});

test('a reply stays excluded when its question is taken in again', async () => {
  const store = memoryStore({
    talk: [
      { role: 'user', content: 'Which lamp?', id: 'q1' },
      { role: 'assistant', content: 'This secret.', id: 'r1', replyTo: 'q1' },
    ],
  });
  const { open, prompts } = chatWorld();
  const talk = open({ context: undefined, store });

  for (const id of ['r1', 'q1']) await talk.exclude(id);
  await talk.exclude('q1', { undo: true });
  await talk.send('Hello?');

  expect(prompts[0]?.messages.map(({ content }) => content)).toEqual(['Which lamp?', 'Hello?']);
  expect((await store.load('talk'))?.messages).toMatchObject([{ excluded: false }, { excluded: true }, {}, {}]);
});

test.each(['no', 1, false, null])('exclude with undo: %j is an error, and changes nothing', async (undo) => {
  const { open } = chatWorld();
  const store = memoryStore({ talk: [{ role: 'user', content: 'Which lamp?', id: 'q1' }] });

  const error = await failureOf(open({ context: undefined, store }).exclude('q1', { undo: undo as never }));

  const issues = [{ path: ['options.undo'], message: 'must be true, or left out' }];
  expect(error).toMatchObject({ name: 'RequestValidationError', issues });
  expect((await store.load('talk'))?.messages[0]?.excluded).toBe(undefined);
});
