import { type ContextMetadata, toErrorData } from 'context-gateway';
import { contextMiddleware } from 'context-gateway/ai-sdk';
import {
  type Conversation,
  ConversationConflictError,
  type ConversationMessage,
  type ConversationOptions,
  type ConversationStore,
  type ConversationStoreError,
  createConversation,
  fitToBudget,
  memoryStore,
  type StoredRow,
  toResponse,
} from 'context-gateway/conversation';
import type { MessageInput } from 'context-gateway-emulator';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { AT_LENGTH, atLength } from '../helpers/endurance.js';
import { giveTime } from '../helpers/give-time.js';
import { failureOf } from '../helpers/service.js';
import { decision, memory, metadata, pin, summary } from './samples.js';
import { cannedContext, chatWorld, gate, smallTalk } from './world.js';

const user = (content: string, more: Partial<ConversationMessage> = {}): ConversationMessage => ({
  role: 'user',
  content,
  ...more,
});

/** A conversation without a service, in a small window. */
function alone(history: readonly ConversationMessage[], more: Partial<ConversationOptions> = {}) {
  const world = chatWorld();
  const conversation = createConversation({
    gateway: world.gateway,
    conversationId: 'talk',
    model: 'atlas-small',
    contextWindow: 700,
    reserveOutput: 50,
    store: memoryStore({ talk: history }),
    ...more,
  });
  const recalledFor = async (input: string): Promise<string> =>
    (await conversation.buildMessages(input)).recalled?.content ?? '';
  return { ...world, conversation, recalledFor };
}

