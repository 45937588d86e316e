import type { ContextMetadata, RollingSummary } from '../index.js';
import { compareEntries, keyOf } from './diff.js';
import { entriesOf, isBinding } from './entries.js';
import type { LedgerEntry, LedgerState } from './ledger-state.js';
import { sameSubject, takesBack } from './overruled.js';
import { sharedTerms, termsOf } from './terms.js';

/** Every statement that some version of the summary held, and which of them the newest holds no more. */
export class Ledger {
  #state: LedgerState;
  #lost: LedgerEntry[] | undefined;

  constructor(state: LedgerState = { format: 1, version: -1, entries: [] }) {
    this.#state = state;
  }

  get state(): LedgerState {
    return this.#state;
  }

  /**
   * Take a newer version in. When no compaction made it, or something was taken out on purpose (`withdrawn`), then what is missing is
   * forgotten, not lost: to exclude a message removes what it said.
   */
  observe(summary: RollingSummary, { lastCompactionAt }: ContextMetadata, { withdrawn = false } = {}): void {
    const { version, entries, compactedAt } = this.#state;
    if (summary.version <= version) return;
    const isCompaction = lastCompactionAt === undefined || lastCompactionAt !== compactedAt;
    const now = entriesOf(summary);
    const since = new Map<string, number>();
    // Statements that were lost before may be back as well.
    const { kept, reworded, lost } = compareEntries(entries, now);
    for (const entry of kept) since.set(keyOf(entry), entry.since);
    for (const { before, after } of reworded) since.set(keyOf(after), before.since);
    const older = withdrawn || !isCompaction ? lost.filter(({ until }) => until < version) : lost;
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
      entries: [...older, ...fresh],
    });
  }

  /** Forget what a message said. */
  forget(content: string): void {
    const said = termsOf(content);
    const entries = this.#state.entries.filter(({ text }) => {
      const terms = termsOf(text);
      return sharedTerms(terms, said) < terms.size;
    });
    this.#change({ ...this.#state, entries });
  }

  /** What the newest summary holds no more and nothing later takes back, oldest first. */
  lost(): readonly LedgerEntry[] {
    this.#lost ??= findLost(this.#state);
    return this.#lost;
  }

  #change(state: LedgerState): void {
    this.#state = state;
    this.#lost = undefined;
  }
}

function findLost({ entries, version }: LedgerState): LedgerEntry[] {
  const revisions = entries.filter(takesBack);
  const isOverruled = (entry: LedgerEntry): boolean =>
    isBinding(entry) && revisions.some((later) => isLater(later, entry) && sameSubject(later, entry));
  return entries.filter((entry) => entry.until < version && !isOverruled(entry));
}

function isLater(a: LedgerEntry, b: LedgerEntry): boolean {
  if (a.timestamp !== undefined && b.timestamp !== undefined) return a.timestamp > b.timestamp;
  return a.since > b.since;
}
