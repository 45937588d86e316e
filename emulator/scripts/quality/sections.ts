import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runSync } from '../../src/base/slices.js';
import { extract, type SourceMessage } from '../../src/context/compaction/candidates.js';
import { hashText } from '../../src/store/random.js';
import type { Language } from '../../src/text/language.js';

/** A sentence with the section that a reader assigned, or `none`. */
export interface LabelledSentence {
  text: string;
  section: string;
}

/** How well the engine recognizes one section. */
export interface SectionScore {
  section: string;
  /** Sentences that a reader assigned to the section. */
  labelled: number;
  /** Sentences that the engine assigned to it. */
  found: number;
  /** Sentences that both assigned to it. */
  right: number;
}

/** The recorded meetings and chats that rules were tuned on. All others are unseen. */
export const TUNED_ON: ReadonlySet<string> = new Set(
  `ES2006a ES2006b ES2006c ES2006d IS1006b TS3009b TS3009c Bed004 Bmr013 covid_0 education_0
  emily frank lucy sunny jason linda john-zhang`.split(/\s+/),
);

const FOUND = new URL('../../test/labels/found.json', import.meta.url);
const LABELS = new URL('../../test/labels/sentences.json', import.meta.url);

/** Labelled sentences in the style of chats, written for this test. */
export function writtenSentences(): LabelledSentence[] {
  return read().chats;
}

/** Labelled sentences of meetings. Their texts are read from the folder of the meetings. */
export function meetingSentences(folder: string): LabelledSentence[] {
  const turns = new Map<string, { content: string }[]>();
  return read().meetings.map(({ meeting, turn, start, end, hash, section }) => {
    const known = turns.get(meeting) ?? JSON.parse(readFileSync(join(folder, `${meeting}.json`), 'utf8')).turns;
    turns.set(meeting, known);
    const text = known[turn]?.content.slice(start, end) ?? '';
    if (hashText(text) !== hash) throw new Error(`${meeting}.json, turn ${turn}: not the sentence that was labelled`);
    return { text, section };
  });
}

/** Compares the engine's section for each sentence, taken alone, with the label. */
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
 * Counts how many of the engine's findings for a section a reader judged right. `unread` counts findings without a
 * judgement.
 */
export function foundScore(
  section: 'decisions' | 'requirements',
  messages: readonly SourceMessage[],
  language: Language,
): { found: number; right: number; unread: number } {
  // The file belongs to this package. Per section, it maps the hash of a text to whether the text belongs there.
  const verdicts = JSON.parse(readFileSync(FOUND, 'utf8'))[section] as Record<string, boolean>;
  const tools = { split: language.sentences, countTokens: language.countTokens };
  const items = messages.flatMap((message) => runSync(extract(message, tools)).candidates.map(({ item }) => item));
  const read = items.filter((item) => item.section === section).map(({ text }) => verdicts[hashText(text)]);
  const count = (verdict: boolean | undefined): number => read.filter((one) => one === verdict).length;
  return { found: read.length, right: count(true), unread: count(undefined) };
}

function sectionsOf(content: string, language: Language): ReadonlySet<string> {
  const message = { id: 'm', role: 'user', content, createdAt: '' };
  const { candidates } = runSync(extract(message, { split: language.sentences, countTokens: language.countTokens }));
  return new Set(candidates.map(({ item }) => item.section));
}

const SECTIONS = ['decisions', 'requirements', 'goals', 'currentPlan', 'openQuestions', 'definitions'];

interface Labels {
  chats: LabelledSentence[];
  meetings: LabelledPlace[];
}

interface LabelledPlace {
  meeting: string;
  turn: number;
  start: number;
  end: number;
  hash: string;
  section: string;
}

function read(): Labels {
  // The file belongs to this package. The README next to it describes its format.
  return JSON.parse(readFileSync(LABELS, 'utf8')) as Labels;
}