describe('the memory of a conversation', () => {
  test('recalls whole messages, and only the part that matches of a long one, with its code and tables', async () => {
    const code = '```sh\nlamp --pier 3\n\nlamp --colour red\n```';
    const table = '| lamp | pier |\n|---|---|\n| red | 3 |';
    const filler = 'The weather at sea was calm and the crew was rested. '.repeat(30);
    const { recalledFor } = alone([
      user(`${filler}\n\n${code}\n\n${filler}\n\n${table}\n\n${filler}`, { createdAt: '2026-05-03T09:00:00Z' }),
      ...smallTalk(60),
    ]);

    const text = await recalledFor('How do I set the colour of the lamp?');

    expect(text).toContain('lamp --pier 3\n  \n  lamp --colour red\n  ```');
    expect(text.length).toBeLessThan(2000);
  });

  test('searches every message, however many', async () => {
    const history = [user('The key of the crane hangs behind the atlas.'), ...smallTalk(10_000)];

    const { recalledFor } = alone(history);

    expect(await recalledFor('Where does the key of the crane hang?')).toContain('behind the atlas');
  });

  test.each([
    { asked: 'What did I say on May 4th about the speech?', because: 'a month and an ordinal' },
    { asked: '5月4日我说了什么演讲？', because: 'a Chinese date' },
    { asked: 'What did Ingrid say about a speech?', because: 'a speaker' },
  ])('finds a message by its date and its speaker: $because', async ({ asked }) => {
    const { recalledFor } = alone([
      ...smallTalk(20).map((message) => ({ ...message, createdAt: '2026-05-01T10:00:00Z' })),
      user('I am nervous before my 演讲, my speech.', { createdAt: '2026-05-04T10:00:00Z', name: 'Ingrid' }),
      ...smallTalk(80, 20).map((message) => ({ ...message, createdAt: '2026-05-09T10:00:00Z' })),
    ]);

    expect(await recalledFor(asked)).toContain('[4 May 2026, Ingrid] I am nervous');
  });

  test.each([
    'Please tell me our deadline',
    'Write a mail that mentions our deadline',
    'Our deadline, again.',
    'deadline？',
  ])('is searched for every input, also "%s"', async (input) => {
    const { recalledFor } = alone([user('Our deadline is the ninth of March.'), ...smallTalk(80)]);

    expect(await recalledFor(input)).toContain('the ninth of March');
  });

  test.each([
    { said: '我们把发票存在奥斯陆。', asked: '发票存在哪里？' },
    { said: '請求書はオスロに保管します。', asked: '請求書はどこに保管しますか？' },
    { said: 'Wir bewahren die Rechnungen in Oslo auf.', asked: 'Schreib mir, wo die Rechnungen sind' },
  ])('finds "$said" for "$asked"', async ({ said, asked }) => {
    const { recalledFor } = alone([user(said), ...smallTalk(80)]);

    expect(await recalledFor(asked)).toContain(said);
  });

  test.each(['Thanks!', 'Go on', 'OK, yes.'])(
    'recalls nothing for an input without a rare term: "%s"',
    async (input) => {
      const { recalledFor } = alone([user('Thanks for the yes: go on, it is OK.'), ...smallTalk(80)]);

      expect(await recalledFor(input)).toBe('');
    },
  );

  test('counts the two user messages before the input, with less weight', async () => {
    const { recalledFor } = alone([
      user('The crane of pier 3 is painted blue.'),
      ...smallTalk(80),
      user('Let us talk about the crane.'),
      { role: 'assistant', content: 'Gladly.' },
    ]);

    expect(await recalledFor('Which pier, and which colour?')).toContain('painted blue');
  });

  test('stands after the newest messages, so that nine of ten prompts begin with the bytes of the one before', async () => {
    const world = alone([], { contextWindow: 1400 });
    let before: string[] = [];
    let stable = 0;
    for (let turn = 0; turn < 100; turn += 1) {
      const { chatMessages, recalled } = await world.conversation.buildMessages(
        `What about remark ${turn % 7} of pier ${turn}?`,
      );
      const now = chatMessages.map((message) => JSON.stringify(message));
      stable += Number(before.every((message, at) => message === now[at]));
      before = now.slice(0, recalled === undefined ? -1 : -2);
      await world.conversation.record(`What about remark ${turn % 7} of pier ${turn}?`, {
        text: `Pier ${turn} is fine.`,
      });
    }

    expect(stable).toBeGreaterThanOrEqual(90);
  });

  test('shares the room: newest from a tenth to three, the context an eighth, and recall the rest', async () => {
    const parts = {
      memory: Array.from({ length: 100 }, (_, i) => memory('constraint', `c${i}`, `Constraint ${i} of the harbour.`)),
      summary: summary({ decisions: Array.from({ length: 100 }, (_, i) => decision(`Decision ${i} of the harbour.`)) }),
    };
    const { report } = fitToBudget({
      parts,
      history: smallTalk(400),
      input: [user('What about remark number 3?')],
      budget: 2000,
    });

    const { context, tail, recalled } = report.tokens;
    expect(tail).toBeGreaterThanOrEqual(0.1 * 2000);
    expect(tail).toBeLessThanOrEqual(0.3 * 2000);
    expect(context).toBeLessThanOrEqual(0.125 * 2000);
    expect(context).toBeGreaterThan(0.1 * 2000);
    expect(recalled).toBeGreaterThan(50);
    expect(report.included).toEqual(['constraints']);
  });

  test("joins the app's own search by reciprocal rank, and stands alone if that fails or is late", async () => {
    const history = [
      user('We sail to Bergen at dawn.', { id: 'dawn' }),
      ...smallTalk(40),
      user('The boat leaves from pier three.', { id: 'boat' }),
      ...smallTalk(60, 40),
    ];
    const asked = 'When does the boat leave?';
    const search = vi.fn<NonNullable<ConversationOptions['search']>>(async () => [{ id: 'dawn' }, { id: 'unknown' }]);
    const joined = alone(history, { search });
    expect(await joined.recalledFor(asked)).toMatch(/Bergen at dawn.+pier three/s);
    expect(search).toHaveBeenCalledWith(asked, { limit: expect.any(Number), signal: expect.any(AbortSignal) });

    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    const fails = alone(history, { search: () => Promise.reject(new Error('no vectors')), onError });
    expect(await fails.recalledFor(asked)).toContain('pier three');
    expect(errors).toMatchObject([{ message: 'no vectors' }]);

    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const late = alone(history, { search: () => new Promise(() => {}), onError });
    const found = late.recalledFor(asked);
    await vi.advanceTimersByTimeAsync(2_100);
    vi.useRealTimers();
    expect(await found).toContain('pier three');
    expect(errors[1]).toMatchObject({ name: 'APITimeoutError' });
  });

  test('works without a service, before any compaction, with a new object and in contextMessage', async () => {
    const history = [user('The pier gets a red lamp.'), ...smallTalk(80)];
    const asked = 'Which lamp does the pier get?';
    const { conversation } = alone(history);
    expect((await conversation.contextMessage(asked))?.content).toContain('red lamp');
    expect(JSON.stringify((await conversation.send(asked)).report.recalled)).toContain('red lamp');
    await failureOf(conversation.compact()).then((error) =>
      expect(error).toMatchObject({ message: 'compact needs the option context: a ContextClient.' }),
    );

    const world = chatWorld();
    for (const compaction of [false, undefined] as const) {
      const options = { history, compaction, contextWindow: 700, reserveOutput: 50 };
      expect((await world.open(options).buildMessages(asked)).recalled?.content).toContain('red lamp');
    }
  });

  test("works in the AI SDK's middleware, which searches the app's own messages, before any compaction", async () => {
    const { conversation } = alone([]);
    const messages = [user('The pier gets a red lamp.'), ...smallTalk(80), user('Which lamp does the pier get?')];
    const prompt = messages.map(({ role, content }) => ({
      role: role as 'user',
      content: [{ type: 'text' as const, text: content }],
    }));

    const fitted = await contextMiddleware(conversation).transformParams({ params: { prompt } });

    expect(fitted.prompt.length).toBeLessThan(40);
    expect(JSON.stringify(fitted.prompt.at(-2))).toContain('red lamp');
    expect(fitted.prompt.at(-1)).toEqual(prompt.at(-1));
  });

  test('sends more once it knows the length of a prompt that another client has sent', async () => {
    const { conversation } = alone(
      Array.from({ length: 400 }, (_, i) => user(`${i % 5 === 0 ? 'Buoy' : 'Pier'} ${i} gets a lamp of colour ${i}.`)),
    );
    const build = async () => (await conversation.buildMessages('Which colours do the buoys have?')).chatMessages;
    const characters = (messages: readonly { content: string }[]) => messages.map((one) => one.content).join('').length;
    const messages = await build();
    conversation.compactWhenDue({ messages, prompt_tokens: Math.round(characters(messages) / 5) });
    await conversation.idle();
    expect(characters(await build())).toBeGreaterThan(1.1 * characters(messages));
  });

  test('gives search results with id, date, score and the text around the hit', async () => {
    const long = `${'The sea was calm. '.repeat(60)}The lamp is red. ${'The sea was calm. '.repeat(60)}`;
    const { conversation } = alone([
      user('The pier gets a red lamp.', { id: 'm1', createdAt: '2026-05-03T09:00:00Z' }),
      user(long, { id: 'm2' }),
      ...smallTalk(20),
    ]);

    const found = await conversation.search('red lamp', { limit: 2 });

    expect(found).toMatchObject([
      { id: 'm1', role: 'user', createdAt: '2026-05-03T09:00:00.000Z', text: 'The pier gets a red lamp.' },
      { id: 'm2' },
    ]);
    expect(found[1]?.text).toContain('lamp is red');
    expect(found[1]?.text.length).toBeLessThan(1000);
    expect(found[0]?.score).toBeGreaterThan(found[1]?.score ?? 0);
  });

  test('names in a report the messages it recalled, and in a receipt how many are only in the history', async () => {
    const history = [
      user('We decided on Postgres for the bookings.', { id: 'p' }),
      user('The pier gets a red lamp.', { id: 'lamp' }),
      user('Never sail at night.', { id: 'pinned' }),
      ...smallTalk(20),
    ];
    const world = chatWorld();
    const canned = cannedContext(world, { metadata: metadata({ recentMessageCount: 10 }) });
    canned.compact = () => {
      canned.summary = summary({ version: 2, decisions: [decision('We decided on Postgres for the bookings.')] });
      canned.pins = [pin('Never sail at night.', 'pinned')];
      const result = {
        success: true,
        previousTokenCount: 900,
        newTokenCount: 300,
        tokensRemoved: 600,
        summaryUpdated: true,
      };
      return Response.json({ success: true, result });
    };

    const report = await world.open({ history }).compact('deep');

    // 23 messages, of which 10 are recent, one is pinned and one is in the summary.
    expect(report.onlyInHistory).toBe(11);
  });

  test('uses a context that is not fresh at once, and refreshes it behind the turn', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
    const world = chatWorld();
    const canned = cannedContext(world, { pins: [pin('Old.', 'x')] });
    const conversation = world.open();
    await conversation.buildMessages('One?');
    canned.pins = [pin('New.', 'x')];
    vi.setSystemTime(1_060_000);

    expect((await conversation.buildMessages('Two?')).context?.content).toContain('Old.');
    await conversation.idle();
    expect((await conversation.buildMessages('Three?')).context?.content).toContain('New.');
    vi.useRealTimers();
  });
});

