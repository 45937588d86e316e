// The zod schemas of every documented resource, for users' own code.
import * as context from './context/schemas.js';
import * as gateway from './gateway/schemas.js';
import { zodOf } from './zod-of.js';

export const compactionResultSchema = zodOf(context.compactionResultSchema);
export const contextMetadataSchema = zodOf(context.contextMetadataSchema);
export const conversationContextSchema = zodOf(context.conversationContextSchema);
export const decisionSchema = zodOf(context.decisionSchema);
export const pinnedMemoryItemSchema = zodOf(context.pinnedMemoryItemSchema);
export const referenceSchema = zodOf(context.referenceSchema);
export const rollingSummarySchema = zodOf(context.rollingSummarySchema);
export const userMemoryItemSchema = zodOf(context.userMemoryItemSchema);
export const chatCompletionChunkSchema = zodOf(gateway.chatCompletionChunkSchema);
export const chatCompletionSchema = zodOf(gateway.chatCompletionSchema);
export const chatMessageSchema = zodOf(gateway.chatMessageSchema);
export const completionUsageSchema = zodOf(gateway.completionUsageSchema);
export const usageReportSchema = zodOf(gateway.usageReportSchema);
