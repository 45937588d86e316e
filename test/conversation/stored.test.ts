import { toErrorData } from 'context-gateway';
import {
  type Conversation,
  ConversationConflictError,
  type ConversationMessage,
  type ConversationStore,
  type ConversationStoreError,
  memoryStore,
} from 'context-gateway/conversation';
import { describe, expect, test, vi } from 'vitest';
import { atLength } from '../helpers/endurance.js';
import { failureOf } from '../helpers/service.js';
import { alone, user, withEmulator } from './alone.js';
import { assistant, chatWorld, elsewhere, gate, textsIn, withoutWaits } from './world.js';

describe('a conversation in an app', () => {
  test('needs nothing but load from an app that stores its turns itself', async () => {
    const messages: ConversationMessage[] = [user('The pier gets a red lamp.')];
    const world = alone([], { store: { load: () => ({ messages }) } });

    const { messages: turn } = await world.conversation.send('Which lamp?');
    messages.push(...turn);
    await world.conversation.send('And?');

    expect(world.prompts.at(-1)?.messages.map(({ role }) => role)).toEqual(['user', 'user', 'assistant', 'user']);
  });

  test('stores turns with ids and times, and replies with what the service says of them', async () => {
    const { conversation, store } = alone([]);
    const { messages, finish_reason, model, usage } = await conversation.send('Hello?');

    const facts = { finish_reason: 'stop', model: 'atlas-small' };
    expect({ finish_reason, model }).toEqual(facts);
    expect((await store.load('talk'))?.messages).toEqual(messages);
    expect(messages).toMatchObject([
      { id: expect.stringMatching(/.{8}/), createdAt: expect.stringMatching(/^20.+Z$/), role: 'user' },
      { id: expect.stringMatching(/.{8}/), createdAt: expect.stringMatching(/^20.+Z$/), role: 'assistant', ...facts },
    ]);
    expect(messages[1]).toMatchObject({ replyTo: messages[0]?.id, usage });
  });

  test('makes the same compactions and prompts with one object per request as with one for all', async () => {
    const countTokens = (text: string) => Math.ceil(text.length / 4);
    const play = async (isFresh: boolean) => {
      const world = chatWorld({ limits: { gateway: 1e6, context: 1e6, compact: 1e6 } });
      const store = memoryStore();
      const open = () => world.open({ store: withEmulator(store, world), budget: 1400, countTokens, compaction: true });
      let conversation = open();
      for (let turn = 0; turn < atLength(30, 240); turn += 1) {
        if (isFresh) conversation = open();
        await conversation.send(`We decided that berth ${turn} is for boats of ${turn % 9} metres, said Ingrid.`);
        await conversation.idle();
      }
      const { compaction } = Object((await store.load('talk'))?.state) as Record<string, unknown>;
      return { prompts: world.prompts, compactions: world.count('compact'), compaction };
    };

    const [one, many] = [await play(false), await play(true)];

    expect(one.compactions).toBeGreaterThan(1);
    expect(many.compactions).toBe(one.compactions);
    expect(many).toEqual(one);
  });

  test('runs turns in order, also when two are sent at once', async () => {
    const world = alone([]);
    const slow = world.hold('/completions');

    const both = [world.conversation.send('One?'), world.conversation.stream('Two?').final()];
    slow.open();
    await Promise.all(both);

    expect(world.prompts.map(({ messages }) => messages.at(-1)?.content)).toEqual(['One?', 'Two?']);
    expect(world.prompts[1]?.messages).toHaveLength(3);
  });

  test('does not wait for a reader who stopped reading a turn that was itself waiting', async () => {
    const world = alone([]);
    const first = world.conversation.stream('One?')[Symbol.asyncIterator]();
    await first.next();
    const second = world.conversation.stream('Two?')[Symbol.asyncIterator]();
    const piece = second.next();

    await world.conversation.send('Three?', { deadline: 5_000 });

    expect(await piece).toMatchObject({ done: false });
    expect(world.prompts[2]?.messages).toHaveLength(5);
  });

  test('final() in the loop over a reply reads on', async () => {
    const { conversation, emulator } = alone([]);
    emulator.chat.on('story', 'One two three four five six seven.');
    const reply = conversation.stream('Tell a story.');
    const texts: string[] = [];

    for await (const text of reply) {
      texts.push(text);
      await reply.final();
    }

    expect(texts.join('')).toBe('One two three four five six seven.');
    expect(texts).toHaveLength(2);
  });

  test.each([
    ['send', (talk: Conversation) => talk.send('Two?')],
    ['stream', (talk: Conversation) => talk.stream('Two?').final()],
    ['regenerate', (talk: Conversation) => talk.regenerate().final()],
    ['edit', (talk: Conversation) => talk.edit('m1', 'Two?').final()],
    ['prepare', (talk: Conversation) => talk.prepare('Two?')],
    ['add', (talk: Conversation) => talk.add([user('Two?')])],
  ])(
    '%s ends with an error when the disk is full, with the reply if there is one, and everything old is still there',
    async (name, turn) => {
      const history = [user('One?', { id: 'm1' }), assistant('Yes.', 'm2')];
      const store = memoryStore({ talk: history });
      const full = new Error('The disk is full.');
      const append = vi.fn(store.append).mockRejectedValue(full);
      const { conversation, prompts } = alone([], { store: { ...store, append } }, withoutWaits);

      const error = await failureOf(turn(conversation));

      expect(error).toMatchObject({ name: 'ConversationStoreError', cause: full });
      const { turn: lost } = error as ConversationStoreError;
      if (lost !== undefined) expect(lost.messages.at(-1)).toMatchObject({ role: 'assistant', content: lost.text });
      expect(lost === undefined).toBe(['send', 'stream', 'prepare', 'add'].includes(name));
      expect(append).toHaveBeenCalledTimes(3); // again after 0.2 and 1 s
      expect(prompts.length).toBe(lost === undefined ? 0 : 1); // without its question, nothing is sent
      expect((await store.load('talk'))?.messages).toEqual(history);
      expect(toErrorData(error)).toMatchObject({ status: 500, code: 'conversation_not_stored' });
    },
  );

  test('goes on after a turn that could not be stored, with what the store has', async () => {
    const store = memoryStore();
    const append = vi.fn(store.append).mockRejectedValue(new Error('The disk is full.'));
    const world = alone([], { store: { ...store, append } }, withoutWaits);

    await failureOf(world.conversation.send('One?'));
    append.mockImplementation(store.append);
    await world.conversation.send('Two?');

    expect(world.prompts[0]?.messages).toEqual([{ role: 'user', content: 'Two?' }]);
    expect((await store.load('talk'))?.messages).toHaveLength(2);
  });

  test('a reply without text is in no later prompt', async () => {
    const { conversation, emulator, prompts } = alone([user('Hello?'), assistant(' ')]);
    emulator.chat.on('silent', '');

    await conversation.send('Be silent.');
    await conversation.send('Next?');

    expect(prompts[1]?.messages.map(({ content }) => content)).toEqual(['Hello?', 'Be silent.', 'Next?']);
  });

  test('loses no turn to another process: a reply follows what was stored since its question', async () => {
    const store = memoryStore();
    const one = alone([], { store });
    const slow = one.hold('/completions');
    const turn = one.conversation.send('Mine?');
    await vi.waitFor(() => expect(one.count('chat')).toBe(1), { timeout: 30_000 });

    const theirs = await alone([], { store: elsewhere(store) }).conversation.send('Theirs?');
    slow.open();
    const mine = await turn;

    const stored = (await store.load('talk'))?.messages;
    expect(stored).toEqual([mine.messages[0], ...theirs.messages, mine.messages[1]]);
  });

  test('of two processes that ask at the same moment, both questions are stored and sent', async () => {
    const store = memoryStore();
    const slow = gate();
    const append: ConversationStore['append'] = async (...turn) => {
      await slow.passed;
      return store.append(...turn);
    };
    const texts = ['Mine?', 'Theirs?'];
    const tabs = texts.map(() => alone([], { store: { ...store, append } }));
    const turns = tabs.map(({ conversation }, at) => conversation.send(texts[at] ?? ''));
    slow.open();
    await Promise.all(turns);

    const stored = await textsIn(store);
    expect(stored).toHaveLength(4);
    expect(stored).toEqual(expect.arrayContaining(texts));
  });

  test('of two processes that ask the same question at the same moment, one sends it', async () => {
    const store = memoryStore();
    const slow = gate();
    const load: ConversationStore['load'] = async (id) => {
      const loaded = await store.load(id);
      await slow.passed;
      return loaded;
    };
    const tabs = [1, 2].map(() => alone([], { store: { ...store, load } }));
    const turns = tabs.map(({ conversation }) => conversation.send([user('Which lamp?', { id: 'q' })]));
    slow.open();
    const ends = await Promise.allSettled(turns);

    const refused = ends.findIndex(({ status }) => status === 'rejected');
    expect(ends[refused]).toMatchObject({ reason: { name: 'ConversationConflictError', turn: undefined } });
    expect(tabs.map(({ prompts }) => prompts.length).sort()).toEqual([0, 1]);
    expect(await textsIn(store)).toHaveLength(2);
  });

  /** A store whose conversation is edited before each of the first appends. */
  function edited(times: number) {
    const store = memoryStore({ talk: [user('Old?', { id: 'q1' })] });
    const append = vi.fn(store.append);
    for (let time = 1; time <= times; time += 1)
      append.mockImplementationOnce(async (id, messages, place) => {
        const { edits } = (await store.load(id)) ?? {};
        const texts = [{ ...user(`Edited ${time}.`, { id: 'q1' }), id: 'q1', createdAt: '2026-01-15T10:00:00.000Z' }];
        await store.append(id, texts, { edits: Number(edits), after: null });
        return store.append(id, messages, place);
      });
    return { ...store, append };
  }

  test.each([
    { what: 'a question begins', ask: (talk: Conversation) => talk.prepare('New?') },
    { what: 'add begins', ask: (talk: Conversation) => talk.add([user('New?')]) },
  ])('after an edit by another process, $what again, three times', async ({ ask }) => {
    const store = edited(3);

    await ask(alone([], { store }).conversation);

    expect(await textsIn(store)).toEqual(['Edited 3.', 'New?']);
    const error = await failureOf(ask(alone([], { store: edited(4) }).conversation));
    expect(error).toMatchObject({ name: 'ConversationConflictError', turn: undefined });
  });

  test('a question that begins again is sent with what is stored now, and with newest it does not begin again', async () => {
    const { prompt } = await alone([], { store: edited(1) }).conversation.prepare('New?');

    expect(prompt.map(({ content }) => content)).toEqual(['Edited 1.', 'New?']);
    const store = edited(1);
    const error = await failureOf(alone([], { store }).conversation.prepare('New?', { newest: 'q1' }));
    expect(error).toMatchObject({ name: 'ConversationConflictError' });
    expect(await textsIn(store)).toEqual(['Edited 1.']);
  });

  test('an append that was committed, and whose response was lost, stores nothing twice', async () => {
    const store = memoryStore();
    const append: ConversationStore['append'] = async (id, messages, place) => {
      await store.append(id, messages, place);
      throw new Error('Connection terminated unexpectedly');
    };
    const { conversation } = alone([], { store: { ...store, append } });

    const turns = [await conversation.send('One?'), await conversation.send('Two?')];

    const stored = (await store.load('talk'))?.messages;
    expect(stored).toEqual(turns.flatMap(({ messages }) => messages));
    expect(stored).toHaveLength(4);
  });

  test('a conflict whose store then fails to load is an error with the reply', async () => {
    const store = memoryStore();
    let isDown = false;
    const append: ConversationStore['append'] = (id, messages, place) => {
      isDown = messages[0]?.role === 'assistant';
      if (isDown) throw new ConversationConflictError();
      return store.append(id, messages, place);
    };
    const load: ConversationStore['load'] = (id) => {
      if (isDown) throw new Error('The database is away.');
      return store.load(id);
    };
    const { conversation } = alone([], { store: { ...store, append, load } });

    const error = await failureOf(conversation.send('Hello?'));

    expect(error).toMatchObject({ name: 'ConversationConflictError', turn: { text: expect.stringMatching(/./) } });
  });

  test('messages of one input have times that rise', async () => {
    const { conversation } = alone([]);

    const { messages } = await conversation.send([user('One.'), user('Two.'), user('Three?')]);

    const times = messages.slice(0, 3).map(({ createdAt }) => Date.parse(createdAt));
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
    expect(times).toHaveLength(3);
  });

  test('what memoryStore returns cannot change what it has stored', async () => {
    const store = memoryStore({ talk: [user('Hello.', { id: 'm1' })] });
    const { messages = [] } = (await store.load('talk')) ?? {};

    expect(() => Object.assign(messages[0] as object, { content: 'Changed.' })).toThrow(TypeError);
    (messages as unknown[]).length = 0;

    expect((await store.load('talk'))?.messages).toMatchObject([{ content: 'Hello.' }]);
  });
});
