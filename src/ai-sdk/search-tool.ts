import type { ZodMiniType } from 'zod/mini';
import * as z from 'zod/mini';
import type { Conversation } from '../conversation/index.js';

/** A tool for `generateText` and `streamText` of `ai` 5, 6 and 7. */
export interface SearchTool {
  description: string;
  inputSchema: ZodMiniType<{ query: string }, { query: string }>;
  execute(input: { query: string }, options?: { abortSignal?: AbortSignal | undefined }): Promise<FoundMessage[]>;
}

/** A message that the tool found, as the model reads it. */
export interface FoundMessage {
  /** The message's id, for citations. */
  id?: string | undefined;
  role: string;
  name?: string | undefined;
  /** ISO 8601. */
  createdAt?: string | undefined;
  /** The part of the message that matches. */
  text: string;
}

/** Options of `searchTool`. */
export interface SearchToolOptions {
  /** Maximum number of messages. @default 5 */
  limit?: number | undefined;
}

/**
 * A tool with which the model searches the conversation's messages:
 * `streamText({ model, messages, tools: { searchConversation: searchTool(conversation) } })`. Use a model that supports
 * tools.
 */
export function searchTool(
  conversation: Pick<Conversation, 'search'>,
  { limit = 5 }: SearchToolOptions = {},
): SearchTool {
  return {
    description:
      'Searches all earlier messages of this conversation, by words, names and dates. Call it before you say that something was not mentioned.',
    inputSchema: z.strictObject({ query: z.string() }),
    async execute({ query }, { abortSignal: signal } = {}) {
      const found = await conversation.search(query, { limit, signal });
      return found.map(({ id, role, name, createdAt, excerpt }) => ({
        ...(id !== undefined && { id }),
        role,
        ...(name !== undefined && { name }),
        ...(createdAt !== undefined && { createdAt: new Date(createdAt).toISOString() }),
        text: excerpt,
      }));
    },
  };
}
