/**
 * What each rule of the memory is worth: figures of the tuning half, with one rule switched off at a time.
 * `npm run bench:conversation -- --ablation` prints the table of docs/internals/decisions/conversation.md. A rule is
 * switched off by a replacement in the source, in a process of its own.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { joined, readTalks } from './data.js';
import { measure } from './measure.js';
import { type Played, play } from './played.js';
import { WAYS } from './ways.js';

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
      change('memory', 'const BEFORE = 0.75', 'const BEFORE = 0'),
      change('memory', 'const AFTER = 0.25', 'const AFTER = 0'),
      change('memory', 'const NEXT_BUT_ONE = 0.25', 'const NEXT_BUT_ONE = 0'),
    ],
  },
  {
    rule: 'and for those next but one',
    off: [change('memory', 'const NEXT_BUT_ONE = 0.25', 'const NEXT_BUT_ONE = 0')],
  },
  {
    rule: 'more for the one after it than for the one before',
    off: [
      change('memory', 'const BEFORE = 0.75', 'const BEFORE = 0.5'),
      change('memory', 'const AFTER = 0.25', 'const AFTER = 0.5'),
    ],
  },
  {
    rule: 'Surroundings: blocks of 16 messages',
    off: [change('memory', 'const SURROUNDINGS = 0.35', 'const SURROUNDINGS = 0')],
  },
  { rule: 'A long message must score more', off: [change('memory', 'const COST = 0.3', 'const COST = 0')] },
  { rule: 'BM25 by length', off: [change('memory', 'const B = 0.75', 'const B = 0')] },
  { rule: 'BM25 by frequency', off: [change('memory', 'const COUNTS = 16', 'const COUNTS = 2')] },
  {
    rule: 'Dates are terms',
    off: [change('memory', '...datesIn(query, this.#newest)]', ']')],
  },
  { rule: 'Names of speakers are terms', off: [change('memory', 'name === undefined ?', 'name !== null ?')] },
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
    rule: 'Room that is left goes to other messages',
    off: [change('recall', 'at >= 0 && taken.size > 0', 'at >= 0 && taken.size < 0')],
  },
  {
    rule: 'A message takes at most 60 % of the room',
    off: [change('recall', 'const LONGEST = 0.6', 'const LONGEST = 1')],
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

interface Figures {
  /** Mean recall, in percent, at 4,000 and 8,000 tokens, and of all meetings as one at 32,000. */
  recall: number[];
  /** Prompts at 4,000 tokens with a stable beginning, in percent. */
  stable: number;
  fitted: number;
  compactions: number;
}

/** Prints the table. */
export async function ablation(data: string): Promise<void> {
  const whole = await figuresWith([], data);
  console.log('| without the rule | 4,000 | 8,000 | 32,000 | stable | compactions |\n|---|---|---|---|---|---|');
  console.log(`| (all rules) | ${cells(whole).join(' | ')} |`);
  for (const { rule, off } of RULES) {
    const figures = await figuresWith(off, data).catch((error: unknown) => String(error));
    console.log(
      `| ${rule} | ${typeof figures === 'string' ? figures.slice(0, 300) : cells(figures, whole).join(' | ')} |`,
    );
  }
}

function cells({ recall, stable, compactions, fitted }: Figures, whole?: Figures): string[] {
  const signed = (value: number, before: number | undefined): string =>
    before === undefined ? value.toFixed(1) : `${value >= before ? '+' : '−'}${Math.abs(value - before).toFixed(1)}`;
  return [
    ...recall.map((value, i) => signed(value, whole?.recall[i])),
    signed(stable, whole?.stable),
    `${compactions}${fitted < 100 ? `, ${fitted.toFixed(1)} % fit` : ''}`,
  ];
}

async function figuresWith(patches: readonly Patch[], data: string): Promise<Figures> {
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
  const env = { ...process.env, PATCHES: JSON.stringify(patches) };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout) as Figures;
}

/** The figures of the code as it is loaded. */
export async function figures(data: string): Promise<Figures> {
  const talks = readTalks(data, '').filter(({ half, set }) => half === 'tuning' && set !== 'chats');
  const meetings = talks.filter(({ set }) => set === 'meetings');
  const ours = WAYS.filter(({ name }) => name === 'context-gateway');
  const recallAt = async (budget: number, of: typeof talks): Promise<number> => {
    const [way] = ours;
    if (way === undefined || of.length === 0) return Number.NaN;
    const groups = ['English', 'Chinese'].flatMap((language) =>
      (['long chats', 'meetings'] as const).map((set) =>
        of.filter((talk) => talk.set === set && talk.language === language),
      ),
    );
    const recalls = await Promise.all(
      groups.filter(({ length }) => length > 0).map(async (group) => (await measure(way, group, budget)).recall),
    );
    return (100 * recalls.reduce((sum, recall) => sum + recall, 0)) / recalls.length;
  };
  const recall = [await recallAt(4000, talks), await recallAt(8000, talks), await recallAt(32_000, joined(meetings))];
  const played: Played[] = [];
  for (const talk of talks.filter(({ messages }) => messages.length < 600)) played.push(await play(talk, 4000));
  const sum = (field: 'turns' | 'stable' | 'fitted' | 'compactions'): number =>
    played.reduce((total, one) => total + one[field], 0);
  const share = (field: 'stable' | 'fitted'): number => (100 * sum(field)) / sum('turns');
  return { recall, stable: share('stable'), fitted: share('fitted'), compactions: sum('compactions') };
}
