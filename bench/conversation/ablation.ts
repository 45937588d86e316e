/**
 * What each rule of the memory is worth: figures of both halves of the data, with one rule switched off at a time.
 * `npm run bench:conversation -- --ablation` prints the table of docs/internals/decisions/conversation.md. A rule is
 * switched off by a replacement in the source, in a process of its own.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { PromptLayout } from '../../src/conversation/prompt/fit.js';
import { History } from '../../src/conversation/search/history.js';
import { readTalks, type Talk } from './data.js';
import { measure } from './measure.js';
import { type Played, play } from './played.js';
import { asked, tokensOf, type Way } from './ways.js';

/** A replacement in a file of src/conversation. */
interface Patch {
  file: string;
  from: string;
  to: string;
}

const change = (file: string, from: string, to: string): Patch => ({ file, from, to });

const SHARES = 'const SHARES = { newest: 0.1, turn: 0.2, newestAtMost: 0.3,';
const shares = (newest: number, turn: number, most: number): Patch[] => [
  change('prompt/fit', SHARES, `const SHARES = { newest: ${newest}, turn: ${turn}, newestAtMost: ${most},`),
];

const RULES: readonly { rule: string; off: readonly Patch[] }[] = [
  {
    rule: 'A message counts for those beside it',
    off: [
      change('search/history', 'const BESIDE = 0.5', 'const BESIDE = 0'),
      change('search/history', 'const NEXT_BUT_ONE = 0.25', 'const NEXT_BUT_ONE = 0'),
    ],
  },
  {
    rule: 'and for those next but one',
    off: [change('search/history', 'const NEXT_BUT_ONE = 0.25', 'const NEXT_BUT_ONE = 0')],
  },
  {
    rule: 'Blocks of 16 messages',
    off: [change('search/history', 'const SURROUNDINGS = 0.5', 'const SURROUNDINGS = 0')],
  },
  {
    rule: 'In a block, how often a term occurs',
    off: [change('search/history', 'const K_BLOCK = 4', 'const K_BLOCK = 0')],
  },
  { rule: 'BM25 by length', off: [change('search/history', 'const B = 0.75', 'const B = 0')] },
  {
    rule: 'Dates are terms',
    off: [change('search/history', '[...datesIn(query, this.#newest)]', '[...datesIn("", undefined)]')],
  },
  { rule: 'Names of speakers are terms', off: [change('search/history', 'wordsOf(name)', '[] as string[]')] },
  {
    rule: 'The two user messages before',
    off: [change('search/history', 'const PREVIOUS = 0.2', 'const PREVIOUS = 0')],
  },
  {
    rule: 'Long messages in passages',
    off: [change('search/passages', 'export const LONG = 3000', 'export const LONG = 3e9')],
  },
  { rule: 'At most 48 terms', off: [change('search/history', 'const MAX_TERMS = 48', 'const MAX_TERMS = 4800')] },
  {
    rule: 'An unknown word by its beginning',
    off: [change('search/history', 'const BEGINNING = 5', 'const BEGINNING = 500')],
  },
  {
    rule: 'Short messages beside that say nothing',
    off: [change('search/history', 'const SHORT = 40', 'const SHORT = -1')],
  },
  { rule: 'English endings', off: [change('search/words', 'word.length < 4', 'word.length > 0')] },
  { rule: 'Words that say nothing', off: [change('search/words', '!STOP_WORDS.has(word)', 'word')] },
  {
    rule: 'Particles part Chinese and Japanese',
    off: [change('search/words', '的了我你是在有吗呢吧着过们のはがをにでと', '')],
  },
  { rule: 'A recall stops', off: [change('prompt/recall', 'if (score < coverage', 'if (score < 0 * coverage')] },
  {
    rule: 'It stops at a higher score the more it has',
    off: [change('prompt/recall', 'const MUCH = 5000', 'const MUCH = 5e9')],
  },
  {
    rule: 'and at a lower one if the best message says little',
    off: [change('prompt/recall', 'coverage ** 4', 'coverage ** 0')],
  },
  {
    rule: 'A message takes at most 60 % of the room',
    off: [change('prompt/recall', 'const LONGEST = 0.6', 'const LONGEST = 1')],
  },
  { rule: 'Newest messages 5 to 30 % instead of 10 to 30', off: shares(0.05, 0.1, 0.3) },
  { rule: 'Newest messages 10 to 20 %', off: shares(0.1, 0.15, 0.2) },
  { rule: 'Newest messages fixed at 25 %', off: shares(0.25, 0.25, 0.26) },
  { rule: 'Newest messages 25 to 55 %', off: shares(0.25, 0.35, 0.55) },
  {
    rule: 'References leave once messages no longer fit',
    off: [change('prompt/fit', "(start === 0 || one.section !== 'importantReferences')", 'true')],
  },
  {
    rule: 'The context may take more while all messages are sent',
    off: [change('prompt/fit', 'contextAlone: 0.75', 'contextAlone: 0')],
  },
  {
    rule: 'A compaction needs a quarter of growth',
    off: [change('context/service', 'const MIN_GROWTH = 0.25', 'const MIN_GROWTH = 0')],
  },
  {
    rule: 'Calibration by kind of text',
    off: [
      change(
        'prompt/tokens',
        'const kinds = Object.keys(sums) as TextKind[];',
        "const kinds = ['latin'] as TextKind[];",
      ),
      change(
        'prompt/tokens',
        'known = { raw: this.#raw(text), ...kindOf(text) }',
        "known = { raw: this.#raw(text), ...kindOf(text), kind: 'latin' }",
      ),
    ],
  },
];

