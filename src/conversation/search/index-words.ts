import { startOf } from '../../base/unicode.js';
import { textOf } from '../content.js';
import type { ConversationMessage } from '../model.js';
import { dateTerms, daysBeside, localTimeOf } from './dates.js';
import { mayNeedPrevious, type SearchQuery, termsOfQuery, wordsOfQuery } from './rank.js';
import { BEGINNING, beginningOf, wordsIn, wordsOfName } from './words.js';

/**
 * Returns the words by which a message is found: those of its text and of its `name`, in lower case, without accents and endings,
 * in Chinese and Japanese pairs of characters, and its date. They consist of letters, their marks, and digits. A
 * store that returns parts keeps them beside each message: see `ConversationStore.load`.
 *
 * @example
 * ```ts
 * import { wordsOf } from 'context-gateway/conversation';
 * console.log(wordsOf({ content: 'The pier gets a red lamp.', createdAt: '2026-05-03' }).join(' '));
 * ```
 */
export function wordsOf(message: Pick<ConversationMessage, 'content' | 'name' | 'createdAt'>): string[] {
  const { name = '' } = message;
  const time = localTimeOf(message);
  const words = [...wordsIn(textOf(message)), ...wordsOfName(name ?? '')];
  // A word with a digit is also found by its letters: "covid19" by "covid".
  return indexed(
    words.flatMap((word) => [word, startOf(word, BEGINNING)]),
    time === undefined ? [] : dateTerms(time),
  );
}

/** The words of a query, as `wordsOf` has them. */
export function wantedWords(query: SearchQuery): string[] {
  const { words, dates } = termsOfQuery(query);
  const named = [...dates.keys()];
  // Words are indexed with the days of UTC, where those of the user begin earlier or end later.
  const days = query.timeZone === undefined ? [] : named.flatMap(daysBeside);
  const before = mayNeedPrevious(words) ? wordsOfQuery(query.previous ?? []) : [];
  return indexed([...words, ...before], [...named, ...days]);
}

function indexed(words: readonly string[], dates: readonly string[]): string[] {
  return [...new Set([...words.map(beginningOf), ...dates])];
}
