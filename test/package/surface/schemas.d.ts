// What dist/schemas.d.ts declares, sorted. Written by scripts/surface.js.

import * as zod_mini from 'zod/mini';

import * as zod_v4_core from 'zod/v4/core';

export declare const chatCompletionChunkSchema: zod_mini.ZodMiniType<ChatCompletionChunk, unknown, zod_v4_core.$ZodTypeInternals<ChatCompletionChunk, unknown>>;

export declare const chatCompletionSchema: zod_mini.ZodMiniType<ChatCompletion, unknown, zod_v4_core.$ZodTypeInternals<ChatCompletion, unknown>>;

export declare const chatMessageSchema: zod_mini.ZodMiniType<ChatMessage, unknown, zod_v4_core.$ZodTypeInternals<ChatMessage, unknown>>;

export declare const compactionResultSchema: zod_mini.ZodMiniType<CompactionResult, unknown, zod_v4_core.$ZodTypeInternals<CompactionResult, unknown>>;

export declare const completionUsageSchema: zod_mini.ZodMiniType<CompletionUsage, unknown, zod_v4_core.$ZodTypeInternals<CompletionUsage, unknown>>;

export declare const contextMetadataSchema: zod_mini.ZodMiniType<ContextMetadata, unknown, zod_v4_core.$ZodTypeInternals<ContextMetadata, unknown>>;

export declare const conversationContextSchema: zod_mini.ZodMiniType<ConversationContext, unknown, zod_v4_core.$ZodTypeInternals<ConversationContext, unknown>>;

export declare const decisionSchema: zod_mini.ZodMiniType<Decision, unknown, zod_v4_core.$ZodTypeInternals<Decision, unknown>>;

export declare const pinnedMemoryItemSchema: zod_mini.ZodMiniType<PinnedMemoryItem, unknown, zod_v4_core.$ZodTypeInternals<PinnedMemoryItem, unknown>>;

export declare const referenceSchema: zod_mini.ZodMiniType<Reference, unknown, zod_v4_core.$ZodTypeInternals<Reference, unknown>>;

export declare const rollingSummarySchema: zod_mini.ZodMiniType<RollingSummary, unknown, zod_v4_core.$ZodTypeInternals<RollingSummary, unknown>>;

export declare const usageReportSchema: zod_mini.ZodMiniType<UsageReport, unknown, zod_v4_core.$ZodTypeInternals<UsageReport, unknown>>;

export declare const userMemoryItemSchema: zod_mini.ZodMiniType<UserMemoryItem, unknown, zod_v4_core.$ZodTypeInternals<UserMemoryItem, unknown>>;
