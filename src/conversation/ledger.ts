import type { ContextMetadata, RollingSummary } from '../index.js';
import { compareEntries, keyOf } from './diff.js';
import { entriesOf, isBinding } from './entries.js';
import type { LedgerEntry, LedgerState } from './ledger-state.js';
import { withRevisions } from './overruled.js';
import { sentencesOf, sharedTerms, termsOf } from './terms.js';

/** Goals and plans that are remembered: they are of the past, unlike decisions. */
const MOST_PASSING = 100;

/** Every statement that some version of the summary held, and which of them the newest holds no more. */
export class Ledger {
  #state: LedgerState = { format: 1, version: -1, entries: [] };
  /** What excluded messages said, as the terms of their sentences. */
  readonly #unsaid: ReadonlySet<string>[] = [];
  #hasUnsaid = false;
  #lost: readonly LedgerEntry[] | undefined;
  #recoverable: readonly LedgerEntry[] | undefined;

  get state(): LedgerState {
    return this.#state;
  }

  /** Go on from what was stored. */
  restore(state: LedgerState): void {
    this.#change(state);
  }

  /**
   * Take a newer version in. When no compaction made it, then what is missing is forgotten, not lost: to exclude a message removes
   * what it said. Where the service does not tell when it compacted, the first snapshot after an exclude counts as made by that.
   */
  observe(summary: RollingSummary, { lastCompactionAt }: ContextMetadata): void {
    const { version, entries, compactedAt } = this.#state;
    const isCompaction = lastCompactionAt === undefined ? !this.#hasUnsaid : lastCompactionAt !== compactedAt;
    this.#hasUnsaid = false;
    if (summary.version <= version) return;
    const now = entriesOf(summary);
    const since = new Map<string, number>();
    // Statements that were lost before may be back as well.
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

  /** A message was excluded: forget what it said, for good. */
  forget(content = ''): void {
    this.#hasUnsaid = true;
    this.#unsaid.push(...sentencesOf(content).map(termsOf));
    this.#change(this.#state);
  }

  /** What the newest summary holds no more, oldest first. */
  lost(): readonly LedgerEntry[] {
    this.#lost ??= withRevisions(this.#state);
    return this.#lost;
  }

  /** The same without what later decisions take back. */
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

  /** A sentence that says it has all of its words, and not many others. */
  #isUnsaid({ text }: LedgerEntry): boolean {
    const terms = termsOf(text);
    return this.#unsaid.some(
      (sentence) => sharedTerms(terms, sentence) === terms.size && sentence.size <= 2 * terms.size,
    );
  }
}
