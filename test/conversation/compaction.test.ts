import { APIAbortError, ContextClient } from 'context-gateway';
import {
  type CompactionReport,
  type Conversation,
  ConversationConflictError,
  type ConversationMessage,
  type ConversationState,
  type ConversationStore,
  memoryStore,
} from 'context-gateway/conversation';
import { describe, expect, test, vi } from 'vitest';
import { diffSummaries } from '../../src/conversation/context/receipt.js';
import { failureOf } from '../helpers/service.js';
import { compacted, decision, metadata, summary } from './samples.js';
import { assistant, cannedContext, chatWorld, faked, gate, smallTalk, user } from './world.js';

const at = (second: number) => `2026-01-15T10:00:0${second}.000Z`;

/** A service whose context fills more than three quarters of a budget of 1,000 tokens until it is compacted. */
function fullWorld() {
  const world = chatWorld();
  const canned = cannedContext(world, {
    summary: summary({ version: 1, decisions: [decision('We use Postgres.')], requirements: ['Be fast.'] }),
    metadata: metadata({ compressedTokens: 900, totalTokens: 1000, lastCompactionAt: at(1) }),
  });
  const levels: unknown[] = [];
  const note = async (request: Request) => levels.push(((await request.json()) as { level?: string }).level);
  canned.compact = async (request) => {
    await note(request);
    canned.summary = summary({ version: (canned.summary?.version ?? 0) + 1, requirements: ['Be fast.'] });
    canned.metadata = metadata({ compressedTokens: 400, totalTokens: 1000, lastCompactionAt: at(levels.length + 1) });
    return compacted(900, 400);
  };
  /** From now on, a compaction has this result, and changes nothing. */
  const saveOnly = (next: number, summaryUpdated = true) => {
    canned.compact = async (request) => {
      await note(request);
      return compacted(900, next, summaryUpdated);
    };
  };
  const reports: CompactionReport[] = [];
  const onCompaction = (report: CompactionReport) => reports.push(report);
  const open = (more: Parameters<typeof world.open>[0] = {}) => world.open({ budget: 1000, onCompaction, ...more });
  return { ...world, canned, levels, saveOnly, reports, open };
}

