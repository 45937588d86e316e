import type { SummaryEntry } from './entries.js';
import { sharedTerms, termsOf } from './terms.js';

/** Whether a statement says that something is different from now on. */
export function takesBack({ text, reason = '' }: SummaryEntry): boolean {
  return TAKES_BACK.test(`${text} ${reason}`);
}

/** Whether two statements are about the same thing. */
export function sameSubject(a: SummaryEntry, b: SummaryEntry): boolean {
  const terms = termsOf(a.text);
  const others = termsOf(b.text);
  const shared = sharedTerms(terms, others);
  return shared >= 2 && shared >= SAME_SUBJECT * Math.min(terms.size, others.size);
}

const SAME_SUBJECT = 0.3;

/** Words of those who change their minds. */
const TAKES_BACK =
  /\b(?:instead|no longer|not any ?more|any ?longer|rather than|on second thought|after all|overrul\w*|revers(?:e|ed|es)|revok\w*|revis\w*|withdr[ae]w\w*|cancel\w*|scrap(?:ped)?|drop(?:ped)?|replac\w*|supersed\w*|switch(?:ed|ing)?|chang(?:e|ed|ing) (?:our|my|the|that)|take (?:that|it) back|stattdessen|doch nicht|nicht mehr)\b/i;
