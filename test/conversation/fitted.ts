import { PromptLayout } from '../../src/conversation/prompt/fit.js';
import { TokenCounter } from '../../src/conversation/prompt/tokens.js';
import { askedAt, MAX_HITS, queryOf } from '../../src/conversation/search/search.js';
import { atOnce, searchMessages } from '../../src/conversation/search/search-messages.js';

export type LayoutParams = ConstructorParameters<typeof PromptLayout>[0];

/** A prompt from all messages of a conversation, with what a search by words finds in them. */
export function promptOf(params: Partial<LayoutParams> & Pick<LayoutParams, 'input'>) {
  const { history = [], input } = params;
  const { count } = new TokenCounter();
  const layout = new PromptLayout({ parts: {}, history, older: 0, budget: 1000, count, ...params });
  if (layout.hasAll) return layout.fill();
  const now = askedAt(input) ?? new Date().toISOString();
  return layout.fill(atOnce(searchMessages(history, { text: queryOf(input), limit: MAX_HITS, now })));
}
