import { runSync } from '../src/base/slices.js';
import type { CompactableMessage, CompactionState } from '../src/context/compaction/compact.js';
import { compact } from '../src/context/compaction/compact.js';
import { offersOf } from '../src/context/compaction/offers.js';
import type { CompactionLevel } from '../src/store/conversation-records.js';
import { LanguageLoader } from '../src/text/language.js';

export const language = new LanguageLoader().load();
export const NOTHING: CompactionState = { folded: 0, items: [] };
export const LEVELS: readonly CompactionLevel[] = ['light', 'deep', 'aggressive'];

/** What a message offers to a summary. */
export const offered = (content: string, more: { id?: string; role?: string; createdAt?: string } = {}) =>
  runSync(offersOf({ messageId: more.id ?? 'm', role: 'user', createdAt: '', ...more, content }, language));

/** Messages of a user and an assistant in turn, as a compaction reads them. */
export const compactable = (contents: readonly string[]): CompactableMessage[] =>
  contents.map((content, i) => {
    const role = i % 2 === 0 ? 'user' : 'assistant';
    const offers = offered(content, { id: `m${i}`, role });
    const tokens = runSync(language.countingTokens(content)) + 4;
    return { role, tokens, live: true, pinned: false, summarized: false, offers: () => offers };
  });

export const compactSync = (
  messages: readonly CompactableMessage[],
  level: CompactionLevel,
  before: CompactionState = NOTHING,
) => runSync(compact(messages, level, before));
