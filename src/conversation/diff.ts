import type { RollingSummary } from '../index.js';
import { entriesOf, isBinding, type SummaryEntry } from './entries.js';
import { normalise, sharedTerms, termsOf } from './terms.js';

/** The differences between two versions of a summary. */
export interface SummaryDiff<Before extends SummaryEntry = SummaryEntry> {
  kept: Before[];
  reworded: { before: Before; after: SummaryEntry }[];
  /**
   * Decisions, requirements and definitions that are missing from the newer version. Goals and plans are expected to
   * change.
   */
  lost: Before[];
  added: SummaryEntry[];
}

/**
 * Compares two versions of a summary: which statements the newer one kept, reworded, lost and added. Statements are
 * matched by normalised text, and decisions also by id. A statement that occurs twice in `before` is listed twice. A
 * repetition of a known statement is not `added`.
 */
export function diffSummaries(before: RollingSummary, after: RollingSummary): SummaryDiff {
  const { lost, ...rest } = compareEntries(entriesOf(before), entriesOf(after));
  return { ...rest, lost: lost.filter(isBinding) };
}

/** Compares entries. Here `lost` contains every missing entry, goals and plans included. */
export function compareEntries<Before extends SummaryEntry>(
  before: readonly Before[],
  after: readonly SummaryEntry[],
): SummaryDiff<Before> {
  const byText = new Map(after.map((entry) => [keyOf(entry), entry]));
  const known = new Set<string>();
  const indexed = after.map((entry) => ({ entry, terms: termsOf(entry.text) }));
  const diff: SummaryDiff<Before> = { kept: [], reworded: [], lost: [], added: [] };
  for (const entry of before) {
    const same = byText.get(keyOf(entry));
    const heir = same ?? findHeir(entry, indexed);
    if (heir !== undefined) known.add(keyOf(heir));
    if (same !== undefined) diff.kept.push(entry);
    else if (heir !== undefined) diff.reworded.push({ before: entry, after: heir });
    else diff.lost.push(entry);
  }
  diff.added = after.filter((entry) => !known.has(keyOf(entry)));
  return diff;
}

/** Entries with equal keys state the same. */
export function keyOf({ term, text }: SummaryEntry): string {
  return normalise(term === undefined ? text : `${term} ${text}`);
}

/**
 * Finds the entry that states the same in other words. A decision matches by its id and at least one common term, a
 * definition by its defined term, any other entry by most of its terms.
 */
function findHeir(
  entry: SummaryEntry,
  after: readonly { entry: SummaryEntry; terms: ReadonlySet<string> }[],
): SummaryEntry | undefined {
  const terms = termsOf(entry.text);
  return after.find(({ entry: other, terms: otherTerms }) => {
    if (entry.term !== undefined) return entry.term === other.term;
    const shared = sharedTerms(terms, otherTerms);
    if (entry.id !== undefined && entry.id !== '' && entry.id === other.id) return shared > 0;
    return terms.size > 2 && shared >= MOST_OF_IT * terms.size;
  })?.entry;
}

const MOST_OF_IT = 0.8;