describe('users who share a conversation', () => {
  const storeOf = () => memoryStore({ talk: [user('The ferry leaves at six.', { id: 'm1' })] });

  test("one user's memory is in no prompt of another, and not in the store", async () => {
    const world = chatWorld();
    const store = storeOf();
    const state = cannedContext(world, { memory: [memory('fact', 'health', 'Ann has diabetes.')] });
    await world.open({ store }).send('When does the ferry leave?');
    state.memory = [memory('fact', 'drink', 'Bo likes tea.')];

    await world.open({ store }).send('And when does it arrive?');

    const [anns, bos] = world.prompts.map(({ messages }) => JSON.stringify(messages));
    expect(anns).toContain('Ann has diabetes.');
    expect(bos).toContain('Bo likes tea.');
    expect(bos).not.toContain('diabetes');
    expect(JSON.stringify(await store.load('talk'))).not.toMatch(/diabetes|tea/);
  });

  test.each([401, 403, 404])(
    'a turn fails with %i although another user has read the context before',
    async (status) => {
      const world = chatWorld();
      const store = storeOf();
      cannedContext(world);
      await world.open({ store }).send('When does the ferry leave?');
      world.onRequest(({ url }) => (url.includes('/api/') ? refusal(status) : undefined));

      const failure = await failureOf(world.open({ store }).send('And when does it arrive?'));

      expect(failure).toMatchObject({ status });
    },
  );

  test('an object whose user may no longer read the context uses it for no more than one turn', async () => {
    const world = chatWorld();
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    cannedContext(world);
    const conversation = world.open({ store: storeOf() });
    await conversation.send('When does the ferry leave?');
    world.onRequest(({ url }) => (url.includes('/api/') ? refusal(401) : undefined));
    vi.advanceTimersByTime(31_000);

    await conversation.send('And when does it arrive?'); // reads again behind the turn
    await conversation.idle();

    expect(await failureOf(conversation.send('Thanks!'))).toMatchObject({ status: 401 });
  });
});

const refusal = (status: number) => Response.json({ error: { message: 'No.', type: 'x' } }, { status });

