import { fitToBudget } from 'context-gateway/conversation';
import { expect, test } from 'vitest';
import { History } from '../../src/conversation/memory.js';
import { layoutPrompt } from '../../src/conversation/prompt.js';
import { LANGUAGES, type Language } from './languages.js';

const EXCHANGES = 330;

/** The facts, spread over the first 300 of 330 exchanges. */
function historyOf({ facts, talk }: Language) {
  return Array.from({ length: EXCHANGES }, (_, i) => {
    const [user = '', assistant = ''] = talk[i % talk.length] ?? [];
    const numbered = (text: string): string => text.replace('#', String(i));
    const said = i % 25 === 7 ? facts[(i - 7) / 25]?.[0] : undefined;
    return [
      { role: 'user', content: said ?? numbered(user) },
      { role: 'assistant', content: said === undefined ? numbered(assistant) : 'OK.' },
    ];
  }).flat();
}

test.each(Object.entries(LANGUAGES))('%s: nine of ten facts are found at 2,000 tokens', (_, language) => {
  const history = historyOf(language);
  const index = new History(history);
  const missed = language.facts.flatMap(([said, question, task]) => {
    return [question, task].filter((query) => {
      const found = { hits: index.search(query, { limit: 1000 }), index, query };
      const input = [{ role: 'user', content: query }];
      const { recalled } = layoutPrompt({ parts: {}, history, input, budget: 2000 }).fill(found);
      return !recalled?.content.includes(said);
    });
  });

  expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(0.1 * 2 * language.facts.length);
});

test('a fact is found by the exported function alone, too', () => {
  const [said = '', question = ''] = LANGUAGES.Thai?.facts[0] ?? [];
  const history = historyOf(LANGUAGES.Thai as Language);

  const { recalled } = fitToBudget({ parts: {}, history, input: [{ role: 'user', content: question }], budget: 2000 });

  expect(recalled?.content).toContain(said);
});
