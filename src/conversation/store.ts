import { ContextGatewayError, type ErrorData } from '../index.js';
import type {
  ChatTurn,
  CompactionState,
  ConversationMessage,
  LostEntry,
  MessageSource,
  Snapshot,
  StoredMessage,
} from './model.js';

/**
 * Where an app stores conversations. Only `load` is required: without `append`, the app stores its turns itself. If `load` or
 * `append` fails, so does the turn. If `saveState` fails, `onError` is called, and the turn continues. `testStore` tests
 * your own.
 */
export interface ConversationStore {
  /**
   * All messages with their ids, oldest first, and the state that `saveState` got last. `null` or `undefined` for a new
   * conversation. Called for every turn, because other processes may have stored some.
   *
   * With `wanted`, it may return only those of the messages, so that a turn costs no more in a long conversation than in a short
   * one: with the `position` of each, and the `count` of all. It may ignore `wanted`, and return more messages than are wanted.
   */
  load(
    conversationId: string,
    wanted?: WantedMessages,
  ): StoredConversation | null | undefined | Promise<StoredConversation | null | undefined>;
  /**
   * Stores messages after the message `after`, and deletes the messages that followed it, in one transaction. Called for the
   * input of a turn before it is sent, and for its reply. Keep their order by a number of your own: `createdAt` is the clock of
   * one of your servers. May return other ids, if your database makes them, none of them twice; then a question that is sent
   * again with the id that the page gave it is a new message.
   *
   * If the newest stored message is not `newest`, or `after` is gone, another process has stored a turn: throw a
   * `ConversationConflictError` (or any error with this name), and change nothing.
   */
  append?(
    conversationId: string,
    messages: readonly StoredMessage[],
    place: AppendPlace,
    // biome-ignore lint/suspicious/noConfusingVoidType: so that a function without a result is accepted
  ): StoredIds | undefined | void | Promise<StoredIds | undefined | void>;
  /** Stores what the conversation knows besides its messages. Plain JSON. */
  saveState?(conversationId: string, state: ConversationState): void | Promise<void>;
}

/** The ids of messages as a database gives them. */
export type StoredIds = readonly (string | number | bigint)[];

/** Where `append` stores the messages of a turn. Both are ids of messages, as text. They are equal, unless the turn replaces messages. */
export interface AppendPlace {
  /** The message that the new ones follow. `undefined` if they are the first. */
  after: string | undefined;
  /** The newest message that the turn knows of. `undefined` if there is none. */
  newest: string | undefined;
}

/**
 * The messages that a turn needs: all that are in one of the lists. First it wants the newest, and if not all messages fit in the
 * prompt, those that have words of the input, and then those around the best of these.
 */
export interface WantedMessages {
  /** How many of the newest messages. */
  newest: number;
  /** Those of which `wordsOf` has one of these words. Of very many, the few hundred that have the most and the rarest. */
  words: readonly string[];
  ids: readonly string[];
  /** Places in the conversation, from 0 for the oldest message. */
  positions: readonly number[];
}

/** What `load` returns. */
export interface StoredConversation {
  /** In the order of the conversation. */
  messages: readonly StoredRow[];
  state?: ConversationState | null | undefined;
  /** How many messages the conversation has, if `messages` are only a part of them, each with its `position`. */
  count?: number | undefined;
}

/**
 * A message as a database returns it: empty columns may be `null`, ids numbers, flags 0 or 1, and times a `Date`, ISO 8601 or
 * milliseconds since 1970.
 */
export interface StoredRow extends Pick<ConversationMessage, 'role' | 'content'> {
  id?: string | number | bigint | null | undefined;
  name?: string | null | undefined;
  createdAt?: string | number | Date | null | undefined;
  excluded?: boolean | 0 | 1 | null | undefined;
  stopped?: boolean | 0 | 1 | null | undefined;
  replyTo?: string | number | bigint | null | undefined;
  recalled?: readonly MessageSource[] | null | undefined;
  /** Its place in the conversation, from 0 for the oldest message. Read only if `load` returns a `count`. */
  position?: number | bigint | undefined;
}

