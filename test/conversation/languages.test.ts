import { expect, test } from 'vitest';
import { promptOf } from './fitted.js';
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
      const { recalled } = promptOf({ history, input, budget: 2000 });
      return !recalled?.content.includes(said);
    }),
  );

  expect(missed).toEqual([]);
});
