import { pauses } from '../../base/pauses.js';
import type { RollingSummary } from '../../index.js';
import { textOf } from '../content.js';
import type { ConversationMessage, LostEntry, Snapshot, SummaryDiff, SummaryEntry } from '../model.js';
import { entriesOf, listOf, textsOf } from '../prompt/entries.js';
import { normalise } from '../search/words.js';
import { differences } from './same-words.js';

/** The state is saved with each turn, so the oldest go. */
const MOST_LOST = 500;

/** Whether an entry is valid until it is revoked. Goals and plans are not. */
function isBinding({ section }: SummaryEntry): boolean {
  return section === 'decisions' || section === 'requirements' || section === 'definitions';
}

/**
 * Compares two versions of a summary: which statements the newer one kept, lost and added. A statement is kept if it has
 * the same words: case, punctuation, articles, English inflection and the order of a list make no difference. A statement
 * that occurs twice in `before` is listed twice. A repetition of a known statement is not `added`.
 */
export function diffSummaries(before: RollingSummary, after: RollingSummary): SummaryDiff {
  const [earlier, later] = [entriesOf(before), entriesOf(after)];
  const [missing, added] = differences(earlier, later);
  const gone = new Set(missing);
  return {
    kept: earlier.filter((entry) => !gone.has(entry)),
    lost: missing.filter(isBinding),
    added,
  };
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
  const [more] = differences(binding, lost); // a turn and the compaction itself may both see the new version
  const candidates = [...lost, ...more.map((entry) => ({ ...entry, until: before?.version ?? 0 }))];
  return differences(candidates, entriesOf(after))[0].slice(-MOST_LOST);
}

/** Forgets the statements that stand, word for word, in messages which were excluded or replaced. */
export function forgetMessages<Entry extends SummaryEntry>(
  lost: readonly Entry[],
  messages: readonly ConversationMessage[],
): Entry[] {
  if (lost.length === 0 || messages.length === 0) return [...lost];
  const said = messages.map((message) => ` ${normalise(textOf(message))} `);
  const words = new Set(said.flatMap((text) => text.split(' ')));
  return lost.filter(({ text }) => {
    const stated = normalise(text);
    const mayBeSaid = stated.split(' ').every((word) => words.has(word)); // most are not, and are not looked for
    return !(mayBeSaid && said.some((one) => one.includes(` ${stated} `)));
  });
}

/** Counts old messages that are not pinned, and of which the summary quotes nothing. An entry counts for the newest message it quotes. */
export async function countOnlyInHistory(
  { summary, pins, metadata }: Snapshot,
  messages: readonly ConversationMessage[],
): Promise<number> {
  const quoted = new Set<number>();
  const left = byRarestWord(quotesOf(summary));
  const pause = pauses();
  for (let at = messages.length - 1; at >= 0 && left.size > 0; at -= 1) {
    const message = messages[at];
    if (message === undefined || message.excluded === true) continue;
    const words = normalise(textOf(message)).split(' ');
    for (const word of new Set(words)) {
      const quotes = left.get(word);
      const others = quotes?.filter((quote) => !isQuoted(quote, words));
      if (others === undefined || others.length === quotes?.length) continue;
      quoted.add(at);
      if (others.length > 0) left.set(word, others);
      else left.delete(word);
    }
    await pause();
  }
  const pinned = new Set<string | undefined>(pins.map(({ messageId }) => messageId));
  const old = messages.slice(0, Math.max(0, messages.length - metadata.recentMessageCount));
  return old.filter(({ id, excluded }, at) => excluded !== true && !quoted.has(at) && !pinned.has(id)).length;
}

/** The texts of all entries of a summary: statements, open questions, references and excerpts. */
function quotesOf(summary: RollingSummary): string[] {
  const values = listOf(summary.importantReferences).map(({ value }) => value);
  return [...entriesOf(summary).map(({ text }) => text), ...textsOf(summary.openQuestions), ...textsOf(values)];
}

/** The words of texts, by the word of each that the fewest of them have. */
function byRarestWord(texts: readonly string[]): Map<string, string[][]> {
  const all = [...new Set(texts.map(normalise))].filter(Boolean).map((text) => text.split(' '));
  const counts = new Map<string, number>();
  for (const word of all.flat()) counts.set(word, (counts.get(word) ?? 0) + 1);
  const countOf = (word: string): number => counts.get(word) ?? 0;
  const found = new Map<string, string[][]>();
  for (const words of all) {
    const rarest = words.reduce((one, other) => (countOf(other) < countOf(one) ? other : one));
    const same = found.get(rarest);
    if (same === undefined) found.set(rarest, [words]);
    else same.push(words);
  }
  return found;
}

/**
 * Whether an entry of a summary quotes a message: its words stand in it in the same order. Others may stand between them,
 * because a summary leaves out fillers, reasons and the middle of a long message.
 */
function isQuoted(quote: readonly string[], words: readonly string[]): boolean {
  let found = 0;
  for (const word of words) if (word === quote[found]) found += 1;
  return found === quote.length;
}
