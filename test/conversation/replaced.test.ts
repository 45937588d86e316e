import {
  type Conversation,
  ConversationConflictError,
  type ConversationMessage,
  type ConversationStore,
  memoryStore,
  type StoredRow,
  toResponse,
} from 'context-gateway/conversation';
import type { MessageInput } from 'context-gateway-emulator';
import { describe, expect, test, vi } from 'vitest';
import { giveTime } from '../helpers/give-time.js';
import { failureOf } from '../helpers/service.js';
import { alone, user, withEmulator } from './alone.js';
import { assistant, chatWorld, elsewhere, faked, gate, smallTalk, textsIn } from './world.js';

describe('what an app stores', () => {
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
    expect(await textsIn(store)).toEqual(['Name a harbour.', 'New reply.']);
    const { messages = [] } = world.emulator.conversations.get('talk') ?? {};
    expect(messages.filter(({ excluded }) => excluded)).toMatchObject([{ id: before[1]?.id }]);
  });

  const loading: [string, (talk: Conversation) => unknown][] = [
    ['search', (talk) => talk.search('harbour')],
    ['buildMessages', (talk) => talk.buildMessages('Harbour?')],
    ['nothing', () => {}],
  ];
  test.each(
    loading.flatMap(([name, load]) => [
      { name, load, how: 'regenerate', turn: (talk: Conversation) => talk.regenerate() },
      { name, load, how: 'edit', turn: (talk: Conversation) => talk.edit('m0', 'Mine?') },
    ]),
  )('$how removes nothing that another process stored meanwhile, although $name loaded it', async ({ load, turn }) => {
    const history = [...smallTalk(3), assistant('It has a harbour.', 'm3')];
    const world = chatWorld({ messages: history as MessageInput[] });
    const store = memoryStore({ talk: history });
    const talk = world.open({ store });
    const slow = world.hold('/completions');
    const mine = failureOf(turn(talk).final());
    await vi.waitFor(() => expect(world.count('chat')).toBe(1), { timeout: 30_000 });

    await alone([], { store: elsewhere(store) }).conversation.send('Theirs?');
    await load(talk);
    slow.open();

    expect(await mine).toMatchObject({ name: 'ConversationConflictError', turn: { text: expect.stringMatching(/./) } });
    const texts = history.map(({ content }) => content);
    expect(await textsIn(store)).toEqual([...texts, 'Theirs?', expect.any(String)]);
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
    const [one, two] = [store, elsewhere(store)].map((its) => alone([], { store: its }).conversation);

    const ends = await Promise.allSettled([one?.send('One?'), two?.send('Two?')]);

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
    const world = alone([], { store: { load: () => ({ messages: rows }) }, contextWindow: 400, budget: 400 });

    expect(await world.recalledFor('Which lamp does the pier get?')).toMatch(/3 May 2026.*red lamp/s);
    expect(await world.conversation.search('sesame')).toEqual([]);
    expect(await world.conversation.search('noted')).toMatchObject([{ id: 'm2', createdAt: at.toISOString() }]);
  });

  test.each([
    { row: { role: 'tool', content: 'x' }, says: "messages[1].role must be 'user' or 'assistant'" },
    { row: { role: 'user', content: null }, says: 'messages[1].content must be a string' },
    { row: { role: 'user', content: 'x', createdAt: Number.NaN }, says: 'messages[1].createdAt must be a Date' },
    { row: { role: 'user', content: 'x', excluded: 'no' }, says: 'messages[1].excluded must be a boolean' },
    { row: { role: 'assistant', content: 'x', recalled: [null] }, says: 'messages[1].recalled must be an array' },
    { row: null, says: 'messages[1].role' },
  ])('names the row and its field: $says', async ({ row, says }) => {
    const load = () => ({ messages: [user('Hello.'), row as never] });
    const { conversation, prompts } = alone([], { store: { load } });

    const message = expect.stringContaining(`store.load: ${says}`);
    expect(await failureOf(conversation.send('Hello?'))).toMatchObject({ name: 'ConfigurationError', message });
    expect(prompts).toEqual([]);
  });

  test.each([
    { damage: { lost: [{ text: 3 }] }, path: 'state.lost.0.section' },
    { damage: { compaction: { last: { level: 'deep', tokens: 'many' } } }, path: 'state.compaction.last.tokens' },
    { damage: { snapshot: { summary: {}, pins: [] } }, path: 'state.snapshot.summary.version' },
    { damage: { format: 2 }, path: 'state.format' },
  ])('a damaged part of the state ($path) is left out, and the turn goes on', async ({ damage, path }) => {
    const store = memoryStore({ talk: smallTalk(400) });
    const options = { budget: 3_900 };
    await alone([], { ...options, store }).conversation.send('Hello?');
    const load: ConversationStore['load'] = async (id) => {
      const { messages = [], state } = (await store.load(id)) ?? {};
      return { messages, state: { ...state, ...damage } as never };
    };
    const world = alone([], { ...options, store: { ...store, load } });

    const { report } = await world.conversation.send('Hello again?');

    expect(report.tokens.total).toBeLessThanOrEqual(3_900);
    expect(JSON.stringify(world.prompts[0]).length).toBeLessThan(25_000);
    expect(world.errors).toMatchObject([{ name: 'ConfigurationError', message: expect.stringContaining(path) }]);
  });

  test('the other parts of a damaged state stay: an excluded message stays out', async () => {
    const store = memoryStore({ talk: [user('The secret berth is 42.', { id: 'm1' })] });
    await alone([], { store }).conversation.exclude('m1');
    const load: ConversationStore['load'] = async (id) => {
      const { messages = [], state } = (await store.load(id)) ?? {};
      return { messages, state: { ...state, compaction: null } as never };
    };
    const world = alone([], { store: { ...store, load } });

    await world.conversation.send('Which berth is secret?');

    expect(world.errors).toMatchObject([{ message: expect.stringContaining('state.compaction is invalid') }]);
    expect(JSON.stringify(world.prompts)).not.toContain('42');
  });

  test('record stores another reply to a stored question in place of the old one', async () => {
    const { conversation, store } = alone([]);
    const question = { id: 'q1', ...user('When does the harbour open?') };
    await conversation.record([question], { text: 'At five.' });

    await conversation.record([question], { text: 'At six.' });
    expect(await textsIn(store)).toEqual([question.content, 'At six.']);

    await conversation.send('Thanks.');
    await conversation.record([question], { text: 'At seven.' }); // not the last one any more: nothing is removed
    expect(await textsIn(store)).toEqual([question.content, 'At six.', 'Thanks.', expect.any(String), 'At seven.']);
  });

  test('excludes what an edit replaced behind the turn, four messages at a time', async () => {
    const world = chatWorld({ messages: smallTalk(40) });
    const conversation = world.open({ history: smallTalk(40) });
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

  test('edits no reply', async () => {
    const { conversation, prompts } = alone(smallTalk(2));

    const issues = [{ path: ['messageId'], message: 'must be the id of a message of the user' }];
    expect(await failureOf(conversation.edit('m1', 'Bye.').final())).toMatchObject({ issues });
    expect(prompts).toEqual([]);
  });

  test('a question is dated when its turn begins, and before its reply', async () => {
    faked('clock', new Date('2026-05-03T09:00:00Z'));
    const world = chatWorld();
    world.onRequest(() => void vi.advanceTimersByTime(2_000));

    const { messages } = await world.open({ context: undefined }).send('When does the ferry leave?');

    const times = messages.map(({ createdAt }) => createdAt);
    expect(times).toEqual(['2026-05-03T09:00:00.000Z', '2026-05-03T09:00:02.000Z']);
  });

  test('edits a message: it and all after it are replaced, and forgotten', async () => {
    const history = [user('The password is sesame.', { id: 'm1' }), user('And the lamp is red.', { id: 'm2' })];
    const { conversation, prompts, store } = alone(history);

    await conversation.edit('m1', 'The password is secret.').final();

    expect(prompts[0]?.messages).toEqual([{ role: 'user', content: 'The password is secret.' }]);
    expect(await textsIn(store)).toEqual(['The password is secret.', expect.any(String)]);
    expect(await conversation.search('sesame')).toEqual([]);
    const message = expect.stringContaining('messageId: must be the id of a message');
    expect(await failureOf(conversation.edit('m2', 'Gone.').final())).toMatchObject({ message });
    await conversation.exclude('m1');
    await conversation.edit('m1', 'The password is not here.').final(); // by the id that the page has
    expect(prompts[1]?.messages).toEqual([{ role: 'user', content: 'The password is not here.' }]);
    expect(await conversation.search('password')).toHaveLength(1); // no longer excluded
  });

  test.each([
    { has: { append: () => {} }, says: 'store.load must return the id of each message: store.append needs them.' },
    { has: {}, says: 'To replace messages, the store needs append.' },
  ])('says what a store lacks to replace messages, before anything is sent: $says', async ({ has, says }) => {
    const load = () => ({ messages: [user('Hello?'), assistant('Hi.')] });
    const { conversation, prompts } = alone([], { store: { ...has, load } });

    expect(await failureOf(conversation.regenerate().final())).toMatchObject({ message: says });
    expect(prompts).toEqual([]);
  });

  test('never saves an older state over a newer one, however slow the store is', async () => {
    const saved: number[] = [];
    const slow = gate();
    const saveState: ConversationStore['saveState'] = async (_, { revision }) => {
      if (revision === 1) await slow.passed;
      saved.push(revision);
    };
    const { conversation } = alone([], {
      store: { ...memoryStore({ talk: [user('One.', { id: 'm1' })] }), saveState },
    });

    const both = [conversation.exclude('m1'), conversation.include('m1')];
    await giveTime(20);
    slow.open();
    await Promise.all(both);

    expect(saved).toEqual([1, 2]);
  });
});
