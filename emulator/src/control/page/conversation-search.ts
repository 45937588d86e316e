import type * as z from 'zod/mini';
import type { Sliced } from '../../base/slices.js';
import type { Stores } from '../../store/stores.js';
import { finder } from '../../text/excerpt.js';
import type { foundConversations } from '../responses.js';
import { listed } from './overview.js';

type FoundConversations = z.infer<typeof foundConversations>;
type Match = FoundConversations['conversations'][number]['match'];

/** Finds the conversations whose id, or one of whose messages, contains all words. */
export function* searchConversations(
  stores: Stores,
  { q = '', offset = 0, limit = 50 }: { q?: string | undefined; offset?: number; limit?: number },
): Sliced<FoundConversations> {
  const finders = q.split(/\s+/).filter(Boolean).map(finder);
  const { conversations } = stores;
  const states = conversations.states().reverse();
  const found: FoundConversations = { total: 0, all: states.length, conversations: [] };
  for (const state of states) {
    yield;
    let match: Match | true = finders.every((find) => find(state.id)) ? true : undefined;
    if (match === undefined) match = yield* firstMatch(stores, state.id, finders);
    if (match === undefined) continue;
    const place = found.total;
    found.total += 1;
    if (place < offset) continue;
    if (found.conversations.length === limit) found.next = offset + limit;
    else found.conversations.push({ ...listed(stores, state), ...(match !== true && { match }) });
  }
  return found;
}

function* firstMatch(
  { conversations }: Stores,
  id: string,
  finders: readonly ReturnType<typeof finder>[],
): Sliced<Match> {
  for (const { id: messageId, role, content } of conversations.messages(id)) {
    yield;
    const [first, ...others] = finders.map((find) => find(content));
    if (first !== undefined && others.every((other) => other !== undefined)) return { ...first, messageId, role };
  }
  return undefined;
}