describe('a compaction', () => {
  test('resolves to a report of what it kept and lost, with tokens before and after', async () => {
    const world = fullWorld();
    const before = world.canned.summary ?? summary();
    const conversation = world.open();

    const report = await conversation.compact('deep');

    expect(report).toMatchObject({ level: 'deep', versions: { before: 1, after: 2 } });
    expect(report.tokens).toEqual({ before: 900, after: 400 });
    expect(report.diff).toEqual(diffSummaries(before, world.canned.summary ?? summary()));
    expect(report.diff?.lost).toMatchObject([{ section: 'decisions', text: 'We use Postgres.' }]);
    expect(report.diff?.kept).toMatchObject([{ section: 'requirements', text: 'Be fast.' }]);
    expect(world.reports).toEqual([report]);
  });

  test('a compaction that changed no version has an empty diff in its report', async () => {
    const world = fullWorld();
    world.canned.compact = () => compacted(900, 900, false);

    const { diff } = await world.open().compact('light');

    expect(diff).toMatchObject({ lost: [], added: [] });
  });

  test('a compaction made elsewhere has no receipt, and a turn that sees its version adds once what it lost', async () => {
    const world = fullWorld();
    const conversation = world.open();
    await conversation.prepare('One?');
    world.canned.summary = summary({ version: 7, requirements: ['Be fast.'] });
    world.canned.metadata = metadata({ compressedTokens: 300, lastCompactionAt: at(5) });

    await world.reread(conversation);
    await world.reread(conversation);
    await conversation.idle();

    expect(world.reports).toEqual([]);
    expect(await conversation.lost()).toMatchObject([{ text: 'We use Postgres.', until: 1 }]);
  });

  test('a compaction whose result cannot be read resolves without a diff, and the next turn adds what it lost', async () => {
    const world = fullWorld();
    const { compact } = world.canned;
    const conversation = world.open();
    world.canned.compact = async (request) => {
      const answer = await compact?.(request);
      world.canned.failure = Response.json({ success: false, error: 'No.' }, { status: 500 });
      return answer;
    };

    const report = await conversation.compact('deep');
    expect(report).toMatchObject({ level: 'deep', tokens: { before: 900, after: 400 } });
    expect(report.diff).toBeUndefined();

    delete world.canned.failure;
    await conversation.prepare('Well?');
    expect(await conversation.lost()).toMatchObject([{ text: 'We use Postgres.' }]);
    expect(world.reports).toEqual([]);
  });

  test('a compaction that fails does not fail the turn, and is passed to onError, which may throw', async () => {
    const world = fullWorld();
    world.canned.compact = () => Promise.reject(new TypeError('fetch failed'));
    const onError = vi.fn(async () => Promise.reject(new Error('my bug')));
    const conversation = world.open({ onError, compaction: true });

    const turn = await conversation.send('Hello?');
    await conversation.idle();

    expect(turn.text).not.toBe('');
    expect(onError).toHaveBeenCalledOnce();
  });

  test.each([
    { because: 'after its retry-after', headers: { 'retry-after': '45' }, seconds: [0, 44, 46], counts: [1, 1, 2] },
    { because: 'after 30 s, and then 60 s', headers: {}, seconds: [0, 29, 31, 89, 92], counts: [1, 1, 2, 2, 3] },
  ])('a compaction that got a 429 is requested again $because', async ({ headers, seconds, counts }) => {
    faked('clock', 1_000_000);
    const world = fullWorld();
    world.canned.compact = () => Response.json({ success: false, error: 'Slow down.' }, { status: 429, headers });
    const conversation = world.open({ compaction: true });
    const seen: number[] = [];

    for (const second of seconds) {
      vi.setSystemTime(1_000_000 + second * 1_000);
      await conversation.send('Hello?');
      await conversation.idle();
      seen.push(world.count('compact'));
    }

    expect(seen).toEqual(counts);
  });

  test.each([
    { because: 'of a full context', tokens: 900, input: 'Hello?', turns: 4 },
    { because: 'of turns since the last read', tokens: 100, input: 'boat '.repeat(700), turns: 1 },
  ])('a compaction that saved nothing $because is followed by the next level, once', async (given) => {
    const world = fullWorld();
    world.canned.metadata = metadata({ compressedTokens: given.tokens, totalTokens: given.tokens });
    world.saveOnly(900, false);
    const conversation = world.open({ compaction: true });

    for (let turn = 0; turn < given.turns; turn += 1) {
      await conversation.send(given.input);
      await conversation.idle();
    }

    expect(world.levels).toEqual(['light', 'deep']);
    expect(world.errors).toEqual([]);
  });

  test('a compaction by the strongest level is requested again only if the context grows by a quarter, or was small', async () => {
    const world = fullWorld();
    world.saveOnly(880);
    const conversation = world.open({ compaction: true });
    const turnWith = async (compressedTokens: number) => {
      world.canned.metadata = metadata({ compressedTokens, totalTokens: 5000 });
      await world.reread(conversation);
      await conversation.send('Hello?');
      await conversation.idle();
      return world.levels.at(-1);
    };

    expect(await turnWith(900)).toBe('light');
    expect(await turnWith(1150)).toBe('deep');
    expect(await turnWith(1400)).toBe('aggressive');
    expect(await turnWith(1000)).toBe('aggressive');
    expect(world.count('compact')).toBe(3);
    expect((await conversation.prepare('Well?')).report.compactionExhausted).toBe(true);

    world.canned.metadata = metadata({ compressedTokens: 10, totalTokens: 20 });
    await world.reread(conversation);
    expect((await conversation.prepare('Well?')).report.compactionExhausted).toBe(false);
  });

  test('is not repeated for turns that the service does not store, and onError says why', async () => {
    const messages = smallTalk(20);
    const world = chatWorld({ messages, limits: { gateway: 1e6, context: 1e6, compact: 1e6 } });
    const removed: number[] = [];
    const onCompaction = ({ tokens: { before, after } }: CompactionReport) => removed.push(before - after);
    const conversation = world.open({ history: messages, contextWindow: 1000, compaction: true, onCompaction });
    const turns = async (count: number) => {
      for (let turn = 0; turn < count; turn += 1) {
        await conversation.send('Hello? Is anyone on the pier, or on the boats?');
        await conversation.idle();
      }
    };

    await turns(40);
    expect(removed).toEqual([expect.any(Number), 0]);
    expect(removed[0]).toBeGreaterThan(0);
    const message = expect.stringContaining('Store each turn with the service');
    expect(world.errors).toMatchObject([{ name: 'ConfigurationError', message }]);

    world.emulator.conversations.append('talk', smallTalk(32, 20));
    await world.reread(conversation);
    await turns(1);
    expect(removed).toHaveLength(3);
    expect(removed[2]).toBeGreaterThan(0);
  });

  test('that tells no counts leaves a valid state, if invalid responses are only reported', async () => {
    const world = fullWorld();
    const common = {
      baseURL: 'https://emulator.test',
      fetch: world.fetch,
      maxRetries: 0,
      validation: 'report',
    } as const;
    const context = new ContextClient({ ...common, sessionToken: world.emulator.sessionToken });
    world.canned.summary = { ...summary(), version: 'v2' as never };
    world.canned.compact = () => Response.json({ success: true, result: { success: true, summaryUpdated: true } });
    const store = memoryStore();
    const conversation = world.open({ context, store, compaction: true });
    await conversation.send('Hello?');
    await conversation.idle();

    await world.open({ context, store }).send('Hello again?');

    expect((await store.load('talk'))?.state?.compaction.last).toMatchObject({ level: 'light', tokens: 0 });
    expect(world.errors).toEqual([]);
    await context.close();
  });

  test('continues if the turn that started it is aborted, and ends without an error if the conversation is closed', async () => {
    const world = fullWorld();
    const signals: AbortSignal[] = [];
    const never = gate();
    world.canned.compact = (request) => {
      signals.push(request.signal);
      return never.passed;
    };
    const stop = new AbortController();
    const store = memoryStore();
    const conversation = world.open({ store, compaction: true });
    await conversation.send('Hello?', { signal: stop.signal });
    await vi.waitFor(() => expect(signals).toHaveLength(1), { timeout: 30_000 });

    stop.abort();
    expect(signals[0]?.aborted).toBe(false);
    conversation.close();
    await conversation.send('Hello again?');
    await conversation.idle();

    expect(signals).toMatchObject([{ aborted: true }]);
    expect(world.errors).toEqual([]);
    expect((await store.load('talk'))?.state?.compaction).toEqual({}); // nor does it delay the next one
    never.open();
  });

  test('awaited by two callers continues if one of them aborts', async () => {
    const world = fullWorld();
    const slow = gate();
    const { compact } = world.canned;
    world.canned.compact = async (request) => {
      await slow.passed;
      return compact?.(request);
    };
    const conversation = world.open();
    const stop = new AbortController();
    const first = failureOf(conversation.compact('deep', { signal: stop.signal }));
    const second = conversation.compact('aggressive');

    stop.abort();
    expect(await first).toBeInstanceOf(APIAbortError);
    slow.open();

    expect(await second).toMatchObject({ level: 'deep', versions: { after: 2 } });
    expect(world.levels).toEqual(['deep']);
  });

  test('is seen by the turns after it, even if an older read arrives later', async () => {
    const world = fullWorld();
    const conversation = world.open();
    await conversation.prepare('One?');
    const slow = gate();
    world.canned.read = () => slow.passed;
    const late = world.reread(conversation);
    await vi.waitFor(() => expect(world.count('context')).toBe(2), { timeout: 30_000 });
    delete world.canned.read;

    await conversation.compact('deep');
    slow.open();
    await late;

    expect((await conversation.prepare('Two?')).report.summaryVersion).toBe(2);
    expect(world.reports).toMatchObject([{ level: 'deep', versions: { before: 1, after: 2 } }]);
  });

  test('starts by itself only if it is asked for', async () => {
    const world = fullWorld();

    for (const compaction of [undefined, false, true]) {
      const conversation = world.open({ compaction });
      await conversation.send('Hello?');
      await conversation.idle();
      expect(world.count('compact')).toBe(compaction ? 1 : 0);
    }
  });

  test("rejects compact() when the caller's compaction fails", async () => {
    const world = fullWorld();
    world.canned.compact = () => Response.json({ success: false, error: 'No.' }, { status: 500 });

    expect(await failureOf(world.open().compact('deep'))).toMatchObject({ status: 500 });
  });
});

