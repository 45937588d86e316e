import { pauses } from '../../base/pauses.js';
import {
  type CompactionLevel,
  type CompactionResult,
  ConfigurationError,
  type ContextClient,
  type RequestOptions,
} from '../../index.js';
import type { Background } from '../background.js';
import type { CompactionReceipt, CompactionReport, Snapshot } from '../model.js';
import type { CheckedOptions } from '../options.js';
import { messageTokens } from '../prompt/tokens.js';
import { untilAborted } from '../turn-timeouts.js';
import {
  afterCompaction,
  afterFailure,
  type ContextTokens,
  dueLevel,
  leftTooMuch,
  limitOf,
  STRONGER,
} from './compaction-policy.js';
import type { ContextReader } from './reader.js';
import { countOnlyInHistory, diffSummaries, lostWith } from './receipt.js';
import type { Session } from './session.js';

/** A compaction that this conversation asked for. */
interface OwnCompaction {
  level: CompactionLevel | undefined;
  result: CompactionResult;
  /** Made by the first read that sees the new version, which may be that of a turn. */
  receipt?: Promise<CompactionReceipt> | undefined;
}

/** A report of an own compaction. */
type OwnReport = CompactionReport & { result: CompactionResult };

/** Compacts the service's context, and reports what each compaction lost, also those of other processes. */
export class Compactor {
  /** The compaction that runs. */
  #running: Promise<CompactionReport> | undefined;
  /** The compaction whose new version no read has seen yet. */
  #unseen: OwnCompaction | undefined;
  /** Tokens that the context must reach before it is compacted. */
  readonly #limit: number;

  constructor(
    private readonly client: ContextClient,
    private readonly reader: ContextReader,
    private readonly options: CheckedOptions,
    private readonly session: Session,
    private readonly background: Background,
    /** Resolves when the messages that were replaced are excluded. */
    private readonly untilExcluded: () => Promise<unknown> | undefined,
  ) {
    this.#limit = limitOf(Math.min(options.budget, options.contextWindow - options.replyTokens));
  }

  /** Compacts now, or waits for the compaction that runs. */
  compact(level: CompactionLevel | undefined, { signal, ...request }: RequestOptions): Promise<CompactionReport> {
    return untilAborted(
      this.#run(() => this.#compact(level, request)),
      signal,
    );
  }

  /** Compacts in the background if due. Resolves to the receipt, if there is one. */
  async compactIfDue(): Promise<CompactionReceipt | undefined> {
    const { snapshot, compaction } = this.session.state;
    if (this.options.compaction === false || snapshot === undefined) return undefined;
    if (this.background.signal.aborted || this.#running !== undefined) return undefined;
    const tokens = this.#tokensOf(snapshot);
    const level = dueLevel(compaction, tokens, this.#limit, this.options.runtime.wallClock());
    if (level === undefined) return undefined;
    const report = await this.#run(() => this.#compactFrom(level, tokens)).catch(this.background.onError);
    return report && isReceipt(report) ? report : undefined;
  }

  /** Whether even the strongest level leaves the context too large. */
  isExhausted(snapshot: Snapshot): boolean {
    // Tokens are counted last, because there may be very many messages.
    return leftTooMuch(this.session.state.compaction, this.#limit) && this.#tokensOf(snapshot).current >= this.#limit;
  }

  /** Records what a new version of the summary lost, and reports it, if a compaction made it. */
  recordLoss(before: Snapshot | undefined, after: Snapshot): void {
    const pause = pauses(); // a summary may have very many statements
    const own = this.#unseen;
    this.#unseen = undefined;
    const { lost } = this.session.state;
    if (before === undefined || (own === undefined && !isCompaction(before, after))) {
      this.session.set({ lost: lostWith(after.summary, lost, undefined) });
      return;
    }
    this.session.set({ lost: lostWith(after.summary, lost, before.summary) });
    const receipt = this.background.run(this.#receiptOf(before, after, own, pause));
    if (own !== undefined) own.receipt = receipt;
    receipt.then(this.options.onCompaction).catch(this.background.onError);
  }

  #tokensOf({ metadata: { compressedTokens: counted }, messages }: Snapshot): ContextTokens {
    const { newest, counter } = this.session;
    const since = newest.messages.slice(Math.max(0, messages - newest.older));
    return { counted, current: counted + messageTokens(since, counter.count) };
  }

  /** One compaction at a time. */
  #run(compact: () => Promise<CompactionReport>): Promise<CompactionReport> {
    // Set before any `await`: a second call in the same tick must see it.
    this.#running ??= this.background.run(
      compact().finally(() => {
        this.#running = undefined;
        return this.session.save(this.session.timeouts({ signal: this.background.signal }));
      }),
    );
    return this.#running;
  }

  /** If the level saves nothing, tries the next one, once. */
  async #compactFrom(level: CompactionLevel, { counted }: ContextTokens): Promise<CompactionReport> {
    const report = await this.#attempt(level);
    if (this.session.state.compaction.last?.savedNothing !== true) return report;
    const { previousTokenCount } = report.result;
    const stronger = STRONGER[level];
    if (previousTokenCount > counted || counted >= this.#limit) return stronger ? this.#attempt(stronger) : report;
    const message =
      `The compaction removed nothing: the service has only ${previousTokenCount} tokens of this conversation. ` +
      'Store each turn with the service, or set compaction: false.';
    this.background.onError(new ConfigurationError(message));
    return report;
  }

  /** Keeps what the compaction showed, for the next ones. */
  async #attempt(level: CompactionLevel): Promise<OwnReport> {
    try {
      const report = await this.#compact(level, { maxRetries: 0 }); // a later turn tries again
      this.session.set({ compaction: afterCompaction(level, report.result) });
      return report;
    } catch (error) {
      if (this.background.signal.aborted) throw error; // closed, not failed
      const { compaction } = this.session.state;
      this.session.set({ compaction: afterFailure(compaction, error, this.options.runtime.wallClock()) });
      throw error;
    }
  }

