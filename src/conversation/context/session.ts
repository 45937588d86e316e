import * as z from 'zod/mini';
import { isRequestBound, systemRuntime } from '../../base/runtime.js';
import { APITimeoutError, ConfigurationError } from '../../index.js';
import { Limits } from '../limits.js';
import { badInput, timeOf } from '../messages.js';
import type { ConversationMessage, MessageSource, StoredMessage } from '../model.js';
import type { TokenCounter } from '../prompt/tokens.js';
import type { History } from '../search/history.js';
import {
  type AppendPlace,
  ConversationConflictError,
  type ConversationState,
  type ConversationStore,
  ConversationStoreError,
} from '../store.js';
import { forgetMessage } from './receipt.js';
import { checkLoaded, idOf, messageOf, textsOf } from './rows.js';
import { stateSchema } from './state-schema.js';

const NEW_STATE: ConversationState = {
  format: 1,
  revision: 0,
  lost: [],
  compaction: {},
  calibration: {},
  excluded: [],
};

/** What is loaded of a conversation, and what must be stored. */
export class Session {
  #state: ConversationState = NEW_STATE;
  /** What the store returned last, and the messages made of it. */
  #rows: readonly unknown[] = [];
  #loaded: readonly ConversationMessage[] = [];
  #lastSave: Promise<void> = Promise.resolve();

  constructor(
    readonly id: string,
    private readonly store: ConversationStore,
    readonly history: History,
    readonly counter: TokenCounter,
    private readonly onError: (error: unknown) => void,
  ) {}

  get state(): ConversationState {
    return this.#state;
  }

  /** Changes the state. `save` stores it. */
  set(changed: Partial<ConversationState>): void {
    this.#state = { ...this.#state, ...changed };
  }