/** The tuning half and the unseen half. */
type Halves = Record<'tuning' | 'unseen', Figures>;

interface Figures {
  /** Mean recall, in percent, for each of `BUDGETS`. Empty for rules that change no search. */
  recall: number[];
  /** Tokens of a prompt at the highest of them. */
  tokens: number;
  /** Of conversations that are sent turn by turn at 4,000 tokens. Missing for rules that change no beginning. */
  played?: { recall: number; stable: number; cost: number; fitted: number; compactions: number } | undefined;
}

/** The mean of long chats and chats of weeks in two languages, and of meetings. */
const BUDGETS = [2000, 4000, 8000, 16_000];

/** Prints the table. Fails if a replacement does not match the source. */
export async function ablation(data: string): Promise<void> {
  for (const { rule, off } of RULES)
    for (const { file, from } of off)
      if (!readFileSync(`src/conversation/${file}.ts`, 'utf8').includes(from))
        throw new Error(
          `${rule}: src/conversation/${file}.ts does not contain ${from}. Follow the code in ablation.ts.`,
        );
  const whole = await figuresWith([], data);
  console.log(
    '| without the rule | 2,000 | 4,000 | 8,000 | 16,000 | tokens at 16,000 | turn by turn | stable | cost | compactions |',
  );
  console.log('|---|---|---|---|---|---|---|---|---|---|');
  console.log(`| (all rules) | ${cells(whole).join(' | ')} |`);
  for (const { rule, off } of RULES)
    console.log(`| ${rule} | ${cells(await figuresWith(off, data), whole).join(' | ')} |`);
}

/** Both halves in each cell. */
function cells(halves: Halves, whole?: Halves): string[] {
  const tuning = cellsOf(halves.tuning, whole?.tuning);
  const unseen = cellsOf(halves.unseen, whole?.unseen);
  return tuning.map((cell, i) => (cell === unseen[i] ? cell : `${cell} / ${unseen[i]}`));
}

