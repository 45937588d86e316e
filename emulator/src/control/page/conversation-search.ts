import type { Sliced } from '../../base/slices.js';
import type { MessageRole } from '../../store/conversation-records.js';
import type { Stores } from '../../store/stores.js';
import { type Excerpt, finder } from '../../text/excerpt.js';
import { type ListedConversation, listed } from './overview.js';

/** A conversation that was found, and the first message with all words. */
interface FoundConversation extends ListedConversation {
  match?: (Excerpt & { messageId: string; role: MessageRole }) | undefined;
}

/** Conversations that were found, newest first. */
interface FoundConversations {
  /** All that fit. */
  total: number;
  /** All that there are. */
  all: number;
  conversations: FoundConversation[];
  /** The `offset` of the next page. */
  next?: number | undefined;
}

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
    let match: FoundConversation['match'] | true = finders.every((find) => find(state.id)) ? true : undefined;
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
): Sliced<FoundConversation['match']> {
  for (const { id: messageId, role, content } of conversations.messages(id)) {
    yield;
    const [first, ...others] = finders.map((find) => find(content));
    if (first !== undefined && others.every((other) => other !== undefined)) return { ...first, messageId, role };
  }
  return undefined;
}
