import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { build } from 'esbuild';
import type { SetName, Talk } from './data.js';
import { measure } from './measure.js';
import { type ours, tokensOf } from './ours.js';

/** A rule, and the lines of the source without which it does nothing. */
interface Rule {
  without: string;
  file: string;
  from: string;
  to: string;
}

const RULES: readonly Rule[] = [
  { without: 'nothing', file: 'search/rank.ts', from: '', to: '' },
  {
    without: 'what stands beside a message',
    file: 'search/rank.ts',
    from: 'const BESIDE = 0.5;\nconst NEXT_BUT_ONE = 0.25;',
    to: 'const BESIDE = 0;\nconst NEXT_BUT_ONE = 0;',
  },
  { without: 'blocks of 16', file: 'search/rank.ts', from: 'const SURROUNDINGS = 0.5;', to: 'const SURROUNDINGS = 0;' },
  { without: 'lengths in BM25', file: 'search/rank.ts', from: 'const B = 0.75;', to: 'const B = 0;' },
  {
    without: 'dates',
    file: 'search/rank.ts',
    from: 'const dates = datesIn(text, localTime(now, timeZone));',
    to: 'const dates = new Map<string, number>();',
  },
  {
    without: 'the beginning of unknown words',
    file: 'search/rank.ts',
    from: 'return [...exact, ...alike]',
    to: 'return [...exact]',
  },
  {
    without: 'names of speakers',
    file: 'search/terms.ts',
    from: 'name === undefined ? [] : this.#wordsOfName(name)',
    to: '[] as string[]',
  },
  { without: 'names that are common words', file: 'search/words.ts', from: ' || NAME.test(written)', to: '' },
  { without: 'common words', file: 'search/words.ts', from: '!stopWords.has(word) ||', to: 'true ||' },
  {
    without: 'English endings',
    file: 'search/words.ts',
    from: 'if (word.length < 4) return word;',
    to: 'return word;',
  },
  {
    without: 'particles in Chinese and Japanese',
    file: 'search/words.ts',
    from: '的了我你是在有吗呢吧着过们のはがをにでと',
    to: '',
  },
  { without: 'passages of long messages', file: 'search/passages.ts', from: 'LONG = 3000', to: 'LONG = 1e9' },
  { without: 'a stop', file: 'prompt/recall.ts', from: 'if (score < least) break;', to: '' },
  { without: 'a lower stop for what is spread', file: 'prompt/recall.ts', from: 'coverage ** 4 * ', to: '' },
  {
    without: 'a higher stop after many tokens',
    file: 'prompt/recall.ts',
    from: ' + (recalled.tokens / MUCH) ** 4',
    to: '',
  },
  { without: 'one text once', file: 'prompt/recall.ts', from: 'said.add(words);', to: '' },
  { without: 'few that differ in numbers', file: 'prompt/recall.ts', from: 'score / (alike + 1) < least', to: 'false' },
];

/** Prints what becomes of recall without each rule: the mean of all cells, and the cell that loses most. */
export async function ablate(talks: readonly Talk[], budgets: Readonly<Record<SetName, number[]>>): Promise<void> {
  console.log('| without | tuning | unseen | worst cell, unseen | tokens, unseen |\n|---|---|---|---|---|');
  let whole: Cells[] | undefined;
  for (const rule of RULES) {
    const prompt = await promptWithout(rule);
    const cells: Cells[] = [];
    for (const half of ['tuning', 'unseen'] as const) {
      cells.push(
        await cellsOf(
          talks.filter((talk) => talk.half === half),
          budgets,
          prompt,
        ),
      );
    }
    whole ??= cells;
    const [tuning = NONE, unseen = NONE] = cells;
    const changes = unseen.recalls.map((recall, at) => recall - (whole?.[1]?.recalls[at] ?? 0));
    const shown = [tuning, unseen].map((one, half) =>
      points(one.mean - (rule.from === '' ? 0 : (whole?.[half]?.mean ?? 0))),
    );
    console.log(
      `| ${rule.without} | ${shown.join(' | ')} | ${points(Math.min(...changes))} | ${unseen.tokens.toFixed(0)} |`,
    );
  }
}

interface Cells {
  recalls: number[];
  mean: number;
  /** Mean of all prompts. */
  tokens: number;
}
const NONE: Cells = { recalls: [], mean: 0, tokens: 0 };

async function cellsOf(
  talks: readonly Talk[],
  budgets: Readonly<Record<SetName, number[]>>,
  prompt: typeof ours,
): Promise<Cells> {
  const rows: Awaited<ReturnType<typeof measure>>[] = [];
  const way = {
    name: '',
    prompt: (talk: Talk, question: string, budget: number) => prompt(talk, question, budget, { count: tokensOf }),
  };
  for (const [set, sizes] of Object.entries(budgets)) {
    for (const language of ['English', 'Chinese']) {
      const group = talks.filter((talk) => talk.set === set && talk.language === language);
      if (group.length > 0) for (const budget of sizes) rows.push(await measure(way, group, budget));
    }
  }
  const mean = (field: 'recall' | 'tokens'): number => rows.reduce((sum, row) => sum + row[field], 0) / rows.length;
  return { recalls: rows.map(({ recall }) => recall), mean: mean('recall'), tokens: mean('tokens') };
}

/** `ours`, from a source in which the lines of a rule are replaced. */
async function promptWithout({ without, file, from, to }: Rule): Promise<typeof ours> {
  const path = resolve('src/conversation', file);
  const source = readFileSync(path, 'utf8');
  if (!source.includes(from))
    throw new Error(`${file} has no longer what is replaced for "without ${without}": ${from}`);
  const { outputFiles } = await build({
    ...{ entryPoints: ['bench/conversation/ours.ts'], bundle: true, write: false, format: 'esm', platform: 'node' },
    ...{ packages: 'external', external: ['gpt-tokenizer'] },
    plugins: [
      {
        name: 'ablation',
        setup: ({ onLoad }) =>
          onLoad({ filter: /\.ts$/ }, (args) =>
            args.path === path ? { contents: source.replace(from, () => to), loader: 'ts' } : undefined,
          ),
      },
    ],
  });
  const text = (outputFiles[0]?.text ?? '').replace(/from "gpt-tokenizer[^"]*"/, `from "${TOKENIZER}"`);
  // The cast is true: it is the same module.
  return ((await import(`data:text/javascript,${encodeURIComponent(text)}`)) as { ours: typeof ours }).ours;
}

const TOKENIZER = import.meta.resolve('gpt-tokenizer/encoding/o200k_base');

function points(share: number): string {
  return `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)}`;
}
