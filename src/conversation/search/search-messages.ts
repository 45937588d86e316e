import type { FoundMessage, Match } from '../model.js';
import type { Loaded } from './archive.js';
import { localTimeOf } from './dates.js';
import { type Query, type Ranking, rankMessages } from './rank.js';
import type { InSlices } from './terms.js';
import { wordsAsked } from './words.js';

/** What a search found for a prompt. */
export interface Found {
  /** The best messages first. */
  messages: FoundMessage[];
  /** As in `Ranking`. */
  coverage: number;
}

/** Characters up to which a message may say nothing. */
const SHORT = 40;
/** A word is common if more than one message of so many has it. */
const COMMON = 20;

/**
 * Finds the messages that a prompt may need for a query: those that share its words, names or dates, and those beside them.
 */
export function* searchMessages(messages: Loaded, query: Query): InSlices<Found> {
  return found(yield* rankMessages(messages, query), messages, query.timeZone);
}

/** The messages of a ranking that are loaded. */
export function found({ best, coverage }: Ranking, messages: Loaded, timeZone: string | undefined): Found {
  const all = best.flatMap(({ position, ...how }) => foundMessage(messages, position, { ...how, timeZone }) ?? []);
  return { messages: withoutFillers(all), coverage };
}

/** Does the work without a pause. */
export function atOnce<T>(work: InSlices<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** What is known of a message that a search found, unless it is excluded. */
export function foundMessage(
  messages: Loaded,
  position: number,
  { score, match, timeZone }: { score: number; match: Match; timeZone: string | undefined },
): FoundMessage | undefined {
  const message = messages[position];
  if (message === undefined || message.excluded === true) return undefined;
  const { id, role, name, content: text } = message;
  const createdAt = localTimeOf(message, timeZone);
  const found = { position } as FoundMessage; // field by field: a search may find a thousand messages
  if (id) found.id = id;
  found.role = role;
  if (name) found.name = name;
  if (createdAt) found.createdAt = createdAt;
  return Object.assign(found, { text, score, match });
}

/** Without short texts beside what was found that say nothing, such as "Noted.": each of their words stands in many of them. */
function withoutFillers(found: readonly FoundMessage[]): FoundMessage[] {
  const short = new Map(
    found.flatMap((one) => (one.text.length <= SHORT ? [[one, new Set(wordsAsked(one.text))] as const] : [])),
  );
  const counts = new Map<string, number>();
  for (const words of short.values()) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const most = Math.max(3, short.size / COMMON);
  return found.filter((one) => {
    const words = one.match === 'beside' ? short.get(one) : undefined;
    return words === undefined || [...words].some((word) => (counts.get(word) ?? 0) <= most);
  });
}
