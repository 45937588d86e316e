/**
 * Measures how much of the evidence for questions about a conversation survives a compaction, compared with simpler
 * methods at the same number of tokens, and how well sentences are classified into sections.
 * Run: npm run compaction-quality -- FOLDER
 */
import type { CompactionLevel } from '../src/context/compaction/compact.js';
import { hashText } from '../src/store/random.js';
import { type Language, LanguageLoader } from '../src/text/language.js';
import { baselines } from './quality/baselines.js';
import { compacted } from './quality/engine.js';
import { type Meeting, readMeetings, survival } from './quality/meeting.js';
import {
  foundScore,
  labelledChats,
  labelledMeetings,
  type SectionScore,
  sectionScores,
  TUNED_ON,
} from './quality/sections.js';
import { cells, percent, print } from './quality/table.js';

const LEVELS: readonly CompactionLevel[] = ['light', 'deep', 'aggressive'];
/** In words: the length of a turn in a committee. */
const LONG_TURN = 300;
const MANY = 2000;
const ROUNDS = 20;

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  print('Usage: npm run compaction-quality -- FOLDER (of conversations with questions and their evidence, as JSON)');
  process.exit(2);
}
void main(folder);

async function main(folder: string): Promise<void> {
  const language = await new LanguageLoader().load();
  const recorded = readMeetings(folder).filter(hasEvidence);
  if (recorded.length === 0) {
    print(`No conversation with evidence in ${folder}`);
    process.exitCode = 2;
    return;
  }
  const isTunedOn = ({ name }: Meeting): boolean => TUNED_ON.includes(name);
  let beaten = true;
  for (const half of ['held-out', 'tune'] as const) {
    const isMeant = (meeting: Meeting): boolean => isTunedOn(meeting) === (half === 'tune');
    for (const words of [0, LONG_TURN]) {
      const meetings = (words === 0 ? recorded : readMeetings(folder, words).filter(hasEvidence)).filter(isMeant);
      if (meetings.length === 0) continue;
      print(`\n${half}: ${words === 0 ? 'turns as they were said' : `the same in turns of ${words} words`}\n`);
      beaten = printSurvival(meetings, language) && beaten;
    }
    printSections(`${half}: sentences of meetings`, () => labelledMeetings(half, folder), language);
    if (half === 'held-out') printFound(recorded.filter(isMeant), language);
    printSections(`${half}: sentences of chats`, () => labelledChats(half), language);
  }
  print(`\n${MANY} messages, nothing known before: ${Math.round(await coldTime(recorded))} ms`);
  print(
    `${ROUNDS} compactions of a growing conversation: at most ${percent(highestShare(recorded, language))} of it left`,
  );
  const summaries = recorded.map(({ messages }) => LEVELS.map((level) => compacted(messages, level, language).state));
  print(`fingerprint of all summaries: ${hashText(JSON.stringify(summaries))} (node ${process.versions.node})`);
  print(beaten ? '\nThe engine keeps more than every baseline, everywhere.' : '\nA baseline keeps as much or more.');
  process.exitCode = beaten ? 0 : 1;
}

/** Prints one line per level. Returns false if a baseline keeps as much as the engine. */
function printSurvival(meetings: readonly Meeting[], language: Language): boolean {
  const rivals = baselines(language);
  print(cells('level', 'engine', ...rivals.map(({ name }) => name), 'turns', 'left', 'ms'));
  let beaten = true;
  for (const level of LEVELS) {
    const alive = [0, ...rivals.map(() => 0)];
    const totals = { turns: 0, tokens: 0, all: 0, ms: 0 };
    for (const { messages, evidence } of meetings) {
      const { kept, tokens, totalTokens, ms } = compacted(messages, level, language);
      const contents = messages.map(({ content }) => content);
      for (const [i, texts] of [kept, ...rivals.map(({ keep }) => keep(contents, tokens))].entries()) {
        alive[i] = (alive[i] ?? 0) + survival(evidence, texts) * evidence.length;
      }
      totals.turns += evidence.length;
      totals.tokens += tokens;
      totals.all += totalTokens;
      totals.ms += ms;
    }
    const [own = 0, ...others] = alive.map((count) => count / totals.turns);
    const left = percent(totals.tokens / totals.all);
    print(cells(level, ...[own, ...others].map(percent), totals.turns, left, Math.round(totals.ms)));
    beaten &&= others.every((share) => share < own);
  }
  return beaten;
}

function printSections(title: string, sentences: () => Parameters<typeof sectionScores>[0], language: Language): void {
  let scores: SectionScore[];
  try {
    scores = sectionScores(sentences(), language);
  } catch (error) {
    print(`\n${title}: not in this folder (${error instanceof Error ? error.message : String(error)})`);
    return;
  }
  print(`\n${title}\n`);
  print(cells('section', 'precision', 'of', 'recall', 'of'));
  for (const { section, labelled, found, right } of scores) {
    const share = (whole: number): string => (whole === 0 ? '–' : percent(right / whole));
    print(cells(section, share(found), found, share(labelled), labelled));
  }
}

/**
 * Scores everything found in meetings that were not used for tuning. The labelled samples contain too few decisions.
 */
function printFound(meetings: readonly Meeting[], language: Language): void {
  print();
  for (const section of ['decisions', 'requirements'] as const) {
    const messages = meetings.flatMap((meeting) => meeting.messages);
    const { found, right, unread } = foundScore(section, messages, language);
    print(
      `  all ${section} found in these meetings, read one by one: ${right} of ${found} are some, ${unread} not read`,
    );
  }
}

async function coldTime(meetings: readonly Meeting[]): Promise<number> {
  const all = meetings.flatMap(({ messages }) => messages);
  const many = Array.from({ length: MANY }, (_, i) => ({ ...nth(all, i), id: `message_${i}` }));
  return compacted(many, 'aggressive', await new LanguageLoader().load()).ms;
}

/** The largest share that a deep compaction leaves of a conversation that grows between compactions. */
function highestShare(meetings: readonly Meeting[], language: Language): number {
  const messages = meetings.flatMap((meeting) => meeting.messages).slice(0, MANY);
  let state: ReturnType<typeof compacted>['state'] | undefined;
  const shares = Array.from({ length: ROUNDS }, (_, round) => {
    const outcome = compacted(messages.slice(0, ((round + 1) * messages.length) / ROUNDS), 'deep', language, state);
    state = outcome.state;
    return outcome.tokens / outcome.totalTokens;
  });
  return Math.max(...shares);
}

function hasEvidence({ evidence }: Meeting): boolean {
  return evidence.length > 0;
}

function nth<T>(list: readonly T[], i: number): T {
  const entry = list[i % list.length];
  if (entry === undefined) throw new RangeError('an empty list');
  return entry;
}
