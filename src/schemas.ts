// The zod schemas of every documented resource, for users' own code: the very ones that the clients check with.
export {
  compactionResultSchema,
  contextMetadataSchema,
  conversationContextSchema,
  decisionSchema,
  pinnedMemoryItemSchema,
  referenceSchema,
  rollingSummarySchema,
  userMemoryItemSchema,
} from './context/schemas.js';
export {
  chatCompletionChunkSchema,
  chatCompletionSchema,
  chatMessageSchema,
  completionUsageSchema,
  usageReportSchema,
} from './gateway/schemas.js';
