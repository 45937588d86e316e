import * as z from 'zod/mini';
import { type Runtime, systemRuntime } from '../base/runtime.js';
import {
  ConfigurationError,
  type ContextClient,
  type FunctionTool,
  type GatewayClient,
  type RequestOptions,
  type Tool,
} from '../index.js';
import { findBadOptions, functionOption, isFunction, misspelled, option } from '../validation/options.js';
import { toolsOption } from './call-options.js';
import type { CompactionReceipt, ConversationMessage } from './model.js';
import { formatOf } from './search/dates.js';
import type { ConversationSearch } from './search/search.js';
import type { ConversationStore } from './store.js';

/** Options of `createConversation`. The first three are required. */
export interface ConversationOptions {
  gateway: GatewayClient;
  model: string;
  conversationId: string;
  /**
   * The client that reads the service's context: prompts then also contain its summary, pins and memory.
   * @default none: prompts contain only messages
   */
  context?: ContextClient | undefined;
  /**
   * The client that reads the user's memory, if the service has no such conversation, or another client reads its context.
   * @default the one of `context`
   */
  userMemory?: ContextClient | undefined;
  /** The workspace whose memory is read. @default the user's own memory */
  workspaceId?: string | undefined;
  /** Where messages and state are stored. @default memoryStore() */
  store?: ConversationStore | undefined;
  /** Instructions for the model. They become the only system message. */
  instructions?: string | undefined;
  /**
   * Tools that the model may call, as `tool` makes them. Those with `execute` are run, and the model is asked again with their results,
   * which are stored with the reply. Calls of others end the turn: see `toolCalls` of a turn. The API does not document tools: a service
   * may reject or ignore them.
   */
  tools?: readonly (Tool | FunctionTool)[] | undefined;
  /** How many times a turn runs calls. Then the model is asked once more, without tools. @default 8 */
  maxSteps?: number | undefined;
  /**
   * The model's context window: tokens of prompt and reply together.
   * @default 128_000, the smallest of the service's models
   */
  contextWindow?: number | undefined;
  /**
   * Maximum tokens of a prompt, at most `contextWindow`. Only instructions, pins and the input may exceed it, up to the window.
   * @default 16_000, or what is left of a smaller window
   */
  budget?: number | undefined;
  /**
   * Counts the tokens of a text exactly. For a text on which it throws, the estimate is used, and `onError` is called.
   * @default an estimate, usually a little too high, corrected by the usage of replies
   */
  countTokens?: ((text: string) => number) | undefined;
  /**
   * The user's time zone, such as `Europe/Oslo`: "yesterday" is a day there, as are the days that a prompt names.
   * @default days are those of `createdAt` as it is written, such as 2026-04-11 in 2026-04-11T22:30:00-07:00
   */
  timeZone?: string | undefined;
  /**
   * Your own search among the messages, such as one by embeddings. Its results are merged with those of the search by
   * words. If it fails, or takes longer than two seconds, only the search by words is used.
   */
  search?: ConversationSearch | undefined;
  /**
   * Whether a compaction runs in the background when the context and the messages after it reach three quarters of `budget`. Only if
   * the service has the messages: the documented API has no way to send them to it.
   * @default false: compactions run only if you call `compact`
   */
  compaction?: boolean | undefined;
  /** Called after each compaction of this object, asked for or started by its turns, with what it kept and lost. */
  onCompaction?: ((receipt: CompactionReceipt) => void) | undefined;
  /**
   * Called with errors that do not end a turn: a failed compaction, a context or a memory that could not be read (once in 30 s), your `search` or
   * `saveState`, a compaction that removed nothing because the service does not have the messages, what a tool throws, arguments that do not
   * match, and a reply that fails or cannot be stored after its reader has left.
   * @default such errors are ignored
   */
  onError?: ((error: unknown) => void) | undefined;
}

/** The text of the user's new message, or several messages, of which the last one is the question. With ids, they can be sent again. */
export type TurnInput = string | readonly ConversationMessage[];

/** Options of one turn. */
export interface TurnOptions extends RequestOptions {
  /**
   * Whether the reply continues when no loop reads it any more, such as after its page was closed. Then only `signal`
   * stops it.
   * @default false: it is stopped, and its text so far is stored
   */
  background?: boolean | undefined;
  /**
   * The id of the newest message that the page shows, `null` if it shows none. If the store has another, the turn ends with a
   * `ConversationConflictError`, and nothing is sent: `edit` and `regenerate` remove no message that the page has not shown.
   * @default what the store has when the turn begins
   */
  newest?: string | null | undefined;
  /** In place of those of the conversation. */
  tools?: readonly (Tool | FunctionTool)[] | undefined;
  /** In place of that of the conversation. */
  maxSteps?: number | undefined;
  /** From 0 to 2. @default 1 */
  temperature?: number | undefined;
  /**
   * Maximum tokens of the reply. The prompt leaves room for them.
   * @default not sent; the prompt leaves an eighth of the window, at most 4096 tokens
   */
  max_tokens?: number | undefined;
}

/** What a prompt is built with. */
export type BuildOptions = Pick<TurnOptions, 'max_tokens' | 'newest' | 'tools'> & {
  /** In place of the conversation's instructions. */
  instructions?: string | undefined;
};

