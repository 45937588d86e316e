import * as z from 'zod/mini';
import { readJson } from '../response/body.js';
import type { ResponseSpec } from '../response/service-response.js';
import { conversationText, count, exact, integer, openEnum, timestamp, wireObject } from '../validation/fields.js';

/** How much a compaction removes. */
export type CompactionLevel = 'light' | 'deep' | 'aggressive';
/** The category of a pinned message. */
export type PinCategory = 'decision' | 'requirement' | 'reference' | 'other';
/** The type of a memory item. */
export type MemoryType = 'preference' | 'fact' | 'constraint' | 'definition';

/** A decision made in the conversation. */
export interface Decision {
  id: string;
  decision: string;
  reason: string;
  /** ISO 8601. */
  timestamp: string;
}

/** A file, URL or other thing that the conversation refers to. */
export interface Reference {
  /** The kind of reference, such as `file`. */
  type: 'file' | (string & {});
  value: string;
  label: string;
}

/** The service's short summary of a conversation. */
export interface RollingSummary {
  goals: string[];
  decisions: Decision[];
  requirements: string[];
  currentPlan: string[];
  openQuestions: string[];
  /** Term to meaning. */
  definitions: Record<string, string>;
  importantReferences: Reference[];
  /** Its fields are not documented. */
  stylePreferences: Record<string, unknown>;
  /** ISO 8601. */
  lastUpdated: string;
  /** Rises by one whenever the summary changes. */
  version: number;
}

/** A message that stays in the context through every compaction. */
export interface PinnedMemoryItem {
  id: string;
  messageId: string;
  /** The message's text. */
  content: string;
  category: PinCategory | (string & {});
  /** ISO 8601. */
  pinnedAt: string;
}

/** Token counts and times of a context. */
export interface ContextMetadata {
  /** Tokens of the conversation. */
  totalTokens: number;
  /** Tokens of its compact context. */
  compressedTokens: number;
  preservationRatio: number;
  /** ISO 8601; `null` or absent before the first compaction. */
  lastCompactionAt?: string | null | undefined;
  /** Messages that are kept word for word. */
  recentMessageCount: number;
}

/** The whole context of a conversation. */
export interface ConversationContext {
  rollingSummary: RollingSummary;
  pinnedMemory: PinnedMemoryItem[];
  metadata: ContextMetadata;
}

/** The result of a compaction. */
export interface CompactionResult {
  success: boolean;
  previousTokenCount: number;
  newTokenCount: number;
  tokensRemoved: number;
  summaryUpdated: boolean;
}

/** Something the service remembers about the user. */
export interface UserMemoryItem {
  id: string;
  type: MemoryType | (string & {});
  key: string;
  content: string;
  /** Not in lists: absent means unknown. */
  isActive?: boolean | undefined;
  /** Not in lists: absent means unknown. */
  workspaceId?: string | null | undefined;
}

export const decisionSchema = exact<Decision>()(
  wireObject({ id: z.string(), decision: z.string(), reason: z.string(), timestamp: timestamp }),
);

export const referenceSchema = exact<Reference>()(
  wireObject({ type: openEnum<'file'>(), value: z.string(), label: z.string() }),
);

export const rollingSummarySchema = exact<RollingSummary>()(
  wireObject({
    goals: z.array(z.string()),
    decisions: z.array(decisionSchema),
    requirements: z.array(z.string()),
    currentPlan: z.array(z.string()),
    openQuestions: z.array(z.string()),
    definitions: z.record(conversationText, z.string()),
    importantReferences: z.array(referenceSchema),
    stylePreferences: z.record(z.string(), z.unknown()),
    lastUpdated: timestamp,
    version: count,
  }),
);

export const pinnedMemoryItemSchema = exact<PinnedMemoryItem>()(
  wireObject({
    id: z.string(),
    messageId: z.string(),
    content: z.string(),
    category: openEnum<PinCategory>(),
    pinnedAt: timestamp,
  }),
);

export const contextMetadataSchema = exact<ContextMetadata>()(
  wireObject({
    totalTokens: count,
    compressedTokens: count,
    preservationRatio: z.number(),
    lastCompactionAt: z.optional(z.nullable(timestamp)),
    recentMessageCount: count,
  }),
);

export const conversationContextSchema = exact<ConversationContext>()(
  wireObject({
    rollingSummary: rollingSummarySchema,
    pinnedMemory: z.array(pinnedMemoryItemSchema),
    metadata: contextMetadataSchema,
  }),
);

export const compactionResultSchema = exact<CompactionResult>()(
  wireObject({
    success: z.boolean(),
    previousTokenCount: count,
    newTokenCount: count,
    tokensRemoved: integer,
    summaryUpdated: z.boolean(),
  }),
);

export const userMemoryItemSchema = exact<UserMemoryItem>()(
  wireObject({
    id: z.string(),
    type: openEnum<MemoryType>(),
    key: z.string(),
    content: z.string(),
    isActive: z.optional(z.boolean()),
    workspaceId: z.optional(z.nullable(z.string())),
  }),
);

// The envelopes of the responses. A response with `success: false` has thrown before.
const success = z.literal(true);
/** Responses that hold only `success`, or nothing. */
export const SUCCESS_ONLY: ResponseSpec<unknown, void> = {
  read: (response) => readJson(response, (text) => (text === '' ? { success: true } : undefined)),
  schema: wireObject({ success }),
  unwrap: () => undefined,
};
export const contextResponseSchema = wireObject({ success, context: conversationContextSchema });
export const summaryResponseSchema = wireObject({ success, summary: rollingSummarySchema });
export const compactResponseSchema = wireObject({ success, result: compactionResultSchema });
export const pinResponseSchema = wireObject({ success, pinnedItem: pinnedMemoryItemSchema });
export const memoriesResponseSchema = wireObject({ success, memories: z.array(userMemoryItemSchema) });
export const memoryResponseSchema = wireObject({ success, memory: userMemoryItemSchema });
