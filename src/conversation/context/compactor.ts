import { pauses } from '../../base/pauses.js';
import { type CompactionLevel, ConfigurationError, type RequestOptions } from '../../index.js';
import type { Background } from '../background.js';
import { bodyOf } from '../content.js';
import type { CompactionReceipt, CompactionReport, ConversationMessage, Snapshot } from '../model.js';
import type { CheckedOptions } from '../options.js';
import { messageTokens } from '../prompt/tokens.js';
import { type TurnTimeouts, untilAborted } from '../turn-timeouts.js';
import {
  afterCompaction,
  afterFailure,
  type ContextTokens,
  dueLevel,
  leftTooMuch,
  limitOf,
  STRONGER,
} from './compaction-policy.js';
import type { ContextSource } from './reader.js';
import { countOnlyInHistory, diffSummaries, forgetMessages, lostWith } from './receipt.js';
import type { Session } from './session.js';

/** Compacts the service's context, and reports what each compaction lost. */
export class Compactor {
  /** The compaction that runs. */
  #running: Promise<CompactionReport> | undefined;
  /** Tokens that the context must reach before it is compacted. */
  readonly #limit: number;

  constructor(
    private readonly source: ContextSource,
    private readonly options: CheckedOptions,
    private readonly session: Session,
    private readonly background: Background,
    /** Resolves when all messages are excluded whose exclusion has begun. */
    private readonly untilExcluded: () => Promise<unknown>,
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
    if (this.options.compaction !== true || snapshot === undefined) return undefined;
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
      'Store each turn with the service, or leave out compaction: true.';
    this.background.onError(new ConfigurationError(message));
    return report;
  }

  /** Keeps what the compaction showed, for the next ones. */
  async #attempt(level: CompactionLevel): Promise<CompactionReport> {
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

  /** Reads the context, compacts it, and reads it again for the receipt. */
  async #compact(level: CompactionLevel | undefined, options: RequestOptions): Promise<CompactionReport> {
    const timeouts = this.session.timeouts({ ...options, signal: this.background.signal });
    const { messages: known } = this.session.newest; // also one that an edit replaces during the load
    const { messages } = await this.session.load(timeouts);
    await this.untilExcluded();
    const before = await this.source.read(timeouts.request());
    const result = await this.source.client.compact(this.session.id, { level }, { ...options, ...timeouts.request() });
    const { previousTokenCount, newTokenCount } = result;
    const { version } = before.summary;
    const report = { level, result, tokens: { before: previousTokenCount, after: newTokenCount } };
    // What fails from here on does not fail the compaction, which is already done.
    const seen = await this.#compare(before, [...known, ...messages], timeouts).catch(this.background.onError);
    if (seen === undefined) return { ...report, versions: { before: version, after: version } };
    const receipt = { ...report, ...seen };
    this.background.behind(Promise.resolve(receipt).then(this.options.onCompaction));
    return receipt;
  }

  /** What a compaction changed since `before`. What one of the messages said that were excluded or replaced meanwhile is not lost. */
  async #compare(
    before: Snapshot,
    messages: readonly ConversationMessage[],
    timeouts: TurnTimeouts,
  ): Promise<Pick<CompactionReceipt, 'versions' | 'diff' | 'onlyInHistory'>> {
    const pause = pauses(); // a summary may have very many statements
    const after = await this.source.read(timeouts.request());
    await this.untilExcluded();
    const { messages: left } = await this.session.load(timeouts);
    const gone = goneFrom(messages, left);
    const lost = lostWith(after.summary, this.session.state.lost, before.summary);
    this.session.set({ lost: forgetMessages(lost, gone) });
    await pause();
    const diff = diffSummaries(before.summary, after.summary);
    await pause();
    return {
      versions: { before: before.summary.version, after: after.summary.version },
      diff: { ...diff, lost: forgetMessages(diff.lost, gone) },
      onlyInHistory: await countOnlyInHistory(after, left),
    };
  }
}

/** The messages that were excluded, removed or edited. An edited one keeps its id. */
function goneFrom(
  before: readonly ConversationMessage[],
  after: readonly ConversationMessage[],
): readonly ConversationMessage[] {
  const keyOf = (message: ConversationMessage): string => JSON.stringify([message.id, bodyOf(message)]);
  const left = new Set(after.filter(({ excluded }) => excluded !== true).map(keyOf));
  return before.filter((message) => message.excluded !== true && !left.has(keyOf(message)));
}

function isReceipt(report: CompactionReport): report is CompactionReceipt {
  return report.diff !== undefined;
}