/** Options of a turn whose reply another client generates. */
export type PrepareOptions = BuildOptions &
  Pick<TurnOptions, 'signal' | 'timeout' | 'deadline' | 'maxRetries'> & {
    /** The messages before the input, in place of those of the store. Then nothing is stored. */
    history?: readonly ConversationMessage[] | undefined;
    /** The id of a question that the input, a text, replaces with all that follows it, when the turn is finished. */
    edit?: string | undefined;
  };

/** Options of `messages`. */
export type MessagesOptions = Pick<RequestOptions, 'signal'> & {
  /** The id of a message: those before its turn are returned. @default the newest */
  before?: string | undefined;
  /** How many messages at least, as long as there are some: turns are not taken apart. @default 50 */
  limit?: number | undefined;
};

/** Options of `exclude`. */
export type ExcludeOptions = RequestOptions & {
  /** Takes the message in again. */
  undo?: true | undefined;
};

/** Options of `search`. */
export type SearchOptions = Pick<RequestOptions, 'signal'> & {
  /** Maximum number of messages. @default 10 */
  limit?: number | undefined;
};

/** The service's models have windows of 128K and 200K tokens. Which model has which is not documented. */
const SMALLEST_WINDOW = 128_000;
/** Above this, a prompt costs more and holds hardly more that answers a question: docs/internals/conversation-bench.md. */
const TOKEN_BUDGET = 16_000;
const MOST_REPLY_TOKENS = 4_096;

const isText = (value: unknown): boolean => typeof value === 'string';
const isId = (value: unknown): boolean => isText(value) && (value as string).trim() !== '';
const isTokens = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 1;
const isGateway = (value: unknown): boolean => isFunction(Object(value).chat?.completions?.create);
const isContext = (value: unknown): boolean => isFunction(Object(value).memory?.list);
const isTimeZone = (value: unknown): boolean => {
  try {
    return isId(value) && formatOf(value as string) !== undefined;
  } catch {
    return false;
  }
};
const STORE_FUNCTIONS = ['load', 'append', 'setExcluded', 'saveState'];
const isStore = (value: unknown): boolean => {
  const { load, append, setExcluded, saveState = load } = Object(value) as Partial<ConversationStore>;
  const needed = append === undefined ? [load, saveState] : [load, append, setExcluded, saveState];
  return needed.every(isFunction);
};

const text = /* @__PURE__ */ option<string>(isText, 'must be a string');
const tokens = /* @__PURE__ */ option<number>(isTokens, 'must be a whole number of tokens, at least 1');

const optionsSchema = /* @__PURE__ */ z.strictObject({
  gateway: /* @__PURE__ */ z.custom(isGateway, 'must be a GatewayClient'),
  model: /* @__PURE__ */ z.custom(isId, 'must be the id of a model'),
  conversationId: /* @__PURE__ */ z.custom(isId, 'must be a non-empty string'),
  context: /* @__PURE__ */ option(isContext, 'must be a ContextClient'),
  userMemory: /* @__PURE__ */ option(isContext, 'must be a ContextClient'),
  workspaceId: /* @__PURE__ */ option(isId, 'must be a non-empty string'),
  store: /* @__PURE__ */ option(
    isStore,
    'must be a store, such as sqliteStore(database): with load, and if it has append, setExcluded',
  ),
  instructions: text,
  tools: toolsOption,
  maxSteps: /* @__PURE__ */ option(isTokens, 'must be a whole number of steps, at least 1'),
  contextWindow: tokens,
  budget: tokens,
  countTokens: functionOption,
  timeZone: /* @__PURE__ */ option(isTimeZone, 'must be the name of a time zone, such as Europe/Oslo'),
  search: functionOption,
  compaction: /* @__PURE__ */ option((value) => typeof value === 'boolean', 'must be true or false'),
  onCompaction: functionOption,
  onError: functionOption,
});

/** Options with defaults. */
export type CheckedOptions = ConversationOptions & {
  contextWindow: number;
  /** Tokens of the window that are left for a reply without `max_tokens`. */
  replyTokens: number;
  /** At most what the window leaves. */
  budget: number;
  /** The clock of the client. */
  runtime: Runtime;
};

/** Checks options before any work starts. @throws {ConfigurationError} that names all invalid options */
export function checkOptions(options: ConversationOptions): CheckedOptions {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError('createConversation takes options: { gateway, model, conversationId, … }.');
  }
  // A store may have functions of its own; one without `append` is only read.
  const wrong = options.store && misspelled(options.store, STORE_FUNCTIONS);
  if (wrong) throw new ConfigurationError(`store:${wrong}`);
  const problem = findBadOptions(optionsSchema, { ...options });
  if (problem !== undefined) throw new ConfigurationError(problem);
  const { contextWindow = SMALLEST_WINDOW } = options;
  const { budget = Math.min(TOKEN_BUDGET, contextWindow) } = options;
  if (budget > contextWindow)
    throw new ConfigurationError(
      `budget (${budget}) must not exceed contextWindow (${contextWindow}). Lower it, or pass the window of your model.`,
    );
  const replyTokens = Math.min(MOST_REPLY_TOKENS, Math.floor(contextWindow / 8));
  const { runtime = systemRuntime } = options.gateway.ownParts?.().shared ?? {}; // a client of an app's tests may have none
  return { ...options, contextWindow, replyTokens, budget, runtime };
}
