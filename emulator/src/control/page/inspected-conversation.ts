import * as z from 'zod/mini';
import { count, described, exact, id, label } from '../../base/fields.js';
import { MESSAGE_STATUSES, type MessageStatus } from '../../context/draft.js';
import { type ContextMetadata, contextMetadata } from '../../context/responses.js';
import {
  type CompactionReceipt,
  type MessageRecord,
  messageRecord,
  type PinnedMemoryItem,
  pinnedItem,
  receiptRecord,
  type Statement,
  type SummaryVersion,
  statement,
  summaryVersion,
} from '../../store/conversation-records.js';
import { type RollingSummary, rollingSummary, type SummaryItem, summaryItem } from '../../store/summary.js';
import type { EmulatorParts } from '../parts.js';

/** A conversation with its context, the status of its messages, and all versions of its summary. */
export interface InspectedConversation {
  id: string;
  rollingSummary: RollingSummary;
  pinnedMemory: PinnedMemoryItem[];
  metadata: ContextMetadata;
  /** Each with its tokens and its status in the context. */
  messages: InspectedMessage[];
  versions: SummaryVersion[];
  /** The statements of the messages that no later message revokes, each with the message it comes from. */
  statements: SummaryItem[];
  /** The messages that the entries of the summary come from. */
  sources: { text: string; messageId: string }[];
  /** Decisions, requirements and definitions of the statements that the context does not contain. */
  lost: Statement[];
  /** The receipt of the last compaction. */
  receipt?: CompactionReceipt | undefined;
}

interface InspectedMessage extends MessageRecord {
  tokens: number;
  status: MessageStatus;
}

export const inspectedConversation = exact<InspectedConversation>()(
  z.object({
    id,
    rollingSummary,
    pinnedMemory: z.array(pinnedItem),
    metadata: contextMetadata,
    messages: z.array(z.object({ ...messageRecord.shape, tokens: count, status: z.enum(MESSAGE_STATUSES) })),
    versions: z.array(summaryVersion),
    statements: described('Statements of live messages that no later message revokes.', z.array(summaryItem)),
    sources: described(
      'The messages that the entries of the summary come from.',
      z.array(z.object({ text: z.string(), messageId: label })),
    ),
    lost: described('Statements that the context does not contain.', z.array(statement)),
    receipt: z.optional(receiptRecord),
  }),
);

/** @internal */
export async function inspectConversation(
  { stores, contexts }: Pick<EmulatorParts, 'stores' | 'contexts'>,
  id: string,
): Promise<InspectedConversation | undefined> {
  if (stores.conversations.state(id) === undefined) return undefined;
  const metadata = await contexts.metadata(id);
  const { statements, lost, statuses } = await contexts.inspect(id);
  const state = stores.conversations.state(id);
  if (state === undefined) return undefined;
  return {
    id,
    rollingSummary: contexts.summary(state),
    pinnedMemory: state.pins,
    metadata,
    messages: stores.conversations.messages(id).map((message, i) => ({
      ...message,
      tokens: statuses[i]?.tokens ?? 0,
      status: statuses[i]?.status ?? 'recent',
    })),
    versions: stores.conversations.summaryVersions(id),
    statements,
    sources: state.summary.map(({ text, messageId }) => ({ text, messageId })),
    lost,
    receipt: stores.conversations.receipts(id).at(-1),
  };
}
