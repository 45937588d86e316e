import * as z from 'zod/mini';
import { count, described, id, label } from '../../base/fields.js';
import type { Sliced } from '../../base/slices.js';
import { startOf } from '../../base/start-of.js';
import { type ConversationState, MESSAGE_ROLES } from '../../store/conversation-records.js';
import type { Stores } from '../../store/stores.js';
import { excerpt, finder } from '../../text/excerpt.js';

const listedConversation = z.object({
  id,
  title: described('The beginning of its first message.', z.string()),
  messages: count,
  version: count,
  total: described('Tokens of all live messages at the last change of the summary; 0 before the first.', count),
  compressed: described('Tokens of the context at the last change of the summary; 0 before the first.', count),
  workspaceId: z.optional(label),
});
/** A conversation in a list. */
type ListedConversation = z.infer<typeof listedConversation>;

export const foundConversations = z.object({
  total: count,
  all: count,
  conversations: z.array(
    z.object({
      ...listedConversation.shape,
      match: z.optional(z.object({ messageId: label, role: z.enum(MESSAGE_ROLES), ...excerpt.shape })),
    }),
  ),
  next: z.optional(described('The `offset` of the next page.', count)),
});
/** Conversations that were found, newest first, and how many there are. */
export type FoundConversations = z.infer<typeof foundConversations>;
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

function listed(stores: Stores, { id, version, workspaceId }: ConversationState): ListedConversation {
  const last = stores.conversations.history.lastVersion(id);
  return {
    id,
    title: titleOf(stores, id),
    messages: stores.conversations.countMessages(id),
    version,
    total: last?.totalTokens ?? 0,
    compressed: last?.compressedTokens ?? 0,
    workspaceId,
  };
}

/** The beginning of its first message. */
export function titleOf({ conversations }: Stores, id: string): string {
  return startOf(conversations.firstMessage(id)?.content ?? '', TITLE_LENGTH);
}

const TITLE_LENGTH = 80;
