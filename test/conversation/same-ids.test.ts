import {
  type Conversation,
  ConversationConflictError,
  type ConversationStore,
  memoryStore,
} from 'context-gateway/conversation';
import { expect, test } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { assistant, smallTalk, talkWith, textsIn, user } from './world.js';

const twoTurns = () => [user('One?', 'q1'), assistant('Yes.', 'a1'), user('Two?', 'q2'), assistant('No.', 'a2')];

const messagesIn = async (store: ConversationStore, id = 'talk') => [...((await store.load(id))?.messages ?? [])];

test.each<[string, string, (talk: Conversation) => Promise<unknown>]>([
  ['send: another text', 'ConversationConflictError', (talk) => talk.send([user('Three?', 'q1')])],
  ['send: another role', 'ConversationConflictError', (talk) => talk.send([user('Yes.', 'a1')])],
  ['stream: another text', 'ConversationConflictError', (talk) => talk.stream([user('Three?', 'q1')]).final()],
  ['prepare: another text', 'ConversationConflictError', (talk) => talk.prepare([user('Three?', 'q1')])],
  ['add: another text', 'ConversationConflictError', (talk) => talk.add([user('Zero?', 'q0'), user('Three?', 'q1')])],
  ['add: another role', 'ConversationConflictError', (talk) => talk.add([assistant('Two?', 'q2')])],
  [
    'add: a reply to a question that is not stored',
    'ConversationConflictError',
    (talk) => talk.add([{ ...assistant('Three.', 'a3'), replyTo: 'q3' }]),
  ],
  ['send: a reply that is not stored', 'RequestValidationError', (talk) => talk.send([assistant('Hi.', 'a0')])],
  [
    'send: an id for one of two messages',
    'RequestValidationError',
    (talk) => talk.send([user('Three?', 'q3'), user('Four?')]),
  ],
  [
    'send: one id for two messages',
    'RequestValidationError',
    (talk) => talk.send([user('Three?', 'q3'), user('Four?', 'q3')]),
  ],
])('an id that is known names one message, and nothing is sent or stored (%s)', async (_, name, ask) => {
  const store = memoryStore({ talk: twoTurns() });
  const { talk, prompts } = talkWith(store);

  expect(await failureOf(ask(talk))).toMatchObject({ name });
  expect(prompts).toEqual([]);
  expect(await messagesIn(store)).toEqual(twoTurns());
});

test('a question that another tab has edited is not asked again with its old text', async () => {
  const store = memoryStore();
  const { talk, open, prompts } = talkWith(store);
  await talk.send([user('One?', 'q1')]);
  await open().edit('q1', 'One, edited?').final();

  for (const _ of ['once', 'twice'])
    expect(await failureOf(talk.send([user('One?', 'q1')]))).toBeInstanceOf(ConversationConflictError);

  expect(prompts).toHaveLength(2);
  expect(await textsIn(store)).toEqual(['One, edited?', expect.any(String)]);
});

test('an edit removes what stands behind it, but not a late reply to a message before it', async () => {
  const store = memoryStore({ talk: [user('Zero?', 'q0'), ...twoTurns()] });
  const { talk } = talkWith(store);
  const late = await talk.send([user('Zero?', 'q0')]);

  const { messages } = await talk.edit('q1', 'One, edited?').final();

  expect(await messagesIn(store)).toEqual([user('Zero?', 'q0'), ...late.messages, ...messages]);
});

test.each(['edit', 'regenerate', 'stream'] as const)(
  '%s with newest removes and sends nothing if the page has not shown the newest message',
  async (how) => {
    const store = memoryStore({ talk: twoTurns() });
    const { talk, prompts } = talkWith(store);
    const begin = (newest: string) =>
      ({
        edit: () => talk.edit('q1', 'Hi?', { newest }),
        regenerate: () => talk.regenerate({ newest }),
        stream: () => talk.stream('Hi?', { newest }),
      })[how]();

    expect(await failureOf(begin('a1').final())).toBeInstanceOf(ConversationConflictError);
    expect(prompts).toEqual([]);
    expect(await messagesIn(store)).toEqual(twoTurns());
    await begin('a2').final();
    expect(prompts).toHaveLength(1);
  },
);

