/**
 * How much of what answers a question is in the prompt, for several ways to fit a long conversation into a budget:
 * `npm run bench:conversation`. Writes docs/internals/conversation-bench.md and its picture, unless the recorded conversations are
 * missing. `--data <folder>` reads others, and `--half tuning` shows the half that weights were chosen with.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readTalks, type SetName } from './data.js';
import { measure, type Row } from './measure.js';
import { chart, report } from './page.js';
import { type PlayedRow, playAll } from './played.js';
import { WAYS } from './ways.js';

const SAMPLE = 'bench/conversation/sample';
const BUDGETS: Record<SetName, number[]> = {
  chats: [500, 1000, 2000],
  'long chats': [2000, 4000, 8000, 16_000],
  'chats of weeks': [2000, 4000, 8000, 16_000],
  meetings: [2000, 4000, 8000, 16_000],
};

/** The budgets at which whole conversations are sent turn by turn. */
const PLAYED: Partial<Record<SetName, number[]>> = {
  'long chats': [2000, 4000, 8000],
  'chats of weeks': [2000, 4000, 8000],
  meetings: [2000, 4000, 8000],
};

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
      console.log(`\n${set}, ${language}: recall (tokens of a prompt) at ${BUDGETS[set].join(' / ')} tokens`);
      for (const way of WAYS) {
        const of: Row[] = [];
        for (const budget of BUDGETS[set])
          of.push({ set, language, way: way.name, ...(await measure(way, group, budget)) });
        rows.push(...of);
        const fitted = Math.min(...of.map((row) => row.fitted));
        console.log(
          `  ${way.name.padEnd(48)} ${of.map(({ recall, tokens }) => `${percent(recall)} (${tokens.toFixed(0)})`).join(' / ')}, ${percent(fitted)} % fit`,
        );
      }
    }
  }
  const played: PlayedRow[] = [];
  for (const [set, budgets] of Object.entries(PLAYED)) {
    for (const language of ['English', 'Chinese']) {
      const group = talks.filter((talk) => talk.set === set && talk.language === language);
      for (const budget of budgets) {
        const row = await playAll(group, budget);
        if (row === undefined) continue;
        played.push(row);
        const { turns, failed, fitted, stable, compactions, cost, recall, recallUndated, recallOfAiSdk } = row;
        console.log(
          `${set}, ${language}, turn by turn at ${budget}: recall ${percent(recall)} %, without dates ${percent(recallUndated)} %, AI SDK ${percent(recallOfAiSdk)} %, ${turns} turns, ${failed} failed, ${percent(fitted / turns)} % fit, ${percent(stable / turns)} % stable, ${(cost / turns).toFixed(0)} tokens a turn, ${compactions} compactions`,
        );
      }
    }
  }
  if (isSample || half !== 'unseen') return;
  writeFileSync('docs/internals/conversation-bench.svg', chart(rows));
  writeFileSync('docs/internals/conversation-bench.md', report(rows, played));
}

function percent(share: number): string {
  return (100 * share).toFixed(share === 1 ? 0 : 1);
}

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/data' },
    half: { type: 'string', default: 'unseen' },
  },
});
await main(values.data, values.half);
