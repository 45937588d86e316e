import { startOf } from './unicode.js';

/** How many sources a page gets, and characters of each: a page may send them back with each question. */
const MOST = 10;
const LENGTH = 400;

/**
 * What a page shows of what a prompt recalled: the best of what matched, and the beginnings of their texts. Without results of tools, unless
 * the app shows them.
 */
export function shownSources<Source extends { role: string; match: string; text: string }>(
  recalled: readonly Source[],
  showResults: boolean,
): Source[] {
  const visible = recalled.filter(({ role, match }) => match !== 'beside' && (showResults || role !== 'tool'));
  const matching = visible.slice(0, MOST);
  return matching.map((one) => ({ ...one, text: startOf(one.text, LENGTH) }));
}
