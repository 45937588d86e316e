/**
 * What each rule of the memory is worth: figures of both halves of the data, with one rule switched off at a time.
 * `npm run bench:conversation -- --ablation` prints the table of docs/internals/decisions/conversation.md. A rule is
 * switched off by a replacement in the source, in a process of its own.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { History } from '../../src/conversation/memory.js';
import { layoutPrompt } from '../../src/conversation/prompt.js';
import { joined, readTalks, type Talk } from './data.js';
import { measure } from './measure.js';
import { type Played, play } from './played.js';
import { tokensOf, type Way } from './ways.js';

/** A replacement in a file of src/conversation. */
interface Patch {
  file: string;
  from: string;
  to: string;
}

const change = (file: string, from: string, to: string): Patch => ({ file, from, to });

const RULES: readonly { rule: string; off: readonly Patch[] }[] = [
  {
    rule: 'A message counts for those beside it',
    off: [
      change('memory', 'const BESIDE = 0.5', 'const BESIDE = 0'),
      change('memory', 'const NEXT_BUT_ONE = 0.25', 'const NEXT_BUT_ONE = 0'),
    ],
  },
  {
    rule: 'and for those next but one',
    off: [change('memory', 'const NEXT_BUT_ONE = 0.25', 'const NEXT_BUT_ONE = 0')],
  },
  {
    rule: 'Surroundings: blocks of 16 messages',
    off: [change('memory', 'const SURROUNDINGS = 0.35', 'const SURROUNDINGS = 0')],
  },
  { rule: 'BM25 by length', off: [change('memory', 'const B = 0.75', 'const B = 0')] },
  { rule: 'Dates are terms', off: [change('memory', '...datesIn(query, this.#newest)]', ']')] },
  { rule: 'Names of speakers are terms', off: [change('memory', 'wordsOf(name)', '[] as string[]')] },
  { rule: 'The two user messages before', off: [change('memory', 'const PREVIOUS = 0.2', 'const PREVIOUS = 0')] },
  { rule: 'Long messages in passages', off: [change('memory', 'const LONG = 3000', 'const LONG = 3e9')] },
  { rule: 'At most 48 terms', off: [change('memory', 'const MAX_TERMS = 48', 'const MAX_TERMS = 4800')] },
  { rule: 'Plural endings', off: [change('words', 'word.length < 4 ||', 'word.length > 0 ||')] },
  { rule: 'Words that say nothing', off: [change('words', '!STOP_WORDS.has(word)', 'word')] },
  {
    rule: 'Particles part Chinese and Japanese',
    off: [change('words', '的了我你是在有吗呢吧着过们のはがをにでと', '')],
  },
  { rule: 'Later messages on the same', off: [change('recall', 'const REVISED = 3', 'const REVISED = 0')] },
  {
    rule: 'A message takes at most 60 % of the room',
    off: [change('recall', 'const LONGEST = 0.6', 'const LONGEST = 1')],
  },
  {
    rule: 'Room that is left goes to other messages',
    off: [change('memory', 'neighbours ? scores.length - limit : scores.length', 'scores.length')],
  },
  {
    rule: 'Messages are dropped in blocks',
    off: [change('prompt', 'newestAtMost: 0.55', 'newestAtMost: 0.26')],
  },
  {
    rule: 'A new context is a moment to cut',
    off: [change('prompt', 'const isMoment = !isSame', 'const isMoment = false && !isSame')],
  },
  {
    rule: 'The context may take more while all messages are sent',
    off: [change('prompt', '(1 - SHARES.newest) * base - newest', '0')],
  },
  {
    rule: 'A compaction needs a quarter of growth',
    off: [change('context', 'const MIN_GROWTH = 0.25', 'const MIN_GROWTH = 0')],
  },
  {
    rule: 'Calibration by kind of text',
    off: [
      change('tokens', 'const kinds = Object.keys(sums) as TextKind[];', "const kinds = ['latin'] as TextKind[];"),
      change(
        'tokens',
        'known = { raw: this.#raw(text), kind: kindOf(text) }',
        "known = { raw: this.#raw(text), kind: 'latin' }",
      ),
    ],
  },
];

/** The tuning half and the unseen half. */
type Halves = Record<'tuning' | 'unseen', Figures>;

