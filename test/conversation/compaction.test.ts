import { APIAbortError, type CompactionResult, ConfigurationError } from 'context-gateway';
import { type CompactionReport, diffSummaries, type LedgerState, shouldCompact } from 'context-gateway/conversation';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { conversation as script } from '../../examples/demo/conversation.js';
import { failureOf } from '../helpers/service.js';
import { decision, metadata, summary } from './samples.js';
import { cannedContext, chatWorld, gate, smallTalk } from './world.js';

afterEach(() => vi.useRealTimers());

const result = (previous: number, next: number, summaryUpdated = true): Response => {
  const figures: CompactionResult = {
    success: true,
    previousTokenCount: previous,
    newTokenCount: next,
    tokensRemoved: previous - next,
    summaryUpdated,
  };
  return Response.json({ success: true, result: figures });
};

const at = (second: number) => `2026-01-15T10:00:0${second}.000Z`;

/** A service whose context fills more than three quarters of a window of 1,000 tokens until it is compacted. */
function fullWorld() {
  const world = chatWorld();
  const canned = cannedContext(world, {
    summary: summary({ version: 1, decisions: [decision('We use Postgres.')], requirements: ['Be fast.'] }),
    metadata: metadata({ compressedTokens: 900, totalTokens: 1000, lastCompactionAt: at(1) }),
  });
  const levels: unknown[] = [];
  canned.compact = async (request) => {
    levels.push(((await request.json()) as { level?: string }).level);
    canned.summary = summary({ version: (canned.summary?.version ?? 0) + 1, requirements: ['Be fast.'] });
    canned.metadata = metadata({ compressedTokens: 400, totalTokens: 1000, lastCompactionAt: at(levels.length + 1) });
    return result(900, 400);
  };
  const reports: CompactionReport[] = [];
  const errors: unknown[] = [];
  const open = (more: Parameters<typeof world.open>[0] = {}) =>
    world.open({
      contextWindow: 1000,
      reserveOutput: 0,
      maxAge: 0,
      onCompaction: (report) => reports.push(report),
      onError: (error) => errors.push(error),
      ...more,
    });
  return { ...world, canned, levels, reports, errors, open };
}

