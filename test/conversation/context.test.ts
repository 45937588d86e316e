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
      await conversation.buildMessages('One?');
      await conversation.idle();
      return world.count('context');
    };
    expect(await readsAt(1_000_000)).toBe(1);
    expect(await readsAt(1_029_000)).toBe(1);
    const slow = world.hold('/api/');

    vi.setSystemTime(1_031_000);
    const { report } = await conversation.buildMessages('Two?');
    expect(report.stale).toBe(true);
    expect(world.count('context')).toBe(2);
    slow.open();
    await conversation.idle();

    expect((await conversation.buildMessages('Three?')).report.stale).toBe(false);
    expect(await readsAt(1_332_000)).toBe(3);
  });

  test('is read again after the clock was set back', async () => {
    faked('clock', 10_000_000);
    const world = chatWorld();
    const conversation = world.open();
    await conversation.buildMessages('One?');

    vi.setSystemTime(1_000_000);
    await conversation.buildMessages('Two?');
    await conversation.idle();
    await conversation.buildMessages('Three?');

    expect(world.count('context')).toBe(2);
  });

  test.each<[string, (talk: Conversation) => unknown]>([
    ['pin', (talk) => talk.pin('m1')],
    ['exclude', (talk) => talk.exclude('m1')],
    ['include', (talk) => talk.include('m1')],
    ['remember', (talk) => talk.remember({ type: 'fact', key: 'k', content: 'c' })],
    ['refresh', (talk) => talk.refresh()],
  ])('is read again after %s', async (_, change) => {
    const world = chatWorld({ messages: smallTalk(4) });
    const conversation = world.open();
    await conversation.buildMessages('One?');

    await change(conversation);
    await conversation.buildMessages('Two?');

    expect(world.count('context')).toBe(2);
  });

  test('is read again after a change that happened during a read', async () => {
    const world = chatWorld({ messages: smallTalk(4) });
    const conversation = world.open();
    const slow = gate();
    const canned = cannedContext(world, { read: () => slow.passed });

    const early = conversation.buildMessages('One?');
    await vi.waitFor(() => expect(world.count('context')).toBe(1), { timeout: 30_000 });
    canned.pins = [pin('Pinned.')];
    await conversation.pin('m1');
    slow.open();
    await early;
    const { context } = await conversation.buildMessages('Two?');

    expect(world.count('context')).toBe(2);
    expect(context?.content).toContain('Pinned.');
  });

  test('is sent from the last read if it cannot be read, and the report says that it is stale', async () => {
    faked('clock', 1_000_000);
    const world = chatWorld();
    const canned = cannedContext(world, { pins: [pin('Pinned.')] });
    const conversation = world.open();
    await conversation.buildMessages('One?');

    vi.setSystemTime(2_000_000);
    canned.failure = Response.json({ success: false, error: 'Out of order' }, { status: 500 });
    const { report, messages } = await conversation.buildMessages('Two?');

    expect(report.stale).toBe(true);
    expect(messages[0]?.content).toContain('Pinned.');
    expect(JSON.stringify(messages)).not.toContain('Out of order');
    expect(world.errors).toMatchObject([{ name: 'InternalServerError' }]);
  });

  test("fails the turn if it was never read, unless onContextError is 'skip'", async () => {
    const world = chatWorld();
    cannedContext(world, {}).failure = Response.json({ success: false, error: 'Out of order' }, { status: 500 });

    expect(await failureOf(world.open().send('Hello?'))).toMatchObject({ name: 'InternalServerError' });
    expect(world.count('chat')).toBe(0);
    const { report } = await world.open({ onContextError: 'skip' }).send('Hello?');
    expect(report).toMatchObject({ stale: true, included: [] });
  });

  test("that the service does not have leaves the user's memory, with onContextError: 'skip'", async () => {
    const world = chatWorld();
    const conversation = world.open({ conversationId: 'new', onContextError: 'skip' });
    await conversation.remember({ type: 'fact', key: 'home', content: 'The user lives in Oslo.' });

    const { report } = await conversation.send('Where do I live?');

    expect(JSON.stringify(world.prompts[0])).toContain('The user lives in Oslo.');
    expect(report.included).toEqual(['facts']);
    world.onRequest(({ url }) =>
      url.includes('/api/') ? Response.json({ error: 'No.' }, { status: 401 }) : undefined,
    );
    expect((await conversation.send('And now?')).report.included).toEqual([]);
  });

  test('is not counted for a prompt if no compaction left too much', async () => {
    const world = chatWorld();
    cannedContext(world, {});
    const store = memoryStore();
    const countTokens = vi.fn((text: string) => text.length / 4);
    const conversation = world.open({ store, countTokens, compaction: false, budget: 500 });
    await conversation.refresh();
    const elsewhere = smallTalk(3_000).map((message) => ({ ...message, createdAt: '2026-01-15T10:00:00.000Z' }));
    await store.append('talk', elsewhere, { after: undefined, newest: undefined });

    await conversation.buildMessages('Hello?');

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
    const call = failureOf(world.open({ onContextError: 'skip' }).send('Hello?', { signal: stop.signal }));

    stop.abort();

    expect(await call).toBeInstanceOf(APIAbortError);
    expect(world.count('chat')).toBe(0);
    stuck.open();
  });

  test('is that of the given workspace', async () => {
    const world = chatWorld();
    world.emulator.workspaces.create({ id: 'team' });
    const conversation = world.open({ workspaceId: 'team' });

    await conversation.remember({ type: 'preference', key: 'style', content: 'Short.' });
    await conversation.remember({ type: 'preference', key: 'style', content: 'Shorter.' });

    expect(world.emulator.memory.all()).toMatchObject([{ item: { workspaceId: 'team', content: 'Shorter.' } }]);
    expect((await conversation.buildMessages('Hello?')).context?.content).toContain('style: Shorter.');
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
    { options: { contextWindw: 100 }, says: 'contextWindw is unknown; expected one of gateway, model, ' },
    { options: { countTokens: 4 }, says: 'countTokens must be a function' },
    { options: { instructions: Object.create(null) }, says: 'instructions must be a string' },
    { options: { onContextError: Object.create(null) }, says: "onContextError must be 'throw' or 'skip'" },
    { options: { store: { load: () => undefined, append: 1 } }, says: 'may have append and saveState' },
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
    { input: [{ role: 'user', content: 'Hello', id: '' }], says: 'input.id: must not be empty' },
    { input: ' \n', says: 'input: must not be empty' },
    { input: undefined, says: 'input: must be a text, or an array' },
    { input: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }], says: 'input[0].content: must be a string' },
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
    expect(() => conversation.record(input as never)).toThrow(says);
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

  test('rejects a reply without a text', () => {
    const conversation = chatWorld().open();

    expect(() => conversation.record('Hello?', {} as never)).toThrow('reply: must be { text }');
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

  test('buildMessages takes the messages it is given as databases return them', async () => {
    const conversation = chatWorld().open({ context: undefined });
    const row = { role: 'user', content: 'The pier gets a red lamp.', name: null, createdAt: null, excluded: 0 };

    const { messages } = await conversation.buildMessages('Which lamp?', { messages: [row as never] });

    expect(messages[0]).toEqual({ role: 'user', content: 'The pier gets a red lamp.' });
  });

  test.each([
    { messages: 'all', problem: 'messages: must be an array' },
    { messages: [null], problem: 'messages[0].role: must be' },
  ])('buildMessages rejects other messages before anything is sent: $problem', async ({ messages, problem }) => {
    const conversation = chatWorld().open();

    const error = await failureOf(conversation.buildMessages('Which lamp?', { messages: messages as never }));

    expect(error).toBeInstanceOf(RequestValidationError);
    expect(String(error)).toContain(problem);
  });
});
