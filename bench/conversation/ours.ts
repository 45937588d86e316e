import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { textOf } from '../../src/conversation/content.js';
import type { BuiltPrompt, ContextParts } from '../../src/conversation/model.js';
import { PromptLayout } from '../../src/conversation/prompt/fit.js';
import { askedAt, MAX_HITS } from '../../src/conversation/search/search.js';
import { atOnce, searchMessages } from '../../src/conversation/search/search-messages.js';
import type { Message, Talk } from './data.js';

export const INSTRUCTIONS = 'Answer briefly, from what was said.';

/** The messages of a prompt. */
export type Prompt = BuiltPrompt['chatMessages'];

/** Tokens that a message costs beside its text. */
const PER_MESSAGE = 4;
const known = new Map<string, number>();

/** The exact tokens of a text, counted once. */
export function tokensOf(text: string): number {
  const tokens = known.get(text) ?? countTokens(text);
  known.set(text, tokens);
  return tokens;
}

export function promptTokens(messages: Readonly<Prompt>): number {
  return messages.reduce((sum, message) => sum + tokensOf(textOf(message)) + PER_MESSAGE, 0);
}

/** A question on the day of the newest message. */
export function asked(content: string, messages: readonly Message[]): Message {
  return { role: 'user', content, createdAt: messages.at(-1)?.createdAt };
}

/** A prompt as `createConversation` builds it. */
export function ours(
  { messages: history }: Talk,
  question: string,
  budget: number,
  { parts = {}, count = tokensOf }: { parts?: ContextParts; count?: (text: string) => number } = {},
): Prompt {
  const input = [asked(question, history)];
  const layout = new PromptLayout({ parts, history, older: 0, input, instructions: INSTRUCTIONS, budget, count });
  if (layout.hasAll) return layout.fill().chatMessages;
  const now = askedAt(input) ?? new Date().toISOString();
  return layout.fill(atOnce(searchMessages(history, { text: question, limit: MAX_HITS, now }))).chatMessages;
}
