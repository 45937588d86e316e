import type { MessageInput } from '../../src/store/conversation-records.js';
import { fromJson } from './json-log.js';
import { type Choice, fromSpeakers, type Speaker } from './speakers.js';

/** A parsed text, and the format it was taken for. */
export interface ReadTranscript {
  messages: MessageInput[];
  form: 'json' | 'lines' | 'transcript' | 'plain';
  /** Who may have spoken, as a transcript shows it. Empty for JSON. */
  speakers: readonly Speaker[];
  /** How many conversations the JSON has. `messages` are those of one. */
  conversations: number;
}

/** What the user chose in the preview. */
export interface Chosen {
  /** By the name of a speaker. */
  speakers?: Readonly<Record<string, Choice>> | undefined;
  /** The index of a conversation. @default the last */
  conversation?: number | undefined;
}

/**
 * Parses a pasted text: JSON or JSON Lines in the common formats, a transcript with speakers, or plain text. Throws for
 * invalid JSON.
 */
export function readTranscript(text: string, { speakers: choices = {}, conversation }: Chosen = {}): ReadTranscript {
  const trimmed = text.trim();
  if (trimmed === '') return { messages: [], form: 'plain', speakers: [], conversations: 1 };
  // A transcript may begin with a time in brackets.
  if (/^[[{]/.test(trimmed) && !/^\[\d/.test(trimmed)) {
    const { conversations, form } = fromJson(trimmed);
    const messages = conversations[conversation ?? conversations.length - 1] ?? conversations.at(-1) ?? [];
    return { messages, form, speakers: [], conversations: conversations.length };
  }
  const { messages, speakers } = fromSpeakers(trimmed, choices);
  const isPlain = speakers.every(({ choice, name }) => choice === 'text' || name === '');
  if (!isPlain) return { messages, form: 'transcript', speakers, conversations: 1 };
  return { messages: [{ role: 'user', content: trimmed }], form: 'plain', speakers, conversations: 1 };
}
