import * as z from 'zod/mini';
import { findBadOptions, functionOption, isFunction, option } from '../base/options.js';
import {
  ConfigurationError,
  type ContextClient,
  type GatewayClient,
  type RequestOptions,
  type Undocumented,
} from '../index.js';
import type { CompactionReceipt, ConversationMessage } from './model.js';
import type { ConversationSearch } from './recall.js';
import type { ConversationStore } from './store.js';

/** Options of `createConversation`. The first three are required. */
export interface ConversationOptions {
  gateway: GatewayClient<Undocumented>;
  model: string;
  conversationId: string;
  /**
   * The service's compact context: summaries, pins and memory become part of the prompts.
   * @default none: prompts consist of messages alone
   */
  context?: ContextClient | undefined;
  /** The workspace whose memory is read. @default the user's own memory */
  workspaceId?: string | undefined;
  /** Where messages and state are stored. @default memoryStore() */
  store?: ConversationStore | undefined;
  /** Instructions for the model. They become the only system message. */
  instructions?: string | undefined;
  /**
   * The model's context window: tokens of prompt and reply together.
   * @default 128_000, the smallest of the service's models
   */
  contextWindow?: number | undefined;
  /** Tokens of the window to leave for the reply. @default an eighth of the window, at most 4096 */
  reserveOutput?: number | undefined;
  /** Counts the tokens of a text exactly. @default an estimate on the safe side, calibrated by the usage of replies */
  countTokens?: ((text: string) => number) | undefined;
  /**
   * Your own search among the messages, such as one by embeddings. Its results are joined with those of the search by
   * words. If it fails, or takes longer than two seconds, the search by words stands alone.
   */
  search?: ConversationSearch | undefined;
  /**
   * Share of the prompt's budget, from 0 to 1, that the context and the messages after it must reach before a compaction
   * runs in the background. With `false`, only your calls of `compact` do.
   * @default 0.75
   */
  compaction?: number | false | undefined;
  /**
   * What to do if the context cannot be read and no earlier read succeeded. With `skip`, the messages are sent without
   * a context. If an earlier read succeeded, its context is used.
   * @default 'throw'
   */
  onContextError?: 'throw' | 'skip' | undefined;
  /** Called after every compaction, including those by other processes, with what it kept, reworded and lost. */
  onCompaction?: ((receipt: CompactionReceipt) => void) | undefined;
  /**
   * Called with errors that do not fail a turn: a failed compaction, read, search or save, or a compaction that removed
   * nothing because the service does not have the turns.
   * @default such errors are ignored
   */
  onError?: ((error: unknown) => void) | undefined;
}

/** The user's new message, or several messages. The last one is the question. */
export type TurnInput = string | readonly ConversationMessage[];

/** Options of one turn. */
export interface TurnOptions extends RequestOptions {
  /** From 0 to 2. @default 1 */
  temperature?: number | undefined;
  /**
   * Maximum tokens of the reply. The prompt leaves room for them.
   * @default not sent; the prompt leaves room for `reserveOutput` tokens
   */
  max_tokens?: number | undefined;
}

/** Options of a prompt for another client. */
export interface BuildOptions
  extends Pick<TurnOptions, 'signal' | 'timeout' | 'deadline' | 'maxRetries' | 'max_tokens'> {
  /** The messages before the input, in place of those of the store. */
  messages?: readonly ConversationMessage[] | undefined;
  /** In place of the conversation's instructions. */
  instructions?: string | undefined;
}

/** Options of `search`. */
export interface SearchOptions extends Pick<RequestOptions, 'signal'> {
  /** Maximum number of messages. @default 10 */
  limit?: number | undefined;
}

/** The service's models have windows of 128K and 200K tokens. Which model has which is not documented. */
const SMALLEST_WINDOW = 128_000;

const isText = (value: unknown): boolean => typeof value === 'string';
const isId = (value: unknown): boolean => isText(value) && (value as string).trim() !== '';
const isTokens = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isGateway = (value: unknown): boolean => isFunction(Object(value).chat?.completions?.create);
const isContext = (value: unknown): boolean => isFunction(Object(value).memory?.list);
const isStore = (value: unknown): boolean => {
  const { load, append = load, truncate = load, saveState = load } = Object(value) as Partial<ConversationStore>;
  return [load, append, truncate, saveState].every(isFunction);
};

const optionsSchema = /* @__PURE__ */ z.strictObject({
  gateway: /* @__PURE__ */ z.custom(isGateway, 'must be a GatewayClient'),
  model: /* @__PURE__ */ z.custom(isId, 'must be the id of a model'),
  conversationId: /* @__PURE__ */ z.custom(isId, 'must be a non-empty string'),
  context: /* @__PURE__ */ option(isContext, 'must be a ContextClient'),
  workspaceId: /* @__PURE__ */ option(isId, 'must be a non-empty string'),
  store: /* @__PURE__ */ option(isStore, 'must have load, and may have append, truncate and saveState'),
  instructions: /* @__PURE__ */ option(isText, 'must be a string'),
  contextWindow: /* @__PURE__ */ option(isTokens, 'must be a whole number of tokens'),
  reserveOutput: /* @__PURE__ */ option(isTokens, 'must be a whole number of tokens'),
  countTokens: functionOption,
  search: functionOption,
  compaction: /* @__PURE__ */ option(
    (value) => value === false || (typeof value === 'number' && value > 0 && value <= 1),
    'must be a share of the budget, above 0 and at most 1, or false',
  ),
  onContextError: /* @__PURE__ */ option((value) => value === 'throw' || value === 'skip', "must be 'throw' or 'skip'"),
  onCompaction: functionOption,
  onError: functionOption,
});

/** Options with defaults. */
export type CheckedOptions = ConversationOptions & { contextWindow: number; reserveOutput: number };

/** Checks options before any work starts. @throws {ConfigurationError} that names all invalid options */
export function checkOptions(options: ConversationOptions): CheckedOptions {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError('createConversation takes options: { gateway, model, conversationId, … }.');
  }
  const problem = findBadOptions(optionsSchema, { ...options }, 'createConversation');
  if (problem !== undefined) throw new ConfigurationError(problem);
  const { contextWindow = SMALLEST_WINDOW } = options;
  const { reserveOutput = Math.min(4096, Math.floor(contextWindow / 8)) } = options;
  if (contextWindow > reserveOutput) return { ...options, contextWindow, reserveOutput };
  throw new ConfigurationError(
    `contextWindow (${contextWindow}) must be larger than reserveOutput (${reserveOutput}).`,
  );
}
