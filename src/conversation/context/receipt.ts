import { pauses } from '../../base/pauses.js';
import type { RollingSummary } from '../../index.js';
import type { LostEntry, Snapshot, SummaryDiff, SummaryEntry } from '../model.js';
import { compare, entriesOf, listOf, textsOf } from '../prompt/entries.js';
import type { History } from '../search/history.js';
import { normalise } from '../search/words.js';

/** Whether an entry is valid until it is revoked. Goals and plans are not. */
function isBinding({ section }: SummaryEntry): boolean {
  return section === 'decisions' || section === 'requirements' || section === 'definitions';
}

/**
 * Compares two versions of a summary: which statements the newer one kept, lost and added. A statement is kept if it has
 * the same words: case, punctuation, articles, English inflection and the order of a list make no difference. A statement
 * that occurs twice in `before` is listed twice. A repetition of a known statement is not `added`.
 *
 * @example
 * ```ts
 * import { diffSummaries } from 'context-gateway/conversation';
 * await context.compact('conv_sample', { level: 'light' });
 * const before = await context.summary('conv_sample');
 * await context.compact('conv_sample', { level: 'aggressive' });
 * const { kept, lost } = diffSummaries(before, await context.summary('conv_sample'));
 * console.log(`${kept.length} kept, ${lost.length} lost`);
 * ```
 */
export function diffSummaries(before: RollingSummary, after: RollingSummary): SummaryDiff {
  const [earlier, later] = [entriesOf(before), entriesOf(after)];
  const missing = without(earlier, later);
  const gone = new Set(missing);
  return {
    kept: earlier.filter((entry) => !gone.has(entry)),
    lost: missing.filter(isBinding),
    added: without(later, earlier),
  };
}

/** The entries that `others` do not state. */
function without<Entry extends SummaryEntry>(entries: readonly Entry[], others: readonly SummaryEntry[]): Entry[] {
  const stated = others.map(wordsOfEntry);
  return entries.filter((entry) => {
    const words = wordsOfEntry(entry);
    const alike = stated.filter(({ length }) => length === words.length);
    return !alike.some((other) => words.every((word, at) => isSameWord(word, other[at] ?? '')));
  });
}

/**
 * The statements that are lost with a new version of the summary: those of `before` that it lacks, and those lost earlier,
 * unless it contains them again. `before` is the version before a compaction. Other changes lose nothing: excluding a
 * message also removes statements.
 */
export function lostWith(
  after: RollingSummary,
  lost: readonly LostEntry[],
  before: RollingSummary | undefined,
): LostEntry[] {
  const binding = before === undefined ? [] : entriesOf(before).filter(isBinding);
  const candidates = [...lost, ...binding.map((entry) => ({ ...entry, until: before?.version ?? 0 }))];
  return without(candidates, entriesOf(after)).slice(-MOST_LOST);
}

/** The state is saved with each turn, so the oldest go. */
const MOST_LOST = 500;

/** Forgets the statements that stand, word for word, in a message which was excluded or replaced. */
export function forgetMessage(lost: readonly LostEntry[], content = ''): LostEntry[] {
  const words = ` ${normalise(content)} `;
  return lost.filter(({ text }) => !words.includes(` ${normalise(text)} `));
}

/** Counts old messages that are not pinned, and of which the summary quotes nothing. An entry counts for the newest message it quotes. */
export async function countOnlyInHistory({ summary, pins, metadata }: Snapshot, history: History): Promise<number> {
  const { messages } = history;
  const origins = new Set<number>();
  await history.ready();
  const pause = pauses(); // there may be many entries
  for (const text of quotesOf(summary)) {
    const found = history.search(text, ORIGINS);
    const quoted = found.map(({ position }) => position).filter((at) => quotes(messages[at]?.content ?? '', text));
    if (quoted.length > 0) origins.add(Math.max(...quoted));
    await pause();
  }
  const pinned = new Set<string | undefined>(pins.map(({ messageId }) => messageId));
  const old = messages.slice(0, Math.max(0, messages.length - metadata.recentMessageCount));
  return old.filter(({ id, excluded }, at) => excluded !== true && !origins.has(at) && !pinned.has(id)).length;
}

