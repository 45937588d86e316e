import { type ConversationStore, memoryStore } from 'context-gateway/conversation';
import { describe, expect, test, vi } from 'vitest';
import { type ManualRuntime, manualRuntime } from '../helpers/manual-runtime.js';
import { failureOf } from '../helpers/service.js';
import { alone } from './alone.js';
import { chatWorld } from './world.js';

describe('a turn that waits', () => {
  test.each([
    { options: { deadline: 5_000 }, error: 'ConversationStoreError' },
    { options: { timeout: 5_000 }, error: 'ConversationStoreError' },
    { options: { signal: AbortSignal.timeout(50) }, error: 'AbortError' },
  ])('a turn that waits for a store that hangs ends with $error after $options', async ({ options, error }) => {
    const runtime = manualRuntime();
    const { conversation } = alone([], { store: { load: () => new Promise(() => {}) } }, runtime);

    const failure = failureOf(conversation.send('Hello?', options));
    if (options.signal === undefined) await runtime.advance(5_000);

    expect(await failure).toMatchObject({ name: error });
  });

  test.each([{ deadline: 50 }, { timeout: 50, maxRetries: 0 }])('for the context ends after %j', async (options) => {
    const world = chatWorld();
    const never = world.hold('/api/');

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
      world.answer('/api/context?', {}, { status: 503, headers: { 'retry-after': '0' } });

      await failureOf(world.open().send('Hello?', { maxRetries }));

      expect(world.count('context')).toBe(reads);
    },
  );

  test('a turn that waits for the turn before ends with its own deadline', async () => {
    const world = alone([]);
    const slow = world.hold('/completions');
    const first = world.conversation.send('One?');

    const error = await failureOf(world.conversation.send('Two?', { deadline: 50 }));
    slow.open();
    await first;

    expect(error).toMatchObject({ name: 'APITimeoutError', message: expect.stringContaining('The previous turn') });
    expect(world.prompts).toHaveLength(1);
  });

  /** Sends a turn with a store in which one function hangs, and lets 30 seconds pass, or aborts and lets 1 or 5 pass. */
  async function hanging(name: 'question' | 'reply' | 'saveState', limit: 'deadline' | 'timeout' | 'signal') {
    const store = memoryStore();
    const hangs = vi.fn(() => new Promise<never>(() => {}));
    const onError = vi.fn();
    const append: ConversationStore['append'] = (id, messages, place) => {
      const isIt = messages[0]?.role === (name === 'question' ? 'user' : 'assistant');
      return isIt ? hangs() : store.append(id, messages, place);
    };
    const hanging = name === 'saveState' ? { saveState: hangs } : { append };
    const runtime = manualRuntime();
    const world = alone([], { store: { ...store, ...hanging }, onError }, runtime);
    const stop = new AbortController();
    const options = limit === 'signal' ? { signal: stop.signal } : { [limit]: 30_000 };
    const turn = world.conversation.send('One?', options).catch((error: unknown) => error);
    await vi.waitFor(() => expect(hangs).toHaveBeenCalled(), { timeout: 30_000 });
    if (limit === 'signal') stop.abort();
    const most = name === 'question' ? 1_000 : 5_000;
    await runtime.advance(limit === 'signal' ? most : 30_000);
    return { end: await turn, store, onError };
  }

  test.each(
    (['deadline', 'timeout', 'signal'] as const).flatMap((limit) => [
      { what: 'question', turn: undefined, limit } as const,
      { what: 'reply', turn: { text: expect.stringMatching(/./) }, limit } as const,
    ]),
  )('a turn that waits for the append of its $what ends with its $limit', async ({ what, limit, turn }) => {
    const { end } = await hanging(what, limit);

    if (limit === 'signal' && what === 'question') return expect(end).toMatchObject({ name: 'AbortError' });
    const message =
      limit === 'signal' ? /stopped, and store\.append did not end/ : /store.append took longer than 30000 ms/;
    expect(end).toMatchObject({ name: 'ConversationStoreError', message: expect.stringMatching(message), turn });
    expect(end).not.toHaveProperty('sent'); // no request took too long
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

  async function takesFiveSeconds(work: Promise<unknown>, runtime: ManualRuntime): Promise<void> {
    const ended = vi.fn();
    const end = work.finally(ended);
    await runtime.advance(4_999);
    expect(ended).not.toHaveBeenCalled();
    await runtime.advance(1);
    await end;
  }

  test('a turn that waits for a store after it was stopped has five seconds', async () => {
    const stop = new AbortController();
    const store = memoryStore();
    const append: ConversationStore['append'] = (id, messages, place) =>
      messages[0]?.role === 'user' ? store.append(id, messages, place) : new Promise(() => {});
    const runtime = manualRuntime();
    const { conversation, emulator } = alone([], { store: { ...store, append } }, runtime);
    emulator.chat.on('story', 'One two three four five six seven.');
    const reply = conversation.stream('Tell a story.', { signal: stop.signal });
    const texts = reply[Symbol.asyncIterator]();
    await texts.next();
    const end = failureOf(reply.final());

    stop.abort();
    await takesFiveSeconds(end, runtime);

    expect(await end).toMatchObject({ name: 'ConversationStoreError', turn: { stopped: true } });
  });

  test('a turn that waits for nothing: record() of a conversation that is closed, although the service hangs', async () => {
    const world = chatWorld();
    const store = memoryStore();
    const conversation = world.open({ store });
    const never = world.hold('/api/');

    const recorded = conversation.record('Hello?', { text: 'Hi.' });
    await vi.waitFor(async () => expect((await store.load('talk'))?.messages).toHaveLength(2), 10_000);
    await conversation[Symbol.asyncDispose]();
    await recorded;

    never.open();
  });

  test('record() of a conversation that is closed has five seconds for a store that hangs', async () => {
    const runtime = manualRuntime();
    const world = chatWorld({ runtime });
    const append = vi.fn(() => new Promise<never>(() => {}));
    const conversation = world.open({ store: { ...memoryStore(), append } });
    const recorded = failureOf(conversation.record('Hello?', { text: 'Hi.' }));
    await vi.waitFor(() => expect(append).toHaveBeenCalled());

    await takesFiveSeconds(conversation[Symbol.asyncDispose](), runtime);

    expect(await recorded).toMatchObject({ name: 'ConversationStoreError' });
  });

  test('a turn that waits for a context read in the background ends with close()', async () => {
    const world = chatWorld();
    const conversation = world.open();
    const never = world.hold('/api/');

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
    let signal: AbortSignal | undefined;
    world.onRequest((request) => {
      signal = request.signal;
    });
    const reply = world.conversation.stream('Hello?')[Symbol.asyncIterator]();
    await reply.next();
    void reply.next();
    await reply.return?.();

    expect(signal?.aborted).toBe(true);
  });
});