  /** Compacts, then reads the context to report the difference. */
  async #compact(level: CompactionLevel | undefined, options: RequestOptions): Promise<OwnReport> {
    const timeouts = this.session.timeouts({ ...options, signal: this.background.signal });
    await this.session.load(timeouts);
    await this.untilExcluded(); // what it removes is not lost
    const { snapshot: before } = await this.reader.current(timeouts.request());
    const result = await this.client.compact(this.session.id, { level }, { ...options, ...timeouts.request() });
    this.reader.invalidate();
    const own: OwnCompaction = { level, result };
    this.#unseen = own;
    // Read at once, so that every version is seen even if no turn follows. A failed read does not fail the compaction,
    // which is already done.
    const after = await this.reader.read(timeouts.request()).catch(this.background.onError);
    const receipt = await own.receipt;
    const version = before?.summary.version ?? 0;
    const versions = { before: version, after: after?.snapshot.summary.version ?? version };
    return { versions, tokens: tokensOf(result), ...receipt, level, result };
  }

  async #receiptOf(
    before: Snapshot,
    after: Snapshot,
    own: OwnCompaction | undefined,
    pause: () => Promise<void> | undefined,
  ): Promise<CompactionReceipt> {
    await pause();
    const diff = diffSummaries(before.summary, after.summary);
    await pause();
    const read = { before: before.metadata.compressedTokens, after: after.metadata.compressedTokens };
    return {
      ...(own && { level: own.level, result: own.result }),
      versions: { before: before.summary.version, after: after.summary.version },
      tokens: own === undefined ? read : tokensOf(own.result),
      diff,
      onlyInHistory: await countOnlyInHistory(after, await this.session.everyMessage(this.session.timeouts())),
    };
  }
}

/** Excluding a message makes a new version of the summary too, so the time of the last compaction decides. */
function isCompaction(before: Snapshot, after: Snapshot): boolean {
  return (
    after.summary.version > before.summary.version &&
    after.metadata.lastCompactionAt !== before.metadata.lastCompactionAt
  );
}

function isReceipt(report: CompactionReport): report is CompactionReceipt {
  return report.diff !== undefined;
}

function tokensOf({ previousTokenCount, newTokenCount }: CompactionResult): CompactionReport['tokens'] {
  return { before: previousTokenCount, after: newTokenCount };
}
