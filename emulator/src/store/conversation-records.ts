import * as z from 'zod/mini';
import { count, described, id, label, namedObject, readTime, text, time, unchecked } from '../base/fields.js';
import { rollingSummary, stylePreferences, summaryItem } from './summary.js';

/** The author of a message. */
export type MessageRole = (typeof MESSAGE_ROLES)[number];
/** All roles of messages. */
export const MESSAGE_ROLES = ['system', 'user', 'assistant'] as const;

export const messageRecord = namedObject('Message', {
  id,
  role: z.enum(MESSAGE_ROLES),
  content: z.string(),
  createdAt: time,
  /** Whether the message is excluded from the rolling summary. */
  excluded: z.boolean(),
});
/** A stored message (A17: the service documents no such record). */
export type MessageRecord = z.infer<typeof messageRecord>;

export const messageInput = z.object({
  id: z.optional(text),
  role: z.enum(MESSAGE_ROLES),
  content: z.string(),
  /** ISO 8601. @default now */
  createdAt: z.optional(z.string()),
});
/** A message to store. */
export type MessageInput = z.infer<typeof messageInput>;

export const conversationRecord = namedObject('Conversation', {
  id,
  /** The user who owns it, unless it is in a workspace. */
  ownerId: id,
  workspaceId: z.optional(label),
  createdAt: time,
  messages: z.array(messageRecord),
});
/** A conversation with its messages. */
export type ConversationRecord = z.infer<typeof conversationRecord>;

export const conversationInput = z.object({
  id: z.optional(text),
  /** An existing workspace. Only its members may access the conversation. */
  workspaceId: z.optional(text),
  /** @default the user of `emulator.sessionToken` */
  ownerId: z.optional(text),
  /** The `stylePreferences` of its summary (A1). */
  stylePreferences: z.optional(stylePreferences),
  messages: z.optional(z.readonly(z.array(messageInput))),
});
/** A conversation to create. */
export type ConversationInput = z.infer<typeof conversationInput>;

/** The category of a pinned message. */
export type PinCategory = (typeof PIN_CATEGORIES)[number];
/** All categories of pinned messages. */
export const PIN_CATEGORIES = ['decision', 'requirement', 'reference', 'other'] as const;

export const pinnedItem = namedObject('PinnedMemoryItem', {
  id: label,
  messageId: label,
  content: z.string(),
  category: z.enum(PIN_CATEGORIES),
  pinnedAt: time,
});
/** A pinned message, as the API returns it. */
export type PinnedMemoryItem = z.infer<typeof pinnedItem>;

export const conversationState = z.object({
  id,
  ownerId: id,
  workspaceId: unchecked(z.optional(label)),
  createdAt: readTime,
  stylePreferences,
  pins: z.array(pinnedItem),
  summary: z.array(summaryItem),
  version: count,
  lastUpdated: readTime,
  /** The number of messages, counted from the first, that compactions have folded into the summary. */
  folded: count,
  /** Folded messages that the summary does not cover: excluded or pinned at the time, or excluded since. */
  leftOut: z.array(id),
  lastCompactionAt: z.nullable(readTime),
  /** How often its newest messages were deleted. */
  cuts: z.optional(count),
  /** Identifies the messages that a model summarized; undefined with the extractive engine. */
  summarySourceHash: z.optional(label),
});
/** The stored state of a conversation, apart from its messages. */
export type ConversationState = z.infer<typeof conversationState>;

/** The sections of statements. */
export const STATEMENT_SECTIONS = ['goals', 'requirements', 'decisions', 'currentPlan', 'definitions'] as const;

export const statement = z.object({
  section: z.enum(STATEMENT_SECTIONS),
  text: z.string(),
  /** Definitions: the term that `text` explains. */
  term: z.optional(z.string()),
  /** The message it comes from; unknown for the words of a model. */
  messageId: z.optional(label),
});
/** A statement of a conversation. */
export type Statement = z.infer<typeof statement>;

/** How far a compaction goes. */
export type CompactionLevel = (typeof COMPACTION_LEVELS)[number];
/** All compaction levels, mildest first. */
export const COMPACTION_LEVELS = ['light', 'deep', 'aggressive'] as const;

/** What writes a summary: the built-in extractive engine, or the upstream model. */
export type SummarizerName = (typeof SUMMARIZERS)[number];
/** All summarizers. */
export const SUMMARIZERS = ['extractive', 'upstream'] as const;

export const receiptRecord = namedObject('CompactionReceipt', {
  number: described('Counts the compactions of the conversation.', count),
  at: time,
  level: z.enum(COMPACTION_LEVELS),
  summarizer: z.enum(SUMMARIZERS),
  version: described('The version of the summary after it.', count),
  /** Undefined if the inspector or the in-process API asked for it. */
  requestId: z.optional(described('The request that asked for it.', label)),
  previousTokenCount: count,
  newTokenCount: count,
  tokensRemoved: z.int(),
  summaryUpdated: z.boolean(),
  recognised: described('Statements that were recognised in the messages. Others may be lost unseen.', count),
  messages: described(
    'Live messages, and those of them that are in the context neither in full nor by any entry of the summary.',
    z.object({ live: count, gone: count }),
  ),
  kept: described('Statements that were in the context before and still are.', z.array(statement)),
  lost: described(
    'Decisions, requirements and definitions that were in the context before and no longer are.',
    z.array(statement),
  ),
});
/** What a compaction did to a conversation. */
export type CompactionReceipt = z.infer<typeof receiptRecord>;

export const summaryVersion = z.object({
  summary: rollingSummary,
  /** The reason for the new version: a compaction at a level, an excluded message, or deleted ones. */
  cause: z.enum([...COMPACTION_LEVELS, 'exclude', 'cut']),
  /** What wrote it. */
  summarizer: z.enum(SUMMARIZERS),
  /** Tokens of all messages that are not excluded. */
  totalTokens: count,
  /** Tokens of summary, pins and recent messages before this version. */
  previousTokens: count,
  /** Tokens of summary, pins and recent messages with this version. */
  compressedTokens: count,
});
/** A version of a summary, and its token counts. */
export type SummaryVersion = z.infer<typeof summaryVersion>;
