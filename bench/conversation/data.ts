import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { datesIn } from '../../src/conversation/search/dates.js';

/** A conversation, and questions asked at its end. */
export interface Talk {
  name: string;
  set: SetName;
  language: Language;
  /** Rules and weights were chosen with the tuning half. Published figures come from the unseen half. */
  half: 'tuning' | 'unseen';
  messages: Message[];
  questions: Question[];
}

export type Language = 'English' | 'Chinese';

export type SetName = 'chats' | 'long chats' | 'chats of weeks' | 'meetings';

export interface Message {
  role: 'user' | 'assistant';
  content: string;
  name?: string;
  createdAt?: string | undefined;
}

interface Question {
  question: string;
  /** The positions of the messages that answer it. */
  evidence: number[];
}

/** Reads both sets from `folder`, or the sample if it does not exist. */
export function readTalks(folder: string, sample: string): Talk[] {
  if (!existsSync(folder)) return readMeetings(sample);
  const chats = readChats(join(folder, 'chats'));
  return [...chats, ...longChats(chats), ...chatsOfWeeks(chats), ...readMeetings(join(folder, 'meetings'))];
}

/** In both languages the same user is in the same half: the two files are translations of each other. */
function readChats(folder: string): Talk[] {
  return (['en', 'zh'] as const).flatMap((file) => {
    // Not validated: a file of another shape fails at its first missing field.
    const chats = JSON.parse(readFileSync(join(folder, `${file}.json`), 'utf8')) as (Talk & { id: string })[];
    return chats.map(
      ({ id, messages, questions }, i): Talk => ({
        name: id,
        set: 'chats',
        language: file === 'en' ? 'English' : 'Chinese',
        half: halfOf(i),
        messages,
        questions: questions.filter(({ evidence }) => evidence.length > 0),
      }),
    );
  });
}

/** All chats of one language and half as a single history, sorted by date: many sessions about many things. */
function longChats(chats: readonly Talk[]): Talk[] {
  const kinds = [...new Set(chats.map(({ language, half }) => `${language}, ${half}`))];
  return kinds.map((kind) => {
    const group = chats.filter(({ language, half }) => `${language}, ${half}` === kind);
    const entries = group.flatMap((chat) =>
      chat.messages.map((message, position) => ({
        chat,
        position,
        message,
        day: message.createdAt?.slice(0, 10) ?? '',
      })),
    );
    entries.sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0));
    const placeOf = new Map(entries.map(({ chat, position }, place) => [`${chat.name} ${position}`, place]));
    const { language, half } = group[0] as Talk;
    return {
      name: `${group.length} chats`,
      set: 'long chats',
      language,
      half,
      messages: entries.map(({ message }) => message),
      questions: group.flatMap((chat) =>
        chat.questions.map(({ question, evidence }) => ({
          question,
          evidence: evidence.map((position) => placeOf.get(`${chat.name} ${position}`) ?? -1),
        })),
      ),
    };
  });
}

/**
 * The chats of one language and half one after the other, each with its own days: one person after the other, over weeks.
 * Without the questions that name a date, which would be that of another chat.
 */
function chatsOfWeeks(chats: readonly Talk[]): Talk[] {
  const kinds = [...new Set(chats.map(({ language, half }) => `${language}, ${half}`))];
  return kinds.flatMap((kind) => {
    const group = chats.filter(({ language, half }) => `${language}, ${half}` === kind);
    const dated = group.map((chat, i) => ({
      ...chat,
      messages: chat.messages.map((message) => ({ ...message, createdAt: later(message.createdAt ?? '', i * DAYS) })),
      questions: chat.questions.filter(({ question }) => datesIn(question, ANY_DAY).size === 0),
    }));
    return joined(dated).map((talk): Talk => ({ ...talk, set: 'chats of weeks' }));
  });
}

const ANY_DAY = '2026-01-01';
/** A chat has ten days. */
const DAYS = 10;

function later(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 86_400_000).toISOString();
}

/** Conversations of one language one after the other, as if they were one. */
function joined(talks: readonly Talk[]): Talk[] {
  const [first] = talks;
  if (first === undefined) return [];
  const starts = talks.map((_, i) => talks.slice(0, i).reduce((sum, { messages }) => sum + messages.length, 0));
  const questions = talks.flatMap((talk, i) =>
    talk.questions.map(({ question, evidence }) => ({
      question,
      evidence: evidence.map((at) => at + (starts[i] ?? 0)),
    })),
  );
  return [{ ...first, name: `${talks.length} talks`, messages: talks.flatMap(({ messages }) => messages), questions }];
}

interface MeetingFile {
  turns: { speaker: string; content: string }[];
  questions: { query: string; spans: [string | number, string | number][] }[];
}

/** The first speaker of a meeting stands for the user, the others for the assistant. */
function readMeetings(folder: string): Talk[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.sort().map((file, i): Talk => {
    const { turns, questions } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as MeetingFile;
    return {
      name: file.replace('.json', ''),
      set: 'meetings',
      language: 'English',
      half: halfOf(i),
      messages: turns.map(({ speaker, content }) => ({
        role: speaker === turns[0]?.speaker ? 'user' : 'assistant',
        name: speaker,
        content,
      })),
      questions: questions.map(({ query, spans }) => ({
        question: query,
        evidence: spans.flatMap(([from, to]) => range(Number(from), Math.min(Number(to), turns.length - 1))),
      })),
    };
  });
}

function halfOf(i: number): Talk['half'] {
  return i % 2 === 0 ? 'tuning' : 'unseen';
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
}
