import { expect, test } from 'vitest';
import { PromptLayout } from '../../src/conversation/prompt/fit.js';
import { atOnce, searchMessages } from '../../src/conversation/search/search-messages.js';
import { LANGUAGES, type Language } from './languages.js';

const EXCHANGES = 330;

/** The facts, spread over 330 exchanges. */
function historyOf({ facts, talk }: Language) {
  return Array.from({ length: EXCHANGES }, (_, i) => {
    const [user = '', assistant = ''] = talk[i % talk.length] ?? [];
    const numbered = (text: string): string => text.replace('#', String(i));
    const said = i % 50 === 7 ? facts[(i - 7) / 50]?.[0] : undefined;
    return [
      { role: 'user', content: said ?? numbered(user) },
      { role: 'assistant', content: said === undefined ? numbered(assistant) : 'OK.' },
    ];
  }).flat();
}

test.each(Object.entries(LANGUAGES))('%s: each fact is found at 2,000 tokens', (_, language) => {
  const history = historyOf(language);
  const missed = language.facts.flatMap(([said, ...queries]) =>
    queries.filter((query) => {
      const input = [{ role: 'user', content: query }];
      const layout = new PromptLayout({ parts: {}, history, input, budget: 2000 });
      const { recalled } = layout.fill(
        atOnce(searchMessages(history, { text: query, limit: 1000, now: '2026-01-15T10:00:00.000Z' })),
      );
      return !recalled?.content.includes(said);
    }),
  );

  expect(missed).toEqual([]);
});
