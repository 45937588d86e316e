import type { AnswerForm } from '../transport/call.js';
import * as s from '../transport/schema.js';

/** How much a compaction removes. */
export type CompactionLevel = 'light' | 'deep' | 'aggressive';
/** What a pinned message is. */
export type PinCategory = 'decision' | 'requirement' | 'reference' | 'other';
/** What a memory item is. */
export type MemoryType = 'preference' | 'fact' | 'constraint' | 'definition';

/** Something the conversation has decided. */
export interface Decision {
  id: string;
  decision: string;
  reason: string;
  /** ISO 8601. */
  timestamp: string;
}

/** Something the conversation refers to. */
export interface Reference {
  /** The kind of reference, such as `file` (A2). */
  type: 'file' | (string & {});
  value: string;
  label: string;
}

/** What the service remembers of a conversation in short. */
export interface RollingSummary {
  goals: string[];
  decisions: Decision[];
  requirements: string[];
  currentPlan: string[];
  openQuestions: string[];
  /** Term to meaning. */
  definitions: Record<string, string>;
  importantReferences: Reference[];
  /** Its fields are not documented (A1). */
  stylePreferences: Record<string, unknown>;
  /** ISO 8601. */
  lastUpdated: string;
  /** Rises by one whenever the summary changes. */
  version: number;
}

/** A message that stays in the context whatever a compaction removes. */
export interface PinnedMemoryItem {
  id: string;
  messageId: string;
  /** The message's text. */
  content: string;
  category: PinCategory | (string & {});
  /** ISO 8601. */
  pinnedAt: string;
}

/** Figures of a context. */
export interface ContextMetadata {
  /** Tokens of the conversation. */
  totalTokens: number;
  /** Tokens of its compact context. */
  compressedTokens: number;
  preservationRatio: number;
  /** ISO 8601; `null` or absent before the first compaction (A23). */
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

/** What a compaction did. */
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
  /** Not in lists (A24): absent means unknown. */
  isActive?: boolean | undefined;
  /** Not in lists (A24): absent means unknown. */
  workspaceId?: string | null | undefined;
}

export const decisionSchema = s.exact<Decision>()(
  s.object({ id: s.string(), decision: s.string(), reason: s.string(), timestamp: s.timestamp }),
);

export const referenceSchema = s.exact<Reference>()(
  s.object({ type: s.openEnum<'file'>(), value: s.string(), label: s.string() }),
);

export const rollingSummarySchema = s.exact<RollingSummary>()(
  s.object({
    goals: s.array(s.string()),
    decisions: s.array(decisionSchema),
    requirements: s.array(s.string()),
    currentPlan: s.array(s.string()),
    openQuestions: s.array(s.string()),
    definitions: s.texts(),
    importantReferences: s.array(referenceSchema),
    stylePreferences: s.record(s.unknown()),
    lastUpdated: s.timestamp,
    version: s.count,
  }),
);

export const pinnedMemoryItemSchema = s.exact<PinnedMemoryItem>()(
  s.object({
    id: s.string(),
    messageId: s.string(),
    content: s.string(),
    category: s.openEnum<PinCategory>(),
    pinnedAt: s.timestamp,
  }),
);

export const contextMetadataSchema = s.exact<ContextMetadata>()(
  s.object({
    totalTokens: s.count,
    compressedTokens: s.count,
    preservationRatio: s.number(),
    lastCompactionAt: s.optional(s.nullable(s.timestamp)),
    recentMessageCount: s.count,
  }),
);

export const conversationContextSchema = s.exact<ConversationContext>()(
  s.object({
    rollingSummary: rollingSummarySchema,
    pinnedMemory: s.array(pinnedMemoryItemSchema),
    metadata: contextMetadataSchema,
  }),
);

export const compactionResultSchema = s.exact<CompactionResult>()(
  s.object({
    success: s.boolean(),
    previousTokenCount: s.count,
    newTokenCount: s.count,
    tokensRemoved: s.integer(),
    summaryUpdated: s.boolean(),
  }),
);

export const userMemoryItemSchema = s.exact<UserMemoryItem>()(
  s.object({
    id: s.string(),
    type: s.openEnum<MemoryType>(),
    key: s.string(),
    content: s.string(),
    isActive: s.optional(s.boolean()),
    workspaceId: s.optional(s.nullable(s.string())),
  }),
);

// What the endpoints wrap their answers in. `success: false` never comes this far (A15).
const success = s.literal(true);
/** Answers that carry nothing but their success. */
export const NOTHING: AnswerForm<unknown, void> = {
  schema: s.object({ success }),
  pick: () => undefined,
  mayBeEmpty: true,
};
export const contextAnswerSchema = s.object({ success, context: conversationContextSchema });
export const summaryAnswerSchema = s.object({ success, summary: rollingSummarySchema });
export const compactAnswerSchema = s.object({ success, result: compactionResultSchema });
export const pinAnswerSchema = s.object({ success, pinnedItem: pinnedMemoryItemSchema });
export const memoriesAnswerSchema = s.object({ success, memories: s.array(userMemoryItemSchema) });
export const memoryAnswerSchema = s.object({ success, memory: userMemoryItemSchema });

/** Arguments of `compact`. */
export interface CompactParams {
  /** Left to the service when absent (A4). */
  level?: CompactionLevel | undefined;
}

/** Arguments of `pin`. */
export interface PinParams {
  messageId: string;
  /** Left to the service when absent; its choice is in the answer (A6). */
  category?: PinCategory | undefined;
}

/** Arguments of `memory.list`. */
export interface MemoryListParams {
  /** Items of this workspace. Without it, your own (A5). */
  workspaceId?: string | undefined;
  /** Items of this type only. */
  type?: MemoryType | undefined;
}

/** Arguments of `memory.create`. */
export interface MemoryCreateParams {
  type: MemoryType;
  key: string;
  content: string;
  /** Shares the item with a workspace. Without it, it is yours alone. */
  workspaceId?: string | undefined;
}

/** Arguments of `memory.update`. */
export interface MemoryUpdateParams {
  content: string;
  /** `false` deactivates the item without deleting it. */
  isActive?: boolean | undefined;
}

const memoryType = s.literal('preference', 'fact', 'constraint', 'definition');

// Requests are strict: a misspelt field is an error, not a field that is silently ignored.
export const conversationQuerySchema = s.strictObject({ conversationId: s.requiredText });
export const compactBodySchema = s.strictObject({
  conversationId: s.requiredText,
  level: s.optional(s.literal('light', 'deep', 'aggressive')),
});
export const pinBodySchema = s.exact<PinParams>()(
  s.strictObject({
    messageId: s.requiredText,
    category: s.optional(s.literal('decision', 'requirement', 'reference', 'other')),
  }),
);
export const unpinQuerySchema = s.strictObject({ messageId: s.requiredText });
export const memoryListQuerySchema = s.exact<MemoryListParams>()(
  s.strictObject({ workspaceId: s.optional(s.requiredText), type: s.optional(memoryType) }),
);
export const memoryCreateBodySchema = s.exact<MemoryCreateParams>()(
  s.strictObject({
    type: memoryType,
    key: s.requiredText,
    content: s.string(),
    workspaceId: s.optional(s.requiredText),
  }),
);
export const memoryUpdateBodySchema = s.exact<MemoryUpdateParams>()(
  s.strictObject({ content: s.string(), isActive: s.optional(s.boolean()) }),
);