test('an error thrown by onCompaction is passed to onError, and the context stays fresh', async () => {
  const world = fullWorld();
  const onCompaction = (): never => {
    throw new Error('my bug');
  };
  const conversation = world.open({ onCompaction });
  await conversation.compact('deep');

  expect((await conversation.send('Hello?')).report).toMatchObject({ stale: false, summaryVersion: 2 });
  expect(world.errors).toMatchObject([{ message: 'my bug' }]);
});

describe('a statement that a compaction lost', () => {
  test('comes back if a question is about it, and is listed', async () => {
    const world = fullWorld();
    const conversation = world.open();
    await conversation.compact('aggressive');

    const { recalled, report } = await conversation.prepare('What did we decide about Postgres?');

    expect(recalled?.content).toContain('[summary] We use Postgres.');
    expect(report.recalled).toMatchObject([{ role: 'summary', text: 'We use Postgres.', match: 'words' }]);
    expect(await conversation.lost()).toMatchObject([{ text: 'We use Postgres.', until: 1 }]);
  });

  test('is not repeated if a message that contains it is', async () => {
    const world = fullWorld();
    const history = [{ role: 'user', content: 'As agreed, we use Postgres. Bring cake.' }, ...smallTalk(80)];
    const conversation = world.open({ history });
    await conversation.compact('aggressive');

    const { report, recalled } = await conversation.prepare('What did we decide about Postgres?');

    expect(report.recalled.map(({ text }) => text)).toContain('As agreed, we use Postgres. Bring cake.');
    expect(recalled?.content.match(/Postgres/g)).toHaveLength(1);
  });

  /** A store of JSON, as an app may have it. */
  function storeOf(world: ReturnType<typeof fullWorld>, history: ConversationMessage[] = []) {
    const state = { stored: 'null', revision: 0 };
    const own = memoryStore({ talk: history });
    const store: Required<ConversationStore> = {
      ...own,
      load: async (id) => ({
        ...Object(await own.load(id)),
        state: JSON.parse(state.stored),
        revision: state.revision,
      }),
      saveState: async (_, saved: ConversationState, revision) => {
        if (revision !== state.revision) throw new ConversationConflictError();
        state.stored = JSON.stringify(saved);
        state.revision += 1;
      },
    };
    return { state, store, open: () => world.open({ store }) };
  }

  test('is not overwritten if the store cannot be loaded, and is found once it can be', async () => {
    const { state, store, open } = storeOf(fullWorld());
    await open().compact('deep');
    const { stored } = state;
    const { load } = store;
    store.load = () => Promise.reject(new Error('restarting'));
    const conversation = open();

    expect(await failureOf(conversation.prepare('Postgres?'))).toMatchObject({ cause: { message: 'restarting' } });
    expect(state.stored).toBe(stored);

    store.load = load;
    expect(await conversation.lost()).toMatchObject([{ text: 'We use Postgres.' }]);
  });

  test('is kept in one store by two processes', async () => {
    const world = fullWorld();
    const { open } = storeOf(world);
    const turn = async (talk: Conversation) => {
      await world.context.include('talk', 'unknown').catch(() => {}); // so that the context is read again
      await talk.send('Well?');
    };
    const one = open();
    await turn(one);
    world.canned.summary = summary({ version: 2, decisions: [decision('Boats are red.')] });
    world.canned.metadata = metadata({ lastCompactionAt: at(2) });
    await turn(open());
    world.canned.summary = summary({ version: 3 });
    world.canned.metadata = metadata({ lastCompactionAt: at(3) });

    await turn(one);

    expect((await open().lost()).map(({ text }) => text)).toEqual(
      expect.arrayContaining(['We use Postgres.', 'Boats are red.']),
    );
  });

  test('is forgotten in the store if its message is excluded', async () => {
    const world = fullWorld();
    vi.spyOn(world.context, 'exclude').mockReturnValue(Promise.resolve() as never);
    const history = [{ id: 'm1', role: 'user', content: 'By the way: we use Postgres, as agreed.' }];
    const { state, open } = storeOf(world, history);
    const conversation = open();
    await conversation.compact('deep');
    expect(await conversation.lost()).toHaveLength(1);

    await conversation.exclude('m1');

    expect(state.stored).not.toContain('We use Postgres');
    expect(await open().lost()).toEqual([]);
    expect(JSON.stringify(await open().prepare('What about Postgres?'))).not.toContain('use Postgres');
  });

  test('is one of the newest 500, so that the saved state stays small', async () => {
    const world = fullWorld();
    const conversation = world.open();
    for (let version = 1; version <= 8; version += 1) {
      const statements = Array.from({ length: 100 }, (_, i) => `Office ${version * 1000 + i} opens at noon.`);
      world.canned.summary = summary({ version, requirements: statements });
      world.canned.metadata = metadata({ compressedTokens: 400, lastCompactionAt: at(version) });
      await world.reread(conversation);
    }

    const lost = await conversation.lost();

    expect(lost).toHaveLength(500);
    expect([lost[0]?.text, lost.at(-1)?.text]).toEqual(['Office 3000 opens at noon.', 'Office 7099 opens at noon.']);
  });

  test('is not one of a message that an edit removed before the same compaction', async () => {
    const world = fullWorld();
    const edited = gate();
    const excluded = async () => {
      await edited.passed;
      world.canned.summary = summary({ version: 2, requirements: ['Be fast.'] });
    };
    vi.spyOn(world.context, 'exclude').mockImplementation(excluded as never);
    const history = [user('Which database?', 'm1'), assistant('We use Postgres.', 'm2')];
    const conversation = world.open({ history, compaction: true });

    await conversation.edit('m1', 'Is it MySQL?').final();
    edited.open();
    await conversation.idle();

    expect(world.levels).toEqual(['light']);
    expect(await conversation.lost()).toEqual([]);
  });

  test.each<[string, (talk: Conversation) => Promise<unknown>]>([
    ['excluded', (talk) => talk.exclude('m1')],
    ['edited', (talk) => talk.edit('m1', 'We use MySQL.').final()],
  ])('is not one of a message that was %s while the compaction ran', async (_, change) => {
    const world = fullWorld();
    vi.spyOn(world.context, 'exclude').mockReturnValue(Promise.resolve() as never);
    const { compact } = world.canned;
    const [asked, slow] = [gate(), gate()];
    world.canned.compact = async (request) => {
      asked.open();
      await slow.passed;
      return compact?.(request);
    };
    const conversation = world.open({ history: [{ id: 'm1', role: 'user', content: 'We use Postgres.' }] });
    const compacting = conversation.compact('deep');
    await asked.passed;

    await change(conversation);
    slow.open();

    expect((await compacting).diff?.lost).toEqual([]);
    expect(await conversation.lost()).toEqual([]);
  });

  test('is not one of an excluded message that another process compacted away', async () => {
    const world = fullWorld();
    vi.spyOn(world.context, 'exclude').mockReturnValue(Promise.resolve() as never);
    const conversation = world.open({ history: [{ id: 'm1', role: 'user', content: 'We use Postgres.' }] });
    await conversation.prepare('One?');
    world.canned.summary = summary({ version: 2, requirements: ['Be fast.'] });
    world.canned.metadata = metadata({ lastCompactionAt: at(2) });

    await conversation.exclude('m1');
    await conversation.prepare('Two?');

    expect(await conversation.lost()).toEqual([]);
  });
});
