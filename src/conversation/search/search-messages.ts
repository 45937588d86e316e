import { textOf } from '../content.js';
import type { FoundMessage, Match } from '../model.js';
import type { Loaded } from './archive.js';
import { localTimeOf } from './dates.js';
import { type Ranking, rankMessages, type SearchQuery } from './rank.js';
import type { InSlices } from './terms.js';

/** What a search found for a prompt. */
export interface Found {
  /** The best messages first. */
  messages: FoundMessage[];
  /** As in `Ranking`. */
  coverage: number;
}

/**
 * Finds the messages that a prompt may need for a query: those that share its words, names or dates, and those beside them.
 */
export function* searchMessages(messages: Loaded, query: SearchQuery): InSlices<Found> {
  return found(yield* rankMessages(messages, query), messages, query.timeZone);
}

/** The messages of a ranking that are loaded. */
export function found({ best, coverage }: Ranking, messages: Loaded, timeZone: string | undefined): Found {
  return {
    messages: best.flatMap(({ position, ...how }) => foundMessage(messages, position, { ...how, timeZone }) ?? []),
    coverage,
  };
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
  const { id, role, name } = message;
  const text = textOf(message);
  const createdAt = localTimeOf(message, timeZone);
  const found = { position } as FoundMessage; // field by field: a search may find a thousand messages
  if (id) found.id = id;
  found.role = role;
  if (name) found.name = name;
  if (createdAt) found.createdAt = createdAt;
  return Object.assign(found, { text, score, match });
}
