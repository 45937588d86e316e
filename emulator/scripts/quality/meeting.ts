import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contentTerms, overlap } from '../../src/text/terms.js';

/** A recorded conversation, with the evidence for questions about it. */
export interface Meeting {
  name: string;
  messages: { id: string; role: string; content: string; createdAt: string }[];
  /** For each question and each turn with evidence: the words that the turn shares with the answer, at least two. */
  evidence: ReadonlySet<string>[];
}

/** The meetings of a folder, by name. `turnWords` joins turns until they have that many words, as in committees. */
export function readMeetings(folder: string, turnWords = 0): Meeting[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.sort().map((file) => readMeeting(join(folder, file), file.replace('.json', ''), turnWords));
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

function readMeeting(path: string, name: string, turnWords: number): Meeting {
  // The format is described in the folder. A file in another format fails at its first missing field.
  const file = JSON.parse(readFileSync(path, 'utf8')) as MeetingFile;
  const { turns, turnOf } = joined(file.turns, turnWords);
  const [first] = turns;
  const evidence = file.questions.flatMap(({ answer, spans }) => {
    const answerWords = new Set(contentTerms(answer));
    const indexes = new Set(
      spans.flatMap(([from, to]) =>
        Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => turnOf[Number(from) + i] ?? 0),
      ),
    );
    return [...indexes]
      .map((index) => new Set(contentTerms(turns[index]?.content ?? '').filter((word) => answerWords.has(word))))
      .filter((words) => words.size >= LEAST_SHARED);
  });
  const messages = turns.map(({ speaker, content }, i) => ({
    id: `turn_${i}`,
    role: speaker === first?.speaker ? 'user' : 'assistant',
    content,
    createdAt: new Date(Date.UTC(2026, 0, 15, 10) + i * 10_000).toISOString(),
  }));
  return { name, messages, evidence };
}

/** Joins consecutive turns until they have enough words. `turnOf` maps each turn to its joined turn. */
function joined(turns: MeetingFile['turns'], words: number): { turns: MeetingFile['turns']; turnOf: number[] } {
  const long: MeetingFile['turns'] = [];
  let spoken = Number.POSITIVE_INFINITY;
  const turnOf = turns.map(({ speaker, content }) => {
    const last = long.at(-1);
    if (last === undefined || spoken >= words) {
      long.push({ speaker, content });
      spoken = 0;
    } else {
      last.content += ` ${content}`;
    }
    spoken += content.split(' ').length;
    return long.length - 1;
  });
  return { turns: long, turnOf };
}