describe('a compaction', () => {
  test('that is due runs after the reply, and does not delay its text', async () => {
    const world = fullWorld();
    const slow = gate();
    const { compact } = world.canned;
    world.canned.compact = async (request) => {
      await slow.passed;
      return compact?.(request);
    };
    const conversation = world.open();

    const turn = await conversation.stream('Hello?').final();
    await vi.waitFor(() => expect(world.count('compact')).toBe(1), { timeout: 30_000 });
    expect(turn.text).not.toBe('');
    expect(world.reports).toEqual([]);

    slow.open();
    await conversation.idle();
    expect(world.reports).toHaveLength(1);
  });

  test('runs one at a time: a second call gets the same promise', async () => {
    const world = fullWorld();
    const conversation = world.open({ compaction: false });

    const first = conversation.compact('deep');
    const second = conversation.compact('aggressive');

    expect(second).toBe(first);
    await first;
    expect(world.levels).toEqual(['deep']);
  });

  test('resolves to a report of what it kept, reworded and lost, with tokens before and after', async () => {
    const world = fullWorld();
    const before = world.canned.summary ?? summary();
    const conversation = world.open({ compaction: false });

    const report = await conversation.compact('deep');

    expect(report).toMatchObject({
      level: 'deep',
      versions: { before: 1, after: 2 },
      tokens: { before: 900, after: 400 },
    });
    expect(report.diff).toEqual(diffSummaries(before, world.canned.summary ?? summary()));
    expect(report.diff?.lost).toMatchObject([{ section: 'decisions', text: 'We use Postgres.' }]);
    expect(report.diff?.kept).toMatchObject([{ section: 'requirements', text: 'Be fast.' }]);
    expect(world.reports).toEqual([report]);
  });

  test('that changed no version has an empty diff in its report', async () => {
    const world = fullWorld();
    world.canned.compact = () => result(900, 900, false);

    const { diff } = await world.open({ compaction: false }).compact('light');

    expect(diff).toMatchObject({ lost: [], reworded: [], added: [] });
  });

  test('made elsewhere is reported once, when its version is seen', async () => {
    const world = fullWorld();
    const conversation = world.open({ compaction: false });
    await conversation.buildMessages('One?');
    world.canned.summary = summary({ version: 7, requirements: ['Be fast.'] });
    world.canned.metadata = metadata({ compressedTokens: 300, lastCompactionAt: at(5) });

    await conversation.buildMessages('Two?');
    await conversation.buildMessages('Three?');

    expect(world.reports).toMatchObject([
      { versions: { before: 1, after: 7 }, diff: { lost: [{ text: 'We use Postgres.' }] } },
    ]);
    expect(world.reports[0]).not.toHaveProperty('level');
  });

  test('whose result cannot be read resolves without a diff, and is reported after the next read', async () => {
    const world = fullWorld();
    const { compact } = world.canned;
    const conversation = world.open({ compaction: false });
    await conversation.refresh();
    world.canned.compact = async (request) => {
      const answer = await compact?.(request);
      world.canned.failure = Response.json({ success: false, error: 'No.' }, { status: 500 });
      return answer;
    };

    const report = await conversation.compact('deep');
    expect(report).toMatchObject({ level: 'deep', tokens: { before: 900, after: 400 } });
    expect(report.diff).toBeUndefined();
    expect(world.reports).toEqual([]);

    delete world.canned.failure;
    await conversation.refresh();
    expect(world.reports).toMatchObject([{ level: 'deep', diff: { lost: [{ text: 'We use Postgres.' }] } }]);
  });

  test('that onBefore prevents is not requested', async () => {
    const world = fullWorld();
    const onBefore = vi.fn(() => false);
    const conversation = world.open({ compaction: { onBefore } });

    await conversation.send('Hello?');
    await conversation.idle();

    expect(onBefore).toHaveBeenCalledWith(
      expect.objectContaining({ totalTokens: expect.any(Number) }),
      expect.anything(),
    );
    expect(world.levels).toEqual([]);
  });

  test.each([
    { what: 'a 500', fail: () => Response.json({ success: false, error: 'No.' }, { status: 500 }) },
    { what: 'a broken connection', fail: () => Promise.reject(new TypeError('fetch failed')) },
  ])('that fails with $what does not fail the turn, and is passed to onError', async ({ fail }) => {
    const world = fullWorld();
    world.canned.compact = fail;
    const conversation = world.open();

    const turn = await conversation.send('Hello?');
    await conversation.idle();

    expect(turn.text).not.toBe('');
    expect(world.errors).toHaveLength(1);
  });

  test('that got a 429 is requested again after its retry-after', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
    const world = fullWorld();
    const { compact } = world.canned;
    world.canned.compact = () =>
      Response.json({ success: false, error: 'Slow down.' }, { status: 429, headers: { 'retry-after': '45' } });
    const conversation = world.open();
    const turnAt = async (time: number) => {
      vi.setSystemTime(time);
      await conversation.send('Hello?');
      await conversation.idle();
      return world.count('compact');
    };

    expect(await turnAt(1_000_000)).toBe(1);
    world.canned.compact = (request) => compact?.(request);
    expect(await turnAt(1_044_000)).toBe(1);
    expect(await turnAt(1_046_000)).toBe(2);
  });

  test('that got a 429 without retry-after is requested again after 30 s, and then after 60 s', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
    const world = fullWorld();
    world.canned.compact = () => Response.json({ success: false, error: 'Slow down.' }, { status: 429 });
    const conversation = world.open();
    const turnAt = async (time: number) => {
      vi.setSystemTime(time);
      await conversation.send('Hello?');
      await conversation.idle();
      return world.count('compact');
    };

    const seen = [1_000_000, 1_029_000, 1_031_000, 1_089_000, 1_092_000];
    expect(
      await seen.reduce(async (before, time) => [...(await before), await turnAt(time)], Promise.resolve<number[]>([])),
    ).toEqual([1, 1, 2, 2, 3]);
  });

  test('is not requested again until the context has grown by a tenth of the window', async () => {
    const world = fullWorld();
    world.canned.compact = () => result(900, 880);
    const conversation = world.open({ compaction: { level: 'aggressive' } });
    const turnWith = async (compressedTokens: number) => {
      world.canned.metadata = metadata({ compressedTokens, totalTokens: 5000 });
      await conversation.send('Hello?');
      await conversation.idle();
      return world.count('compact');
    };

    expect(await turnWith(900)).toBe(1);
    expect(await turnWith(880)).toBe(1);
    expect(await turnWith(900)).toBe(1);
    expect((await conversation.buildMessages('Well?')).report.compactionExhausted).toBe(true);
  });

  test('that saved nothing is followed by the next level, once', async () => {
    const world = fullWorld();
    world.canned.compact = async (request) => {
      world.levels.push(((await request.json()) as { level: string }).level);
      return result(900, 900, false);
    };
    const conversation = world.open();

    for (let turn = 0; turn < 4; turn += 1) {
      await conversation.send('Hello?');
      await conversation.idle();
    }

    expect(world.levels).toEqual(['light', 'deep']);
  });

  test('is not repeated for turns that the service does not store, and onError says why', async () => {
    const messages = smallTalk(20);
    const world = chatWorld({ messages, limits: { gateway: 1e6, context: 1e6, compact: 1e6 } });
    const removed: number[] = [];
    const errors: unknown[] = [];
    const conversation = world.open({
      history: messages,
      contextWindow: 1000,
      maxAge: Number.POSITIVE_INFINITY, // a slow test must not read the context again
      onCompaction: ({ tokens: { before, after } }) => removed.push(before - after),
      onError: (error) => errors.push(error),
    });
    const turns = async (count: number) => {
      for (let turn = 0; turn < count; turn += 1) {
        await conversation.send('Hello? Is anyone on the pier, or on the boats?');
        await conversation.idle();
      }
    };

    await turns(100);
    expect(removed).toEqual([expect.any(Number), 0]);
    expect(removed[0]).toBeGreaterThan(0);
    expect(errors).toEqual([expect.any(ConfigurationError)]);
    expect(errors).toMatchObject([{ message: expect.stringContaining('Store each turn with the service') }]);

    world.emulator.conversations.append('talk', smallTalk(32, 20));
    await conversation.refresh();
    await turns(1);
    expect(removed).toHaveLength(3);
    expect(removed[2]).toBeGreaterThan(0);
  });

  test.each([
    { compressedTokens: 900, expected: 'light', because: 'little is left out of it' },
    { compressedTokens: 500, expected: 'deep', because: 'a light one would remove little more' },
    { compressedTokens: 350, expected: 'aggressive', because: 'a deep one would remove little more' },
  ])('of a context of $compressedTokens of 1000 tokens starts at $expected: $because', async (world) => {
    const { compressedTokens, expected } = world;
    const { canned, levels, open } = fullWorld();
    canned.metadata = metadata({ compressedTokens, totalTokens: 1000, lastCompactionAt: at(1) });
    const conversation = open({ compaction: { when: { tokens: 300 } } });

    await conversation.send('Hello?');
    await conversation.idle();

    expect(levels[0]).toBe(expected);
  });

  test('that saved nothing of turns stored since the last read is followed by the next level', async () => {
    const world = fullWorld();
    world.canned.metadata = metadata({ compressedTokens: 100, totalTokens: 100 });
    world.canned.compact = async (request) => {
      world.levels.push(((await request.json()) as { level: string }).level);
      return result(900, 900, false);
    };
    const conversation = world.open({ maxAge: Number.POSITIVE_INFINITY, compaction: { when: { tokens: 500 } } });

    await conversation.send('boat '.repeat(600));
    await conversation.idle();

    expect(world.levels).toEqual(['light', 'deep']);
    expect(world.errors).toEqual([]);
  });

  test('whose level saved too little before is skipped for a stronger one', async () => {
    const world = fullWorld();
    const shares: Record<string, number> = { light: 0.6, deep: 0.35, aggressive: 0.15 };
    world.canned.compact = async (request) => {
      const { level } = (await request.json()) as { level: string };
      world.levels.push(level);
      const { compressedTokens = 0, totalTokens = 0 } = world.canned.metadata ?? {};
      const next = Math.min(compressedTokens, totalTokens * (shares[level] ?? 1));
      world.canned.metadata = metadata({ compressedTokens: next, totalTokens });
      return result(compressedTokens, next);
    };
    const conversation = world.open();

    for (let totalTokens = 1000; totalTokens < 6000; totalTokens += 50) {
      const { compressedTokens = 0 } = world.canned.metadata ?? {};
      world.canned.metadata = metadata({ totalTokens, compressedTokens: compressedTokens + 50 });
      await conversation.send('Hello?');
      await conversation.idle();
    }

    expect([...new Set(world.levels)]).toEqual(['light', 'deep', 'aggressive']);
    expect(world.levels.length).toBeLessThan(30); // in 100 turns
  });

  test('before the prompt delays it at most by its timeout', async () => {
    const world = fullWorld();
    const never = gate();
    world.canned.compact = () => never.passed;
    const conversation = world.open({ compaction: { mode: 'before', timeout: 20 } });

    const { report } = await conversation.buildMessages('Hello?');

    expect(report.summaryVersion).toBe(1);
    expect(world.count('compact')).toBe(1);
    conversation.close();
    never.open();
  });

  test('before the prompt changes the context of that prompt', async () => {
    const world = fullWorld();

    const { report } = await world.open({ compaction: { mode: 'before' } }).buildMessages('Hello?');

    expect(report.summaryVersion).toBe(2);
  });

  test('continues if the turn that started it is aborted, and ends if the conversation is closed', async () => {
    const world = fullWorld();
    const signals: AbortSignal[] = [];
    const never = gate();
    world.canned.compact = (request) => {
      signals.push(request.signal);
      return never.passed;
    };
    const stop = new AbortController();
    const conversation = world.open();
    await conversation.send('Hello?', { signal: stop.signal });
    await vi.waitFor(() => expect(signals).toHaveLength(1), { timeout: 30_000 });

    stop.abort();
    expect(signals[0]?.aborted).toBe(false);
    conversation.close();
    await conversation.idle();

    expect(signals[0]?.aborted).toBe(true);
    never.open();
  });

  test("with mode: 'before' runs before the next prompt, not after the reply", async () => {
    const world = fullWorld();
    const order: string[] = [];
    const { compact } = world.canned;
    world.canned.compact = (request) => {
      order.push('compact');
      return compact?.(request);
    };
    const small = metadata({ compressedTokens: 10, lastCompactionAt: at(1) });
    const full = world.canned.metadata;
    world.canned.metadata = small;
    const conversation = world.open({ compaction: { mode: 'before' } });
    await conversation.send('Hello?');
    world.canned.metadata = full ?? small;
    await conversation.refresh();
    await conversation.idle();
    expect(order).toEqual([]);

    expect((await conversation.send('Hello again?')).report.summaryVersion).toBe(2);
    expect(order).toEqual(['compact']);
  });

  test("in progress delays a prompt with mode: 'before', unless the prompt is aborted", async () => {
    const world = fullWorld();
    const slow = gate();
    const { compact } = world.canned;
    world.canned.compact = async (request) => {
      await slow.passed;
      return compact?.(request);
    };
    const conversation = world.open({ compaction: { mode: 'before' } });
    const running = conversation.compact('deep');
    await vi.waitFor(() => expect(world.count('compact')).toBe(1), { timeout: 30_000 });
    const stop = new AbortController();
    const aborted = failureOf(conversation.send('One?', { signal: stop.signal }));
    const waiting = conversation.send('Two?');

    stop.abort();
    expect(await aborted).toBeInstanceOf(APIAbortError);
    expect(world.count('chat')).toBe(0);
    slow.open();
    await running;

    expect((await waiting).report.summaryVersion).toBe(2);
  });

  test('awaited by two callers continues if one of them aborts', async () => {
    const world = fullWorld();
    const slow = gate();
    const { compact } = world.canned;
    world.canned.compact = async (request) => {
      await slow.passed;
      return compact?.(request);
    };
    const conversation = world.open({ compaction: false });
    const stop = new AbortController();
    const first = failureOf(conversation.compact('deep', { signal: stop.signal }));
    const second = conversation.compact('aggressive');

    stop.abort();
    expect(await first).toBeInstanceOf(APIAbortError);
    slow.open();

    expect(await second).toMatchObject({ level: 'deep', versions: { after: 2 } });
  });

  test('is reported once, with its level, even if an older read arrives after it', async () => {
    const world = fullWorld();
    const conversation = world.open({ compaction: false });
    await conversation.buildMessages('One?');
    const slow = gate();
    const old = structuredClone({
      rollingSummary: world.canned.summary,
      pinnedMemory: [],
      metadata: world.canned.metadata,
    });
    let reads = 0;
    const canned = world.canned;
    world.onRequest(async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/api/context/compact') return canned.compact?.(request);
      if (pathname !== '/api/context') return undefined;
      reads += 1;
      if (reads === 1) {
        await slow.passed;
        return Response.json({ success: true, context: old });
      }
      if (reads === 3) {
        slow.open();
        await late;
      }
      return Response.json({
        success: true,
        context: { rollingSummary: canned.summary, pinnedMemory: [], metadata: canned.metadata },
      });
    });
    const late = conversation.buildMessages('Two?');
    await vi.waitFor(() => expect(reads).toBe(1), { timeout: 30_000 });

    await conversation.compact('deep');

    expect(world.reports).toMatchObject([{ level: 'deep', versions: { before: 1, after: 2 } }]);
  });

  test('no longer counts as exhausted once the context is small again', async () => {
    const world = fullWorld();
    world.canned.compact = () => result(900, 900, false);
    const conversation = world.open({ compaction: { level: 'aggressive' } });
    await conversation.send('Hello?');
    await conversation.idle();
    expect((await conversation.buildMessages('Well?')).report.compactionExhausted).toBe(true);

    world.canned.metadata = metadata({ compressedTokens: 10, totalTokens: 20 });

    expect((await conversation.buildMessages('Well?')).report.compactionExhausted).toBe(false);
  });

  test('that close() ends is not passed to onError', async () => {
    const world = fullWorld();
    const never = gate();
    world.canned.compact = () => never.passed;
    const conversation = world.open();
    await conversation.send('Hello?');

    conversation.close();
    await conversation.send('Hello again?');
    await conversation.idle();

    expect(world.errors).toEqual([]);
    expect(world.count('compact')).toBeLessThan(2);
    never.open();
  });

  test('that the caller started rejects for the caller', async () => {
    const world = fullWorld();
    world.canned.compact = () => Response.json({ success: false, error: 'No.' }, { status: 500 });

    expect(await failureOf(world.open({ compaction: false }).compact('deep'))).toMatchObject({ status: 500 });
  });
});

