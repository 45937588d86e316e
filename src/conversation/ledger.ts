import type { ContextMetadata, RollingSummary } from '../index.js';
import { compareEntries, keyOf } from './diff.js';
import { entriesOf, isBinding } from './entries.js';
import type { LedgerEntry, LedgerState } from './ledger-state.js';
import { withRevisions } from './overruled.js';
import { sentencesOf, sharedTerms, termsOf } from './terms.js';

/** Maximum number of lost goals and plans to remember. Unlike decisions, they go out of date. */
const MOST_PASSING = 100;

/** Records every statement that some version of the summary contained, and which of them the newest version lacks. */
export class Ledger {
  #state: LedgerState = { format: 1, version: -1, entries: [] };
  /** The sentences of excluded messages, as terms. */
  readonly #unsaid: ReadonlySet<string>[] = [];
  #hasUnsaid = false;
  #lost: readonly LedgerEntry[] | undefined;
  #recoverable: readonly LedgerEntry[] | undefined;

  get state(): LedgerState {
    return this.#state;
  }

  /** Continues from a stored state. */
  restore(state: LedgerState): void {
    this.#change(state);
  }

  /**
   * Records a newer version. If no compaction created it, missing statements are forgotten, not lost: excluding a
   * message removes its statements. If the service does not report when it compacted, the first snapshot after an
   * exclude is attributed to the exclude.
   */
  observe(summary: RollingSummary, { lastCompactionAt }: ContextMetadata): void {
    const { version, entries, compactedAt } = this.#state;
    const isCompaction = lastCompactionAt === undefined ? !this.#hasUnsaid : lastCompactionAt !== compactedAt;
    this.#hasUnsaid = false;
    if (summary.version <= version) return;
    const now = entriesOf(summary);
    const since = new Map<string, number>();
    // `entries` includes statements lost earlier, because they may be back.
    const { kept, reworded, lost } = compareEntries(entries, now);
    for (const entry of kept) since.set(keyOf(entry), entry.since);
    for (const { before, after } of reworded) since.set(keyOf(after), before.since);
    const older = isCompaction ? lost : lost.filter(({ until }) => until < version);
    const forgotten = new Set(older.filter((entry) => !isBinding(entry)).slice(0, -MOST_PASSING));
    const fresh = now.map(
      (entry): LedgerEntry => ({
        ...entry,
        since: since.get(keyOf(entry)) ?? summary.version,
        until: summary.version,
      }),
    );
    this.#change({
      format: 1,
      version: summary.version,
      compactedAt: lastCompactionAt,
      entries: [...older.filter((entry) => !forgotten.has(entry)), ...fresh],
    });
  }

  /** Forgets the statements of an excluded message, permanently. */
  forget(content = ''): void {
    this.#hasUnsaid = true;
    this.#unsaid.push(...sentencesOf(content).map(termsOf));
    this.#change(this.#state);
  }

  /** Statements that the newest summary lacks, oldest first. */
  lost(): readonly LedgerEntry[] {
    this.#lost ??= withRevisions(this.#state);
    return this.#lost;
  }

  /** Lost statements that no later decision revokes. */
  recoverable(): readonly LedgerEntry[] {
    this.#recoverable ??= this.lost().filter(({ overruledBy }) => overruledBy === undefined);
    return this.#recoverable;
  }

  #change(state: LedgerState): void {
    const entries = this.#unsaid.length === 0 ? state.entries : state.entries.filter((entry) => !this.#isUnsaid(entry));
    this.#state = entries.length === state.entries.length ? state : { ...state, entries };
    this.#lost = undefined;
    this.#recoverable = undefined;
  }

  /** Whether an excluded sentence states it: the sentence has all of its terms, and at most twice as many in total. */
  #isUnsaid({ text }: LedgerEntry): boolean {
    const terms = termsOf(text);
    return this.#unsaid.some(
      (sentence) => sharedTerms(terms, sentence) === terms.size && sentence.size <= 2 * terms.size,
    );
  }
}