  async load(limits: Limits): Promise<void> {
    const { messages: rows, state } = checkLoaded(await limits.within('store.load', () => this.store.load(this.id)));
    // Copied, because the store may change its array while a turn is made of these messages.
    this.#loaded = rows.map((row, at) => {
      const known = row === this.#rows[at] ? this.#loaded[at] : undefined;
      return (
        known ?? messageOf(row, (...bad) => new ConfigurationError(`store.load: messages[${at}].${bad.join(' ')}.`))
      );
    });
    this.#rows = [...rows];
    if (state && this.#isValid(state) && state.revision > this.#state.revision) {
      this.#state = state;
      this.counter.calibration = state.calibration;
    }
    this.history.update(this.marked(this.#loaded));
  }

  /** Messages with what the state says of them. */
  marked(messages: readonly ConversationMessage[]): readonly ConversationMessage[] {
    const excluded = new Set<string | undefined>(this.#state.excluded);
    if (excluded.size === 0) return messages;
    return messages.map((message) => (excluded.has(message.id) ? { ...message, excluded: true } : message));
  }

  /** Saves one state at a time, so that no older one overwrites a newer one. Waits as long as the limits allow. */
  async save(limits: Limits): Promise<void> {
    const { revision } = this.#state;
    const state = { ...this.#state, calibration: this.counter.calibration, revision: revision + 1 };
    this.#state = state;
    this.#lastSave = (isRequestBound() ? Promise.resolve() : this.#lastSave)
      .then(() => new Limits({}).within('store.saveState', () => this.store.saveState?.(this.id, state)))
      .catch((error: unknown) => {
        // Otherwise what another process saves meanwhile would look older.
        if (this.#state.revision === state.revision) this.#state = { ...this.#state, revision };
        this.onError(error);
      });
    await limits.within('store.saveState', () => this.#lastSave).catch(this.onError);
  }

  /**
   * Stores messages of a turn in place of those that it saw from a position on.
   *
   * @throws {ConversationStoreError} when that fails. Then nothing was replaced.
   */
  async append(turn: readonly StoredMessage[], { seen, kept = seen.length }: Seen, limits: Limits): Promise<Appended> {
    if (this.store.append === undefined) return { messages: [...turn], removed: [] }; // the app stores its turns
    const before = seen.slice(0, kept);
    const replaced = seen.slice(kept);
    const place = { after: before.at(-1)?.id, newest: seen.at(-1)?.id };
    let ids: unknown;
    try {
      const copies = turn.map((message) => ({ ...message })); // which a store may freeze, or take apart
      ids = await limits.within('store.append', () => this.store.append?.(this.id, copies, place));
    } catch (cause) {
      const isLate = APITimeoutError.is(cause); // then it may still be on its way
      const found = isLate ? undefined : await this.#idsOf(turn, place, replaced, limits).catch(() => undefined);
      // A database may repeat what it has committed, and report a conflict with that.
      if (found === undefined && Object(cause).name === 'ConversationConflictError')
        throw new ConversationConflictError();
      if (found === undefined)
        throw new ConversationStoreError('The turn could not be stored: store.append failed. See cause.', { cause });
      ids = found;
    }
    // Numbers may be ids, or something else that the database returned, so the ids are looked up.
    if (Array.isArray(ids) && !ids.every((id) => typeof id === 'string'))
      ids = (await this.#idsOf(turn, place, [], limits).catch(() => undefined)) ?? textsOf(ids, turn.length);
    const given = Array.isArray(ids) ? ids : [];
    const messages = turn.map((message, at) => (given[at] === undefined ? message : { ...message, id: given[at] }));
    const { lost, excluded } = this.#state;
    const stored = new Set(messages.map(({ id }) => id)); // an edited message keeps its id
    this.set({
      lost: replaced.reduce((left, { content }) => forgetMessage(left, content), lost),
      excluded: excluded.filter((id) => !stored.has(id)),
    });
    this.history.update([...before, ...messages]);
    // Also the id of an edited message: the service has its old text.
    return { messages, removed: replaced.flatMap(({ id }) => id ?? []) };
  }

  /**
   * The ids of messages whose `append` failed, if the store has them all the same: a transaction may be committed, and its
   * response lost. `undefined` if they are not there.
   */
  async #idsOf(
    turn: readonly StoredMessage[],
    { after }: AppendPlace,
    replaced: readonly ConversationMessage[],
    limits: Limits,
  ): Promise<(string | undefined)[] | undefined> {
    const { messages } = checkLoaded(await limits.within('store.load', () => this.store.load(this.id)));
    const ids = messages.map(idOf);
    const known = new Set<string | undefined>(turn.map(({ id }) => id));
    const gone = new Set(replaced.flatMap(({ id }) => (known.has(id) ? [] : (id ?? []))));
    if (ids.some((id) => id !== undefined && gone.has(id))) return undefined;
    const start = after === undefined ? 0 : ids.lastIndexOf(after) + 1;
    if (start === 0 && after !== undefined) return undefined;
    const there = messages.slice(start, start + turn.length);
    const isStored = turn.every(({ role, content, id, createdAt }, at) => {
      const row = there[at];
      if (row?.role !== role || row.content !== content) return false;
      return idOf(row) === id || timeOf(row) === createdAt; // the same texts may be another tab's
    });
    return isStored ? ids.slice(start, start + turn.length) : undefined;
  }

  /** Stores messages as another conversation, with new ids, which `replyTo` and `recalled` name too. Returns the store. */
  async copy(id: string, messages: readonly ConversationMessage[], limits: Limits): Promise<ConversationStore> {
    if (this.store.append === undefined) throw new ConfigurationError('fork needs a store with append.');
    const copies = stored(messages.map(({ id: _, ...message }) => message));
    const newIds = new Map(messages.map((message, at) => [message.id, copies[at]?.id]));
    const excluded = new Set<string | undefined>(this.store.saveState && this.#state.excluded);
    const isExcluded = messages.map((message) => excluded.has(message.id));
    for (const [at, copy] of copies.entries()) {
      if (copy.replyTo !== undefined) copy.replyTo = newIds.get(copy.replyTo);
      if (copy.recalled !== undefined) copy.recalled = renamed(copy.recalled, newIds);
      if (isExcluded[at]) copy.excluded = undefined; // in the state, as here, where `include` finds it
    }
    const place = { after: undefined, newest: undefined };
    const given = await limits.within('store.append', () => this.store.append?.(id, copies, place));
    const ids = textsOf(given, copies.length) ?? copies.map((copy) => copy.id);
    const state = { ...NEW_STATE, revision: 1, excluded: ids.filter((_, at) => isExcluded[at]) };
    if (state.excluded.length > 0) await limits.within('store.saveState', () => this.store.saveState?.(id, state));
    return this.store;
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
    throw badInput('messageId', 'must be the id of a message of this conversation');
  }

  /**
   * `asked`: the position of a question that the page sends once more. It may show what stands before it as the newest.
   *
   * @throws {ConversationConflictError} when the newest message is another than the page shows
   */
  checkNewest(shown: string | null | undefined, asked: number | undefined): void {
    const { messages } = this.history;
    const isShown = (message: ConversationMessage | undefined): boolean =>
      shown === null ? message === undefined : message?.id === shown;
    if (shown === undefined || isShown(messages.at(-1))) return;
    const isBeforeAsked = asked !== undefined && isShown(messages[asked - 1]);
    if (isBeforeAsked && messages.slice(asked).every(({ role }) => role === 'user')) return;
    throw new ConversationConflictError(
      'The newest message of the conversation is not the one that newest names. Load the messages again.',
    );
  }

  /** @throws {ConfigurationError} when a turn could not be stored in its place, before anything is sent */
  checkStorable({ seen, kept, isAgain }: Seen & { isAgain?: boolean }): void {
    if (this.store.append === undefined) {
      if (kept !== undefined && isAgain !== true)
        throw new ConfigurationError('To replace messages, the store needs append.');
      return;
    }
    for (const message of [seen[(kept ?? seen.length) - 1], seen.at(-1)]) {
      if (message !== undefined && message.id === undefined)
        throw new ConfigurationError('store.load must return the id of each message: store.append needs them.');
    }
  }

  /** A damaged state is left out, so that the conversation goes on without it. */
  #isValid(state: ConversationState): boolean {
    const [issue] = z.safeParse(stateSchema, state).error?.issues ?? [];
    if (issue === undefined) return true;
    const path = ['state', ...issue.path.map(String)].join('.');
    this.onError(
      new ConfigurationError(
        `store.load must return the state that store.saveState got, unchanged: ${path} is invalid. The turn continues without the state.`,
      ),
    );
    return false;
  }
}

/** The messages that a turn saw when it began, and how many of them it keeps. */
export interface Seen {
  seen: readonly ConversationMessage[];
  /** @default all */
  kept?: number | undefined;
}

/** Messages as they were stored, with the ids of the store, and the ids of those that they replaced. */
export interface Appended {
  messages: StoredMessage[];
  removed: string[];
}

/** Messages as they are stored: with ids, and with times that rise, so that a database can sort by them. */
export function stored(messages: readonly ConversationMessage[]): StoredMessage[] {
  const now = systemRuntime.wallClock();
  return messages.map((message, at) => ({
    ...message,
    id: message.id ?? crypto.randomUUID(),
    createdAt: timeOf(message) ?? new Date(now + at).toISOString(),
  }));
}

/** Sources with the new ids of their messages. One that is not copied was deleted by the app. */
function renamed(sources: readonly MessageSource[], newIds: ReadonlyMap<unknown, string | undefined>): MessageSource[] {
  return sources.flatMap((source) => {
    if (source.id === undefined) return source;
    const id = newIds.get(source.id);
    return id === undefined ? [] : { ...source, id };
  });
}