describe('a callback that throws', () => {
  const fail = (): never => {
    throw new Error('my bug');
  };

  test.each(['send', 'stream'] as const)(
    'as the level fails no turn of %s, and the turn is stored once',
    async (kind) => {
      const world = fullWorld();
      const conversation = world.open({ compaction: { level: fail } });

      await (kind === 'send' ? conversation.send('Hello?') : conversation.stream('Hello?').final());
      await conversation.idle();

      expect(conversation.history).toHaveLength(2);
      expect(world.errors).toMatchObject([{ message: 'my bug' }]);
    },
  );

  test('as onError fails neither the turn nor the process', async () => {
    const world = fullWorld();
    world.canned.compact = () => Response.json({ success: false, error: 'No.' }, { status: 500 });
    const conversation = world.open({ onError: async () => fail() });

    expect((await conversation.send('Hello?')).text).not.toBe('');
    await conversation.idle();
  });

  test('as onCompaction is passed to onError, and the context stays fresh', async () => {
    const world = fullWorld();
    const conversation = world.open({ compaction: false, onCompaction: fail });
    await conversation.compact('deep');

    expect((await conversation.send('Hello?')).report).toMatchObject({ stale: false, summaryVersion: 2 });
    expect(world.errors).toMatchObject([{ message: 'my bug' }]);
  });
});

