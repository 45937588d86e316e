import * as z from 'zod/mini';
import { count, described, exact, id, label, namedObject, readTime, text, time, unchecked } from '../base/fields.js';
import { type RollingSummary, rollingSummary, type SummaryItem, stylePreferences, summaryItem } from './summary.js';

/** The author of a message. */
export type MessageRole = (typeof MESSAGE_ROLES)[number];
/** All roles of messages. */
export const MESSAGE_ROLES = ['system', 'user', 'assistant'] as const;

/** A stored message (A17: the service documents no such record). */
export interface MessageRecord {
  id: string;
  role: MessageRole;
  content: string;
  createdAt: string;
  /** Whether the message is excluded from the rolling summary. */
  excluded: boolean;
}

export const messageRecord = exact<MessageRecord>()(
  namedObject('Message', {
    id,
    role: z.enum(MESSAGE_ROLES),
    content: z.string(),
    createdAt: time,
    excluded: z.boolean(),
  }),
);

/** A message to store. */
export interface MessageInput {
  id?: string | undefined;
  role: MessageRole;
  content: string;
  /** ISO 8601. @default now */
  createdAt?: string | undefined;
}

export const messageInput = exact<MessageInput>()(
  z.object({
    id: z.optional(text),
    role: z.enum(MESSAGE_ROLES),
    content: z.string(),
    createdAt: z.optional(z.string()),
  }),
);

/** A conversation with its messages. */
export interface ConversationRecord {
  id: string;
  /** The user who owns it, unless it is in a workspace. */
  ownerId: string;
  workspaceId?: string | undefined;
  createdAt: string;
  messages: MessageRecord[];
}

export const conversationRecord = exact<ConversationRecord>()(
  namedObject('Conversation', {
    id,
    ownerId: id,
    workspaceId: z.optional(label),
    createdAt: time,
    messages: z.array(messageRecord),
  }),
);

/** A conversation to create. */
export interface ConversationInput {
  id?: string | undefined;
  /** An existing workspace. Only its members may access the conversation. */
  workspaceId?: string | undefined;
  /** @default the user of `emulator.sessionToken` */
  ownerId?: string | undefined;
  /** The `stylePreferences` of its summary (A1). */
  stylePreferences?: Record<string, unknown> | undefined;
  messages?: readonly MessageInput[] | undefined;
}

export const conversationInput = exact<ConversationInput>()(
  z.object({
    id: z.optional(text),
    workspaceId: z.optional(text),
    ownerId: z.optional(text),
    stylePreferences: z.optional(stylePreferences),
    messages: z.optional(z.readonly(z.array(messageInput))),
  }),
);

/** The category of a pinned message. */
export type PinCategory = (typeof PIN_CATEGORIES)[number];
/** All categories of pinned messages. */
export const PIN_CATEGORIES = ['decision', 'requirement', 'reference', 'other'] as const;

/** A pinned message, as the API returns it. */
export interface PinnedMemoryItem {
  id: string;
  messageId: string;
  content: string;
  category: PinCategory;
  pinnedAt: string;
}

export const pinnedItem = exact<PinnedMemoryItem>()(
  namedObject('PinnedMemoryItem', {
    id: label,
    messageId: label,
    content: z.string(),
    category: z.enum(PIN_CATEGORIES),
    pinnedAt: time,
  }),
);

/** The stored state of a conversation, apart from its messages. */
export interface ConversationState {
  id: string;
  ownerId: string;
  workspaceId: string | undefined;
  createdAt: string;
  stylePreferences: Record<string, unknown>;
  pins: PinnedMemoryItem[];
  summary: SummaryItem[];
  version: number;
  lastUpdated: string;
  /** The number of messages, counted from the first, that compactions have folded into the summary. */
  folded: number;
  /** Folded messages that the summary does not cover: excluded or pinned at the time, or excluded since. */
  leftOut: string[];
  lastCompactionAt: string | null;
  /** How often its newest messages were deleted. */
  cuts?: number | undefined;
  /** Identifies the messages that a model summarized; undefined with the extractive engine. */
  summarySourceHash?: string | undefined;
}

