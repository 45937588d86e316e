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
import { metadata, summary } from './samples.js';
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
    ['messages', (talk) => talk.messages()],
    ['nothing', () => {}],
  ];
  test.each(
    loading.flatMap(([name, load]) => [
      { name, load, how: 'regenerate', turn: (talk: Conversation) => talk.regenerate() },
      { name, load, how: 'edit', turn: (talk: Conversation) => talk.edit('m0', 'Mine?') },
    ]),
  )(
    '$how removes nothing that another process stored meanwhile, although $name loaded it',
    async ({ how, load, turn }) => {
      const history = [...smallTalk(3), assistant('It has a harbour.', 'm3')];
      const world = chatWorld({ messages: history as MessageInput[] });
      const store = memoryStore({ talk: history });
      const talk = world.open({ store });
      const slow = world.hold('/completions');
      const mine = turn(talk)
        .final()
        .catch((error: unknown) => error);
      await vi.waitFor(() => expect(world.count('chat')).toBe(1), { timeout: 30_000 });

      await alone([], { store: elsewhere(store) }).conversation.send('Theirs?');
      await load(talk);
      slow.open();

      const ended = await mine;
      const texts = [...history.map(({ content }) => content), 'Theirs?', expect.any(String)];
      if (how === 'edit') {
        const conflict = { name: 'ConversationConflictError', turn: { text: expect.stringMatching(/./) } };
        expect(ended).toMatchObject(conflict);
        expect(await textsIn(store)).toEqual(texts);
      } else {
        expect(await textsIn(store)).toEqual([...texts, Object(ended).text]); // added, beside the one before
      }
    },
  );

  test('a store whose load returns its own array finds the conflict of an edit', async () => {
    const rows: ConversationMessage[] = [user('One?', { id: 'q1' })];
    const append: ConversationStore['append'] = (_, messages, { newest }) => {
      if (newest !== undefined && rows.at(-1)?.id !== newest) throw new ConversationConflictError();
      return messages.map((message) => rows.push(message)).length;
    };
    const store = { load: () => ({ messages: rows, edits: 0 }), append, setExcluded: () => {} };
    const { conversation } = alone([], { store });
    const turn = await conversation.prepare('Two?', { edit: 'q1' });

    await conversation.add([user('Theirs.')]);

    expect(await failureOf(turn.finish('Two.'))).toMatchObject({ name: 'ConversationConflictError' });
    expect(rows.map(({ content }) => content)).toEqual(['One?', 'Theirs.']);
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
    { row: { role: 'system', content: 'x' }, says: "messages[1].role must be 'user', 'assistant' or 'tool'" },
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
  ])(
    'a state that cannot be read ($path) is never saved over, and turns go on without it',
    async ({ damage, path }) => {
      const damaged = { format: 1, lost: [], compaction: {}, ...damage } as never;
      const store = memoryStore();
      await store.saveState('talk', damaged, 0);
      const world = chatWorld();
      const conversation = world.open({ store }); // which reads a context, and so has a state to save

      await conversation.send('Hello?');
      await conversation.send('And again?');

      expect(await store.load('talk')).toMatchObject({ state: damaged, revision: 1, messages: { length: 4 } });
      expect(world.errors).toMatchObject([{ name: 'ConfigurationError', message: expect.stringContaining(path) }]);
    },
  );

  test('a state that can be read again is saved again', async () => {
    const store = memoryStore();
    await store.saveState('talk', { format: 2 } as never, 0);
    const conversation = chatWorld().open({ store });
    await conversation.send('Hello?');

    await store.saveState('talk', { format: 1, lost: [], compaction: {} }, 1);
    await conversation.send('Hello again?');

    expect((await store.load('talk'))?.revision).toBe(3);
  });

  test('processes that save states at once join them: the newer context, and all lost statements', async () => {
    const store = memoryStore();
    const saveState = vi.fn(store.saveState);
    const lost = (text: string) => ({ section: 'requirements', text, until: 1 }) as const;
    const stateWith = (version: number, text: string) => ({
      ...{ format: 1 as const, compaction: {}, lost: [lost('Both.'), lost(text)] },
      snapshot: { summary: summary({ version }), pins: [], metadata: metadata(), messages: 0, readAt: 0 },
    });
    await store.saveState('talk', stateWith(0, 'Mine.'), 0);
    const conversation = chatWorld().open({ store: { ...store, saveState } });
    const turn = await conversation.prepare('Hello?'); // which has read it, and a context

    await store.saveState('talk', stateWith(2, 'Theirs.'), 1);
    await turn.finish('Hello.');

    const { state, revision } = Object(await store.load('talk'));
    expect(state.lost.map(({ text }: { text: string }) => text)).toEqual(['Both.', 'Theirs.', 'Mine.']);
    expect([state.snapshot.summary.version, revision]).toEqual([2, 3]);
    expect(saveState).toHaveBeenCalledTimes(2);
  });

  test('a state that did not change is not saved', async () => {
    const store = memoryStore({ talk: [user('One.', { id: 'm1' })] });
    const { conversation } = alone([], { store });

    await conversation.exclude('m1');
    await conversation.exclude('m1', { undo: true });

    expect((await store.load('talk'))?.revision).toBe(0);
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
    const { messages = [] } = world.emulator.conversations.get('talk') ?? {};
    expect(messages.filter(({ excluded }) => !excluded)).toMatchObject([{ id: 'm0' }]); // the edited one keeps its id
  });

  test('excludes and includes a message that the service does not have', async () => {
    const world = chatWorld();
    const conversation = world.open();
    const { messages } = await conversation.send('The password is sesame.');
    const id = String(messages[0]?.id);

    await conversation.exclude(id);
    expect(await conversation.search('sesame')).toEqual([]);
    await conversation.exclude(id, { undo: true });

    expect(await conversation.search('sesame')).toHaveLength(1);
    expect(await failureOf(conversation.exclude('unknown'))).toMatchObject({ status: 404 });
  });

  test('edits no reply', async () => {
    const { conversation, prompts } = alone(smallTalk(2));

    const issues = [{ path: ['messageId'], message: 'must be the id of a message of the user' }];
    expect(await failureOf(conversation.edit('m1', 'Bye.').final())).toMatchObject({ issues });
    expect(prompts).toEqual([]);
  });

  test.each(['', ' ', '\0', 42, [user('Hi?')]])('edits to no text %j: nothing is sent or stored', async (text) => {
    const { conversation, prompts, store } = alone(smallTalk(2));
    const before = await store.load('talk');

    const error = await failureOf(conversation.edit('m0', text as never).final());

    expect(error).toMatchObject({ name: 'RequestValidationError' });
    expect(prompts).toEqual([]);
    expect(await store.load('talk')).toEqual(before);
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

  const parts = { append: () => 0, setExcluded: () => {} };
  const [rows, edits] = [[user('Hello?'), assistant('Hi.')], null];
  test.each([
    {
      store: { load: () => ({ messages: rows, edits }) },
      says: 'regenerate needs a store with append and setExcluded.',
    },
    { store: { ...parts, load: () => ({ messages: rows, edits }) }, says: 'messages[0].id is missing' },
    { store: { ...parts, load: () => ({ messages: [] }) }, says: 'store.load must return edits' },
    { store: { ...parts, load: () => ({ messages: [], edits: 'a' as never }) }, says: 'as edits, a whole number' },
    { store: { ...parts, load: () => ({ messages: [], edits, revision: -1 }) }, says: 'as revision, a whole number' },
  ])('says what a store lacks to replace messages, before anything is sent: $says', async ({ store, says }) => {
    const { conversation, prompts } = alone([], { store });

    const error = { name: 'ConfigurationError', message: expect.stringContaining(says) };
    expect(await failureOf(conversation.regenerate().final())).toMatchObject(error);
    expect(prompts).toEqual([]);
  });

  test.each([undefined, ['q1'], 2, -1, 0.5])(
    'append must return how many messages it added, and not %j',
    async (added) => {
      const append = vi.fn().mockReturnValue(added);
      const { conversation, prompts } = alone([], { store: { ...parts, load: () => undefined, append } });

      const message = 'store.append must return how many messages it added: those whose id was not stored.';
      expect(await failureOf(conversation.send('One?'))).toMatchObject({ name: 'ConfigurationError', message });
      expect(append).toHaveBeenCalledOnce();
      expect(prompts).toEqual([]);
    },
  );

  test('saves one state after the other, however slow the store is', async () => {
    const store = memoryStore({ talk: [user('One.', { id: 'm1' })] });
    const slow = gate();
    const saved: number[] = [];
    const saveState: ConversationStore['saveState'] = async (id, state, revision) => {
      if (revision === 1) await slow.passed;
      saved.push(revision);
      return store.saveState(id, state, revision);
    };
    const world = chatWorld();
    const conversation = world.open({ store: { ...store, saveState } });
    await conversation.send('Hello?'); // reads a context, and saves it

    const both = [conversation.exclude('m1'), conversation.exclude('m1', { undo: true })];
    await giveTime(20);
    slow.open();
    await Promise.all(both);

    expect(saved).toEqual(saved.map((_, at) => at));
    expect(saved.length).toBeGreaterThan(1);
    expect(world.errors).toEqual([]);
  });
});
