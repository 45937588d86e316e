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

/** How many sentences a reader and the emulator put into a section, or into any. */
export interface SectionScore {
  section: string;
  labelled: number;
  found: number;
  right: number;
}

/** The recorded meetings and chats that were read while the table of cues was written. All others are unseen. */
export const TUNED_ON: ReadonlySet<string> = new Set(
  'ES2006a ES2006b ES2006c ES2006d IS1006b TS3009b TS3009c Bed004 Bmr013 covid_0 education_0'.split(' '),
);

/** Sentences as developers write them in issues and chats. */
export function developerTalk(half: 'tuning' | 'heldOut'): LabelledSentence[] {
  return read('developer-talk.json')[half] ?? [];
}

/** Sentences of developers, or of private life and reports, written without a look at the table of cues. */
export function unseenTalk(kind: 'developer' | 'other'): LabelledSentence[] {
  return read('unseen-talk.json')[kind] ?? [];
}

/** Sentences that state decisions or requirements, or only look so, written before the cues that are measured with them. */
export function ownTalk(half: 'tuning' | 'unseen' | 'plain'): LabelledSentence[] {
  return read('own-talk.json')[half] ?? [];
}

/** Sentences in the style of chats, labelled before the table of cues was thought of. */
export function chatTalk(): LabelledSentence[] {
  return read<LabelledSentence[]>('chat-talk.json');
}

/** Sentences of meetings that one reader labelled. Their texts are read from the folder of the meetings. */
export function meetingTalk(folder: string): (LabelledSentence & { meeting: string })[] {
  const turns = new Map<string, { content: string }[]>();
  return read<LabelledPlace[]>('meetings.json').map(({ meeting, turn, start, end, hash, section }) => {
    const known = turns.get(meeting) ?? JSON.parse(readFileSync(join(folder, `${meeting}.json`), 'utf8')).turns;
    turns.set(meeting, known);
    const text = known[turn]?.content.slice(start, end) ?? '';
    if (hashText(text) !== hash) throw new Error(`${meeting}.json, turn ${turn}: not the sentence that was labelled`);
    return { meeting, text, section };
  });
}

/** Compares the section for each sentence, taken alone, with the label; the last score is that of all sections. */
export function sectionScores(sentences: readonly LabelledSentence[], language: Language): SectionScore[] {
  const verdicts = sentences
    .filter(({ section }) => section !== 'doubtful')
    .map(({ text, section }) => ({ section, found: sectionOf(text, language) }));
  const score = (name: string, isMeant: (section: string) => boolean): SectionScore => ({
    section: name,
    labelled: verdicts.filter(({ section }) => isMeant(section)).length,
    found: verdicts.filter(({ found }) => isMeant(found)).length,
    right: verdicts.filter(({ section, found }) => isMeant(section) && section === found).length,
  });
  return [...SECTIONS.map((name) => score(name, (section) => section === name)), score('all', (s) => s !== 'none')];
}

/**
 * Counts how many of the findings for a section a reader judged right. `unread` counts findings without a judgement.
 */
export function foundScore(
  section: 'decisions' | 'requirements',
  messages: readonly SourceMessage[],
  language: Language,
): { found: number; right: number; unread: number } {
  const verdicts = read<Record<string, Record<string, boolean>>>('found.json')[section] ?? {};
  const items = messages.flatMap((message) => candidatesOf(message, language));
  const judged = items.filter((item) => item.section === section).map(({ text }) => verdicts[hashText(text)]);
  const count = (verdict: boolean | undefined): number => judged.filter((one) => one === verdict).length;
  return { found: judged.length, right: count(true), unread: count(undefined) };
}

/** The section of a sentence. One without any belongs to the references if it names a link, path, command or issue. */
function sectionOf(content: string, language: Language): string {
  const items = candidatesOf({ id: 'm', role: 'user', content, createdAt: '' }, language);
  const stated = items.find(({ section }) => section !== 'importantReferences');
  const isReference = items.some(({ type = '' }) => ['url', 'file', 'command', 'issue'].includes(type));
  return stated?.section ?? (isReference ? 'importantReferences' : 'none');
}

function candidatesOf(message: SourceMessage, language: Language) {
  const tools = { split: language.sentences, countTokens: language.countTokens };
  return runSync(extract(message, tools)).candidates.map(({ item }) => item);
}

const SECTIONS = [
  'decisions',
  'requirements',
  'goals',
  'currentPlan',
  'openQuestions',
  'definitions',
  'importantReferences',
];

interface LabelledPlace {
  meeting: string;
  turn: number;
  start: number;
  end: number;
  hash: string;
  section: string;
}

/** The files belong to this package. The README next to them describes their format. */
function read<T = Record<string, LabelledSentence[]>>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../test/data/${name}`, import.meta.url), 'utf8'));
}
