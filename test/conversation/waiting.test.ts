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

  test('for the context ends after its deadline', async () => {
    const world = chatWorld();
    const never = world.hold('/api/');

    expect(await failureOf(world.open().send('Hello?', { deadline: 50 }))).toMatchObject({ name: 'APITimeoutError' });
    never.open();
  });

  test('for the context asks for it once, whatever its maxRetries', async () => {
    const world = chatWorld();
    world.answer('/api/context?', {}, { status: 503, headers: { 'retry-after': '0' } });

    await world.open().send('Hello?', { maxRetries: 2 });

    expect(world.count('context')).toBe(1);
  });

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
  async function hanging(name: 'question' | 'reply', limit: 'deadline' | 'timeout' | 'signal') {
    const store = memoryStore();
    const hangs = vi.fn(() => new Promise<never>(() => {}));
    const onError = vi.fn();
    const append: ConversationStore['append'] = (id, messages, place) => {
      const isIt = messages[0]?.role === (name === 'question' ? 'user' : 'assistant');
      return isIt ? hangs() : store.append(id, messages, place);
    };
    const runtime = manualRuntime();
    const world = alone([], { store: { ...store, append }, onError }, runtime);
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

  test('an exclusion that waits for a store whose saveState hangs ends with its timeout, and is stored', async () => {
    const runtime = manualRuntime();
    const content = 'We use Postgres.';
    const store = memoryStore({ talk: [{ id: 'm1', role: 'user', content }] });
    const lost = [{ section: 'requirements', text: content, until: 1 }] as const;
    await store.saveState('talk', { format: 1, compaction: {}, lost }, 0);
    const saveState = vi.fn(() => new Promise<never>(() => {}));
    const { conversation, errors } = alone([], { store: { ...store, saveState } }, runtime);

    const excluded = conversation.exclude('m1', { timeout: 30_000 });
    await vi.waitFor(() => expect(saveState).toHaveBeenCalled(), { timeout: 30_000 });
    await runtime.advance(30_000);
    await excluded;

    expect(errors).toMatchObject([{ message: expect.stringContaining('store.saveState took longer') }]);
    expect((await store.load('talk'))?.messages).toMatchObject([{ excluded: true }]);
  });

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

  test('a turn that is finished in a closed conversation is stored, although the service hangs', async () => {
    const world = chatWorld();
    const store = memoryStore();
    const conversation = world.open({ store });
    const turn = await conversation.prepare('Hello?');
    const never = world.hold('/api/');

    await conversation[Symbol.asyncDispose]();
    await turn.finish('Hi.');

    expect((await store.load('talk'))?.messages).toHaveLength(2);
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