interface Figures {
  /** Mean recall, in percent, for each of `BUDGETS`. Empty for rules that change no search. */
  recall: number[];
  /** Of conversations that are sent turn by turn at 4,000 tokens. Missing for rules that change no beginning. */
  played?: { recall: number; stable: number; fitted: number; compactions: number } | undefined;
}

/** Up to 8,000 tokens: the mean of long chats in two languages and of meetings. Above: all of them as one. */
const BUDGETS = [2000, 4000, 8000, 32_000, 128_000];
/** Of that one conversation, every sixth question is asked. */
const ASKED = 6;

/** Prints the table. */
export async function ablation(data: string): Promise<void> {
  const whole = await figuresWith([], data);
  console.log('| without the rule | 2,000 | 4,000 | 8,000 | 32,000 | 128,000 | turn by turn | stable | compactions |');
  console.log('|---|---|---|---|---|---|---|---|---|');
  console.log(`| (all rules) | ${cells(whole).join(' | ')} |`);
  for (const { rule, off } of RULES) {
    const figures = await figuresWith(off, data).catch((error: unknown) => String(error));
    console.log(
      `| ${rule} | ${typeof figures === 'string' ? figures.slice(0, 300) : cells(figures, whole).join(' | ')} |`,
    );
  }
}

/** Both halves in each cell. */
function cells(halves: Halves, whole?: Halves): string[] {
  const tuning = cellsOf(halves.tuning, whole?.tuning);
  const unseen = cellsOf(halves.unseen, whole?.unseen);
  return tuning.map((cell, i) => (cell === unseen[i] ? cell : `${cell} / ${unseen[i]}`));
}

function cellsOf({ recall, played }: Figures, whole?: Figures): string[] {
  const signed = (value: number, before: number | undefined): string => {
    if (before === undefined) return value.toFixed(1);
    const change = Math.abs(value - before).toFixed(1);
    return change === '0.0' ? '0' : `${value > before ? '+' : '−'}${change}`;
  };
  const recalls = BUDGETS.map((_, i) => (recall[i] === undefined ? '' : signed(recall[i], whole?.recall[i])));
  if (played === undefined) return [...recalls, '', '', ''];
  const { stable, compactions, fitted } = played;
  return [
    ...recalls,
    signed(played.recall, whole?.played?.recall),
    signed(stable, whole?.played?.stable),
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
  if (touches('memory', 'words', 'recall', 'prompt')) args.push('--asked');
  if (touches('prompt', 'tokens', 'context')) args.push('--played');
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
      recall: parts.asked ? await recallsOf(group) : [],
      played: parts.played ? await playedOf(group) : undefined,
    };
  };
  return { tuning: await of('tuning'), unseen: await of('unseen') };
}

async function recallsOf(talks: readonly Talk[]): Promise<number[]> {
  const long = talks.filter(({ set }) => set === 'long chats');
  const meetings = talks.filter(({ set }) => set === 'meetings');
  const all = joined([...long, ...meetings]).map((talk) => ({
    ...talk,
    questions: talk.questions.filter((_, i) => i % ASKED === 0),
  }));
  const recalls: number[] = [];
  for (const budget of BUDGETS) {
    const groups = budget > 8000 ? [all] : [...long.map((talk) => [talk]), meetings];
    const ofGroups = await Promise.all(groups.map(async (group) => (await measure(OURS, group, budget)).recall));
    recalls.push(100 * mean(ofGroups));
  }
  return recalls;
}

async function playedOf(talks: readonly Talk[]): Promise<Figures['played']> {
  const all: Played[] = [];
  for (const talk of talks) all.push(await play(talk, 4000));
  const sum = (field: 'turns' | 'stable' | 'fitted' | 'compactions'): number =>
    all.reduce((total, one) => total + one[field], 0);
  const share = (field: 'stable' | 'fitted'): number => (100 * sum(field)) / sum('turns');
  return {
    recall: 100 * mean(all.flatMap(({ recall }) => recall)),
    ...{ stable: share('stable'), fitted: share('fitted'), compactions: sum('compactions') },
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
    const input = [{ role: 'user', content: question }];
    const layout = layoutPrompt({ parts: {}, history: messages, input, budget, countTokens: tokensOf });
    const index = indexes.get(messages) ?? new History(messages);
    indexes.set(messages, index);
    const hits = layout.start === 0 ? [] : index.search(question, { limit: 1000 });
    return layout.fill({ hits, index, query: question }).chatMessages;
  },
};
