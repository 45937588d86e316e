/**
 * How much of what a conversation's questions need survives a compaction, beside what simpler ways keep with the same
 * number of tokens. Run: npm run compaction-quality -- FOLDER
 */
import type { CompactionLevel } from '../src/compaction/compact.js';
import { LanguageLoader } from '../src/language.js';
import { hashText } from '../src/random.js';
import { baselines } from './quality/baselines.js';
import { compacted } from './quality/engine.js';
import { type Meeting, readMeetings, survival } from './quality/meeting.js';
import { bar, cells, percent, print } from './quality/table.js';

const LEVELS: readonly CompactionLevel[] = ['light', 'deep', 'aggressive'];

const MANY = 2000;
const ROUNDS = 20;

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  print('Usage: npm run compaction-quality -- FOLDER (of conversations with questions and their evidence, as JSON)');
  process.exit(2);
}
const meetings = readMeetings(folder).filter(({ evidence }) => evidence.length > 0);
if (meetings.length === 0) {
  print(`No conversation with evidence in ${folder}`);
  process.exit(2);
}
void main(meetings);

async function main(meetings: readonly Meeting[]): Promise<void> {
  const language = await new LanguageLoader().load();
  const rivals = baselines(language);
  const names = ['engine', ...rivals.map(({ name }) => name)];
  let everything = '';
  let beaten = true;
  for (const level of LEVELS) {
    print(`\n${level}: share of ${sum(meetings.map(({ evidence }) => evidence.length))} evidence turns that survive\n`);
    print(cells('', ...names, 'turns', 'tokens', 'of all', 'ms'));
    const alive = names.map(() => 0);
    const totals = { turns: 0, tokens: 0, all: 0, ms: 0 };
    for (const { name, messages, evidence } of meetings) {
      const outcome = compacted(messages, level, language);
      const contents = messages.map(({ content }) => content);
      const shares = [outcome.kept, ...rivals.map(({ keep }) => keep(contents, outcome.tokens))].map((kept) =>
        survival(evidence, kept),
      );
      shares.forEach((share, i) => {
        alive[i] = (alive[i] ?? 0) + share * evidence.length;
      });
      totals.turns += evidence.length;
      totals.tokens += outcome.tokens;
      totals.all += outcome.totalTokens;
      totals.ms += outcome.ms;
      everything += JSON.stringify(outcome.state);
      const { tokens, totalTokens, ms } = outcome;
      print(
        cells(name, ...shares.map(percent), evidence.length, tokens, percent(tokens / totalTokens), Math.round(ms)),
      );
    }
    const { turns, tokens, all, ms } = totals;
    const shares = alive.map((count) => count / turns);
    print(cells('all', ...shares.map(percent), turns, tokens, percent(tokens / all), Math.round(ms)));
    print();
    names.forEach((name, i) => {
      print(`  ${name.padEnd(10)} ${bar(shares[i] ?? 0)} ${percent(shares[i] ?? 0)}`);
    });
    beaten &&= shares.slice(1).every((share) => share < (shares[0] ?? 0));
  }

  const many = Array.from({ length: MANY }, (_, i) =>
    nth(
      meetings.flatMap(({ messages }) => messages),
      i,
    ),
  );
  const cold = await new LanguageLoader().load();
  print(`\n${MANY} messages, nothing known before: ${Math.round(compacted(many, 'aggressive', cold).ms)} ms`);
  print(
    `${ROUNDS} compactions of a growing conversation: at most ${percent(highestShare(meetings, language))} of it left`,
  );
  print(`fingerprint of all summaries: ${hashText(everything)} (node ${process.versions.node})`);
  print(
    beaten ? '\nThe engine keeps more than every baseline, at every level.' : '\nA baseline keeps as much or more.',
  );
  process.exitCode = beaten ? 0 : 1;
}

/** The largest share that a deep compaction leaves of a conversation which grows between compactions. */
function highestShare(meetings: readonly Meeting[], language: Awaited<ReturnType<LanguageLoader['load']>>): number {
  const messages = meetings.flatMap((meeting) => meeting.messages).slice(0, MANY);
  let state: ReturnType<typeof compacted>['state'] | undefined;
  const shares = Array.from({ length: ROUNDS }, (_, round) => {
    const outcome = compacted(messages.slice(0, ((round + 1) * messages.length) / ROUNDS), 'deep', language, state);
    state = outcome.state;
    return outcome.tokens / outcome.totalTokens;
  });
  return Math.max(...shares);
}

function nth<T extends { id: string }>(list: readonly T[], i: number): T {
  const entry = list[i % list.length];
  if (entry === undefined) throw new RangeError('an empty list');
  return { ...entry, id: `message_${i}` };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