/** Messages in which an entry is looked for. */
const ORIGINS = 3;

/** The texts of all entries of a summary: statements, open questions, references and excerpts. */
function quotesOf(summary: RollingSummary): string[] {
  const values = listOf(summary.importantReferences).map(({ value }) => value);
  return [...entriesOf(summary).map(({ text }) => text), ...textsOf(summary.openQuestions), ...textsOf(values)];
}

/**
 * Whether an entry of a summary quotes a message: its words stand in it in the same order. Others may stand between them,
 * because a summary leaves out fillers, reasons and the middle of a long message.
 */
function quotes(content: string, entry: string): boolean {
  const wanted = normalise(entry).split(' ').filter(Boolean);
  let found = 0;
  for (const word of normalise(content).split(' ')) if (word === wanted[found]) found += 1;
  return found > 0 && found === wanted.length;
}

function wordsOfEntry({ term, text }: SummaryEntry): string[] {
  const sorted = (term === undefined ? text : `${term} ${text}`).replace(LIST, (list) => inOrder(list));
  const rest = normalise(sorted.replace(ARTICLES, ' '));
  return (rest || normalise(sorted) || sorted).split(' ');
}

/** Not the A of "plan A", which has a capital within a sentence. */
const ARTICLES = /(?<![\p{L}\p{M}\p{N}])(?:(?:an?|the)|(?<=^|[.!?] )(?:An?|The))(?= [\p{L}\p{N}])/gu;

/** "Redis, Kafka and Postgres" is "Kafka, Postgres and Redis". Two words with a comma between them are no list. */
function inOrder(list: string): string {
  if (/^[^ ]+, [^ ]+$/.test(list) || / and .* or | or .* and /.test(list)) return list; // "A, and B or C" is not "C, and A or B"
  const items = list.split(/(, (?:and |or )?| and | or )/);
  const sorted = items.filter((_, at) => at % 2 === 0).sort((a, b) => compare(a.toLowerCase(), b.toLowerCase()));
  return items.map((item, at) => (at % 2 === 0 ? sorted[at / 2] : item)).join('');
}

/** Whether two words are equal but for an English ending: need, needs, needed, needing. */
function isSameWord(one: string, other: string): boolean {
  if (one === other) return true;
  const [begins] = one;
  return begins === other[0] && basesOf(one).some((base) => basesOf(other).includes(base));
}

/** A word, and the words of which it may be a form. */
function basesOf(word: string): string[] {
  const bases = ENDINGS.flatMap(([ending, base]) => {
    const stem = word.replace(ending, '');
    return stem !== word && IS_WORD.test(stem) ? word.replace(ending, base) : [];
  });
  return [word, ...bases];
}

/** The endings of English nouns and verbs, and what they stand for. */
const ENDINGS: readonly (readonly [RegExp, string])[] = [
  [/(?<!s)s$/, ''],
  [/(?<=[oxz]|[cs]h|ss)es$/, ''],
  [/ie[sd]$/, 'y'],
  [/(?<!e|^[^aeiouy]*[aeiouy][^aeiouywx])ed$|(?<!^[^aeiouy]*[aeiouy][^aeiouywx])ing$/, ''], // not "rated" for "rat"
  [/(?<!e)ed$|ing$/, 'e'],
  [/([bdgklmnprtv])\1(?:ed|ing)$/, '$1'],
];
/** "https" is no form of "http": a word has a vowel. */
const IS_WORD = /^(?=.*[aeiouy])[a-z]{2,}$/;

const LIST = /[\p{L}\p{N}][\p{L}\p{M}\p{N}+#-]*(?:(?:, (?:and |or )?| and | or )[\p{L}\p{N}][\p{L}\p{M}\p{N}+#-]*)+/gu;
