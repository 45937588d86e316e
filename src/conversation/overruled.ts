import { isBinding, type SummaryEntry } from './entries.js';
import type { LedgerEntry, LedgerState } from './ledger-state.js';
import { sharedTerms, termsOf } from './terms.js';

/** Returns the lost entries of a ledger, each with the later decision that revokes it, if any. */
export function withRevisions({ entries, version }: LedgerState): LedgerEntry[] {
  const revisions = entries.filter(takesBack).map((entry) => ({ entry, terms: termsOf(entry.text) }));
  return entries
    .filter(({ until }) => until < version)
    .map((entry) => {
      const terms = termsOf(entry.text);
      const revision = revisions.find((later) => isLater(later.entry, entry) && isSameSubject(later.terms, terms));
      return revision !== undefined && isBinding(entry) ? { ...entry, overruledBy: revision.entry.text } : entry;
    });
}

/** Whether an entry is a decision that revokes an earlier one. */
function takesBack({ section, text, reason = '' }: SummaryEntry): boolean {
  return section === 'decisions' && TAKES_BACK.test(`${text} ${reason}`);
}

function isLater(a: LedgerEntry, b: LedgerEntry): boolean {
  if (a.timestamp !== undefined && b.timestamp !== undefined) return a.timestamp > b.timestamp;
  return a.since > b.since;
}

function isSameSubject(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const shared = sharedTerms(a, b);
  return shared >= 2 && shared >= SAME_SUBJECT * Math.min(a.size, b.size);
}

const SAME_SUBJECT = 0.6;

/** Phrases that mark a change of mind, in English and German, and are rare otherwise. */
const TAKES_BACK =
  /\b(?:instead|no longer|not any ?more|rather than|after all|overrul\w*|revok\w*|supersed\w*|stattdessen|doch nicht|nicht mehr)\b/i;