describe('a conversation in an app', () => {
  test('needs nothing but load from an app that stores its turns itself', async () => {
    const messages: ConversationMessage[] = [user('The pier gets a red lamp.')];
    const world = alone([], { store: { load: () => ({ messages }) } });

    const { messages: turn } = await world.conversation.send('Which lamp?');
    messages.push(...turn);
    await world.conversation.send('And?');

    expect(world.prompts.at(-1)?.messages.map(({ role }) => role)).toEqual(['user', 'user', 'assistant', 'user']);
  });

  test('stores turns with ids and times, or with the ids that append returns', async () => {
    const store = memoryStore();
    const { conversation } = alone([], { store });
    const { messages } = await conversation.send('Hello?');

    expect((await store.load('talk'))?.messages).toEqual(messages);
    expect(messages).toMatchObject([
      { id: expect.stringMatching(/.{8}/), createdAt: expect.stringMatching(/^20.+Z$/), role: 'user' },
      { id: expect.stringMatching(/.{8}/), createdAt: expect.stringMatching(/^20.+Z$/), role: 'assistant' },
    ]);
    const ids = ['a', 'b'];
    const named = alone([], { store: { ...store, append: async () => ids.splice(0, 1) } });
    expect((await named.conversation.send('Hello?')).messages.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  test('makes the same compactions, prompts and calibration with one object per request as with one for all', async () => {
    const play = async (isFresh: boolean) => {
      const world = chatWorld({ limits: { gateway: 1e6, context: 1e6, compact: 1e6 } });
      const store = memoryStore();
      const open = () => world.open({ store: withEmulator(store, world), contextWindow: 1500, reserveOutput: 100 });
      let conversation = open();
      for (let turn = 0; turn < atLength(30, 240); turn += 1) {
        if (isFresh) conversation = open();
        await conversation.send(
          `Turn ${turn}: we decided that berth ${turn} is for boats of ${turn % 9} metres, said Ingrid.`,
        );
        await conversation.idle();
      }
      const { calibration, compaction } = Object((await store.load('talk'))?.state) as Record<string, unknown>;
      return { prompts: world.prompts, compactions: world.count('compact'), calibration, compaction };
    };

    const [one, many] = [await play(false), await play(true)];

    expect(one.compactions).toBeGreaterThan(1);
    expect(many.compactions).toBe(one.compactions);
    expect(many).toEqual(one);
  });

  test('runs turns in order, also when two are sent at once', async () => {
    const world = alone([]);
    const slow = gate();
    let first = true;
    world.onRequest(async ({ url }) => {
      if (!url.endsWith('/completions') || !first) return undefined;
      first = false;
      await slow.passed;
      return undefined;
    });

    const both = [world.conversation.send('One?'), world.conversation.stream('Two?').final()];
    slow.open();
    await Promise.all(both);

    expect(world.prompts.map(({ messages }) => messages.at(-1)?.content)).toEqual(['One?', 'Two?']);
    expect(world.prompts[1]?.messages).toHaveLength(3);
  });

  test('does not wait for a reader who stopped reading', async () => {
    const world = alone([]);
    world.emulator.chat.on('story', 'One two three four five six seven.');
    const reply = world.conversation.stream('Tell a story.')[Symbol.asyncIterator]();
    await reply.next();

    await world.conversation.send('Next?');

    expect(world.prompts[1]?.messages[1]).toEqual({ role: 'assistant', content: 'One two three four five six seven.' });
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
    ['record', (talk: Conversation) => talk.record('Two?', { text: 'Yes.' })],
  ])(
    '%s ends with an error when the disk is full, with the reply if there is one, and everything old is still there',
    async (name, turn) => {
      const history = [user('One?', { id: 'm1' }), { role: 'assistant', content: 'Yes.', id: 'm2' }];
      const store = memoryStore({ talk: history });
      const full = new Error('The disk is full.');
      const { conversation, prompts } = alone([], { store: { ...store, append: () => Promise.reject(full) } });

      const error = await failureOf(turn(conversation));

      expect(error).toMatchObject({ name: 'ConversationStoreError', cause: full });
      const { turn: lost } = error as ConversationStoreError;
      if (lost !== undefined) expect(lost.messages.at(-1)).toMatchObject({ role: 'assistant', content: lost.text });
      expect(lost === undefined).toBe(['send', 'stream', 'record'].includes(name));
      expect(prompts.length).toBe(lost === undefined ? 0 : 1); // without its question, nothing is sent
      expect((await store.load('talk'))?.messages).toEqual(history);
      expect(toErrorData(error)).toMatchObject({ status: 500, code: 'conversation_not_stored' });
    },
  );

  test('goes on after a turn that could not be stored, with what the store has', async () => {
    const store = memoryStore();
    const append = vi.fn(store.append).mockRejectedValueOnce(new Error('The disk is full.'));
    const world = alone([], { store: { ...store, append } });

    await failureOf(world.conversation.send('One?'));
    await world.conversation.send('Two?');

    expect(world.prompts[0]?.messages).toEqual([{ role: 'user', content: 'Two?' }]);
    expect((await store.load('talk'))?.messages).toHaveLength(2);
  });

  test('a reply without text is in no later prompt', async () => {
    const { conversation, emulator, prompts } = alone([user('Hello?'), { role: 'assistant', content: ' ' }]);
    emulator.chat.on('silent', '');

    await conversation.send('Be silent.');
    await conversation.send('Next?');

    expect(prompts[1]?.messages.map(({ content }) => content)).toEqual(['Hello?', 'Be silent.', 'Next?']);
  });

  test('loses no turn to another process: a reply follows what was stored since its question', async () => {
    const store = memoryStore();
    const one = alone([], { store });
    const slow = gate();
    one.onRequest(({ url }) => (url.endsWith('/completions') ? slow.passed : undefined));
    const turn = one.conversation.send('Mine?');
    await vi.waitFor(() => expect(one.count('chat')).toBe(1), { timeout: 30_000 });

    const theirs = await alone([], { store }).conversation.send('Theirs?');
    slow.open();
    const mine = await turn;

    const stored = (await store.load('talk'))?.messages;
    expect(stored).toEqual([mine.messages[0], ...theirs.messages, mine.messages[1]]);
  });

  test('sends no question if another process has stored one since the turn began', async () => {
    const store = memoryStore();
    const slow = gate();
    const append: ConversationStore['append'] = async (...turn) => {
      await slow.passed;
      return store.append(...turn);
    };
    const tabs = ['Mine?', 'Theirs?'].map((text) => {
      const world = alone([], { store: { ...store, append } });
      return { world, end: world.conversation.send(text).catch((error: unknown) => error) };
    });
    slow.open();
    const ends = await Promise.all(tabs.map(({ end }) => end));

    const refused = ends.findIndex((end) => end instanceof Error);
    expect(ends[refused]).toMatchObject({ name: 'ConversationConflictError', turn: undefined });
    expect(tabs.map(({ world }) => world.prompts.length)[refused]).toBe(0);
    expect((await store.load('talk'))?.messages).toHaveLength(2);
  });

  test.each([
    { how: 'sent again', again: (talk: Conversation, asked: ConversationMessage[]) => talk.send(asked) },
    { how: 'answered by regenerate', again: (talk: Conversation) => talk.regenerate().final() },
    {
      how: 'recorded with its reply',
      again: (talk: Conversation, asked: ConversationMessage[]) => talk.record(asked, { text: 'At six.' }),
    },
  ])('a question that got no reply is stored, and once only when it is $how', async ({ again }) => {
    const store = memoryStore();
    const { conversation, emulator } = alone([], { store });
    const asked = [user('When does the harbour open?', { id: 'q' })];
    emulator.faults.add({ match: { path: '/v1/chat/*' }, respond: { status: 500 } });

    await failureOf(conversation.send(asked));
    const before = (await store.load('talk'))?.messages;
    await again(alone([], { store }).conversation, asked);

    expect(before?.map(({ id }) => id)).toEqual(['q']);
    expect((await store.load('talk'))?.messages).toMatchObject([{ id: 'q', role: 'user' }, { role: 'assistant' }]);
  });

  test('a question without a reply goes with the next one', async () => {
    const { conversation, emulator, prompts } = alone([]);
    emulator.faults.add({ match: { path: '/v1/chat/*' }, respond: { status: 500 } });

    await failureOf(conversation.send('When does the harbour open?'));
    await conversation.send('And the pier?');

    expect(prompts.at(-1)?.messages.map(({ content }) => content)).toEqual([
      'When does the harbour open?',
      'And the pier?',
    ]);
  });

  test('record without a reply stores the input alone, and once', async () => {
    const store = memoryStore();
    const { conversation } = alone([], { store });
    const asked = [user('When does the harbour open?', { id: 'q' })];

    await conversation.record(asked);
    await conversation.record(asked);

    expect((await store.load('talk'))?.messages).toMatchObject([{ id: 'q', content: asked[0]?.content }]);
    await conversation.record(asked, { text: 'At six.' });
    expect((await store.load('talk'))?.messages).toHaveLength(2);
  });

  test.each([
    { because: 'with our ids', idOf: (id: string) => id },
    { because: 'with ids of the database', idOf: (id: string) => `row-${id}` },
  ])('an append that was committed, and whose response was lost, stores nothing twice: $because', async ({ idOf }) => {
    const store = memoryStore();
    const append: ConversationStore['append'] = async (id, messages, place) => {
      await store.append(
        id,
        messages.map((one) => ({ ...one, id: idOf(one.id) })),
        place,
      );
      throw new Error('Connection terminated unexpectedly');
    };
    const { conversation } = alone([], { store: { ...store, append } });

    const turns = [await conversation.send('One?'), await conversation.send('Two?')];

    const stored = (await store.load('talk'))?.messages;
    expect(stored).toEqual(turns.flatMap(({ messages }) => messages));
    expect(stored).toHaveLength(4);
  });

  test.each([
    { what: 'a question', reply: undefined, count: 2 },
    { what: 'a turn', reply: { text: 'Noted.' }, count: 3 },
  ])('records $what after a message that another process stores at the same time', async ({ reply, count }) => {
    const store = memoryStore();
    const theirs = { id: 'theirs', role: 'user', content: 'Theirs?', createdAt: '2026-01-15T10:00:00.000Z' };
    const append = vi.fn(store.append).mockImplementationOnce((id, messages, place) => {
      store.append(id, [theirs], place); // a moment earlier
      return store.append(id, messages, place);
    });
    const { conversation } = alone([], { store: { ...store, append } });

    await conversation.record('Mine?', reply);

    const texts = ((await store.load('talk'))?.messages ?? []).map(({ content }) => content);
    expect(texts).toEqual(['Theirs?', 'Mine?', 'Noted.'].slice(0, count));
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

  test('regenerates the last reply: the old one is removed from the store, and excluded at the service', async () => {
    const world = chatWorld();
    const store = memoryStore();
    const conversation = world.open({ store: withEmulator(store, world) });
    world.emulator.chat.on('harbour', 'Old reply.');
    const { messages: before } = await conversation.send('Name a harbour.');
    world.emulator.chat.on('harbour', 'New reply.');

    const turn = await conversation.regenerate().final();
    await conversation.idle();

    expect(turn.text).toBe('New reply.');
    expect(world.prompts[1]?.messages).toEqual(world.prompts[0]?.messages);
    expect((await store.load('talk'))?.messages.map(({ content }) => content)).toEqual([
      'Name a harbour.',
      'New reply.',
    ]);
    expect(
      world.emulator.conversations
        .get('talk')
        ?.messages.filter(({ excluded }) => excluded)
        .map(({ id }) => id),
    ).toEqual([before[1]?.id]);
  });

  const loading: [string, (talk: Conversation) => unknown][] = [
    ['search', (talk) => talk.search('harbour')],
    ['exclude', (talk) => talk.exclude('m3')],
    ['lost', (talk) => talk.lost()],
    ['buildMessages', (talk) => talk.buildMessages('Harbour?')],
    ['fork', (talk) => talk.fork('m1')],
    ['refresh', (talk) => talk.refresh()],
    ['compact', (talk) => talk.compact('light')],
    ['nothing', () => {}],
  ];
  test.each(
    loading.flatMap(([name, load]) => [
      { name, load, how: 'regenerate', turn: (talk: Conversation) => talk.regenerate() },
      { name, load, how: 'edit', turn: (talk: Conversation) => talk.edit('m1', 'Mine?') },
    ]),
  )('$how removes nothing that another process stored meanwhile, although $name loaded it', async ({ load, turn }) => {
    const history = [
      user('One harbour?', { id: 'm1' }),
      { role: 'assistant', content: 'Yes.', id: 'm2' },
      user('Two harbours?', { id: 'm3' }),
      { role: 'assistant', content: 'Yes.', id: 'm4' },
    ];
    const world = chatWorld({ messages: history as MessageInput[] });
    const store = memoryStore({ talk: history });
    const talk = world.open({ store });
    const slow = gate();
    let first = true;
    world.onRequest(({ url }) => {
      if (!url.endsWith('/completions') || !first) return undefined;
      first = false;
      return slow.passed;
    });
    const mine = failureOf(turn(talk).final());
    await vi.waitFor(() => expect(world.count('chat')).toBe(1), { timeout: 30_000 });

    await alone([], { store }).conversation.send('Theirs?');
    await load(talk);
    slow.open();

    expect(await mine).toMatchObject({ name: 'ConversationConflictError', turn: { text: expect.stringMatching(/./) } });
    const { messages = [] } = (await store.load('talk')) ?? {};
    expect(messages.map(({ content }) => content).slice(0, 5)).toEqual([
      ...['One harbour?', 'Yes.', 'Two harbours?', 'Yes.', 'Theirs?'],
    ]);
    expect(messages).toHaveLength(6);
  });

  test('a store whose load returns its own array finds the conflict of two turns at once', async () => {
    const rows: ConversationMessage[] = [];
    const store: ConversationStore = {
      load: () => ({ messages: rows }),
      append: (_, messages, { newest }) => {
        if (rows.at(-1)?.id !== newest) throw new ConversationConflictError();
        rows.push(...messages);
      },
    };
    const [one, two] = [alone([], { store }).conversation, alone([], { store }).conversation];

    const ends = await Promise.allSettled([one.send('One?'), two.send('Two?')]);

    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(rows).toHaveLength(2);
  });

  test('takes rows as databases return them', async () => {
    const at = new Date('2026-05-03T09:00:00Z');
    const rows = [
      { id: 'm1', role: 'user', content: 'The pier gets a red lamp.', name: null, createdAt: at, excluded: 0 },
      { id: 'm2', role: 'assistant', content: 'Noted.', name: null, createdAt: at.getTime(), stopped: 1 },
      { id: 'm3', role: 'user', content: 'The password is sesame.', createdAt: null, excluded: 1 },
      ...smallTalk(40).map((message, i) => ({ ...message, id: `t${i}`, name: null })),
    ] as StoredRow[];
    const world = alone([], {
      store: { ...memoryStore(), load: () => ({ messages: rows }) },
      contextWindow: 400,
      reserveOutput: 50,
    });

    expect(await world.recalledFor('Which lamp does the pier get?')).toMatch(/3 May 2026.*red lamp/s);
    expect(await world.conversation.search('sesame')).toEqual([]);
    expect(await world.conversation.search('noted')).toMatchObject([{ id: 'm2', createdAt: at.toISOString() }]);
  });

  test.each([
    { row: { role: 'tool', content: 'x' }, says: "messages[1].role must be 'user' or 'assistant'" },
    { row: { role: 'user', content: null }, says: 'messages[1].content must be a string' },
    { row: { role: 'user', content: 'x', id: {} }, says: 'messages[1].id must be a string' },
    { row: { role: 'user', content: 'x', name: 3 }, says: 'messages[1].name must be a string' },
    { row: { role: 'user', content: 'x', createdAt: 'soon' }, says: 'messages[1].createdAt must be a Date' },
    { row: { role: 'user', content: 'x', createdAt: Number.NaN }, says: 'messages[1].createdAt must be a Date' },
    { row: { role: 'user', content: 'x', excluded: 'no' }, says: 'messages[1].excluded must be a boolean' },
    { row: { role: 'assistant', content: 'x', recalled: 'a,b' }, says: 'messages[1].recalled must be an array' },
    { row: { role: 'assistant', content: 'x', recalled: [null] }, says: 'messages[1].recalled must be an array' },
    { row: { role: 'assistant', content: 'x', recalled: [{ id: 5 }] }, says: 'messages[1].recalled must be an array' },
    { row: null, says: 'messages[1].role' },
  ])('names the row and its field: $says', async ({ row, says }) => {
    const { conversation, prompts } = alone([], {
      store: { load: () => ({ messages: [user('Hello.'), row as never] }) },
    });

    expect(await failureOf(conversation.send('Hello?'))).toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining(`store.load: ${says}`),
    });
    expect(prompts).toEqual([]);
  });

  test.each([{ name: null }, { name: 3 }, { id: 3 }, { createdAt: 'soon' }, { excluded: 1 }, { content: null }])(
    'an input with %j is an argument error, and nothing of it is sent or stored',
    async (field) => {
      const store = memoryStore();
      const { conversation, prompts } = alone([], { store });
      const input = [{ ...user('Hello?'), ...field } as never];

      const errors = [
        await failureOf(conversation.send(input)),
        await failureOf((async () => conversation.record(input, { text: 'Hi.' }))()),
      ];

      for (const error of errors)
        expect(error).toMatchObject({
          name: 'RequestValidationError',
          issues: [{ path: ['input', 0, Object.keys(field)[0]] }],
        });
      expect([prompts, (await store.load('talk'))?.messages]).toEqual([[], []]);
    },
  );

  test.each([
    { damage: { calibration: { latin: null } }, path: 'state.calibration.latin' },
    { damage: { layout: { start: 'x', key: 'k', lines: 1 } }, path: 'state.layout.start' },
    { damage: { lost: [{ text: 3 }] }, path: 'state.lost.0.section' },
    { damage: { compaction: { tokens: 'many' } }, path: 'state.compaction.tokens' },
    { damage: { snapshot: { summary: {}, pins: [] } }, path: 'state.snapshot.summary.version' },
    { damage: { excluded: [7] }, path: 'state.excluded.0' },
    { damage: { format: 2 }, path: 'state.format' },
  ])('a state with a damaged part ($path) is dropped, and the turn goes on', async ({ damage, path }) => {
    const store = memoryStore({ talk: smallTalk(400) });
    const errors: unknown[] = [];
    const options = { contextWindow: 4_000, reserveOutput: 100, onError: (error: unknown) => errors.push(error) };
    await alone([], { ...options, store }).conversation.send('Hello?');
    const load: ConversationStore['load'] = async (id) => {
      const { messages = [], state } = (await store.load(id)) ?? {};
      return { messages, state: { ...state, ...damage } as never };
    };
    const world = alone([], { ...options, store: { ...store, load } });

    const { report } = await world.conversation.send('Hello again?');

    expect(report.tokens.total).toBeLessThanOrEqual(3_900);
    expect(JSON.stringify(world.prompts[0]).length).toBeLessThan(25_000);
    expect(errors).toMatchObject([{ name: 'ConfigurationError', message: expect.stringContaining(path) }]);
  });

  test('record stores another reply to a stored question in place of the old one', async () => {
    const store = memoryStore();
    const { conversation } = alone([], { store });
    const question = { id: 'q1', ...user('When does the harbour open?') };
    await conversation.record([question], { text: 'At five.' });

    await conversation.record([question], { text: 'At six.' });
    expect((await store.load('talk'))?.messages.map(({ content }) => content)).toEqual([question.content, 'At six.']);

    await conversation.send('Thanks.');
    await conversation.record([question], { text: 'At seven.' }); // not the last one any more: nothing is removed
    const texts = (await store.load('talk'))?.messages.map(({ content }) => content);
    expect(texts).toEqual([question.content, 'At six.', 'Thanks.', expect.any(String), 'At seven.']);
  });

  test('excludes what an edit replaced behind the turn, four messages at a time', async () => {
    const history = smallTalk(40).map((message, i) => ({ ...message, id: `m${i}` }));
    const world = chatWorld({ messages: history as MessageInput[] });
    const conversation = world.open({ store: memoryStore({ talk: history }) });
    const slow = gate();
    let [running, most] = [0, 0];
    world.onRequest(async ({ url }) => {
      if (!url.includes('/exclude/')) return undefined;
      most = Math.max(most, ++running);
      await slow.passed;
      running -= 1;
      return undefined;
    });

    const response = await toResponse(conversation.edit('m0', 'Hello?'));
    expect(await response.text()).toContain('"type":"turn"'); // although no exclusion has ended
    slow.open();
    await conversation.idle();

    expect(most).toBe(4);
    expect(world.emulator.conversations.get('talk')?.messages.every(({ excluded }) => excluded)).toBe(true);
  });

  test('excludes and includes a message that the service does not have', async () => {
    const world = chatWorld();
    const conversation = world.open();
    const { messages } = await conversation.send('The password is sesame.');
    const id = String(messages[0]?.id);

    await conversation.exclude(id);
    expect(await conversation.search('sesame')).toEqual([]);
    await conversation.include(id);

    expect(await conversation.search('sesame')).toHaveLength(1);
    expect(await failureOf(conversation.exclude('unknown'))).toMatchObject({ status: 404 });
  });

  test('keeps the old reply if the new one fails', async () => {
    const world = alone([]);
    await world.conversation.send('Name a harbour.');
    world.emulator.faults.add({ match: { path: '/v1/chat/*' }, respond: { status: 500 } });

    expect(await failureOf(world.conversation.regenerate().final())).toMatchObject({ status: 500 });
    await world.conversation.send('Thanks.');

    expect(world.prompts.at(-1)?.messages).toHaveLength(3);
  });

  test('edits no reply', async () => {
    const store = memoryStore({ talk: [user('Hello', { id: 'm1' }), { role: 'assistant', content: 'Hi.', id: 'm2' }] });
    const { conversation, prompts } = alone([], { store });

    expect(await failureOf(conversation.edit('m2', 'Bye.').final())).toMatchObject({
      issues: [{ path: ['messageId'], message: 'must be the id of a message of the user' }],
    });
    expect(prompts).toEqual([]);
  });

  test('a question is dated when its turn begins, and before its reply', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-05-03T09:00:00Z') });
    onTestFinished(() => void vi.useRealTimers());
    const world = chatWorld();
    world.onRequest(() => void vi.advanceTimersByTime(2_000));

    const { messages } = await world.open({ context: undefined }).send('When does the ferry leave?');

    expect(messages.map(({ createdAt }) => createdAt)).toEqual([
      '2026-05-03T09:00:00.000Z',
      '2026-05-03T09:00:02.000Z',
    ]);
  });

  test('edits a message: it and all after it are replaced, and forgotten', async () => {
    const history = [user('The password is sesame.', { id: 'm1' }), user('And the lamp is red.', { id: 'm2' })];
    const store = memoryStore({ talk: history });
    const { conversation, prompts } = alone([], { store });

    await conversation.edit('m1', 'The password is secret.').final();

    expect(prompts[0]?.messages).toEqual([{ role: 'user', content: 'The password is secret.' }]);
    const { messages = [] } = (await store.load('talk')) ?? {};
    expect(messages).toHaveLength(2);
    expect(messages[0]).toMatchObject({ role: 'user', content: 'The password is secret.' });
    expect(await conversation.search('sesame')).toEqual([]);
    for (const id of ['m2', String(messages[1]?.id)])
      expect(await failureOf(conversation.edit(id, 'Gone.').final())).toMatchObject({
        message: expect.stringContaining('messageId: must be the id of a message'),
      });
    await conversation.exclude('m1');
    await conversation.edit('m1', 'The password is not here.').final(); // by the id that the page has
    expect(prompts[1]?.messages).toEqual([{ role: 'user', content: 'The password is not here.' }]);
    expect(await conversation.search('password')).toHaveLength(1); // no longer excluded
  });

  test('forks: the copy has the messages up to one, and both go on by themselves', async () => {
    const history = [
      user('One.', { id: 'm1' }),
      { role: 'assistant', content: 'Two.', id: 'm2' },
      user('Three.', { id: 'm3' }),
    ];
    const store = memoryStore({ talk: history });
    const { conversation } = alone([], { store });

    const copy = await conversation.fork('m2');
    await copy.send('Other.');

    expect((await store.load(copy.id))?.messages.map(({ content }) => content).slice(0, 3)).toEqual([
      'One.',
      'Two.',
      'Other.',
    ]);
    expect((await store.load('talk'))?.messages).toEqual(history);
  });

  test('says that messages need ids to be replaced, before anything is sent', async () => {
    const history = [user('Hello?'), { role: 'assistant', content: 'Hi.' }];
    const { conversation, prompts } = alone([], { store: { ...memoryStore(), load: () => ({ messages: history }) } });

    expect(await failureOf(conversation.regenerate().final())).toMatchObject({
      message: 'store.load must return the id of each message: store.append needs them.',
    });
    expect(prompts).toEqual([]);
  });

  test('never saves an older state over a newer one, however slow the store is', async () => {
    const saved: number[] = [];
    const slow = gate();
    const saveState: ConversationStore['saveState'] = async (_, { revision }) => {
      if (revision === 1) await slow.passed;
      saved.push(revision);
    };
    const { conversation } = alone([user('One.', { id: 'm1' })], { store: { ...memoryStore(), saveState } });

    const both = [conversation.exclude('m1'), conversation.include('m1')];
    await giveTime(20);
    slow.open();
    await Promise.all(both);

    expect(saved).toEqual([1, 2]);
  });

  test('says what a store lacks', async () => {
    const { conversation } = alone([], { store: { load: () => ({ messages: [user('Hello?')] }) } });

    expect(await failureOf(conversation.regenerate().final())).toMatchObject({
      message: 'To replace messages, the store needs append.',
    });
  });

  test.each(['', '  \n', []])('rejects an empty input (%j) before anything is sent', async (input) => {
    const world = alone([]);

    expect(await failureOf(world.conversation.send(input))).toMatchObject({ name: 'RequestValidationError' });
    expect(await failureOf(world.conversation.stream(input).final())).toMatchObject({ name: 'RequestValidationError' });
    expect(world.prompts).toEqual([]);
  });
});

describe('a turn that waits', () => {
  test.each([
    { options: { deadline: 50 }, error: 'APITimeoutError' },
    { options: { timeout: 50 }, error: 'APITimeoutError' },
    { options: { signal: AbortSignal.timeout(50) }, error: 'AbortError' },
  ])('a turn that waits for a store that hangs ends with $error after $options', async ({ options, error }) => {
    const { conversation } = alone([], { store: { load: () => new Promise(() => {}) } });

    expect(await failureOf(conversation.send('Hello?', options))).toMatchObject({ name: error });
  });

  test.each([{ deadline: 50 }, { timeout: 50, maxRetries: 0 }])('for the context ends after %j', async (options) => {
    const world = chatWorld();
    const never = gate();
    world.onRequest(({ url }) => (url.includes('/api/') ? never.passed : undefined));

    expect(await failureOf(world.open().send('Hello?', options))).toMatchObject({ name: 'APITimeoutError' });
    never.open();
  });

  test.each([
    { maxRetries: 0, reads: 1 },
    { maxRetries: 1, reads: 2 },
  ])(
    'a turn that waits for the context repeats its read as often as its maxRetries says: $maxRetries',
    async ({ maxRetries, reads }) => {
      const world = chatWorld();
      world.onRequest(({ url }) =>
        url.endsWith('/api/context/talk') || url.includes('/api/context?')
          ? new Response('{}', { status: 503, headers: { 'retry-after': '0' } })
          : undefined,
      );

      await failureOf(world.open().send('Hello?', { maxRetries }));

      expect(world.count('context')).toBe(reads);
    },
  );

  test('a turn that waits for the turn before ends with its own deadline', async () => {
    const world = alone([]);
    const slow = gate();
    world.onRequest(({ url }) => (url.endsWith('/completions') ? slow.passed : undefined));
    const first = world.conversation.send('One?');

    const error = await failureOf(world.conversation.send('Two?', { deadline: 50 }));
    slow.open();
    await first;

    expect(error).toMatchObject({ name: 'APITimeoutError', message: expect.stringContaining('The previous turn') });
    expect(world.prompts).toHaveLength(1);
  });

  /** Sends a turn with a store in which one function hangs, and lets 31 seconds pass, or aborts and lets 5 pass. */
  async function hanging(name: 'question' | 'reply' | 'saveState', limit: 'deadline' | 'timeout' | 'signal') {
    const store = memoryStore();
    const hangs = vi.fn(() => new Promise<never>(() => {}));
    const onError = vi.fn();
    const append: ConversationStore['append'] = (id, messages, place) => {
      const isIt = messages[0]?.role === (name === 'question' ? 'user' : 'assistant');
      return isIt ? hangs() : store.append(id, messages, place);
    };
    const hanging = name === 'saveState' ? { saveState: hangs } : { append };
    const world = alone([], { store: { ...store, ...hanging }, onError });
    const stop = new AbortController();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const options = limit === 'signal' ? { signal: stop.signal } : { [limit]: 30_000 };
    const turn = world.conversation.send('One?', options).catch((error: unknown) => error);
    await vi.waitFor(() => expect(hangs).toHaveBeenCalled(), { timeout: 30_000 });
    if (limit === 'signal') stop.abort();
    await vi.advanceTimersByTimeAsync(limit === 'signal' ? 5_000 : 31_000);
    return { end: await turn, store, onError };
  }

  test.each([
    { limit: 'deadline', cause: 'APITimeoutError' },
    { limit: 'timeout', cause: 'APITimeoutError' },
    { limit: 'signal', cause: 'AbortError' },
  ] as const)('a turn that waits for the append of its reply ends with its $limit', async ({ limit, cause }) => {
    const { end } = await hanging('reply', limit);

    expect(end).toMatchObject({
      name: 'ConversationStoreError',
      cause: { name: cause },
      turn: { text: expect.stringMatching(/./) },
    });
  });

  test.each([
    {
      limit: 'deadline',
      error: { name: 'ConversationStoreError', cause: { name: 'APITimeoutError' }, turn: undefined },
    },
    {
      limit: 'timeout',
      error: { name: 'ConversationStoreError', cause: { name: 'APITimeoutError' }, turn: undefined },
    },
    { limit: 'signal', error: { name: 'ConversationStoreError', cause: { name: 'AbortError' } } },
  ] as const)('a turn that waits for the append of its question ends with its $limit', async ({ limit, error }) => {
    expect((await hanging('question', limit)).end).toMatchObject(error);
  });

  test.each(['deadline', 'timeout', 'signal'] as const)(
    'a turn that waits for a store whose saveState hangs ends with its %s, and is stored',
    async (limit) => {
      const { end, store, onError } = await hanging('saveState', limit);

      expect(end).toMatchObject({ stopped: false, text: expect.stringMatching(/./) });
      expect(onError).toHaveBeenCalledOnce();
      expect((await store.load('talk'))?.messages).toHaveLength(2);
    },
  );

  test('a turn that waits for a store after it was stopped has five seconds', async () => {
    const stop = new AbortController();
    const store = memoryStore();
    const append: ConversationStore['append'] = (id, messages, place) =>
      messages[0]?.role === 'user' ? store.append(id, messages, place) : new Promise(() => {});
    const { conversation, emulator } = alone([], { store: { ...store, append } });
    emulator.chat.on('story', 'One two three four five six seven.');
    const reply = conversation.stream('Tell a story.', { signal: stop.signal });
    const texts = reply[Symbol.asyncIterator]();
    await texts.next();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let hasEnded = false;
    const end = failureOf(reply.final()).finally(() => {
      hasEnded = true;
    });

    stop.abort();
    await vi.advanceTimersByTimeAsync(4_900);
    expect(hasEnded).toBe(false);
    await vi.advanceTimersByTimeAsync(200);

    expect(await end).toMatchObject({ name: 'ConversationStoreError', turn: { stopped: true } });
  });

  test('a turn that waits for nothing: record() of a conversation that is closed, although the service hangs', async () => {
    const world = chatWorld();
    const never = gate();
    const store = memoryStore();
    const conversation = world.open({ store });
    world.onRequest(({ url }) => (url.includes('/api/') ? never.passed : undefined));

    const recorded = conversation.record('Hello?', { text: 'Hi.' });
    await vi.waitFor(async () => expect((await store.load('talk'))?.messages).toHaveLength(2), 10_000);
    await conversation[Symbol.asyncDispose]();
    await recorded;

    never.open();
  });

  test('record() of a conversation that is closed has five seconds for a store that hangs', async () => {
    const world = chatWorld();
    const append = vi.fn(() => new Promise<never>(() => {}));
    const conversation = world.open({ store: { ...memoryStore(), append } });
    const recorded = failureOf(conversation.record('Hello?', { text: 'Hi.' }));
    await vi.waitFor(() => expect(append).toHaveBeenCalled());
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let hasEnded = false;

    const end = conversation[Symbol.asyncDispose]().finally(() => {
      hasEnded = true;
    });
    await vi.advanceTimersByTimeAsync(4_900);
    expect(hasEnded).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    await end;

    expect(await recorded).toMatchObject({ name: 'ConversationStoreError' });
  });

  test('a turn that waits for a context read in the background ends with close()', async () => {
    const world = chatWorld();
    const never = gate();
    const conversation = world.open();
    world.onRequest(({ url }) => (url.includes('/api/') ? never.passed : undefined));

    conversation.compactWhenDue();
    conversation.close();
    await conversation.idle();

    never.open();
  });

  test('a turn that waits for a silent model ends its request when the reply is left', async () => {
    const world = alone([]);
    world.emulator.faults.add({
      match: { path: '/v1/chat/*' },
      respond: { type: 'cutStream', afterEvents: 3, how: 'stall' },
    });
    let aborted = false;
    world.onRequest((request) => {
      request.signal.addEventListener('abort', () => {
        aborted = true;
      });
    });
    const reply = world.conversation.stream('Hello?')[Symbol.asyncIterator]();
    await reply.next();
    void reply.next();
    await reply.return?.();

    expect(aborted).toBe(true);
  });
});

describe('odd text', () => {
  test('text with a lone surrogate in a pin, a stored message or a stopped reply does not fail the next turn', async () => {
    const world = chatWorld();
    cannedContext(world, {
      pins: [pin('Pinned \ud83d.', 'x')],
      summary: summary({ goals: ['A goal \udc00.'] }),
      memory: [memory('fact', 'k', 'A fact \ud800.')],
    });
    const conversation = world.open({
      history: [user('Old \ud83d message about the lamp.'), ...smallTalk(80)],
      contextWindow: 900,
      reserveOutput: 50,
    });

    await conversation.record('Hello?', { text: 'A stopped reply \ud83d', stopped: true });
    await conversation.send('What about the lamp?');

    expect(JSON.stringify(world.prompts[0])).not.toMatch(/\\ud[89ab]|\\ud[cdef]/);
  });

  test.runIf(AT_LENGTH)('text of 200,000 messages is no RangeError', async () => {
    const { recalledFor } = alone([user('The pier gets a red lamp.'), ...smallTalk(200_000)]);

    expect(await recalledFor('Which lamp does the pier get?')).toContain('red lamp');
  });

  test('text from a service that leaves out a section is no TypeError', async () => {
    const world = chatWorld();
    const context = world.context.withOptions({ validation: 'report' });
    world.onRequest(({ url, method }) =>
      url.includes('/api/context') && method === 'GET'
        ? Response.json({
            success: true,
            context: {
              rollingSummary: { version: 1, goals: null, decisions: [null, 1] },
              metadata: {} as ContextMetadata,
            },
          })
        : undefined,
    );

    const { report } = await world.open({ context }).send('Hello?');

    expect(report.summaryVersion).toBe(1);
  });

  test('text that the caller changes after the call is stored as it was', async () => {
    const store = memoryStore();
    const { conversation } = alone([], { store });
    const input = [user('Before.')];

    const turn = conversation.send(input);
    (input[0] as ConversationMessage).content = 'After.';
    input.push(user('More.'));
    await turn;

    expect((await store.load('talk'))?.messages.map(({ content }) => content)[0]).toBe('Before.');
  });
});

/** A store that also stores turns in the emulator, as a service has them. */
function withEmulator(
  store: ReturnType<typeof memoryStore>,
  { emulator }: Pick<ReturnType<typeof chatWorld>, 'emulator'>,
) {
  const append: typeof store.append = (id, messages, place) => {
    emulator.conversations.append(
      id,
      messages.map(({ id, role, content }) => ({ id, role: role as 'user', content })),
    );
    return store.append(id, messages, place);
  };
  return { ...store, append };
}
