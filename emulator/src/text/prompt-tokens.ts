import * as z from 'zod/mini';
import { count, described, exact, label } from '../base/fields.js';
import { type Language, TOKENS_PER_MESSAGE } from './language.js';

/** The part of a prompt that a message is, if a conversation of the SDK wrote the prompt. */
export type PromptPart = (typeof PROMPT_PARTS)[number];
/** All parts, in the order of a prompt. */
const PROMPT_PARTS = ['instructions', 'context', 'newest', 'recalled', 'input'] as const;

/** A message of a prompt. */
export interface PromptMessage {
  /** Its place in the prompt, from 0. */
  index: number;
  role: string;
  tokens: number;
  /** If a conversation of the SDK wrote the prompt. */
  part?: PromptPart | undefined;
  /** Its first characters. */
  text: string;
  /** The entries of a context, or the messages that were recalled. */
  lines?: number | undefined;
}

const promptMessage = exact<PromptMessage>()(
  z.object({
    index: count,
    role: label,
    tokens: count,
    part: z.optional(described('If a conversation of the SDK wrote the prompt.', z.enum(PROMPT_PARTS))),
    text: described('Its first characters.', z.string()),
    lines: z.optional(described('The entries of a context, or the messages that were recalled.', count)),
  }),
);

/** The tokens of a prompt and of its messages. */
export interface PromptTokens {
  tokens: number;
  contextWindow: number;
  /** The 200 largest ones, in the order of the prompt. */
  messages: PromptMessage[];
  /** The rest. */
  others: { messages: number; tokens: number };
}

export const promptTokens = exact<PromptTokens>()(
  z.object({
    tokens: count,
    contextWindow: count,
    messages: described('The 200 largest messages, in the order of the prompt.', z.array(promptMessage)),
    others: z.object({ messages: count, tokens: count }),
  }),
);

interface Message {
  role: string;
  content: string;
}

/** Counts the tokens of each message. The log keeps the largest, each with its beginning. */
export function promptTokensOf(
  messages: readonly Message[],
  contextWindow: number,
  { countTokens }: Pick<Language, 'countTokens'>,
): PromptTokens {
  const counts = messages.map(({ content }) => countTokens(content) + TOKENS_PER_MESSAGE);
  const least = [...counts].sort((a, b) => b - a)[MOST_MESSAGES] ?? -1;
  const parts = partsOf(messages);
  const kept: PromptMessage[] = [];
  const prompt = { tokens: 0, contextWindow, messages: kept, others: { messages: 0, tokens: 0 } };
  for (const [index, { role, content }] of messages.entries()) {
    const tokens = counts[index] ?? 0;
    prompt.tokens += tokens;
    if (tokens > least) {
      // A copy: a part of a string keeps the whole in memory.
      const text = Buffer.from(content.slice(0, SHOWN)).toString();
      kept.push({ index, role, tokens, ...parts[index], text });
    } else {
      prompt.others.messages += 1;
      prompt.others.tokens += tokens;
    }
  }
  return prompt;
}

const MOST_MESSAGES = 200;
const SHOWN = 80;

/**
 * What a conversation of the SDK put where: the blocks that it delimits, instructions before and the newest messages
 * after its context, and what it asks: the messages after what it recalled, or else from the last one of the user.
 */
function partsOf(messages: readonly Message[]): { part?: PromptPart; lines?: number }[] {
  const blocks = messages.map(({ content }) => blockIn(content));
  if (!blocks.some((block) => block !== undefined)) return [];
  const context = blocks.findIndex((block) => block?.part === 'context');
  const recalled = blocks.findLastIndex((block) => block?.part === 'recalled');
  const input = recalled === -1 ? messages.findLastIndex(({ role }) => role === 'user') : recalled + 1;
  return messages.map(({ role }, at) => {
    const block = blocks[at];
    if (block !== undefined) return block;
    if (role === 'system' && at < (context === -1 ? 1 : context)) return { part: 'instructions' };
    return { part: at >= input ? 'input' : 'newest' };
  });
}

function blockIn(content: string): { part: 'context' | 'recalled'; lines: number } | undefined {
  if (!content.includes('<context-') && !content.includes('<recalled-')) return undefined;
  const [, part, , body = ''] = BLOCK.exec(content) ?? [];
  if (part !== 'context' && part !== 'recalled') return undefined;
  // Further lines of an entry are indented.
  const entry = part === 'context' ? /^- /gm : /^(?!\[…\]$)\S/gm;
  return { part, lines: body.match(entry)?.length ?? 0 };
}

/** The name and a hash of the block's text, which the text itself cannot contain. */
const BLOCK = /<(context|recalled)-([0-9a-z]+)>\n([\s\S]*?)\n<\/\1-\2>/;
