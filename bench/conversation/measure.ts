import { textOf } from '../../src/conversation/content.js';
import type { Language, SetName, Talk } from './data.js';
import { promptTokens } from './ours.js';
import { recallOf } from './recall.js';
import type { Way } from './ways.js';

/** The result of one way on one set of conversations. */
export interface Row {
  set: SetName;
  language: Language;
  budget: number;
  way: string;
  /** The mean share of a question's evidence that the prompt contained. */
  recall: number;
  /** The share of prompts within the budget. */
  fitted: number;
  /** Mean tokens of a prompt. */
  tokens: number;
  /** Mean milliseconds to build one, without the first of each conversation. */
  time: number;
}

/** Asks every question of the talks at their end. */
export async function measure(
  way: Way,
  talks: readonly Talk[],
  budget: number,
): Promise<Omit<Row, 'set' | 'language' | 'way'>> {
  const results: { recall: number; fitted: number; tokens: number; time: number }[] = [];
  for (const talk of talks) {
    for (const { question, evidence } of talk.questions) {
      const began = performance.now();
      const prompt = await way.prompt(talk, question, budget);
      const time = performance.now() - began;
      // The question itself does not count as recalled.
      const sent = prompt.slice(0, -1).map(textOf);
      const wanted = evidence.map((at) => talk.messages[at]?.content ?? '');
      const recall = recallOf(wanted, sent);
      if (recall === undefined) continue;
      const tokens = promptTokens(prompt);
      results.push({ recall, tokens, fitted: Number(tokens <= budget), time });
    }
  }
  const mean = (field: 'recall' | 'fitted' | 'tokens' | 'time'): number =>
    results.reduce((sum, one) => sum + one[field], 0) / results.length;
  return { budget, recall: mean('recall'), fitted: mean('fitted'), tokens: mean('tokens'), time: mean('time') };
}
