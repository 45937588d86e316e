import { runSync } from '../../src/base/slices.js';
import { type Extraction, extract, type SourceMessage } from '../../src/context/compaction/candidates.js';
import {
  type CompactableMessage,
  type CompactionLevel,
  type CompactionState,
  compact,
  contextTokens,
  totalTokens,
} from '../../src/context/compaction/compact.js';
import type { SummaryItem } from '../../src/store/summary.js';
import { type Language, TOKENS_PER_MESSAGE } from '../../src/text/language.js';

/** The result of a compaction, and its cost. */
export interface Outcome {
  /** All kept items: entries of the summary, and the newest messages in full. */
  kept: string[];
  tokens: number;
  totalTokens: number;
  ms: number;
  state: CompactionState;
}

/** Compacts a conversation, from scratch or from the state of an earlier compaction. */
export function compacted(
  messages: readonly SourceMessage[],
  level: CompactionLevel,
  language: Language,
  before: CompactionState = { folded: 0, items: [], budget: 0 },
): Outcome {
  const started = performance.now();
  const sources = messages.map((message, i) => compactable(message, i < before.folded, language));
  const state = runSync(compact(sources, level, before, language.countingTokens));
  const ms = performance.now() - started;
  const after = sources.map((source, i) => ({ ...source, summarized: i < state.folded }));
  return {
    kept: [...state.items.map(itemText), ...messages.slice(state.folded).map(({ content }) => content)],
    tokens: contextTokens(after, state.items),
    totalTokens: totalTokens(sources),
    ms,
    state,
  };
}

function compactable(message: SourceMessage, summarized: boolean, language: Language): CompactableMessage {
  let extraction: Extraction | undefined;
  return {
    role: message.role,
    tokens: language.countTokens(message.content) + TOKENS_PER_MESSAGE,
    live: true,
    pinned: false,
    summarized,
    extraction: () => {
      extraction ??= runSync(extract(message, { split: language.sentences, countTokens: language.countTokens }));
      return extraction;
    },
  };
}

function itemText({ term, text, reason, label }: SummaryItem): string {
  return [term, text, reason, label].filter(Boolean).join(' ');
}