export const conversationState = exact<ConversationState>()(
  z.object({
    id,
    ownerId: id,
    workspaceId: unchecked(z.optional(label)),
    createdAt: readTime,
    stylePreferences,
    pins: z.array(pinnedItem),
    summary: z.array(summaryItem),
    version: count,
    lastUpdated: readTime,
    folded: count,
    leftOut: z.array(id),
    lastCompactionAt: z.nullable(readTime),
    cuts: z.optional(count),
    summarySourceHash: z.optional(label),
  }),
);

/** The sections of statements. */
export const STATEMENT_SECTIONS = ['goals', 'requirements', 'decisions', 'currentPlan', 'definitions'] as const;

/** A statement of a conversation. */
export interface Statement {
  section: (typeof STATEMENT_SECTIONS)[number];
  text: string;
  /** Definitions: the term that `text` explains. */
  term?: string | undefined;
  /** The message it comes from; unknown for the words of a model. */
  messageId?: string | undefined;
}

export const statement = exact<Statement>()(
  z.object({
    section: z.enum(STATEMENT_SECTIONS),
    text: z.string(),
    term: z.optional(z.string()),
    messageId: z.optional(label),
  }),
);

/** How far a compaction goes. */
export type CompactionLevel = (typeof COMPACTION_LEVELS)[number];
/** All compaction levels, mildest first. */
export const COMPACTION_LEVELS = ['light', 'deep', 'aggressive'] as const;

/** What writes a summary: the built-in extractive engine, or the upstream model. */
export type SummarizerName = (typeof SUMMARIZERS)[number];
/** All summarizers. */
export const SUMMARIZERS = ['extractive', 'upstream'] as const;

/** What a compaction did to a conversation. */
export interface CompactionReceipt {
  /** Counts the compactions of the conversation. */
  number: number;
  at: string;
  level: CompactionLevel;
  summarizer: SummarizerName;
  /** The version of the summary after it. */
  version: number;
  /** The request that asked for it; undefined if the inspector or the in-process API did. */
  requestId?: string | undefined;
  previousTokenCount: number;
  newTokenCount: number;
  tokensRemoved: number;
  summaryUpdated: boolean;
  /** Statements that were recognised in the messages. Others may be lost unseen. */
  recognised: number;
  /** Live messages, and those of them that are in the context neither in full nor by any entry of the summary. */
  messages: { live: number; gone: number };
  /** Statements that were in the context before and still are. */
  kept: Statement[];
  /** Decisions, requirements and definitions that were in the context before and no longer are. */
  lost: Statement[];
}

export const receiptRecord = exact<CompactionReceipt>()(
  namedObject('CompactionReceipt', {
    number: described('Counts the compactions of the conversation.', count),
    at: time,
    level: z.enum(COMPACTION_LEVELS),
    summarizer: z.enum(SUMMARIZERS),
    version: described('The version of the summary after it.', count),
    requestId: z.optional(described('The request that asked for it.', label)),
    previousTokenCount: count,
    newTokenCount: count,
    tokensRemoved: z.int(),
    summaryUpdated: z.boolean(),
    recognised: described('Statements that were recognised in the messages.', count),
    messages: described(
      'Live messages, and those that the context represents nowhere.',
      z.object({ live: count, gone: count }),
    ),
    kept: z.array(statement),
    lost: described('Decisions, requirements and definitions.', z.array(statement)),
  }),
);

/** A version of a summary, and its token counts. */
export interface SummaryVersion {
  summary: RollingSummary;
  /** The reason for the new version: a compaction at a level, an excluded message, or deleted ones. */
  cause: CompactionLevel | 'exclude' | 'cut';
  /** What wrote it. */
  summarizer: SummarizerName;
  /** Tokens of all messages that are not excluded. */
  totalTokens: number;
  /** Tokens of summary, pins and recent messages before this version. */
  previousTokens: number;
  /** Tokens of summary, pins and recent messages with this version. */
  compressedTokens: number;
}

export const summaryVersion = exact<SummaryVersion>()(
  z.object({
    summary: rollingSummary,
    cause: z.enum([...COMPACTION_LEVELS, 'exclude', 'cut']),
    summarizer: z.enum(SUMMARIZERS),
    totalTokens: count,
    previousTokens: count,
    compressedTokens: count,
  }),
);
