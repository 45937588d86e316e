import type { RollingSummary, SummaryItem } from './summary.js';

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

/** A message to store. */
export interface MessageInput {
  id?: string | undefined;
  role: MessageRole;
  content: string;
  /** ISO 8601. @default now */
  createdAt?: string | undefined;
}

/** A conversation with its messages. */
export interface ConversationRecord {
  id: string;
  /** The user who owns it, unless it is in a workspace. */
  ownerId: string;
  workspaceId?: string;
  createdAt: string;
  messages: MessageRecord[];
}

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

/** A statement of a conversation. */
export interface Statement {
  section: (typeof STATEMENT_SECTIONS)[number];
  text: string;
  /** Definitions: the term that `text` explains. */
  term?: string | undefined;
  /** The message it comes from; unknown for the words of a model. */
  messageId?: string | undefined;
}
/** The sections of statements. */
export const STATEMENT_SECTIONS = ['goals', 'requirements', 'decisions', 'currentPlan', 'definitions'] as const;

/** What a compaction did to a conversation. */
export interface CompactionReceipt {
  /** Counts the compactions of the conversation. */
  number: number;
  at: string;
  level: 'light' | 'deep' | 'aggressive';
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

/** What writes a summary: the built-in extractive engine, or the upstream model. */
export type SummarizerName = (typeof SUMMARIZERS)[number];
/** All summarizers. */
export const SUMMARIZERS = ['extractive', 'upstream'] as const;

/** A version of a summary, and its token counts. */
export interface SummaryVersion {
  summary: RollingSummary;
  /** The reason for the new version: a compaction at a level, an excluded message, or deleted ones. */
  cause: 'light' | 'deep' | 'aggressive' | 'exclude' | 'cut';
  /** What wrote it. */
  summarizer: SummarizerName;
  /** Tokens of all messages that are not excluded. */
  totalTokens: number;
  /** Tokens of summary, pins and recent messages before this version. */
  previousTokens: number;
  /** Tokens of summary, pins and recent messages with this version. */
  compressedTokens: number;
}
