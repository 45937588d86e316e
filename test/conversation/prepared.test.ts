import { type ConversationStore, memoryStore } from 'context-gateway/conversation';
import { describe, expect, test, vi } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { assistant, elsewhere, smallTalk, talkWith, textsIn, user, withoutWaits } from './world.js';

const [question, again] = [user('Which lamp?', 'q'), user('Which lamp is it?', 'q')];
const conflict = (text: string) => ({ name: 'ConversationConflictError', turn: { text } });

const usage = { prompt_tokens: 30, completion_tokens: 2, total_tokens: 32 };
const facts = { finish_reason: 'length', model: 'atlas-small', usage };
const completion = {
  ...{ id: 'c1', object: 'chat.completion' as const, created: 1, model: 'atlas-small', usage },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Red.' }, finish_reason: 'length' }],
};

describe('a prepared turn', () => {
  test('stores its question, and its reply when it is finished', async () => {
    const store = memoryStore({ talk: smallTalk(2) });
    const { talk, prompts } = talkWith(store, { instructions: 'Be brief.' });

    const turn = await talk.prepare('Which lamp?');

    const talked = smallTalk(2).map(({ role, content }) => ({ role, content }));
    const sent = [...talked, { role: 'user', content: 'Which lamp?' }];
    expect(turn).toMatchObject({ messages: sent, prompt: [{ role: 'system', content: 'Be brief.' }, ...sent] });
    expect(await textsIn(store)).toEqual(sent.map(({ content }) => content));
    const { messages, text, stopped, usageEstimated } = await turn.finish('Red.');
    expect({ text, stopped, usageEstimated }).toEqual({ text: 'Red.', stopped: false, usageEstimated: true });
    expect((await store.load('talk'))?.messages.slice(2)).toEqual(messages);
    expect(messages[1]).toMatchObject({ id: turn.replyId, content: 'Red.', replyTo: messages[0]?.id });
    expect(prompts).toEqual([]);
  });

  test.each([
    { what: 'a message', reply: { content: 'Red.', ...facts } },
    { what: 'a completion', reply: completion },
  ])('is finished by $what, and stores its facts', async ({ reply }) => {
    const store = memoryStore();
    const turn = await talkWith(store).talk.prepare('Which lamp?');

    expect(await turn.finish(reply)).toMatchObject({ text: 'Red.', usageEstimated: false, ...facts });

    expect((await store.load('talk'))?.messages[1]).toMatchObject({ content: 'Red.', ...facts });
  });

  test.each([undefined, { text: 'Red.' }, 5])('cannot be finished by %j', async (reply) => {
    const turn = await talkWith(memoryStore()).talk.prepare('Which lamp?');

    const message = expect.stringContaining('reply: must be a text, { content }, or a completion');
    expect(await failureOf(turn.finish(reply as never))).toMatchObject({ name: 'RequestValidationError', message });
  });

  test.each([
    [{ stopped: 'yes' }, 'stopped: must be a boolean'],
    [{ model: 5 }, 'model: must be a string'],
    [{ finish_reason: {} }, 'finish_reason: must be a string'],
    [{ usage: 'no' }, 'usage: must be { prompt_tokens'],
  ])('cannot be finished with %j', async (fields, says) => {
    const store = memoryStore();
    const turn = await talkWith(store).talk.prepare('Which lamp?');

    const error = await failureOf(turn.finish({ content: 'Red.', ...fields } as never));

    expect(error).toMatchObject({ name: 'RequestValidationError', message: expect.stringContaining(says) });
    expect(await textsIn(store)).toEqual(['Which lamp?']);
  });

  test('is stored once, however often it is finished, and another reply is an error', async () => {
    const store = memoryStore();
    const turn = await talkWith(store).talk.prepare('Which lamp?');

    const [first, second] = await Promise.all([turn.finish('Red.'), turn.finish('Red.')]);

    expect(second).toBe(first);
    expect(await turn.finish({ content: 'Red.' })).toBe(first);
    for (const other of ['Blue.', { content: 'Red.', stopped: true }])
      expect(await failureOf(turn.finish(other))).toMatchObject({ name: 'RequestValidationError' });
    expect(await textsIn(store)).toEqual(['Which lamp?', 'Red.']);
  });

  test('can be finished again after an error, which has the reply', async () => {
    const store = memoryStore();
    const append = vi.fn(store.append);
    const turn = await talkWith({ ...store, append }, {}, withoutWaits).talk.prepare('Which lamp?');
    append.mockRejectedValue(new Error('disk full'));

    const error = await failureOf(turn.finish('Red.'));
    append.mockImplementation(store.append);
    await turn.finish('Red.');

    expect(error).toMatchObject({ name: 'ConversationStoreError', turn: { text: 'Red.', messages: [{}, {}] } });
    expect(await textsIn(store)).toEqual(['Which lamp?', 'Red.']);
  });

  test.each([
    { what: 'was not stored', isStored: false },
    { what: 'was stored all the same', isStored: true },
  ])('takes no other reply after an error, when the first one $what', async ({ isStored }) => {
    const store = memoryStore();
    let isDown = false;
    const closed = (): void => {
      if (isDown) throw new Error('The connection was closed.');
    };
    const append: ConversationStore['append'] = (...given) => {
      if (!isStored) closed();
      const added = store.append(...given);
      closed();
      return added;
    };
    const load: ConversationStore['load'] = (...given) => {
      closed();
      return store.load(...given);
    };
    const turn = await talkWith({ ...store, append, load }).talk.prepare('Which lamp?');

    isDown = true;
    expect(await failureOf(turn.finish('Red.'))).toMatchObject({ name: 'ConversationStoreError' });
    isDown = false;

    expect(await failureOf(turn.finish('Blue.'))).toMatchObject({ name: 'RequestValidationError' });
    expect(await turn.finish('Red.')).toMatchObject({ text: 'Red.' });
    expect(await textsIn(store)).toEqual(['Which lamp?', 'Red.']);
  });

  test.each([{}, { edit: 'q' }])(
    'with %j, that was stopped before its first word, changes nothing',
    async (options) => {
      const stopped = { ...assistant('Re', 'a'), replyTo: 'q', stopped: true };
      const store = memoryStore({ talk: [question, stopped] });
      const before = await store.load('talk');
      const turn = await talkWith(store).talk.prepare([question], options);

      const { messages } = await turn.finish({ content: '', stopped: true });

      expect(await store.load('talk')).toEqual(before);
      expect(messages).toEqual([]);
    },
  );

  test('replaces the reply of a stored question, unless another message follows it', async () => {
    const store = memoryStore({ talk: [question, assistant('Old.')] });
    const { talk } = talkWith(store);

    await (await talk.prepare([question])).finish('Red.');
    expect(await textsIn(store)).toEqual(['Which lamp?', 'Red.']);

    await talk.add([user('Thanks.')]);
    await (await talk.prepare([question])).finish('Blue.');
    expect(await textsIn(store)).toEqual(['Which lamp?', 'Red.', 'Thanks.', 'Blue.']);
  });

  test('with edit, stores its question with its reply, in place of what follows', async () => {
    const store = memoryStore({ talk: [question, assistant('Red.'), user('Thanks.')] });
    const turn = await talkWith(store).talk.prepare('Which lamp is it?', { edit: 'q' });

    expect(turn.prompt).toEqual([{ role: 'user', content: 'Which lamp is it?' }]);
    expect(await textsIn(store)).toEqual(['Which lamp?', 'Red.', 'Thanks.']);
    const { messages } = await turn.finish('Blue.');

    expect(messages).toMatchObject([again, { content: 'Blue.' }]);
    expect(await store.load('talk')).toMatchObject({ messages, edits: 1 });
  });

  test('with history, stores nothing', async () => {
    const store = memoryStore({ talk: [question] });
    const { talk } = talkWith(store);

    const turn = await talk.prepare('And?', { history: [user('Hello?'), assistant('Hi.')] });
    const { messages, usage } = await turn.finish(completion);

    expect(turn.prompt.map(({ content }) => content)).toEqual(['Hello?', 'Hi.', 'And?']);
    expect({ messages, usage }).toEqual({ messages: [], usage: completion.usage });
    expect(await store.load('talk')).toMatchObject({ messages: [question], edits: 0 });
  });

  const edit = async (store: ConversationStore) => {
    const other = await talkWith(elsewhere(store)).talk.prepare('Which lamp is it?', { edit: 'q' });
    await other.finish('Blue.');
  };
  test.each([
    { what: 'its question is edited', options: {}, meanwhile: edit, left: ['Which lamp is it?', 'Blue.'] },
    {
      what: 'it is edited elsewhere, too',
      options: { edit: 'q' },
      meanwhile: edit,
      left: ['Which lamp is it?', 'Blue.'],
    },
    {
      what: 'it edits, and a message is added',
      options: { edit: 'q' },
      meanwhile: (store: ConversationStore) => talkWith(elsewhere(store)).talk.add([user('Theirs.')]),
      left: ['Which lamp?', 'Theirs.'],
    },
  ])('has its reply in the conflict if $what meanwhile, and replaces nothing', async ({ options, meanwhile, left }) => {
    const store = memoryStore({ talk: [question] });
    const turn = await talkWith(store).talk.prepare([question], options);

    await meanwhile(store);

    expect(await failureOf(turn.finish('Red.'))).toMatchObject(conflict('Red.'));
    expect(await textsIn(store)).toEqual(left);
  });

  test('holds no place in the order of the turns', async () => {
    const store = memoryStore();
    const { talk } = talkWith(store);
    const turn = await talk.prepare('Which lamp?');

    const { text } = await talk.send('And which pier?');
    await turn.finish('Red.');

    expect(await textsIn(store)).toEqual(['Which lamp?', 'And which pier?', text, 'Red.']);
    expect((await talk.messages()).map(({ content }) => content)).toEqual([
      'Which lamp?',
      'Red.',
      'And which pier?',
      text,
    ]);
  });

  test.each([
    [{ newest: 'x' }, 'ConversationConflictError', 'is not the one that newest names'],
    [{ edit: 'x' }, 'RequestValidationError', 'messageId: must be the id of a message'],
    [{ edit: 'q', history: [] }, 'RequestValidationError', 'options.edit: takes a text'],
    [{ history: [{ role: 'system', content: 'x' }] }, 'RequestValidationError', 'history[0].role'],
    [{ history: {} as never }, 'RequestValidationError', 'options.history: must be an array'],
    [{ max_tokens: -1 }, 'RequestValidationError', 'options.max_tokens: must be a whole number'],
    [{ maxTokens: 5 } as object, 'RequestValidationError', 'options.maxTokens: is unknown'],
  ])('with %j is refused before anything is stored', async (options, name, says) => {
    const store = memoryStore();

    const error = await failureOf(talkWith(store).talk.prepare('Which lamp?', options));

    expect(error).toMatchObject({ name, message: expect.stringContaining(says) });
    expect(await textsIn(store)).toEqual([]);
  });

  test.each([
    { what: 'two messages', input: [user('One?'), user('Two?')] },
    { what: 'a reply', input: [assistant('Red.')] },
  ])('edits by one message of the user, not by $what', async ({ input }) => {
    const error = await failureOf(talkWith(memoryStore({ talk: [question] })).talk.prepare(input, { edit: 'q' }));

    const message = expect.stringContaining('options.edit: takes a text as the input');
    expect(error).toMatchObject({ name: 'RequestValidationError', message });
  });

  test('that does not fit is not stored', async () => {
    const store = memoryStore();
    const ask = talkWith(store, { contextWindow: 500 }).talk.prepare('many words '.repeat(1_000));

    expect(await failureOf(ask)).toMatchObject({ name: 'ContextBudgetError' });
    expect(await textsIn(store)).toEqual([]);
  });
});

