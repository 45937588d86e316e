import type { ContextMetadata, RollingSummary } from '../index.js';
import type { LedgerEntry } from './model.js';
import { compareEntries, entriesOf, isBinding, keyOf, sharedTerms, termsOf } from './receipt.js';

/** The record of all summaries of one conversation. Plain JSON. */
export interface Ledger {
  /** The newest version that was read. -1 before the first. */
  version: number;
  /** The time of the last compaction, as of that version. */
  compactedAt?: string | null | undefined;
  /** Whether a message was excluded since: statements that go with it are not lost. */
  hasExcluded?: boolean | undefined;
  entries: readonly LedgerEntry[];
}

export const EMPTY_LEDGER: Ledger = { version: -1, entries: [] };

/**
 * Records a newer version of the summary. If no compaction created it, missing statements are forgotten, not lost:
 * excluding a message removes its statements. If the service does not say when it compacted, the first version after an
 * exclude is attributed to the exclude.
 */
export function observeSummary(ledger: Ledger, summary: RollingSummary, { lastCompactionAt }: ContextMetadata): Ledger {
  const { version, entries, compactedAt, hasExcluded = false } = ledger;
  const isCompaction = lastCompactionAt === undefined ? !hasExcluded : lastCompactionAt !== compactedAt;
  if (summary.version <= version) return hasExcluded ? { ...ledger, hasExcluded: false } : ledger;
  const now = entriesOf(summary);
  const since = new Map<string, number>();
  // `entries` includes statements lost earlier, because they may be back.
  const { kept, reworded, lost } = compareEntries(entries, now);
  for (const entry of kept) since.set(keyOf(entry), entry.since);
  for (const { before, after } of reworded) since.set(keyOf(after), before.since);
  const older = isCompaction ? lost : lost.filter(({ until }) => until < version);
  const transient = older.filter((entry) => !isBinding(entry));
  const forgotten = new Set(transient.slice(0, Math.max(0, transient.length - MAX_TRANSIENT)));
  const fresh = now.map((entry): LedgerEntry => {
    const first = since.get(keyOf(entry)) ?? summary.version;
    return { ...entry, since: first, until: summary.version };
  });
  return {
    version: summary.version,
    compactedAt: lastCompactionAt,
    entries: [...older.filter((entry) => !forgotten.has(entry)), ...fresh],
  };
}

/** Lost goals and plans to remember. Unlike decisions, they go out of date. */
const MAX_TRANSIENT = 100;

/** Statements that the newest summary lacks, oldest first. */
export function lostEntries({ entries, version }: Ledger): LedgerEntry[] {
  return entries.filter(({ until }) => until < version);
}

/** Forgets the statements of a message that was excluded or replaced. */
export function forgetMessage(ledger: Ledger, content = ''): Ledger {
  const sentences = sentencesOf(content).map(termsOf);
  const entries = ledger.entries.filter(({ text }) => {
    const terms = termsOf(text);
    // A sentence makes the statement if it contains all its terms, and at most twice as many in total.
    return !sentences.some(
      (sentence) => terms.size > 0 && sharedTerms(terms, sentence) === terms.size && sentence.size <= 2 * terms.size,
    );
  });
  return { ...ledger, entries, hasExcluded: true };
}

/** The text itself, and its sentences. */
function sentencesOf(text: string): string[] {
  return [text, ...text.split(/[.!?](?=\s)|[。！？\n]/)].filter((sentence) => sentence.trim() !== '');
}
