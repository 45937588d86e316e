/** A context's metadata as the API returns it. `lastCompactionAt` is null before the first compaction (A23). */
export interface ContextMetadata {
  totalTokens: number;
  compressedTokens: number;
  preservationRatio: number;
  lastCompactionAt: string | null;
  recentMessageCount: number;
}

/** The result of a compaction as the API returns it. */
export interface CompactionResult {
  success: boolean;
  previousTokenCount: number;
  newTokenCount: number;
  tokensRemoved: number;
  summaryUpdated: boolean;
}

/** A compaction's result, and which summarizer wrote the summary. */
export interface CompactionOutcome {
  result: CompactionResult;
  summarizer: 'extractive' | 'upstream';
}