/** What a conversation knows besides its messages. Plain JSON: store it unchanged. */
export interface ConversationState {
  readonly format: 1;
  /** Grows with each change. */
  readonly revision: number;
  /** @internal */
  readonly lost: readonly LostEntry[];
  /** @internal */
  readonly snapshot?: Snapshot | undefined;
  /** @internal */
  readonly compaction: CompactionState;
  /** @internal The ids of excluded messages. */
  readonly excluded: readonly string[];
}

/**
 * Stores conversations in memory, for as long as the program runs. To start with messages, pass them by the ids of their
 * conversations: `memoryStore({ conv_1: messages })`.
 *
 * @example
 * ```ts
 * import { createConversation, memoryStore } from 'context-gateway/conversation';
 * const store = memoryStore({ pier: [{ role: 'user', content: 'The pier gets a red lamp.' }] });
 * const conversation = createConversation({ gateway, conversationId: 'pier', model: 'atlas-small', store });
 * console.log((await conversation.send('Which lamp does the pier get?')).text);
 * ```
 */
export function memoryStore(
  conversations: Readonly<Record<string, readonly ConversationMessage[]>> = {},
): Required<ConversationStore> {
  // Frozen, so that nothing that has loaded a message can change it here.
  const kept = (message: ConversationMessage): ConversationMessage =>
    Object.freeze({ ...message, id: message.id ?? crypto.randomUUID() });
  const stored = new Map(Object.entries(conversations).map(([id, messages]) => [id, messages.map(kept)]));
  const states = new Map<string, ConversationState>();
  return {
    load: (id) => ({ messages: [...(stored.get(id) ?? [])], state: states.get(id) }),
    append: (id, messages, { after, newest }) => {
      const before = stored.get(id) ?? [];
      if (before.at(-1)?.id !== newest) throw new ConversationConflictError();
      const end = before.findLastIndex((message) => message.id === after) + 1;
      if (after !== undefined && end === 0) throw new ConversationConflictError();
      stored.set(id, [...before.slice(0, end), ...messages.map(kept)]);
    },
    saveState: (id, state) => {
      states.set(id, state);
    },
  };
}

/**
 * The store failed, or took too long, as its message says. If it was the input that could not be stored, nothing was sent. If it
 * was the reply, `turn` has it.
 */
export class ConversationStoreError extends ContextGatewayError {
  static override readonly errorName: string = 'ConversationStoreError';

  #turn: ChatTurn | undefined;

  /** @internal */
  get errorData(): ErrorData {
    const message =
      this.#turn === undefined
        ? 'Your message could not be stored. Send it again.'
        : 'The reply was generated, but could not be stored. Copy it if you need it, and try again.';
    return { status: 500, code: 'conversation_not_stored', message };
  }

  /** The turn whose reply was not stored. `undefined` if its input was not. Never printed. */
  get turn(): ChatTurn | undefined {
    return this.#turn;
  }

  /** @internal */
  setTurn(turn: ChatTurn): void {
    this.#turn = turn;
  }
}

/**
 * Another process stored messages of the conversation since this turn began, or the id of a message is known with another text.
 * Without `turn`, nothing was sent: load the messages, and send the input again. With it, the reply was generated and not stored, because its question, or the reply that it would replace, is another now.
 */
export class ConversationConflictError extends ConversationStoreError {
  static override readonly errorName: string = 'ConversationConflictError';

  constructor(
    message = 'The conversation has changed since this turn began. Load its messages, and send the input again.',
  ) {
    super(message);
  }

  /** @internal */
  override get errorData(): ErrorData {
    const message = 'Another message was sent in this conversation meanwhile. Reload it, and send yours again.';
    return { status: 409, code: 'conversation_conflict', message };
  }
}
