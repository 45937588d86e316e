import * as z from 'zod/mini';
import { count, exact, namedObject, time } from '../base/fields.js';
import type { ConversationState, SummarizerName } from '../store/conversation-records.js';
import { type CompactableMessage, contextTokens, isRecent, totalTokens } from './compaction/compact.js';

/** A context's metadata as the API returns it. `lastCompactionAt` is null before the first compaction (A23). */
export interface ContextMetadata {
  totalTokens: number;
  compressedTokens: number;
  preservationRatio: number;
  lastCompactionAt: string | null;
  recentMessageCount: number;
}

export const contextMetadata = exact<ContextMetadata>()(
  namedObject('ContextMetadata', {
    totalTokens: count,
    compressedTokens: count,
    preservationRatio: z.number(),
    lastCompactionAt: z.nullable(time),
    recentMessageCount: count,
  }),
);

export function metadataOf(state: ConversationState, messages: readonly CompactableMessage[]): ContextMetadata {
  const total = totalTokens(messages);
  const compressed = contextTokens(messages, state.summary);
  return {
    totalTokens: total,
    compressedTokens: compressed,
    // A pinned message that is also in the summary counts twice, so the ratio could exceed 1.
    preservationRatio: total === 0 ? 1 : Math.min(1, compressed / total),
    lastCompactionAt: state.lastCompactionAt,
    recentMessageCount: messages.filter((message, i) => isRecent(message) || (i >= state.folded && message.live))
      .length,
  };
}

/** The result of a compaction as the API returns it. */
export interface CompactionResult {
  success: boolean;
  previousTokenCount: number;
  newTokenCount: number;
  tokensRemoved: number;
  summaryUpdated: boolean;
}

export const compactionResult = exact<CompactionResult>()(
  namedObject('CompactionResult', {
    success: z.boolean(),
    previousTokenCount: count,
    newTokenCount: count,
    tokensRemoved: z.int(),
    summaryUpdated: z.boolean(),
  }),
);

/** A compaction's result, and which summarizer wrote the summary. */
export interface CompactionOutcome {
  result: CompactionResult;
  summarizer: SummarizerName;
}
