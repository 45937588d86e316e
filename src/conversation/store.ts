import { type CompletionUsage, ContextGatewayError, type ErrorData } from '../index.js';
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
 * Where an app stores conversations. Only `load` is required: without `append`, turns are sent, and nothing is stored. With it,
 * `setExcluded` is required, too. If `load` or `append` fails, so does the turn. If `saveState` fails, `onError` is called, and the
 * turn continues. `testStore` tests your own.
 */
export interface ConversationStore {
  /**
   * All messages with their ids, oldest first, how often they were edited, and the state that `saveState` got last: read at one
   * point in time. `null` or `undefined` for a new conversation. Called for every turn, because other processes may have
   * stored some.
   *
   * With `wanted`, it may return only those of the messages, so that a turn costs no more in a long conversation than in a short
   * one: with the `position` of each, and the `count` of all. It may ignore `wanted`, and return more messages than are wanted.
   */
  load(
    conversationId: string,
    wanted?: WantedMessages,
  ): StoredConversation | null | undefined | Promise<StoredConversation | null | undefined>;
  /**
   * Adds messages in one transaction, alone for its conversation, and returns how many it added. If `place` does not fit what is
   * stored, throw a `ConversationConflictError` (or any error with this name), and change nothing. Otherwise, with `place.after`,
   * delete what follows it, and add 1 to `edits`. Then add, in order, the messages whose id is not stored.
   *
   * Keep their order by a number of your own: `createdAt` is the clock of one of your servers. A message that is deleted and
   * given again in one call keeps its `excluded`.
   */
  append?(conversationId: string, messages: readonly StoredMessage[], place: AppendPlace): number | Promise<number>;
  /** Marks a message, 1 or 0, that is left out of prompts and searches. Another `edits` is not needed. */
  setExcluded?(conversationId: string, messageId: string, excluded: 0 | 1): void | Promise<void>;
  /**
   * Stores what the conversation knows besides its messages, and adds 1 to its revision. If the stored revision is not `revision`
   * (0 if there is none), throw a `ConversationConflictError`, and change nothing. Plain JSON.
   */
  saveState?(conversationId: string, state: ConversationState, revision: number): void | Promise<void>;
}

/** What `append` compares with what is stored, and what it replaces. */
export interface AppendPlace {
  /** How often messages were replaced: it must be the stored number. 0 for a new conversation. */
  edits: number;
  /** The id of the newest message, `null` if there is none. Only compared if it is given. */
  newest?: string | null | undefined;
  /** Only if messages are replaced: the id of the message that stays as the newest, `null` if none stays. It must be stored. */
  after?: string | null | undefined;
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
  /** How often `append` got `after`. Required if the store has `append`; `null` is 0. */
  edits?: number | bigint | null | undefined;
  state?: ConversationState | null | undefined;
  /** How often `saveState` has stored one. Required if the store has `saveState`; `null` is 0. */
  revision?: number | bigint | null | undefined;
  /** How many messages the conversation has, if `messages` are only a part of them, each with its `position`. */
  count?: number | bigint | null | undefined;
}

/**
 * A message as a database returns it: empty columns may be `null`, ids numbers, flags 0 or 1, and times a `Date`, ISO 8601 or
 * milliseconds since 1970. A store with `append` returns each id as it got it.
 */
export interface StoredRow extends Pick<ConversationMessage, 'role' | 'content'> {
  id?: string | number | bigint | null | undefined;
  name?: string | null | undefined;
  createdAt?: string | number | Date | null | undefined;
  excluded?: boolean | 0 | 1 | null | undefined;
  stopped?: boolean | 0 | 1 | null | undefined;
  replyTo?: string | number | bigint | null | undefined;
  recalled?: readonly MessageSource[] | null | undefined;
  finish_reason?: string | null | undefined;
  model?: string | null | undefined;
  usage?: CompletionUsage | null | undefined;
  /** Its place in the conversation, from 0 for the oldest message. Read only if `load` returns a `count`. */
  position?: number | bigint | undefined;
}

/** What a conversation knows besides its messages. Plain JSON: store it unchanged. */
export interface ConversationState {
  readonly format: 1;
  /** @internal */
  readonly lost: readonly LostEntry[];
  /** @internal */
  readonly snapshot?: Snapshot | undefined;
  /** @internal */
  readonly compaction: CompactionState;
}

/** A conversation of `memoryStore`. */
interface Kept {
  messages: readonly StoredMessage[];
  edits: number;
  state?: ConversationState;
  revision: number;
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
  const kept = (message: ConversationMessage): StoredMessage =>
    Object.freeze({ ...message, id: message.id ?? crypto.randomUUID() }) as StoredMessage;
  const stored = new Map<string, Kept>();
  for (const [id, messages] of Object.entries(conversations))
    stored.set(id, { messages: messages.map(kept), edits: 0, revision: 0 });
  const of = (id: string): Kept => stored.get(id) ?? { messages: [], edits: 0, revision: 0 };
  return {
    load: (id) => ({ ...of(id), messages: [...of(id).messages] }),
    append: (id, given, { edits, newest, after }) => {
      const before = of(id);
      const end = after == null ? 0 : before.messages.findLastIndex((message) => message.id === after) + 1;
      const isChanged = edits !== before.edits || (after != null && end === 0);
      if (isChanged || (newest !== undefined && newest !== (before.messages.at(-1)?.id ?? null)))
        throw new ConversationConflictError();
      const left = after === undefined ? before.messages : before.messages.slice(0, end);
      // Sets of all ids would take most of the time of a turn with many steps.
      const added = given
        .filter((message) => !left.some(({ id }) => id === message.id))
        .map((message) => {
          const isExcluded = before.messages.some(({ id, excluded }) => id === message.id && excluded);
          return kept(isExcluded ? { ...message, excluded: true } : message);
        });
      stored.set(id, {
        ...before,
        messages: [...left, ...added],
        edits: after === undefined ? edits : edits + 1,
      });
      return added.length;
    },
    setExcluded: (id, messageId, excluded) => {
      const before = of(id);
      const messages = before.messages.map((message) =>
        message.id === messageId ? kept({ ...message, excluded: excluded === 1 }) : message,
      );
      stored.set(id, { ...before, messages });
    },
    saveState: (id, state, revision) => {
      const before = of(id);
      if (before.revision !== revision) throw new ConversationConflictError();
      stored.set(id, { ...before, state, revision: revision + 1 });
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
 * The conversation was edited since this turn began, its newest message is not the one that the page shows, or the id of a message is
 * known with another text. Without `turn`, nothing was sent: load the messages, and send the input again if it still fits. With it, the reply was
 * generated and not stored, because its question is another now.
 */
export class ConversationConflictError extends ConversationStoreError {
  static override readonly errorName: string = 'ConversationConflictError';

  constructor(
    message = 'The conversation has changed since this turn began. Load its messages, and send the input again if it still fits.',
  ) {
    super(message);
  }

  /** @internal */
  override get errorData(): ErrorData {
    const message = 'Another message was sent in this conversation meanwhile. Reload it, and send yours again.';
    return { status: 409, code: 'conversation_conflict', message };
  }
}
