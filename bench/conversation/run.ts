/**
 * How much of what answers a question is in the prompt, for several ways to fit a long conversation into a budget:
 * `npm run bench:conversation`. Writes docs/internals/conversation-bench.md and its picture, unless the recorded conversations are
 * missing. `--data <folder>` reads others, `--half tuning` shows the half that weights were chosen with, and `--time`
 * measures how long a search takes instead.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Language, readTalks, type SetName, type Talk } from './data.js';
import { chart, report } from './page.js';
import { recallOf } from './recall.js';
import { measureTime } from './time.js';
import { promptTokens, WAYS, type Way } from './ways.js';

const SAMPLE = 'bench/conversation/sample';
const BUDGETS: Record<SetName, number[]> = {
  chats: [500, 1000, 2000],
  'long chats': [2000, 4000, 8000],
  meetings: [2000, 4000, 8000, 16_000],
};

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

async function measure(
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
      const sent = prompt.slice(0, -1).map(({ content }) => content);
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

async function main(data: string, half: string): Promise<void> {
  const isSample = !existsSync(data);
  if (isSample) console.log(`${data} does not exist. A conversation of our own making is played instead (${SAMPLE}).`);
  const all = readTalks(data, SAMPLE);
  const talks = isSample ? all : all.filter((talk) => talk.half === half);
  const rows: Row[] = [];
  for (const set of Object.keys(BUDGETS) as SetName[]) {
    for (const language of ['English', 'Chinese'] as const) {
      const group = talks.filter((talk) => talk.set === set && talk.language === language);
      if (group.length === 0) continue;
      console.log(`\n${set}, ${language}: recall at ${BUDGETS[set].join(' / ')} tokens`);
      for (const way of WAYS) {
        const of: Row[] = [];
        for (const budget of BUDGETS[set])
          of.push({ set, language, way: way.name, ...(await measure(way, group, budget)) });
        rows.push(...of);
        const fitted = Math.min(...of.map((row) => row.fitted));
        console.log(
          `  ${way.name.padEnd(48)} ${of.map(({ recall }) => percent(recall)).join(' / ')}, ${percent(fitted)} % fit`,
        );
      }
    }
  }
  if (isSample || half !== 'unseen') return;
  writeFileSync('docs/internals/conversation-bench.svg', chart(rows));
  writeFileSync('docs/internals/conversation-bench.md', report(rows, talks));
}

function percent(share: number): string {
  return (100 * share).toFixed(share === 1 ? 0 : 1);
}

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/data' },
    half: { type: 'string', default: 'unseen' },
    time: { type: 'boolean', default: false },
  },
});
if (values.time) measureTime();
else void main(values.data, values.half);
