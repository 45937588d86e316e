import { startOf } from './unicode.js';

/** How many sources a page gets, and characters of each: a page may send them back with each question. */
const MOST = 10;
const LENGTH = 400;

/** What a page shows of what a prompt recalled: the best of what matched, and the beginnings of their texts. */
export function shownSources<Source extends { match: string; text: string }>(recalled: readonly Source[]): Source[] {
  const matching = recalled.filter(({ match }) => match !== 'beside').slice(0, MOST);
  return matching.map((one) => ({ ...one, text: startOf(one.text, LENGTH) }));
}
