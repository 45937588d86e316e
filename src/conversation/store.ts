import * as z from 'zod/mini';
import { isObject } from '../base/objects.js';
import { systemRuntime } from '../base/runtime.js';
import { ConfigurationError, ContextGatewayError, type ErrorData } from '../index.js';
import { type Limits, within } from './limits.js';
import { History } from './memory.js';
import {
  badArgument,
  type ChatTurn,
  type CompactionState,
  type ConversationMessage,
  isMessage,
  type LostEntry,
  type Snapshot,
  type StoredMessage,
  timeOf,
} from './model.js';
import type { FitState } from './prompt.js';
import { forgetMessage } from './receipt.js';
import type { Calibration, TokenCounter } from './tokens.js';

/**
 * Where an app stores conversations. Only `load` is required: an app that stores its turns itself needs nothing else.
 * If a function throws, `onError` is called and the turn continues, except after `load` and `truncate`.
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
    messages: readonly StoredMessage[],
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
  readonly lost: readonly LostEntry[];
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

const NEW_STATE: ConversationState = {
  format: 1,
  revision: 0,
  lost: [],
  compaction: {},
  calibration: {},
  excluded: [],
};

/**
 * Stores conversations in memory, for as long as the program runs.
 * `memoryStore({ conv_1: messages })` begins with messages.
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

/** What is loaded of a conversation, and what must be stored. */
export class Session {
  readonly id: string;
  readonly history = new History();
  readonly counter: TokenCounter;
  readonly #store: ConversationStore;
  readonly #onError: (error: unknown) => void;
  #state: ConversationState = NEW_STATE;
  /** What the store returned last. */
  #loaded: readonly ConversationMessage[] = [];
  /** Turns whose storing failed. They are stored with the next one. */
  #unsaved: readonly StoredMessage[] = [];
  #lastSave: Promise<void> = Promise.resolve();

  constructor(id: string, store: ConversationStore, counter: TokenCounter, onError: (error: unknown) => void) {
    this.id = id;
    this.#store = store;
    this.counter = counter;
    this.#onError = onError;
  }

  get state(): ConversationState {
    return this.#state;
  }

  /** Changes the state. `save` stores it. */
  set(changed: Partial<ConversationState>): void {
    this.#state = { ...this.#state, ...changed };
  }

