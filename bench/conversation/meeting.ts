import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** A meeting as a chat: the first speaker is the user, the others are the model. */
export interface Meeting {
  name: string;
  exchanges: { input: string; reply: string }[];
  questions: Question[];
}

/** A question, and what a prompt must contain to answer it. */
export interface Question {
  query: string;
  /** The words that the answer shares with each turn that supports it. */
  evidence: ReadonlySet<string>[];
}

interface MeetingFile {
  turns: { speaker: string; content: string }[];
  questions: { query: string; answer: string; spans: [string | number, string | number][] }[];
}

export function readMeetings(folder: string): Meeting[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.sort().map((file) => readMeeting(join(folder, file)));
}

function readMeeting(path: string): Meeting {
  // Not validated: a file of another shape fails at its first missing field.
  const { turns, questions } = JSON.parse(readFileSync(path, 'utf8')) as MeetingFile;
  const first = turns[0]?.speaker;
  const exchanges: Meeting['exchanges'] = [];
  for (const { speaker, content } of turns) {
    const last = exchanges.at(-1);
    if (last === undefined || (speaker === first && last.reply !== '')) exchanges.push({ input: content, reply: '' });
    else if (speaker === first) last.input += `\n${content}`;
    else last.reply += `${last.reply === '' ? '' : '\n'}${content}`;
  }
  return {
    name: basename(path, '.json'),
    exchanges: exchanges.filter(({ reply }) => reply !== ''),
    questions: questions
      .map(({ query, answer, spans }) => ({ query, evidence: evidenceOf(answer, turnsIn(spans, turns)) }))
      .filter(({ evidence }) => evidence.length > 0),
  };
}

function turnsIn(spans: MeetingFile['questions'][number]['spans'], turns: MeetingFile['turns']): string[] {
  return spans.flatMap(([from, to]) => turns.slice(Number(from), Number(to) + 1).map(({ content }) => content));
}

/** The turns that share enough words with an answer, if the answer states a decision. */
function evidenceOf(answer: string, turns: readonly string[]): ReadonlySet<string>[] {
  if (!DECIDES.test(answer)) return [];
  const said = wordsOf(answer);
  return turns
    .map((turn) => new Set([...wordsOf(turn)].filter((word) => said.has(word))))
    .filter(({ size }) => size >= LEAST_SHARED);
}

/** Matches answers that state a decision. */
const DECIDES =
  /\b(?:deci(?:d|s)\w*|agree\w*|conclu\w*|determin\w*|chose|chosen|settled?|resolved|would be|should be)\b/i;
/** With fewer shared words than this, a match may be chance. */
const LEAST_SHARED = 3;
/** The share of those words that a single line of the prompt must contain. */
const ENOUGH = 0.8;

/** How many of the supporting turns were sent, as a line of a message or of the context. */
export function recalled({ evidence }: Question, sent: readonly string[]): number {
  const pieces = sent.flatMap((text) => text.split('\n')).map(wordsOf);
  return evidence.filter((words) =>
    pieces.some((piece) => [...words].filter((word) => piece.has(word)).length >= ENOUGH * words.size),
  ).length;
}

function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  return new Set(words.filter((word) => !COMMON.has(word)).map((word) => word.replace(/(?:ies|es|ed|ing|s)$/, '')));
}

const COMMON = new Set(
  'the and that this these those with for from are was were been being have has had will would shall should can could may might must does did not but what when where which who whom why how you your our they them their its his her she him there here then than also just about into some any all very more most such yes yeah okay well like mean know think one two get got going said say thing something because think so want really maybe kind sort bit'.split(
    ' ',
  ),
);
