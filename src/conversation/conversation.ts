import type {
  ChatMessage,
  CompactionLevel,
  MemoryCreateParams,
  PinnedMemoryItem,
  PinParams,
  RequestOptions,
  UserMemoryItem,
} from '../index.js';
import type { LedgerEntry } from './ledger-state.js';
import type { ConversationMessage } from './messages.js';
import type { CompactionReport } from './options.js';
import type { BuiltPrompt, ChatTurn, ContextParts } from './prompt.js';

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

/**
 * A reply as it is generated. Iterate over it once, or await `final()`. Leaving the loop stops the reply and keeps the
 * text so far.
 */
export interface ReplyStream extends AsyncIterable<string> {
  /** The text so far. */
  readonly text: string;
  /**
   * Resolves to the turn when the reply is complete, was stopped, or was cut off by an error. If no text arrived,
   * rejects with the error that the loop throws.
   */
  final(): Promise<ChatTurn>;
}

/** A reply generated with another client. */
export interface MadeReply {
  text: string;
  /** Whether the reply was stopped before it was complete. */
  stopped?: boolean | undefined;
}

/** A conversation whose prompts always fit the model's context window, and whose context is compacted when due. */
export interface Conversation {
  readonly id: string;
  /** The messages that this object stores. Empty if the app supplies them with a `history` function. */
  readonly history: readonly ConversationMessage[];

  /**
   * Sends the input and streams the reply: `for await (const text of conversation.stream('…'))`.
   *
   * @throws {ContextBudgetError} before anything is sent, when the parts that must not be dropped do not fit
   */
  stream(input: TurnInput, options?: TurnOptions): ReplyStream;
  /**
   * Sends the input and waits for the whole reply.
   *
   * @throws {ContextBudgetError} before anything is sent, when the parts that must not be dropped do not fit
   */
  send(input: TurnInput, options?: TurnOptions): Promise<ChatTurn>;

  /** Builds the prompt for an input, to send with any client. Pass the reply to `record`. */
  buildMessages(input: TurnInput, options?: Pick<TurnOptions, 'signal' | 'max_tokens'>): Promise<BuiltPrompt>;
  /**
   * Builds only the context message, selected for a question, for prompts that you build yourself. Resolves to
   * `undefined` if the context is empty.
   */
  contextMessage(question: string, options?: Pick<TurnOptions, 'signal'>): Promise<ChatMessage | undefined>;
  /** Adds a turn that was made with another client, and compacts in the background if due. */
  record(input: TurnInput, reply: MadeReply): void;
  /** Compacts in the background if due. Call it after turns that you do not pass to `record`. */
  compactWhenDue(): void;

  /**
   * Compacts now. Only one compaction runs at a time: calls made meanwhile share its result. An abort ends the wait,
   * not the compaction.
   */
  compact(level?: CompactionLevel, options?: RequestOptions): Promise<CompactionReport>;
  /** Reads the context from the service again. */
  refresh(options?: RequestOptions): Promise<ContextParts>;
  /**
   * Statements that compactions dropped, oldest first. An app can offer to pin them. `overruledBy` is the later
   * decision that revokes a statement.
   */
  lost(): Promise<LedgerEntry[]>;

  /** Calls `context.pin`. The next turn includes the message. */
  pin(params: PinParams, options?: RequestOptions): Promise<PinnedMemoryItem>;
  unpin(messageId: string, options?: RequestOptions): Promise<void>;
  /**
   * Calls `context.exclude`, and stops sending the message of the history with this `id`. Messages that this object
   * stores from its own turns have no ids.
   */
  exclude(messageId: string, options?: RequestOptions): Promise<void>;
  include(messageId: string, options?: RequestOptions): Promise<void>;
  /** Calls `context.memory.upsert` in the conversation's workspace. The next turn includes the item. */
  remember(params: Omit<MemoryCreateParams, 'workspaceId'>, options?: RequestOptions): Promise<UserMemoryItem>;

  /** Resolves when no background work is running. For tests, and before a serverless function returns. */
  idle(): Promise<void>;
  /** Stops background work. The two clients stay open. */
  close(): void;
  [Symbol.asyncDispose](): Promise<void>;
}
