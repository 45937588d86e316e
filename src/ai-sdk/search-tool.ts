import type { ZodMiniType } from 'zod/mini';
import * as z from 'zod/mini';
import type { Conversation, FoundMessage } from '../conversation/index.js';
import { countOption, optionsCheck } from '../validation/options.js';

/** A tool for `generateText` and `streamText` of `ai` 5, 6 and 7. */
type SearchTool = {
  description: string;
  inputSchema: ZodMiniType<{ query: string }, { query: string }>;
  execute(input: { query: string }, options?: { abortSignal?: AbortSignal | undefined }): Promise<FoundMessage[]>;
};

const check = /* @__PURE__ */ optionsCheck({ limit: countOption });

/**
 * A tool with which the model searches the conversation's messages:
 * `streamText({ model, messages, tools: { searchConversation: searchTool(conversation) } })`. Use a model that supports
 * tools.
 *
 * @throws {ConfigurationError} when an option is invalid
 */
export function searchTool(
  conversation: Pick<Conversation, 'search'>,
  options: {
    /** Maximum number of messages. @default 5 */
    limit?: number | undefined;
  } = {},
): SearchTool {
  check(options);
  const { limit = 5 } = options;
  return {
    description:
      'Searches all earlier messages of this conversation, by words, names and dates. Call it before you say that something was not mentioned.',
    inputSchema: z.strictObject({ query: z.string() }),
    execute: ({ query }, { abortSignal: signal } = {}) => conversation.search(query, { limit, signal }),
  };
}