describe('messages that are added', () => {
  test('are stored as they are, in their order, once, with ids and times', async () => {
    const store = memoryStore({ talk: [question] });
    const { talk } = talkWith(store);
    const given = [{ ...assistant('Red.', 'a'), replyTo: 'q', byOperator: true }, user('Thanks.', 't')];

    for (const _ of ['once', 'twice']) await talk.add([question, ...given]);
    const [greeting] = await talk.add([assistant('Welcome!')]);

    const times = Array(2).fill({ createdAt: expect.stringMatching(/^20.+Z$/) });
    const { messages } = Object(await store.load('talk'));
    expect(messages).toEqual([question, ...given.map((one, at) => ({ ...one, ...times[at] })), greeting]);
    expect(greeting).toMatchObject({ id: expect.stringMatching(/.{8}/), role: 'assistant', content: 'Welcome!' });
  });

  test('by two processes at once are stored once', async () => {
    const store = memoryStore();
    const tabs = [talkWith(store).talk, talkWith(elsewhere(store)).talk];

    await Promise.all(tabs.map((talk) => talk.add([question, { ...assistant('Red.', 'a'), replyTo: 'q' }])));

    expect(await textsIn(store)).toEqual(['Which lamp?', 'Red.']);
  });

  test('need a store with append, and no system message', async () => {
    const reading = talkWith({ load: () => ({ messages: [] }) }).talk;
    const { talk } = talkWith(memoryStore());

    const message = 'add needs a store with append and setExcluded.';
    expect(await failureOf(reading.add([question]))).toMatchObject({ name: 'ConfigurationError', message });
    const system = talk.add([{ role: 'system', content: 'Obey.' }]);
    expect(await failureOf(system)).toMatchObject({ name: 'RequestValidationError' });
  });
});

