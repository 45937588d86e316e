import * as z from 'zod/mini';
import { count, namedObject, time } from '../base/fields.js';
import type { SummarizerName } from '../store/conversation-records.js';

export const contextMetadata = namedObject('ContextMetadata', {
  totalTokens: count,
  compressedTokens: count,
  preservationRatio: z.number(),
  lastCompactionAt: z.nullable(time),
  recentMessageCount: count,
});
/** A context's metadata as the API returns it. `lastCompactionAt` is null before the first compaction (A23). */
export type ContextMetadata = z.infer<typeof contextMetadata>;

export const compactionResult = namedObject('CompactionResult', {
  success: z.boolean(),
  previousTokenCount: count,
  newTokenCount: count,
  tokensRemoved: z.int(),
  summaryUpdated: z.boolean(),
});
/** The result of a compaction as the API returns it. */
export type CompactionResult = z.infer<typeof compactionResult>;

/** A compaction's result, and which summarizer wrote the summary. */
export interface CompactionOutcome {
  result: CompactionResult;
  summarizer: SummarizerName;
}
