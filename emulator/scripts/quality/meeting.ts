import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contentTerms } from '../../src/text/terms.js';
import { overlap } from './overlap.js';

/** A recorded conversation, with the evidence for questions about it. */
export interface Meeting {
  name: string;
  messages: { id: string; role: string; content: string; createdAt: string }[];
  /** For each question and each turn with evidence: the words that the turn shares with the answer, at least two. */
  evidence: ReadonlySet<string>[];
}

/** The meetings of a folder, by name. */
export function readMeetings(folder: string): Meeting[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.sort().map((file) => readMeeting(join(folder, file), file.replace('.json', '')));
}

/** The chats of a file, without evidence. */
export function readChats(path: string): Pick<Meeting, 'name' | 'messages'>[] {
  // The format is described next to the file. A file in another format fails at its first missing field.
  const chats = JSON.parse(readFileSync(path, 'utf8')) as {
    id: string;
    messages: Omit<Meeting['messages'][0], 'id'>[];
  }[];
  return chats.map(({ id, messages }) => ({
    name: id,
    messages: messages.map((message, i) => ({ ...message, id: `message_${i}` })),
  }));
}

/** The share of evidence for which a single kept item contains enough of the words. */
export function survival(evidence: Meeting['evidence'], kept: readonly string[]): number {
  const items = kept.map((text) => new Set(contentTerms(text)));
  const alive = evidence.filter((words) => items.some((item) => overlap(words, item) >= ENOUGH * words.size));
  return alive.length / evidence.length;
}

const ENOUGH = 0.6;
/** A turn that shares fewer words with the answer may do so by chance. */
const LEAST_SHARED = 2;

interface MeetingFile {
  turns: { speaker: string; content: string }[];
  questions: { answer: string; spans: [string, string][] }[];
}

function readMeeting(path: string, name: string): Meeting {
  // The format is described in the folder. A file in another format fails at its first missing field.
  const { turns, questions } = JSON.parse(readFileSync(path, 'utf8')) as MeetingFile;
  // A change of the speaker is a change of the side.
  let changes = 0;
  const sides = turns.map(({ speaker }, i) => {
    if (i > 0 && speaker !== turns[i - 1]?.speaker) changes += 1;
    return changes % 2 === 0 ? 'user' : 'assistant';
  });
  const evidence = questions.flatMap(({ answer, spans }) => {
    const answerWords = new Set(contentTerms(answer));
    const indexes = new Set(
      spans.flatMap(([from, to]) => Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => Number(from) + i)),
    );
    return [...indexes]
      .map((index) => new Set(contentTerms(turns[index]?.content ?? '').filter((word) => answerWords.has(word))))
      .filter((words) => words.size >= LEAST_SHARED);
  });
  const messages = turns.map(({ content }, i) => ({
    id: `turn_${i}`,
    role: sides[i] ?? 'user',
    content,
    createdAt: new Date(Date.UTC(2026, 0, 15, 10) + i * 10_000).toISOString(),
  }));
  return { name, messages, evidence };
}
