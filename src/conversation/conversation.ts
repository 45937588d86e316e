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

/** The new message of the user, or several: the last one is what is asked. */
export type TurnInput = string | readonly ConversationMessage[];

/** Options of one turn. */
export interface TurnOptions extends RequestOptions {
  /** 0 to 2. @default 1 */
  temperature?: number | undefined;
  /** The longest reply, in tokens; so much room is left for it. @default nothing is sent, and `reserveOutput` is left */
  max_tokens?: number | undefined;
}

/** The reply while it is written. Loop over it once, or await `final()`. Leaving the loop stops the reply, and keeps its text. */
export interface ReplyStream extends AsyncIterable<string> {
  /** The text so far. */
  readonly text: string;
  /** The turn, once it is complete, was stopped or broke off. Rejects with what the loop throws when nothing came. */
  final(): Promise<ChatTurn>;
}

/** A reply that was made with another client. */
export interface MadeReply {
  text: string;
  /** It was stopped before it was complete. */
  stopped?: boolean | undefined;
}

/** One conversation: its messages fit the model's window at every turn, and it is compacted when due. */
export interface Conversation {
  readonly id: string;
  /** The messages that this object has kept. */
  readonly history: readonly ConversationMessage[];

  /**
   * Ask, and have the reply written piece by piece: `for await (const text of conversation.stream('…'))`.
   *
   * @throws {ContextBudgetError} before anything is sent: what must not be dropped does not fit
   */
  stream(input: TurnInput, options?: TurnOptions): ReplyStream;
  /**
   * Ask, and wait for the whole reply.
   *
   * @throws {ContextBudgetError} before anything is sent: what must not be dropped does not fit
   */
  send(input: TurnInput, options?: TurnOptions): Promise<ChatTurn>;

  /** The prompt for an input, for any client. Hand the reply to `record`. */
  buildMessages(input: TurnInput, options?: Pick<TurnOptions, 'signal' | 'max_tokens'>): Promise<BuiltPrompt>;
  /** The context message alone, chosen for a question, for prompts that are built elsewhere. `undefined` when there is nothing to say. */
  contextMessage(question: string, options?: Pick<TurnOptions, 'signal'>): Promise<ChatMessage | undefined>;
  /** Keep a turn that was made with another client, and compact in the background if due. */
  record(input: TurnInput, reply: MadeReply): void;
  /** Compact in the background if due, after turns whose messages are not kept here. */
  compactWhenDue(): void;

  /** Compact now. One is under way at most: who asks meanwhile gets its outcome. An abort ends the waiting, not the compaction. */
  compact(level?: CompactionLevel, options?: RequestOptions): Promise<CompactionReport>;
  /** Read the context again now. */
  refresh(options?: RequestOptions): Promise<ContextParts>;
  /** Statements that compactions dropped, oldest first: an app can offer to pin them. `overruledBy` names a later decision against it. */
  lost(): Promise<LedgerEntry[]>;

  /** `context.pin`, seen by the next turn. */
  pin(params: PinParams, options?: RequestOptions): Promise<PinnedMemoryItem>;
  unpin(messageId: string, options?: RequestOptions): Promise<void>;
  /** `context.exclude`; a message of the history with this `id` is not sent any more either. Turns that are kept here have no ids. */
  exclude(messageId: string, options?: RequestOptions): Promise<void>;
  include(messageId: string, options?: RequestOptions): Promise<void>;
  /** `context.memory.upsert` in the conversation's workspace, seen by the next turn. */
  remember(params: Omit<MemoryCreateParams, 'workspaceId'>, options?: RequestOptions): Promise<UserMemoryItem>;

  /** Settles when nothing is under way in the background: for tests, and before a serverless function returns. */
  idle(): Promise<void>;
  /** Stops what is under way in the background. The two clients stay open. */
  close(): void;
  [Symbol.asyncDispose](): Promise<void>;
}
