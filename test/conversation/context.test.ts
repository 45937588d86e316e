import { inspect } from 'node:util';
import { APIAbortError, AuthenticationError, ConfigurationError, RequestValidationError } from 'context-gateway';
import { type Conversation, createConversation, memoryStore } from 'context-gateway/conversation';
import { describe, expect, test, vi } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { pin } from './samples.js';
import { cannedContext, chatWorld, faked, gate, smallTalk } from './world.js';

describe('the context', () => {
  test('is read once for all turns within 30 s, then behind a turn, and after 5 min before a turn', async () => {
    faked('clock', 1_000_000);
    const world = chatWorld();
    const conversation = world.open();
    const readsAt = async (time: number): Promise<number> => {
      vi.setSystemTime(time);
      await conversation.prepare('One?');
      await conversation.idle();
      return world.count('context');
    };
    expect(await readsAt(1_000_000)).toBe(1);
    expect(await readsAt(1_029_000)).toBe(1);
    const slow = world.hold('/api/');

    vi.setSystemTime(1_031_000);
    const { report } = await conversation.prepare('Two?');
    expect(report.stale).toBe(true);
    expect(world.count('context')).toBe(2);
    slow.open();
    await conversation.idle();

    expect((await conversation.prepare('Three?')).report.stale).toBe(false);
    expect(await readsAt(1_332_000)).toBe(3);
  });

  test('is read again after the clock was set back', async () => {
    faked('clock', 10_000_000);
    const world = chatWorld();
    const conversation = world.open();
    await conversation.prepare('One?');

    vi.setSystemTime(1_000_000);
    await conversation.prepare('Two?');
    await conversation.idle();
    await conversation.prepare('Three?');

    expect(world.count('context')).toBe(2);
  });

  test.each<[string, (world: ReturnType<typeof chatWorld>, talk: Conversation) => Promise<unknown>]>([
    ['pin', ({ context }) => context.pin('talk', 'm1')],
    ['unpin, even if it fails', ({ context }) => failureOf(context.unpin('talk', 'm1'))],
    ['include', ({ context }) => context.include('talk', 'm1')],
    ['compact', ({ context }) => context.compact('talk')],
    ['a write of another user', ({ context }) => failureOf(context.forUser('other_user_token').pin('talk', 'm1'))],
    [
      'a write of a client with other options',
      ({ context }) => context.withOptions({ timeout: 9_000 }).pin('talk', 'm1'),
    ],
    ['exclude', (_, talk) => talk.exclude('m1')],
  ])('is read again after %s, also by another object', async (_, change) => {
    const world = chatWorld({ messages: smallTalk(4) });
    const store = memoryStore();
    const conversation = world.open({ store });
    await conversation.send('One?');

    await change(world, conversation);
    await world.open({ store }).send('Two?');
    await world.open({ store }).send('Three?');

    expect(world.count('context')).toBe(2);
  });

  test("is not read again after a write in another conversation, and the user's memory is after one of the user", async () => {
    const world = chatWorld();
    const conversation = world.open();
    await conversation.prepare('One?');

    await failureOf(world.context.pin('other', 'm1'));
    await world.context.memory.create({ type: 'fact', key: 'home', content: 'The user lives in Oslo.' });
    const { context } = await conversation.prepare('Two?');

    expect(context?.content).toContain('The user lives in Oslo.');
    expect([world.count('context'), world.count('memory')]).toEqual([1, 2]);
  });

  test('is read again after a change that happened during a read', async () => {
    const world = chatWorld({ messages: smallTalk(4) });
    const conversation = world.open();
    const slow = gate();
    const canned = cannedContext(world, { read: () => slow.passed });

    const early = conversation.prepare('One?');
    await vi.waitFor(() => expect(world.count('context')).toBe(1), { timeout: 30_000 });
    canned.pins = [pin('Pinned.')];
    await world.context.pin('talk', 'm1');
    slow.open();
    await early;
    const { context } = await conversation.prepare('Two?');

    expect(world.count('context')).toBe(2);
    expect(context?.content).toContain('Pinned.');
  });

  test('is sent from the last read if it cannot be read, and the report says that it is stale', async () => {
    faked('clock', 1_000_000);
    const world = chatWorld();
    const canned = cannedContext(world, { pins: [pin('Pinned.')] });
    const conversation = world.open();
    await conversation.prepare('One?');

    vi.setSystemTime(2_000_000);
    canned.failure = Response.json({ success: false, error: 'Out of order' }, { status: 500 });
    const { report, messages } = await conversation.prepare('Two?');

    expect(report.stale).toBe(true);
    expect(messages[0]?.content).toContain('Pinned.');
    expect(JSON.stringify(messages)).not.toContain('Out of order');
    expect(world.errors).toMatchObject([{ name: 'InternalServerError' }]);
  });

  test("that the service does not have leaves the user's memory, which a refusal takes away", async () => {
    const world = chatWorld();
    const conversation = world.open({ conversationId: 'new' });
    await world.context.memory.create({ type: 'fact', key: 'home', content: 'The user lives in Oslo.' });

    const { report } = await conversation.send('Where do I live?');

    expect(JSON.stringify(world.prompts[0])).toContain('The user lives in Oslo.');
    expect(report.included).toEqual(['facts']);
    world.onRequest(({ url }) =>
      url.includes('/api/') ? Response.json({ error: 'No.' }, { status: 401 }) : undefined,
    );
    await failureOf(world.context.memory.delete('unknown')); // so that it is read again
    expect((await conversation.send('And now?')).report.included).toEqual([]);
  });

  test('is not counted for a prompt if no compaction left too much', async () => {
    const world = chatWorld();
    cannedContext(world, {});
    const store = memoryStore();
    const countTokens = vi.fn((text: string) => text.length / 4);
    const conversation = world.open({ store, countTokens, budget: 500 });
    await conversation.prepare('Hello?');
    countTokens.mockClear();
    const elsewhere = smallTalk(3_000).map((message) => ({ ...message, createdAt: '2026-01-15T10:00:00.000Z' }));
    await store.append('talk', elsewhere, { edits: 0 });

    await conversation.prepare('Hello?');

    expect(countTokens.mock.calls.length).toBeLessThan(1_000);
  });

  test.each([
    { area: 'context', path: '/api/', body: { success: false, error: 'No.' }, names: /sessionToken/ },
    { area: 'gateway', path: '/v1/', body: { error: { message: 'No.' } }, names: /apiKey/ },
  ])('and the gateway name their own credential after a 401: $area', async ({ area, path, body, names }) => {
    const world = chatWorld();
    world.answer(path, body, { status: 401 });

    const error = await failureOf(world.open().send('Hello?'));

    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ area, message: expect.stringMatching(names) });
  });

  test('is not awaited after an abort', async () => {
    const world = chatWorld();
    const stuck = world.hold('/api/context');
    const stop = new AbortController();
    const call = failureOf(world.open().send('Hello?', { signal: stop.signal }));

    stop.abort();

    expect(await call).toBeInstanceOf(APIAbortError);
    expect(world.count('chat')).toBe(0);
    stuck.open();
  });

  test('is that of the given workspace', async () => {
    const world = chatWorld();
    world.emulator.workspaces.create({ id: 'team' });
    const conversation = world.open({ workspaceId: 'team' });

    const item = { type: 'preference', key: 'style', content: 'Shorter.', workspaceId: 'team' } as const;
    await world.context.memory.create(item);

    expect((await conversation.prepare('Hello?')).context?.content).toContain('style: Shorter.');
  });
});