  async load(limits: Limits): Promise<void> {
    const loaded = await limits.within('store.load', () => this.#store.load(this.id));
    const { messages, state } = checkLoaded(loaded, this.#loaded);
    this.#loaded = messages;
    if (state && state.revision > this.#state.revision) {
      this.#state = state;
      this.counter.calibration = state.calibration;
    }
    if (this.#unsaved.length > 0) {
      const newest = new Set(messages.slice(-2 * this.#unsaved.length).map(({ id }) => id));
      this.#unsaved = this.#unsaved.filter(({ id }) => !newest.has(id)); // a store may fail after it has stored them
    }
    const excluded = new Set<string | undefined>(this.#state.excluded);
    const marked = (message: ConversationMessage): ConversationMessage =>
      excluded.has(message.id) ? { ...message, excluded: true } : message;
    const all = this.#unsaved.length === 0 ? messages : [...messages, ...this.#unsaved];
    this.history.update(excluded.size === 0 ? all : all.map(marked));
  }

  /** One at a time, so that no older state overwrites a newer one. */
  save(): Promise<void> {
    const state = { ...this.#state, calibration: this.counter.calibration, revision: this.#state.revision + 1 };
    this.#state = state;
    this.#lastSave = this.#lastSave
      .then(() => within('store.saveState', () => this.#store.saveState?.(this.id, state)))
      .catch(this.#onError);
    return this.#lastSave;
  }

  /**
   * Stores the messages of a turn, in place of those from a position on. If that fails, they are stored with the next
   * turn. Resolves to the ids of the messages that were removed.
   */
  async append(turn: StoredMessage[], from: number | undefined): Promise<string[]> {
    if (this.#store.append === undefined) return []; // the app stores its turns
    const before = this.history.messages.slice(0, from);
    const removed = this.history.messages.slice(before.length);
    await this.#remove(removed);
    const unsaved = [...this.#unsaved, ...turn];
    const position = before.length - this.#unsaved.length;
    try {
      const ids = await within('store.append', () => this.#store.append?.(this.id, unsaved, position));
      this.#unsaved = [];
      for (const [at, message] of unsaved.entries()) message.id = ids?.[at] ?? message.id;
    } catch (error) {
      if (ConversationConflictError.is(error)) throw error;
      this.#unsaved = unsaved;
      this.#onError(error);
    }
    this.history.update([...before, ...turn]);
    return removed.flatMap(({ id }) => id ?? []);
  }

  /** Removes messages from the store, and their statements from those that compactions lost. */
  async #remove(removed: readonly ConversationMessage[]): Promise<void> {
    const first = removed[0]?.id;
    if (first === undefined) return;
    const { messages } = checkLoaded(await within('store.load', () => this.#store.load(this.id)), this.#loaded);
    const newest = this.history.messages.at(-1 - this.#unsaved.length);
    if (messages.at(-1)?.id !== newest?.id) throw new ConversationConflictError(); // or newer ones would be removed, too
    await within('store.truncate', () => this.#store.truncate?.(this.id, first));
    this.#unsaved = this.#unsaved.filter((message) => !removed.includes(message));
    this.set({ lost: removed.reduce((lost, { content }) => forgetMessage(lost, content), this.#state.lost) });
  }

  /** Stores messages as another conversation. Returns the store. */
  async copy(id: string, messages: readonly StoredMessage[]): Promise<ConversationStore> {
    this.#check('append');
    await within('store.append', () => this.#store.append?.(id, messages, 0));
    return this.#store;
  }

  /** Leaves a message out of prompts and searches, or takes it in again. */
  exclude(messageId: string, excluded: boolean): void {
    const others = this.#state.excluded.filter((id) => id !== messageId);
    this.set({ excluded: excluded ? [...others, messageId] : others });
    const message = this.history.messages.find(({ id }) => id === messageId);
    if (excluded) this.set({ lost: forgetMessage(this.#state.lost, message?.content) });
  }

  /** The position of a message. @throws {RequestValidationError} */
  find(messageId: string): number {
    const at = this.history.messages.findIndex(({ id }) => id === messageId);
    if (at >= 0) return at;
    throw badArgument('messageId', 'must be the id of a message of this conversation');
  }

  /** @throws {ConfigurationError} when messages from a position on cannot be replaced */
  checkReplaceable(from: number | undefined): void {
    if (from === undefined) return;
    this.#check('append', 'truncate');
    const first = this.history.messages[from];
    if (first !== undefined && first.id === undefined)
      throw new ConfigurationError('To replace messages, store.load must return them with their ids.');
  }

  #check(...names: ('append' | 'truncate')[]): void {
    const missing = names.filter((name) => this.#store[name] === undefined);
    if (missing.length > 0) throw new ConfigurationError(`This needs a store with ${missing.join(' and ')}.`);
  }
}

/** A message as it is stored: with an id and a time. */
export function stored(message: ConversationMessage): StoredMessage {
  const now = new Date(systemRuntime.wallClock()).toISOString();
  return { ...message, id: message.id ?? crypto.randomUUID(), createdAt: timeOf(message) ?? now };
}

/** Checks what `load` returned, except for messages that it returned before. @throws {ConfigurationError} */
function checkLoaded(loaded: unknown, before: readonly ConversationMessage[]): StoredConversation {
  const { messages = [], state } = (loaded ?? {}) as Partial<StoredConversation>;
  if (
    !isObject(loaded ?? {}) ||
    !Array.isArray(messages) ||
    !messages.every((message, at) => message === before[at] || isMessage(message))
  ) {
    throw new ConfigurationError(
      "store.load must return { messages, state }: messages as an array of { role, content } with role 'user' or 'assistant' and text content.",
    );
  }
  if (!z.safeParse(z.optional(stateSchema), state ?? undefined).success)
    throw new ConfigurationError('store.load must return the state that store.saveState got, unchanged.');
  return { messages, state };
}

const anObject = /* @__PURE__ */ z.looseObject({});
const stateSchema = /* @__PURE__ */ z.looseObject({
  format: /* @__PURE__ */ z.literal(1),
  revision: /* @__PURE__ */ z.number(),
  lost: /* @__PURE__ */ z.array(/* @__PURE__ */ z.looseObject({ text: /* @__PURE__ */ z.string() })),
  snapshot: /* @__PURE__ */ z.optional(/* @__PURE__ */ z.looseObject({ summary: anObject, metadata: anObject })),
  compaction: anObject,
  calibration: anObject,
  excluded: /* @__PURE__ */ z.array(/* @__PURE__ */ z.string()),
});