function cellsOf({ recall, tokens, played }: Figures, whole?: Figures): string[] {
  const signed = (value: number, before: number | undefined): string => {
    if (before === undefined) return value.toFixed(1);
    const change = Math.abs(value - before).toFixed(1);
    return change === '0.0' ? '0' : `${value > before ? '+' : '−'}${change}`;
  };
  const recalls = BUDGETS.map((_, i) => (recall[i] === undefined ? '' : signed(recall[i], whole?.recall[i])));
  const count = (value: number): string => Math.round(value).toLocaleString('en-US');
  const asked = [...recalls, recall.length > 0 ? count(tokens) : ''];
  if (played === undefined) return [...asked, '', '', '', ''];
  const { stable, cost, compactions, fitted } = played;
  return [
    ...asked,
    signed(played.recall, whole?.played?.recall),
    signed(stable, whole?.played?.stable),
    count(cost),
    `${compactions}${fitted < 100 ? `, ${fitted.toFixed(1)} % fit` : ''}`,
  ];
}

async function figuresWith(patches: readonly Patch[], data: string): Promise<Halves> {
  const args = [
    '--import',
    './bench/conversation/patch.js',
    '--import',
    'tsx',
    'bench/conversation/run.ts',
    '--figures',
    '--data',
    data,
  ];
  const touches = (...files: string[]): boolean =>
    patches.length === 0 || patches.some(({ file }) => files.includes(file));
  if (touches('search/history', 'search/words', 'search/passages', 'prompt/recall', 'prompt/fit')) args.push('--asked');
  if (touches('prompt/fit', 'prompt/tokens', 'context/service')) args.push('--played');
  const env = { ...process.env, PATCHES: JSON.stringify(patches) };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout) as Halves;
}

/** The figures of the code as it is loaded. */
export async function figures(data: string, parts: { asked: boolean; played: boolean }): Promise<Halves> {
  const talks = readTalks(data, '').filter(({ set }) => set !== 'chats');
  const of = async (half: Talk['half']): Promise<Figures> => {
    const group = talks.filter((talk) => talk.half === half);
    return {
      ...(parts.asked ? await recallsOf(group) : { recall: [], tokens: 0 }),
      played: parts.played ? await playedOf(group) : undefined,
    };
  };
  return { tuning: await of('tuning'), unseen: await of('unseen') };
}

async function recallsOf(talks: readonly Talk[]): Promise<Pick<Figures, 'recall' | 'tokens'>> {
  const kindOf = ({ set, language }: Talk): string => `${set}, ${language}`;
  const kinds = [...new Set(talks.map(kindOf))];
  const groups = kinds.map((kind) => talks.filter((talk) => kindOf(talk) === kind));
  const rows = await Promise.all(
    BUDGETS.map((budget) => Promise.all(groups.map((group) => measure(OURS, group, budget)))),
  );
  return {
    recall: rows.map((row) => 100 * mean(row.map(({ recall }) => recall))),
    tokens: mean(rows.at(-1)?.map(({ tokens }) => tokens) ?? []),
  };
}

async function playedOf(talks: readonly Talk[]): Promise<Figures['played']> {
  const all: Played[] = [];
  for (const talk of talks) if (talk.set !== 'chats of weeks') all.push(await play(talk, 4000));
  const sum = (field: 'turns' | 'stable' | 'fitted' | 'cost' | 'compactions'): number =>
    all.reduce((total, one) => total + one[field], 0);
  const share = (field: 'stable' | 'fitted'): number => (100 * sum(field)) / sum('turns');
  return {
    recall: 100 * mean(all.flatMap(({ recall }) => recall)),
    ...{ stable: share('stable'), fitted: share('fitted') },
    ...{ cost: sum('cost') / sum('turns'), compactions: sum('compactions') },
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

const indexes = new Map<readonly unknown[], History>();

/** As `fitToBudget`, but each conversation is indexed once. */
const OURS: Way = {
  name: 'context-gateway',
  prompt: ({ messages }, question, budget) => {
    const input = [asked(question, messages)];
    const now = input[0]?.createdAt;
    const layout = new PromptLayout({ parts: {}, history: messages, input, budget, countTokens: tokensOf });
    const index = indexes.get(messages) ?? new History(messages);
    indexes.set(messages, index);
    return layout.fill(layout.start === 0 ? undefined : index.around(question, { limit: 1000, now })).chatMessages;
  },
};