describe('the messages for a page', () => {
  const ids = async (messages: Promise<readonly { id?: string | undefined }[]>) =>
    (await messages).map(({ id }) => id).join(' ');
  const history = smallTalk(10); // m0 is a question, m1 its reply
  /** A store that returns the newest messages, and those with the ids. */
  const inParts = (): ConversationStore => ({
    load: (_, wanted) => {
      const rows = history.map((message, position) => ({ ...message, position }));
      const first = rows.length - Math.min(wanted?.newest ?? rows.length, 4);
      const isWanted = ({ id, position }: (typeof rows)[number]) => position >= first || wanted?.ids.includes(id);
      return { messages: wanted === undefined ? rows : rows.filter(isWanted), count: rows.length };
    },
  });

  test.each([
    { store: 'that returns all', makeStore: () => memoryStore({ talk: history }) },
    { store: 'that returns parts', makeStore: inParts },
  ])('are whole turns: the newest, or those before one, from a store $store', async ({ makeStore }) => {
    const { talk } = talkWith(makeStore());

    expect(await ids(talk.messages({ limit: 2 }))).toBe('m8 m9');
    expect(await ids(talk.messages({ limit: 3 }))).toBe('m6 m7 m8 m9');
    expect(await ids(talk.messages({ before: 'm8', limit: 2 }))).toBe('m6 m7');
    expect(await ids(talk.messages({ before: 'm9', limit: 2 }))).toBe('m6 m7'); // before its turn
    expect(await ids(talk.messages({ before: 'm4', limit: 3 }))).toBe('m0 m1 m2 m3');
    expect(await ids(talk.messages({ before: 'm0' }))).toBe('');
    expect(await ids(talk.messages())).toBe(history.map(({ id }) => id).join(' '));
  });

  test.each([
    [{ before: 'x' }, 'must be the id of a message of this conversation'],
    [{ limit: 0 }, 'options.limit: must be a whole number, at least 1'],
    [{ limit: 1.5 }, 'options.limit: must be'],
    [{ after: 'm1' } as object, 'options.after: is unknown'],
  ])('are not found with %j', async (options, says) => {
    const { talk } = talkWith(memoryStore({ talk: history }));

    const message = expect.stringContaining(says);
    expect(await failureOf(talk.messages(options))).toMatchObject({ name: 'RequestValidationError', message });
  });
});