test('with newest, a page may send a question again that is stored, and had no reply', async () => {
  const store = memoryStore({ talk: twoTurns() });
  const { talk, emulator, prompts } = talkWith(store);
  emulator.faults.add({ match: { path: '/v1/chat/*' }, respond: { status: 500 } });
  const ask = () => talk.send([user('Three?', 'q3')], { newest: 'a2' });

  await failureOf(ask());
  await ask();

  expect((await messagesIn(store)).map(({ id }) => id)).toEqual(['q1', 'a1', 'q2', 'a2', 'q3', expect.any(String)]);
  expect(await failureOf(ask())).toBeInstanceOf(ConversationConflictError); // the page has not shown the reply
  expect(prompts).toHaveLength(2);
});

test('with newest, a page sends its question again only if it has seen the questions of others', async () => {
  const store = memoryStore({ talk: [...twoTurns(), user('Three?', 'q3'), user('Theirs?', 'q9')] });
  const { talk, prompts } = talkWith(store);

  expect(await failureOf(talk.send([user('Three?', 'q3')], { newest: 'a2' }))).toBeInstanceOf(
    ConversationConflictError,
  );
  expect(prompts).toEqual([]);
});

test.each([
  [{ timeout: 0 }, 'options.timeout: must be a number of milliseconds'],
  [{ timeout: Number.NaN }, 'options.timeout: must be'],
  [{ deadline: -5 }, 'options.deadline: must be'],
  [{ deadline: Number.POSITIVE_INFINITY }, 'options.deadline: must be'],
  [{ signal: {} as AbortSignal }, 'options.signal: must be an AbortSignal'],
  [{ background: 'yes' as never }, 'options.background: must be true or false'],
  [{ newest: 5 as never }, 'options.newest: must be the id of a message, or null'],
  [{ temperature: 3 }, 'options.temperature: must be a number from 0 to 2'],
  [{ headers: 'x' as never }, 'headers: must be a plain object'],
  [{ headers: { authorization: 'x' } }, 'headers.authorization: is the header of the credential'],
  [{ idempotencyKey: ' ' }, 'options.idempotencyKey: must be a non-empty string'],
  [{ max_tokens: 0 }, 'options.max_tokens: must be a whole number of tokens, at least 1'],
  [{ signal: { aborted: false } as AbortSignal }, 'options.signal: must be an AbortSignal'],
  [{ maxTokens: 5 } as object, 'options.maxTokens: is unknown; did you mean max_tokens?'],
  [{ instructions: 'Be short.' } as object, 'options.instructions: is unknown; expected one of'],
])('the options %j of a turn are refused before anything is stored', async (options, says) => {
  const store = memoryStore();
  const { talk, prompts } = talkWith(store);

  const message = expect.stringContaining(says);
  expect(await failureOf(talk.send('One?', options))).toMatchObject({ name: 'RequestValidationError', message });
  expect(await messagesIn(store)).toEqual([]);
  expect(prompts).toEqual([]);
});

test('a fork cites its own messages, and an exclusion can be undone in it', async () => {
  const history = [user('The lamp of the pier is red.', 'lamp'), ...smallTalk(300)];
  const store = memoryStore({ talk: history });
  const { talk } = talkWith(store, { contextWindow: 2_000 });
  const { messages } = await talk.send('Which colour has the lamp of the pier?');
  await talk.exclude('lamp');

  const copy = await talk.fork(String(messages.at(-1)?.id));

  const copied = await messagesIn(store, copy.id);
  const [lamp] = copied;
  expect(copied.at(-1)?.recalled?.[0]?.id).toBe(lamp?.id);
  expect((await copy.search('red lamp')).some(({ id }) => id === lamp?.id)).toBe(false);
  expect((await messagesIn(store))[0]).toMatchObject({ id: 'lamp', content: lamp?.content });
  await copy.exclude(String(lamp?.id), { undo: true });
  expect((await copy.search('red lamp'))[0]?.id).toBe(lamp?.id);
});
