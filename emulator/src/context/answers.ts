/** The metadata of a context, in the form of the interface; `lastCompactionAt` is null before the first (A23). */
export interface ContextMetadata {
  totalTokens: number;
  compressedTokens: number;
  preservationRatio: number;
  lastCompactionAt: string | null;
  recentMessageCount: number;
}

/** The result of a compaction, in the form of the interface. */
export interface CompactionResult {
  success: boolean;
  previousTokenCount: number;
  newTokenCount: number;
  tokensRemoved: number;
  summaryUpdated: boolean;
}

/** A compaction's result, and who wrote the summary. */
export interface CompactionOutcome {
  result: CompactionResult;
  summarizer: 'extractive' | 'upstream';
}
