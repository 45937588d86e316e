import { ConfigurationError, ContextGatewayError, type ErrorData } from '../index.js';
import type { CompactionState } from './compaction.js';
import type { Calibration } from './counter.js';
import { EMPTY_LEDGER, type Ledger } from './ledger.js';
import { MessageIndex } from './memory.js';
import { type ChatTurn, type ConversationMessage, isMessage, type Snapshot } from './model.js';
import type { FitState } from './prompt.js';

/**
 * Where an app stores conversations. Only `load` is required: an app that stores its turns itself needs nothing else.
 * If a function throws, `onError` is called and the turn continues, except after `load`.
 */
export interface ConversationStore {
  /**
   * The messages, oldest first, and the state that `saveState` got last. `null` or `undefined` for a new conversation.
   * Called for every turn, because other processes may have stored some.
   */
  load(conversationId: string): StoredConversation | null | undefined | Promise<StoredConversation | null | undefined>;
  /**
   * Stores the messages of a turn. May return the ids that your app or the service gave them. `position` is the number
   * of messages before them, as last loaded: if there are more by now, throw a `ConversationConflictError`.
   */
  append?(
    conversationId: string,
    messages: readonly ConversationMessage[],
    position: number,
    // biome-ignore lint/suspicious/noConfusingVoidType: so that a function without a result is accepted
  ): readonly string[] | undefined | void | Promise<readonly string[] | undefined | void>;
  /** Removes a message and all after it. `regenerate` and `edit` need it. */
  truncate?(conversationId: string, fromMessageId: string): void | Promise<void>;
  /** Stores what the conversation knows besides its messages. Plain JSON. */
  saveState?(conversationId: string, state: ConversationState): void | Promise<void>;
}

/** What `load` returns. */
export interface StoredConversation {
  messages: readonly ConversationMessage[];
  state?: ConversationState | null | undefined;
}

/** What a conversation knows besides its messages. Plain JSON: store it unchanged. */
export interface ConversationState {
  readonly format: 1;
  /** Grows with each change. */
  readonly revision: number;
  /** @internal */
  readonly ledger: Ledger;
  /** @internal */
  readonly snapshot?: Snapshot | undefined;
  /** @internal */
  readonly compaction: CompactionState;
  /** @internal */
  readonly calibration: Calibration;
  /** @internal */
  readonly layout?: FitState | undefined;
  /** @internal The ids of excluded messages. */
  readonly excluded: readonly string[];
}

export const NEW_STATE: ConversationState = {
  format: 1,
  revision: 0,
  ledger: EMPTY_LEDGER,
  compaction: {},
  calibration: {},
  excluded: [],
};

/**
 * Stores conversations in memory, for as long as the program runs.
 * `memoryStore({ conv_1: messages })` begins with messages.
 */
export function memoryStore(
  conversations: Readonly<Record<string, readonly ConversationMessage[]>> = {},
): Required<ConversationStore> {
  const stored = new Map(Object.entries(conversations).map(([id, messages]) => [id, [...messages]]));
  const states = new Map<string, ConversationState>();
  return {
    load: (id) => ({ messages: [...(stored.get(id) ?? [])], state: states.get(id) }),
    append: (id, messages, position) => {
      const before = stored.get(id) ?? [];
      if (before.length !== position) throw new ConversationConflictError();
      stored.set(id, [...before, ...messages]);
    },
    truncate: (id, fromMessageId) => {
      const messages = stored.get(id) ?? [];
      const from = messages.findIndex((message) => message.id === fromMessageId);
      if (from >= 0) stored.set(id, messages.slice(0, from));
    },
    saveState: (id, state) => {
      states.set(id, state);
    },
  };
}

/**
 * Another process stored messages of the conversation since this turn was built. The turn is not stored; `turn` has its
 * text. Send the input again, or store the reply with `record`.
 */
export class ConversationConflictError extends ContextGatewayError {
  #turn: ChatTurn | undefined;

  constructor(message = 'Another process has stored messages of this conversation since this turn began.') {
    super(message);
  }

  override get name(): string {
    return 'ConversationConflictError';
  }

  /** @internal */
  get errorData(): ErrorData {
    const message = 'Another message was sent in this conversation meanwhile. Reload it, and send yours again.';
    return { status: 409, code: 'conversation_conflict', message };
  }

  /** The turn that was not stored. Never printed. */
  get turn(): ChatTurn | undefined {
    return this.#turn;
  }

  /** @internal */
  setTurn(turn: ChatTurn): void {
    this.#turn = turn;
  }
}

/** The loaded messages of a conversation, and the index for searching them. */
export class History {
  #messages: readonly ConversationMessage[] = [];
  readonly #index = new MessageIndex();

  get messages(): readonly ConversationMessage[] {
    return this.#messages;
  }

  /** Replaces the messages. What the index has of them already stays in it. */
  update(messages: readonly ConversationMessage[]): void {
    const before = this.#messages;
    let same = 0;
    const most = Math.min(this.#index.length, messages.length);
    while (same < most && messages[same]?.content === before[same]?.content) same += 1;
    if (same < this.#index.length) this.#index.truncate(same);
    this.#messages = messages;
  }

  /** The index with all messages. Adds new ones in slices, so that a long history does not block the event loop. */
  async index(): Promise<MessageIndex> {
    const messages = this.#messages;
    for (let began = performance.now(); this.#index.length < messages.length && messages === this.#messages; ) {
      this.#index.append(messages.slice(this.#index.length, this.#index.length + SLICE));
      if (performance.now() - began < MAX_BLOCK) continue;
      await new Promise((resolve) => setTimeout(resolve, 0));
      began = performance.now();
    }
    return this.#index;
  }
}

/** Messages. */
const SLICE = 20;
/** Milliseconds. */
const MAX_BLOCK = 8;

/** Checks what `load` returned. Checks only messages that were not checked before. @throws {ConfigurationError} */
export function checkLoaded(loaded: unknown, known: readonly ConversationMessage[]): StoredConversation {
  const { messages = [], state } = Object(loaded ?? {}) as Partial<StoredConversation>;
  const isObject = loaded === undefined || loaded === null || (typeof loaded === 'object' && !Array.isArray(loaded));
  if (!isObject || !Array.isArray(messages) || !messages.every((one, at) => one === known[at] || isMessage(one))) {
    throw new ConfigurationError(
      "store.load must return { messages, state }: messages as an array of { role, content } with role 'user' or 'assistant' and text content.",
    );
  }
  if (state !== undefined && state !== null && !isState(state)) {
    throw new ConfigurationError('store.load must return the state that store.saveState got, unchanged.');
  }
  return { messages, state };
}

function isState(state: unknown): state is ConversationState {
  const { format, revision, ledger, compaction, calibration, excluded, snapshot } = Object(
    state,
  ) as Partial<ConversationState>;
  const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null;
  return (
    format === 1 &&
    typeof revision === 'number' &&
    [ledger, compaction, calibration].every(isRecord) &&
    Array.isArray(excluded) &&
    Array.isArray(ledger?.entries) &&
    ledger.entries.every((entry) => isRecord(entry) && typeof entry.text === 'string') &&
    (snapshot === undefined || (isRecord(snapshot.summary) && isRecord(snapshot.metadata)))
  );
}
