import { runSync } from '../src/base/slices.js';
import { extract, type SourceMessage } from '../src/context/compaction/candidates.js';
import type { CompactableMessage, CompactionLevel, CompactionState } from '../src/context/compaction/compact.js';
import { compact } from '../src/context/compaction/compact.js';
import { LanguageLoader } from '../src/text/language.js';

export const language = new LanguageLoader().load();
export const NOTHING: CompactionState = { folded: 0, items: [], budget: 0 };
export const LEVELS: readonly CompactionLevel[] = ['light', 'deep', 'aggressive'];

export const extracted = (message: SourceMessage) =>
  runSync(extract(message, { split: language.sentences, countTokens: language.countTokens }));

/** Messages of a user and an assistant in turn, as a compaction reads them. */
export const compactable = (contents: readonly string[]): CompactableMessage[] =>
  contents.map((content, i) => {
    const role = i % 2 === 0 ? 'user' : 'assistant';
    const extraction = extracted({ id: `m${i}`, role, content, createdAt: '' });
    const tokens = runSync(language.countingTokens(content)) + 4;
    return { role, tokens, live: true, pinned: false, summarized: false, extraction: () => extraction };
  });

export const compactSync = (
  messages: readonly CompactableMessage[],
  level: CompactionLevel,
  before: CompactionState = NOTHING,
) => runSync(compact(messages, level, before, language.countingTokens));
