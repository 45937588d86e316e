// What dist/schemas.d.ts declares, sorted. Written by scripts/surface.js.

import * as z from 'zod/mini';

export declare const chatCompletionChunkSchema: z.ZodMiniType<ChatCompletionChunk, unknown, z.core.$ZodTypeInternals<ChatCompletionChunk, unknown>>;

export declare const chatCompletionSchema: z.ZodMiniType<ChatCompletion, unknown, z.core.$ZodTypeInternals<ChatCompletion, unknown>>;

export declare const chatMessageSchema: z.ZodMiniType<ChatMessage, unknown, z.core.$ZodTypeInternals<ChatMessage, unknown>>;

/** The zod schemas of every documented resource, for users' own code: written from the very descriptions the clients check with. */

export declare const compactionResultSchema: z.ZodMiniType<CompactionResult, unknown, z.core.$ZodTypeInternals<CompactionResult, unknown>>;

export declare const completionUsageSchema: z.ZodMiniType<CompletionUsage, unknown, z.core.$ZodTypeInternals<CompletionUsage, unknown>>;

export declare const contextMetadataSchema: z.ZodMiniType<ContextMetadata, unknown, z.core.$ZodTypeInternals<ContextMetadata, unknown>>;

export declare const conversationContextSchema: z.ZodMiniType<ConversationContext, unknown, z.core.$ZodTypeInternals<ConversationContext, unknown>>;

export declare const decisionSchema: z.ZodMiniType<Decision, unknown, z.core.$ZodTypeInternals<Decision, unknown>>;

export declare const pinnedMemoryItemSchema: z.ZodMiniType<PinnedMemoryItem, unknown, z.core.$ZodTypeInternals<PinnedMemoryItem, unknown>>;

export declare const referenceSchema: z.ZodMiniType<Reference, unknown, z.core.$ZodTypeInternals<Reference, unknown>>;

export declare const rollingSummarySchema: z.ZodMiniType<RollingSummary, unknown, z.core.$ZodTypeInternals<RollingSummary, unknown>>;

export declare const usageReportSchema: z.ZodMiniType<UsageReport, unknown, z.core.$ZodTypeInternals<UsageReport, unknown>>;

export declare const userMemoryItemSchema: z.ZodMiniType<UserMemoryItem, unknown, z.core.$ZodTypeInternals<UserMemoryItem, unknown>>;
