import { type ConversationMessage, type ConversationOptions, memoryStore } from 'context-gateway/conversation';
import { describe, expect, test } from 'vitest';
import { manualRuntime } from '../helpers/manual-runtime.js';
import { failureOf } from '../helpers/service.js';
import { pin } from './samples.js';
import { cannedContext, chatWorld, smallTalk } from './world.js';

/** A service with a pinned message, on a clock that only tests advance. */
function timedWorld() {
  const runtime = manualRuntime();
  const world = chatWorld({ runtime });
  const canned = cannedContext(world, { pins: [pin('Pinned.')] });
  const reads = () => world.count('context') + world.count('memory');
  /** From now on, each read has this status, or no response at all. */
  const fail = (status: number | undefined) => {
    if (status === undefined) world.hold('/api/');
    else world.answer('/api/', { success: false, error: 'No.' }, { status, headers: { 'retry-after': '3' } });
  };
  /** Makes turns read again. */
  const change = () => failureOf(world.context.include('talk', 'unknown'));
  const isPinned = (at: number) => JSON.stringify(world.prompts.at(at)?.messages).includes('Pinned.');
  return { ...world, runtime, canned, reads, fail, change, isPinned };
}

describe('what a turn can do without', () => {
  test.each([
    { because: 'without a context', isStored: false },
    { because: 'with a stored context that is one second old', isStored: true },
  ])('delays one turn by two seconds, and then none for 30 s, if it hangs: $because', async ({ isStored }) => {
    const world = timedWorld();
    const { runtime } = world;
    const store = memoryStore();
    if (isStored) await world.open({ store }).send('Hello?');
    await runtime.advance(1_000);
    world.fail(undefined);

    const first = world.open({ store }).send('One?');
    await runtime.advance(1_999);
    const before = world.prompts.length;
    await runtime.advance(1);
    await first;
    expect(world.prompts).toHaveLength(before + 1);
    const reads = world.reads();
    await world.open({ store }).send('Two?'); // no time passes
    await runtime.advance(29_999);
    await world.open({ store }).send('Three?');

    expect(world.isPinned(-1)).toBe(isStored);
    expect(world.reads()).toBe(reads);
    expect(world.errors).toMatchObject([{ name: 'APITimeoutError' }]);
    await runtime.advance(1);
    const again = world.open({ store }).send('Four?');
    await runtime.advance(2_000);
    await again;
    expect(world.reads()).toBeGreaterThan(reads);
    expect(world.errors).toHaveLength(2);
  });

  test("is awaited at the same time: the context, the memory and the app's own search", async () => {
    const world = timedWorld();
    world.fail(undefined);
    const search: ConversationOptions['search'] = () => new Promise(() => {});
    const history: ConversationMessage[] = smallTalk(400);

    const turn = world.open({ search, history, budget: 1_000 }).send('What about remark number 3?');
    await world.runtime.advance(2_000);

    expect(JSON.stringify((await turn).report.recalled)).toContain('Remark number 3,');
    expect(world.errors).toHaveLength(2);
  });

  test.each([429, 500, 503])('is not asked for by any user for 30 s after a %d', async (status) => {
    const world = timedWorld();
    world.fail(status);

    await world.open().send('One?');
    const reads = world.reads();
    await world.open().send('Two?');
    await world.open({ context: world.context.forUser('another_user'), conversationId: 'other' }).send('Three?');

    expect(reads).toBe(2);
    expect(world.reads()).toBe(2);
    expect(world.errors).toMatchObject([{ status }]);
  });

  test.each([401, 403])('is not used after a %d, for the user alone, and no turn fails', async (status) => {
    const world = timedWorld();
    const store = memoryStore();
    await world.open({ store }).send('One?');
    world.fail(status);
    await world.change();

    await world.open({ store }).send('Two?');
    expect([world.isPinned(0), world.isPinned(1)]).toEqual([true, false]);
    const reads = world.reads();
    await world.open({ conversationId: 'other' }).send('Three?');
    expect(world.reads()).toBe(reads);
    await world.open({ context: world.context.forUser('another_user') }).send('Four?'); // its first read
    expect(world.reads()).toBe(reads + 2);

    expect(world.errors).toMatchObject([{ status }, { status }]);
  });

  test.each([401, 403])('fails each turn with a %d as long as the service has accepted nothing', async (status) => {
    const world = timedWorld();
    world.fail(status);

    for (const input of ['One?', 'Two?']) expect(await failureOf(world.open().send(input))).toMatchObject({ status });
    expect(world.prompts).toEqual([]);
  });

  test('is not asked for again after a 404, in that conversation alone', async () => {
    const world = timedWorld();
    world.canned.failure = Response.json({ success: false, error: 'No.' }, { status: 404 });

    await world.open({ conversationId: 'new' }).send('One?');
    await world.open({ conversationId: 'new' }).send('Two?');
    expect(world.count('context')).toBe(1);
    delete world.canned.failure;
    await world.open().send('Three?');

    expect(world.isPinned(-1)).toBe(true);
    expect(world.errors).toMatchObject([{ status: 404 }]);
  });

  test('that a deadline of the turn ended is asked for by the next one', async () => {
    const world = timedWorld();
    world.fail(undefined);

    const turn = failureOf(world.open().send('One?', { deadline: 1_000 }));
    await world.runtime.advance(1_000);
    expect(await turn).toMatchObject({ name: 'APITimeoutError', kind: 'deadline' });
    const next = world.open().send('Two?');
    await world.runtime.advance(2_000);
    await next;

    expect(world.count('context')).toBe(2);
    expect(world.errors).toHaveLength(1);
  });
});

test("userMemory reads a user's memory for a conversation that the service does not have", async () => {
  const world = timedWorld();
  await world.context.memory.create({ type: 'fact', key: 'home', content: 'The user lives in Oslo.' });

  const conversation = world.open({ context: undefined, userMemory: world.context, conversationId: 'own' });
  const { report } = await conversation.send('Where do I live?');

  expect(JSON.stringify(world.prompts)).toContain('The user lives in Oslo.');
  expect(report).toMatchObject({ included: ['facts'], stale: false });
  expect(world.count('context')).toBe(0);
  expect(world.errors).toEqual([]);
});
