/**
 * Measures how much of the evidence for questions about a conversation survives a compaction, compared with simpler
 * methods at the same number of tokens, and how well sentences are classified into sections. Exits with 1 if a claim of
 * docs/compaction.md does not hold.
 * Run: npx tsx emulator/scripts/compaction-quality.ts [FOLDER]
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CompactionLevel } from '../src/context/compaction/compact.js';
import { hashText } from '../src/store/random.js';
import { type Language, LanguageLoader } from '../src/text/language.js';
import { baselines } from './quality/baselines.js';
import { compacted } from './quality/engine.js';
import { type Meeting, readChats, readMeetings, survival } from './quality/meeting.js';
import {
  chatTalk,
  developerTalk,
  foundScore,
  type LabelledSentence,
  meetingTalk,
  ownTalk,
  sectionScores,
  TUNED_ON,
  unseenTalk,
} from './quality/sections.js';
import { cells, percent, print } from './quality/table.js';

const LEVELS: readonly CompactionLevel[] = ['light', 'deep', 'aggressive'];
/** In words. Turns of committees are longer on average, those of other meetings shorter. */
const LONG_TURN = 30;
const MANY = 2000;
const ROUNDS = 20;
/** Of what the engine calls a decision or a requirement, the least share that a reader agrees with. */
const LEAST_PRECISION = 0.7;

const folder = process.argv[2] ?? join(import.meta.dirname, '../../../shared/data');
void main();

async function main(): Promise<void> {
  const language = await new LanguageLoader().load();
  printSections('talk of developers, tuning half', developerTalk('tuning'), language);
  printSections('talk of developers, held-out half', developerTalk('heldOut'), language);
  printSections('talk of developers, unseen', unseenTalk('developer'), language);
  printSections('private life and reports', unseenTalk('other'), language);
  for (const part of ['tuning', 'unseen', 'plain'] as const) {
    const talk = ownTalk(part);
    printSections(`statements and what looks so, ${part}`, talk, language);
    printSections(
      'of it, what only looks so',
      talk.filter(({ section }) => section === 'none'),
      language,
    );
  }
  printSections('talk in chats', chatTalk(), language);
  const meetingFolder = join(folder, 'meetings');
  const chatFile = join(folder, 'chats/en.json');
  if (!existsSync(meetingFolder) || !existsSync(chatFile)) {
    print(`\nThe recorded conversations are not there, so nothing else is measured: ${folder} has no meetings/*.json`);
    print('or no chats/en.json. The README describes their format.');
    return;
  }
  printSections('sentences of meetings, drawn by chance', meetingTalk(meetingFolder), language);
  const meetings = readMeetings(meetingFolder);
  const chats = readChats(chatFile);
  const broken: string[] = [];
  const totals = { decisions: { found: 0, right: 0 }, requirements: { found: 0, right: 0 } };
  for (const half of ['unseen', 'tuned on'] as const) {
    const isMeant = ({ name }: { name: string }): boolean => TUNED_ON.has(name) === (half === 'tuned on');
    const evident = meetings.filter(isMeant).filter(({ evidence }) => evidence.length > 0);
    for (const isLong of [false, true]) {
      const some = evident.filter(({ messages }) => wordsPerTurn(messages) > LONG_TURN === isLong);
      if (some.length === 0) continue;
      print(`\n${half}, ${isLong ? 'committees' : 'other meetings'}: ${some.map(({ name }) => name).join(', ')}\n`);
      const behind = printSurvival(some, language).filter((level) => isLong && level !== 'aggressive');
      broken.push(...behind.map((level) => `committees, ${level}: a baseline keeps more (${half})`));
    }
    print(`\n${half}, all meetings\n`);
    const behind = printSurvival(evident, language);
    broken.push(...behind.map((level) => `all meetings, ${level}: a baseline keeps more (${half})`));
    print(`\n${half}: what was recognised, and read one by one\n`);
    for (const section of ['decisions', 'requirements'] as const) {
      const total = totals[section];
      for (const [name, talks] of Object.entries({ meetings, chats })) {
        const messages = talks.filter(isMeant).flatMap((talk) => talk.messages);
        const { found, right, unread } = foundScore(section, messages, language);
        print(`  ${section} in ${name}: ${right} of ${found} are right${unread > 0 ? `, ${unread} not read` : ''}`);
        if (unread > 0) broken.push(`${section} in ${name}: ${unread} have no label in found.json (${half})`);
        total.found += found;
        total.right += right;
      }
    }
  }
  for (const [section, { found, right }] of Object.entries(totals)) {
    if (right < found * LEAST_PRECISION) broken.push(`${section}: only ${right} of ${found} are right`);
  }
  print(`\n${MANY} messages, nothing known before: ${Math.round(await coldTime(meetings))} ms`);
  print(
    `${ROUNDS} compactions of a growing conversation: at most ${percent(highestShare(meetings, language))} of it left`,
  );
  const summaries = meetings.map(({ messages }) => LEVELS.map((level) => compacted(messages, level, language).state));
  print(`fingerprint of all summaries: ${hashText(JSON.stringify(summaries))} (node ${process.versions.node})`);
  print(`\nClaims that do not hold: ${broken.length === 0 ? 'none' : broken.join('; ')}`);
  process.exitCode = broken.length === 0 ? 0 : 1;
}

function wordsPerTurn(messages: Meeting['messages']): number {
  return messages.reduce((sum, { content }) => sum + content.split(' ').length, 0) / messages.length;
}

/** Prints one line per level. Returns the levels at which a baseline keeps more than the engine. */
function printSurvival(meetings: readonly Meeting[], language: Language): CompactionLevel[] {
  const rivals = baselines(language);
  print(cells('level', 'engine', ...rivals.map(({ name }) => name), 'turns', 'left', 'ms'));
  const behind: CompactionLevel[] = [];
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
    if (others.some((share) => share > own)) behind.push(level);
  }
  return behind;
}

function printSections(title: string, sentences: readonly LabelledSentence[], language: Language): void {
  print(`\n${title}\n`);
  print(cells('section', 'precision', 'of', 'recall', 'of'));
  for (const { section, labelled, found, right } of sectionScores(sentences, language)) {
    const share = (whole: number): string => (whole === 0 ? '–' : percent(right / whole));
    print(cells(section, share(found), found, share(labelled), labelled));
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

function nth<T>(list: readonly T[], i: number): T {
  const entry = list[i % list.length];
  if (entry === undefined) throw new RangeError('an empty list');
  return entry;
}
