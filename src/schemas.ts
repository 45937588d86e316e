// The zod schemas of every documented resource, for users' own code. The clients validate with the same objects.
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
export { usageReportSchema } from './gateway/usage.js';
export {
  chatCompletionChunkSchema,
  chatCompletionSchema,
  chatReplySchema,
  completionUsageSchema,
} from './wire/completions.js';