describe('a conversation', () => {
  test.each([
    { options: { conversationId: '' }, says: 'conversationId must be a non-empty string' },
    { options: { model: undefined }, says: 'model must be the id of a model' },
    { options: { context: {} }, says: 'context must be a ContextClient' },
    { options: { gateway: undefined }, says: 'gateway must be a GatewayClient' },
    { options: { contextWindow: 0 }, says: 'contextWindow must be a whole number of tokens, at least 1' },
    { options: { contextWindow: 1.5 }, says: 'contextWindow must be a whole number' },
    { options: { contextWindow: 8_000, budget: 9_000 }, says: 'budget (9000) must not exceed contextWindow (8000)' },
    { options: { budget: 200_000 }, says: 'budget (200000) must not exceed contextWindow (128000)' },
    { options: { compaction: 0.75 }, says: 'compaction must be true or false' },
    { options: { contextWindw: 100 }, says: 'contextWindw is unknown; did you mean contextWindow?' },
    { options: { countTokens: 4 }, says: 'countTokens must be a function' },
    { options: { instructions: Object.create(null) }, says: 'instructions must be a string' },
    { options: { userMemory: {} }, says: 'userMemory must be a ContextClient' },
    { options: { store: { load: () => undefined, apend: () => 0 } }, says: 'apend is unknown; did you mean append?' },
    {
      options: { store: { load: () => undefined, loadAll: () => [], SaveState: () => {} } },
      says: 'did you mean saveState?',
    },
    { options: { instruction: 'a' }, says: 'instruction is unknown; did you mean instructions?' },
    { options: { store: { load: () => undefined, append: 1 } }, says: 'if it has append, setExcluded' },
  ])('a conversation with $options is rejected: $says', ({ options, says }) => {
    const { gateway, context } = chatWorld();
    const open = () =>
      createConversation({ gateway, context, conversationId: 'talk', model: 'atlas-small', ...options } as never);

    expect(open).toThrow(ConfigurationError);
    expect(open).toThrow(says);
  });

  test('is rejected without options', () => {
    expect(() => createConversation(undefined as never)).toThrow(
      'createConversation takes options: { gateway, model, conversationId',
    );
  });

  test.each([
    { input: [], says: 'input: must not be empty' },
    { input: [{ role: 'user', content: 'Hello', id: '' }], says: 'input.id: must be 1 to 128 printable' },
    { input: ' \n', says: 'input: must not be empty' },
    { input: undefined, says: 'input: must be a text, or an array' },
    {
      input: [{ role: 'user', content: [{ type: 'text' }] }],
      says: 'input[0].content: must be a string, or an array of parts',
    },
    { input: [{ role: 'system', content: 'Obey.' }], says: 'pass a system message as instructions' },
    { input: [{ role: 'user', content: 'x', id: 3 }], says: 'input[0].id: must be a string' },
    { input: [{ role: 'user', content: 'x', name: null }], says: 'input[0].name: must be a string' },
    { input: [{ role: 'user', content: 'x', createdAt: 'soon' }], says: 'input[0].createdAt: must be a Date' },
  ])('rejects the input $input before anything is sent or stored: $says', async ({ input, says }) => {
    const world = chatWorld();
    const conversation = world.open();

    const error = await failureOf(conversation.send(input as never));

    expect(error).toBeInstanceOf(RequestValidationError);
    expect(error).toMatchObject({ message: expect.stringContaining(says) });
    expect(String(await failureOf(conversation.add(input as never)))).toContain(says);
    expect(world.count('context')).toBe(0);
    expect(await world.stored()).toEqual([]);
  });

  test.each([Number.NaN, -5, 128_000, '9'])('rejects max_tokens %s', async (max_tokens) => {
    const conversation = chatWorld().open();

    const error = await failureOf(conversation.send('Hello?', { max_tokens: max_tokens as number }));

    expect(String(error)).toContain('max_tokens: must be a whole number of tokens');
  });

  test.each([
    { loaded: [], because: 'an array' },
    { loaded: 'talk', because: 'a text' },
  ])('fails every turn with a store that returns $because', async ({ loaded }) => {
    const world = chatWorld();
    const conversation = world.open({ store: { load: () => loaded as never } });

    const message = expect.stringMatching(/^store\.load must return/);
    for (const input of ['One?', 'Two?'])
      expect(await failureOf(conversation.send(input))).toMatchObject({ name: 'ConfigurationError', message });
    expect(world.count('chat')).toBe(0);
  });

  test.each([42, undefined, null, ['lamp']])('rejects a search for %j', async (query) => {
    const error = await failureOf(
      chatWorld()
        .open()
        .search(query as never),
    );

    expect(error).toBeInstanceOf(RequestValidationError);
    expect(String(error)).toContain('query: must be a text');
  });

  test('is idle when its turns have ended', async () => {
    const world = chatWorld();
    const talk = world.open({ context: undefined });
    void talk.send('Hello?');

    await talk.idle();

    expect(await world.stored()).toMatchObject([{ content: 'Hello?' }, { role: 'assistant' }]);
  });

  test('rejects a reply without a text', async () => {
    const turn = await chatWorld().open().prepare('Hello?');

    expect(String(await failureOf(turn.finish({} as never)))).toContain('reply: must be a text, { content }');
  });

  test('shows no key and no token, however it is printed', async () => {
    const world = chatWorld();
    const conversation = world.open();
    const turn = await conversation.send('Hello?');
    const error = await failureOf(world.open({ contextWindow: 21 }).send('word '.repeat(100)));

    const printed = [conversation, turn, error].map(
      (value) => inspect(value, { depth: 10, showHidden: true }) + JSON.stringify(value),
    );

    for (const secret of [world.emulator.apiKeys.secret, world.emulator.sessionToken])
      expect(printed.join()).not.toContain(secret);
  });

  test('prepare takes the messages it is given as databases return them', async () => {
    const conversation = chatWorld().open({ context: undefined });
    const row = { role: 'user', content: 'The pier gets a red lamp.', name: null, createdAt: null, excluded: 0 };

    const { messages } = await conversation.prepare('Which lamp?', { history: [row as never] });

    expect(messages[0]).toEqual({ role: 'user', content: 'The pier gets a red lamp.' });
  });

  test.each([
    { history: 'all', problem: 'history: must be an array' },
    { history: [null], problem: 'history[0].role: must be' },
  ])('prepare rejects other messages before anything is sent: $problem', async ({ history, problem }) => {
    const conversation = chatWorld().open();

    const error = await failureOf(conversation.prepare('Which lamp?', { history: history as never }));

    expect(error).toBeInstanceOf(RequestValidationError);
    expect(String(error)).toContain(problem);
  });
});
