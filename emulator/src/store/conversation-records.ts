import type { RollingSummary, SummaryItem } from './summary.js';

/** Who said a message. */
export type MessageRole = (typeof MESSAGE_ROLES)[number];
/** Every one there is. */
export const MESSAGE_ROLES = ['system', 'user', 'assistant'] as const;

/** A message as the emulator keeps it (A17: the service documents no such record). */
export interface MessageRecord {
  id: string;
  role: MessageRole;
  content: string;
  createdAt: string;
  /** True when the message is kept out of the rolling summary. */
  excluded: boolean;
}

/** A message to be stored. */
export interface MessageInput {
  id?: string | undefined;
  role: MessageRole;
  content: string;
  /** ISO 8601. @default now */
  createdAt?: string | undefined;
}

/** A conversation with its messages, as the in-process API and the control plane give it. */
export interface ConversationRecord {
  id: string;
  /** The user it belongs to when it is in no workspace. */
  ownerId: string;
  workspaceId?: string;
  createdAt: string;
  messages: MessageRecord[];
}

/** What a new conversation is made from. */
export interface ConversationInput {
  id?: string | undefined;
  /** Must exist; only its members may see the conversation. */
  workspaceId?: string | undefined;
  /** @default the user of `emulator.sessionToken` */
  ownerId?: string | undefined;
  /** What the summary's `stylePreferences` say (A1). */
  stylePreferences?: Record<string, unknown> | undefined;
  messages?: readonly MessageInput[] | undefined;
}

/** The category of a pinned message. */
export type PinCategory = (typeof PIN_CATEGORIES)[number];
/** Every one there is. */
export const PIN_CATEGORIES = ['decision', 'requirement', 'reference', 'other'] as const;

/** A pinned message, in the form of the interface. */
export interface PinnedMemoryItem {
  id: string;
  messageId: string;
  content: string;
  category: PinCategory;
  pinnedAt: string;
}

/** What is kept of a conversation beside its messages. */
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
  /** How many messages, from the first, a compaction has folded into the summary. */
  folded: number;
  /** Messages among those that the summary has not taken in: excluded or pinned then, or excluded since. */
  leftOut: string[];
  /** The tokens the last compaction allowed the summary. */
  summaryBudget: number;
  lastCompactionAt: string | null;
  /** What a model's summary was made of; undefined where the extractive engine writes. */
  summaryBasis?: string | undefined;
}

/** Who writes a summary. */
export type SummarizerName = (typeof SUMMARIZERS)[number];
/** Every one there is. */
export const SUMMARIZERS = ['extractive', 'upstream'] as const;

/** A summary as it was, and what it cost. */
export interface SummaryVersion {
  summary: RollingSummary;
  /** What made it: a level, or an excluded message. */
  cause: 'light' | 'deep' | 'aggressive' | 'exclude';
  /** Who wrote it. */
  summarizer: SummarizerName;
  totalTokens: number;
  /** Tokens of summary, pins and recent messages before and with it. */
  previousTokens: number;
  compressedTokens: number;
}