describe('a trigger', () => {
  test.each([
    { trigger: { tokens: 900 }, is: true, because: 'the context has 1000' },
    { trigger: { tokens: 1001 }, is: false, because: 'the context has 1000' },
    { trigger: { messages: 10 }, is: true, because: 'ten messages are not in the summary' },
    { trigger: { tokens: 900, messages: 11 }, is: false, because: 'both must be reached' },
    { trigger: { fraction: 0.5 }, is: true, because: 'it is half of 2000' },
    { trigger: {}, is: false, because: 'it has no condition' },
  ])('of $trigger is reached: $is, because $because', ({ trigger, is }) => {
    expect(shouldCompact(metadata(), trigger, 2000)).toBe(is);
  });

  test('of a fraction needs contextWindow', () => {
    expect(() => shouldCompact(metadata(), { fraction: 0.5 })).toThrow('needs contextWindow');
  });
});

describe('a statement that a compaction lost', () => {
  test('comes back if a question is about it, and is listed', async () => {
    const world = fullWorld();
    const conversation = world.open({ compaction: false });
    await conversation.compact('aggressive');

    const { context, report } = await conversation.buildMessages('What did we decide about Postgres?');

    expect(context?.content).toContain('We use Postgres.');
    expect(report.recovered).toMatchObject([{ section: 'decisions', text: 'We use Postgres.' }]);
    expect(await conversation.lost()).toMatchObject([{ text: 'We use Postgres.', since: 1, until: 1 }]);
  });

  test('is forgotten without a ledger', async () => {
    const world = fullWorld();
    const conversation = world.open({ compaction: false, ledger: false });
    await conversation.compact('aggressive');

    expect((await conversation.buildMessages('What about Postgres?')).context?.content).not.toContain('Postgres');
    expect(await conversation.lost()).toEqual([]);
  });

  test('is known to the next process through a stored ledger', async () => {
    const world = fullWorld();
    let stored: string | undefined;
    const ledger = {
      load: () => (stored === undefined ? undefined : (JSON.parse(stored) as LedgerState)),
      save: (_: string, state: LedgerState) => {
        stored = JSON.stringify(state);
      },
    };
    await world.open({ ledger, compaction: false }).refresh();
    await world.open({ ledger, compaction: false }).compact('deep');

    expect(await world.open({ ledger, compaction: false }).lost()).toMatchObject([{ text: 'We use Postgres.' }]);
  });

  /** A store of JSON, as an app may have it. */
  function storeOf(world: ReturnType<typeof fullWorld>) {
    const state: { stored: string } = { stored: 'null' };
    const ledger = {
      load: async () => JSON.parse(state.stored) as LedgerState | null,
      save: async (_: string, saved: LedgerState) => {
        state.stored = JSON.stringify(saved);
      },
    };
    return { state, ledger, open: () => world.open({ ledger, compaction: false }) };
  }

  test('fails no turn if the ledger cannot be saved', async () => {
    const world = fullWorld();
    const save = () => Promise.reject(new Error('disk full'));
    const conversation = world.open({ ledger: { load: () => undefined, save }, compaction: false });

    expect((await conversation.send('Hello?')).text).not.toBe('');
    expect(world.errors).toMatchObject([{ message: 'disk full' }]);
  });

  test('is not overwritten if the ledger cannot be loaded, and is found once it can be', async () => {
    const world = fullWorld();
    const { state, ledger, open } = storeOf(world);
    await open().compact('deep');
    const { stored } = state;
    const { load } = ledger;
    ledger.load = () => Promise.reject(new Error('restarting'));
    const conversation = open();

    await conversation.buildMessages('What about Postgres?');
    expect(state.stored).toBe(stored);
    expect(world.errors).not.toEqual([]);

    ledger.load = load;
    expect(await conversation.lost()).toMatchObject([{ text: 'We use Postgres.' }]);
  });

  test.each([
    '{"format":2}',
    '"talk"', // the first argument of `save`
  ])('is not overwritten if the store returns %s: every turn fails until the store is repaired', async (stored) => {
    const world = fullWorld();
    const { state, open } = storeOf(world);
    state.stored = stored;
    const conversation = open();

    for (let turn = 0; turn < 2; turn += 1) {
      const error = await failureOf(conversation.send('Hello?'));
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toMatchObject({ message: expect.stringContaining('ledger.save(conversationId, state)') });
    }
    expect(state.stored).toBe(stored);
    expect(world.count('chat')).toBe(0);

    state.stored = 'null';
    await conversation.compact('deep');
    expect(await open().lost()).toMatchObject([{ text: 'We use Postgres.' }]);
  });

  test('fails every turn with a store that returns something else, also while the context is cached', async () => {
    const world = fullWorld();
    const load = () => 'talk' as never;
    const conversation = world.open({ ledger: { load, save: () => {} }, maxAge: Number.POSITIVE_INFINITY });

    await failureOf(conversation.send('Hello?'));

    expect(await failureOf(conversation.send('Hello?'))).toBeInstanceOf(ConfigurationError);
  });

  test('is kept in one store by two processes', async () => {
    const world = fullWorld();
    const { open } = storeOf(world);
    const one = open();
    await one.refresh();
    world.canned.summary = summary({ version: 2, decisions: [decision('Boats are red.')] });
    world.canned.metadata = metadata({ lastCompactionAt: at(2) });
    await open().refresh();
    world.canned.summary = summary({ version: 3 });
    world.canned.metadata = metadata({ lastCompactionAt: at(3) });

    await one.refresh();

    expect((await open().lost()).map(({ text }) => text)).toEqual(
      expect.arrayContaining(['We use Postgres.', 'Boats are red.']),
    );
  });

  test('is forgotten in the store if its message is excluded', async () => {
    const world = fullWorld();
    vi.spyOn(world.context, 'exclude').mockReturnValue(Promise.resolve() as never);
    const { state, ledger, open } = storeOf(world);
    await open().compact('deep');
    const history = [{ id: 'm1', role: 'user', content: 'By the way: we use Postgres, as agreed.' }];

    await world.open({ ledger, history, compaction: false }).exclude('m1');

    expect(state.stored).not.toContain('We use Postgres');
    expect(await open().lost()).toEqual([]);
  });

  test('does not come back if its message was excluded', async () => {
    const messages = [
      ...smallTalk(2),
      { id: 'secret', role: 'user' as const, content: 'We decided that the password is sesame.' },
      ...smallTalk(20, 4),
    ];
    const world = chatWorld({ messages });
    const conversation = world.open({ history: messages, contextWindow: 500, reserveOutput: 50 });
    await conversation.compact('light');
    const asked = 'What is the password that we decided on?';
    expect(JSON.stringify(await conversation.buildMessages(asked))).toContain('sesame');

    await conversation.exclude('secret');

    expect(JSON.stringify(await conversation.buildMessages(asked))).not.toContain('sesame');
    expect(JSON.stringify(await conversation.lost())).not.toContain('sesame');
  });

  test('is forgotten if its message is excluded later', async () => {
    const world = fullWorld();
    vi.spyOn(world.context, 'exclude').mockReturnValue(Promise.resolve() as never);
    const history = [{ id: 'm1', role: 'user', content: 'By the way: we use Postgres, as agreed.' }];
    const conversation = world.open({ compaction: false, history });
    await conversation.compact('deep');
    expect(await conversation.lost()).toHaveLength(1);

    await conversation.exclude('m1');

    expect(await conversation.lost()).toEqual([]);
    expect(JSON.stringify(await conversation.buildMessages('What about Postgres?'))).not.toContain('We use Postgres');
  });

  test('is found in messages that no longer fit', async () => {
    const messages = [{ role: 'user', content: 'The pier gets a red lamp, said Ingrid.' }, ...smallTalk(60)];
    const world = chatWorld();
    const conversation = world.open({ history: messages, contextWindow: 500, reserveOutput: 50 });

    const small = await conversation.buildMessages('Fine.');
    const asked = await conversation.buildMessages('Which lamp does the pier get?');
    const after = await conversation.buildMessages('Fine.');

    expect(JSON.stringify(small.messages)).not.toContain('red lamp');
    expect(asked.report.recovered).toEqual([{ section: 'history', text: 'The pier gets a red lamp, said Ingrid.' }]);
    expect(asked.report.tokens.total).toBeLessThanOrEqual(450);
    expect(after.messages).toEqual(small.messages);
  });
});

test('no turn fails although a fifth of the context calls fail and half of the compactions get a 429', async () => {
  const world = chatWorld({ limits: { gateway: 1e6, context: 1e6, compact: 1e6 } });
  world.emulator.faults.add({
    match: { path: '/api/context/compact', probability: 0.5 },
    times: Infinity,
    respond: { status: 429, retryAfter: 0 },
  });
  world.emulator.faults.add({
    match: { path: /^\/api\/(?:context$|memory)/, probability: 0.2 },
    times: Infinity,
    respond: { status: 500 },
  });
  const versions = new Set<number>();
  const conversation = world.open({ contextWindow: 2000, maxAge: 0, onContextError: 'skip' });

  for (let i = 0; i + 1 < script.length; i += 2) {
    const [question, answer] = script.slice(i, i + 2);
    const takeBack = world.emulator.chat.on(() => true, answer?.content ?? '');
    const { report, usage } = await conversation.send(question?.content ?? '');
    takeBack();
    world.emulator.conversations.append('talk', script.slice(i, i + 2));
    await conversation.idle();
    versions.add(report.summaryVersion);
    expect(usage.prompt_tokens).toBeLessThanOrEqual(1750);
  }

  expect(versions.size).toBeGreaterThan(2);
});
