import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { atOnce } from '../../src/base/slices.js';
import { offerOf, type SourceMessage } from '../../src/context/compaction/candidates.js';
import { hashText } from '../../src/store/random.js';
import type { Language } from '../../src/text/language.js';

/** A sentence with the section that a reader puts it in, or `none`. */
export interface LabelledSentence {
  text: string;
  section: string;
}

/** How well one section is found. */
export interface SectionScore {
  section: string;
  /** Sentences a reader puts there, and sentences the engine puts there. */
  labelled: number;
  found: number;
  right: number;
}

type Half = 'tune' | 'held-out';

/** The meetings that rules may be tuned on; what all others show is held out. */
export const TUNED_ON: readonly string[] = ['ES2006a', 'ES2006b', 'ES2006c', 'ES2006d'];

const FOUND = new URL('../../test/labels/found.json', import.meta.url);
const LABELS = new URL('../../test/labels/sentences.json', import.meta.url);

/** The sentences written for the purpose. */
export function labelledChats(half: Half): LabelledSentence[] {
  return read()[`chats-${half}`];
}

/** The sentences of meetings, whose text stands in the folder they were taken from. */
export function labelledMeetings(half: Half, folder: string): LabelledSentence[] {
  const turns = new Map<string, { content: string }[]>();
  return read()[`meetings-${half}`].map(({ meeting, turn, start, end, hash, section }) => {
    const known = turns.get(meeting) ?? JSON.parse(readFileSync(join(folder, `${meeting}.json`), 'utf8')).turns;
    turns.set(meeting, known);
    const text = known[turn]?.content.slice(start, end) ?? '';
    if (hashText(text) !== hash) throw new Error(`${meeting}.json, turn ${turn}: not the sentence that was labelled`);
    return { text, section };
  });
}

/** What the engine makes of each sentence, said alone, beside what a reader makes of it. */
export function sectionScores(sentences: readonly LabelledSentence[], language: Language): SectionScore[] {
  const verdicts = sentences.map(({ text, section }) => ({ section, found: sectionsOf(text, language) }));
  return SECTIONS.map((section) => ({
    section,
    labelled: verdicts.filter((verdict) => verdict.section === section).length,
    found: verdicts.filter(({ found }) => found.has(section)).length,
    right: verdicts.filter((verdict) => verdict.section === section && verdict.found.has(section)).length,
  }));
}

/**
 * Of all that the engine puts into a section of these messages, how much a reader agrees with. Every verdict was read;
 * `unread` is what a later engine finds and has not been read.
 */
export function foundScore(
  section: 'decisions' | 'requirements',
  messages: readonly SourceMessage[],
  language: Language,
): { found: number; right: number; unread: number } {
  // The file is one of this package: of each section, the hash of a text and whether it belongs there.
  const verdicts = JSON.parse(readFileSync(FOUND, 'utf8'))[section] as Record<string, boolean>;
  const tools = { split: language.sentences, countTokens: language.countTokens };
  const items = messages.flatMap((message) => atOnce(offerOf(message, tools)).candidates.map(({ item }) => item));
  const read = items.filter((item) => item.section === section).map(({ text }) => verdicts[hashText(text)]);
  const count = (verdict: boolean | undefined): number => read.filter((one) => one === verdict).length;
  return { found: read.length, right: count(true), unread: count(undefined) };
}

function sectionsOf(content: string, language: Language): ReadonlySet<string> {
  const message = { id: 'm', role: 'user', content, createdAt: '' };
  const { candidates } = atOnce(offerOf(message, { split: language.sentences, countTokens: language.countTokens }));
  return new Set(candidates.map(({ item }) => item.section));
}

const SECTIONS = ['decisions', 'requirements', 'goals', 'currentPlan', 'openQuestions', 'definitions'];

type Labels = Record<`chats-${Half}`, LabelledSentence[]> & Record<`meetings-${Half}`, LabelledPlace[]>;

interface LabelledPlace {
  meeting: string;
  turn: number;
  start: number;
  end: number;
  hash: string;
  section: string;
}

function read(): Labels {
  // The file is one of this package; its form is that of the README beside it.
  return JSON.parse(readFileSync(LABELS, 'utf8')) as Labels;
}
