import * as z from 'zod/mini';
import { pauses } from '../../base/pauses.js';
import { isRequestBound, type Runtime } from '../../base/runtime.js';
import { APIAbortError, ConfigurationError, type RequestOptions } from '../../index.js';
import { timeOf } from '../messages.js';
import type { ConversationMessage, StoredMessage } from '../model.js';
import type { TokenCounter } from '../prompt/tokens.js';
import { type Archive, archiveOf } from '../search/archive.js';
import {
  type AppendPlace,
  ConversationConflictError,
  type ConversationState,
  type ConversationStore,
  ConversationStoreError,
  type StoredConversation,
  type StoredRow,
  type WantedMessages,
} from '../store.js';
import { TurnTimeouts } from '../turn-timeouts.js';
import { copyOf, endOfStep } from './copy.js';
import { forgetMessages } from './receipt.js';
import { checkLoaded, messageOf, textsOf } from './rows.js';
import { stateSchema } from './state-schema.js';
import { findStored } from './stored.js';

const NEW_STATE: ConversationState = {
  format: 1,
  revision: 0,
  lost: [],
  compaction: {},
  calibration: {},
  excluded: [],
};

/** Messages that other processes may have stored after those of a turn. */
const BESIDE = 50;
const NOTHING: WantedMessages = { newest: 0, words: [], ids: [], positions: [] };

/** What is loaded of a conversation, and what must be stored. */
export class Session {
  /** What was loaded or stored last. A turn keeps what it has loaded, because other calls load, too. */
  newest: Newest = { messages: [], older: 0 };
  #state: ConversationState = NEW_STATE;
  /** What the store returned last, and the messages made of it. */
  #known: { rows: readonly unknown[]; messages: readonly ConversationMessage[] } = { rows: [], messages: [] };
  #lastSave: Promise<void> = Promise.resolve();

  constructor(
    readonly id: string,
    private readonly store: ConversationStore,
    /** How many of the newest messages a turn needs. */
    private readonly needed: number,
    readonly counter: TokenCounter,
    private readonly runtime: Runtime,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Timeouts of a call that is no turn. */
  timeouts(options: RequestOptions = {}): TurnTimeouts {
    return new TurnTimeouts(this.runtime, options);
  }

  get state(): ConversationState {
    return this.#state;
  }

  /** Changes the state. `save` stores it. */
  set(changed: Partial<ConversationState>): void {
    this.#state = { ...this.#state, ...changed };
  }

  /** Loads all messages. */
  async load(timeouts: TurnTimeouts): Promise<Newest> {
    return this.#take(await this.#read(this.id, timeouts));
  }

  /**
   * Loads the newest messages, if the store can return a part. All, if one with these ids is older, so that what the turn knows of it
   * and of what follows it is complete.
   */
  async loadNewest(timeouts: TurnTimeouts, ids: readonly (string | undefined)[] = []): Promise<Newest> {
    const known = ids.filter((id) => id !== undefined);
    const part = await this.#read(this.id, timeouts, { newest: this.needed, ids: known });
    const first = (part.count ?? 0) - this.needed;
    if (first <= 0) return this.#take(part);
    const isKnown = ({ id }: StoredRow): boolean => known.includes(String(id));
    const messages = part.messages.filter(({ position }) => Number(position) >= first);
    const older = part.messages.slice(0, part.messages.length - messages.length);
    // What the first one follows is not known either.
    if ([...older, ...messages.slice(0, 1)].some(isKnown)) return this.load(timeouts);
    return this.#take({ ...part, messages }, first);
  }

  async #take({ messages: rows, state }: StoredConversation, older = 0): Promise<Newest> {
    const loaded = await this.#messagesFrom([...rows]); // copied, because the store may change its array meanwhile
    const known = state && this.#withoutDamage(state);
    if (known && known.revision > this.#state.revision) {
      this.#state = known;
      this.counter.calibration = known.calibration;
    }
    this.newest = { messages: this.marked(loaded), older };
    return this.newest;
  }

  /** With `wanted`, the store may return a part. */
  async #read(id: string, timeouts: TurnTimeouts, wanted?: Partial<WantedMessages>): Promise<StoredConversation> {
    const all = wanted && { ...NOTHING, ...wanted };
    return checkLoaded(await timeouts.within(() => this.store.load(id, all), tooLate('store.load')));
  }

  /** Checks rows, of which there may be very many. Those of the last time are known. */
  async #messagesFrom(rows: readonly StoredRow[]): Promise<ConversationMessage[]> {
    const known = this.#known;
    const messages: ConversationMessage[] = [];
    const pause = pauses();
    for (const [at, row] of rows.entries()) {
      if (at % 500 === 499) await pause();
      messages.push((row === known.rows[at] ? known.messages[at] : undefined) ?? messageFrom(row, at));
    }
    this.#known = { rows, messages };
    return messages;
  }

  /** All messages, for what is no turn. */
  async everyMessage(timeouts: TurnTimeouts): Promise<readonly ConversationMessage[]> {
    if (this.newest.older === 0) return this.newest.messages;
    const { messages } = await this.#read(this.id, timeouts);
    return this.marked(await this.#messagesFrom([...messages]));
  }

  /** The messages of which a search loads those that it needs. */
  archive({ messages: newest, older }: Newest, timeouts: TurnTimeouts): Archive {
    if (older === 0) return archiveOf(newest);
    const messages = new Array<ConversationMessage | undefined>(older).fill(undefined).concat(newest);
    const load = async ({ words = [], ids = [], positions = [] }: Partial<WantedMessages>): Promise<void> => {
      const missing = positions.filter((position) => messages[position] === undefined);
      if (words.length + ids.length + missing.length === 0) return;
      const part = await this.#read(this.id, timeouts, { words, ids, positions: missing });
      const found = this.marked(await this.#messagesFrom([...part.messages]));
      for (const [at, row] of part.messages.entries()) {
        const position = part.count === undefined ? at : Number(row.position);
        if (position < older) messages[position] = found[at];
      }
    };
    return { messages, load };
  }

  /** Messages with what the state says of them. */
  marked(messages: readonly ConversationMessage[]): readonly ConversationMessage[] {
    const excluded = new Set<string | undefined>(this.#state.excluded);
    if (excluded.size === 0) return messages;
    return messages.map((message) => (excluded.has(message.id) ? { ...message, excluded: true } : message));
  }

  /** Saves one state at a time, so that no older one overwrites a newer one. Waits as long as the timeouts allow. */
  async save(timeouts: TurnTimeouts): Promise<void> {
    const { revision } = this.#state;
    const state = { ...this.#state, calibration: this.counter.calibration, revision: revision + 1 };
    this.#state = state;
    const late = tooLate('store.saveState');
    this.#lastSave = (isRequestBound() ? Promise.resolve() : this.#lastSave)
      .then(() => this.timeouts().within(() => this.store.saveState?.(this.id, state), late))
      .catch((error: unknown) => {
        // Otherwise what another process saves meanwhile would look older.
        if (this.#state.revision === state.revision) this.#state = { ...this.#state, revision };
        this.onError(error);
      });
    await timeouts.within(() => this.#lastSave, late).catch(this.onError);
  }

  /**
   * Stores messages of a turn, in place of those that `spot` removes. Resolves to their ids.
   *
   * @throws {ConversationStoreError} when that fails, with a `cause`, or takes too long, without one. Nothing was removed
   * then, unless the response of the store was lost.
   */
  async append(turn: readonly StoredMessage[], spot: Spot, older: number, timeouts: TurnTimeouts): Promise<string[]> {
    const ids = await this.#insert(this.id, turn, spot, timeouts);
    if (!this.isStored) return ids; // the app stores its turns
    this.forget(ids, spot.removed);
    const added = turn.map((message, at) => ({ ...message, id: ids[at] ?? message.id }));
    this.newest = { messages: [...spot.kept, ...added], older };
    return ids;
  }

  /** Forgets what is known of messages that were replaced. `ids`: those of the new ones. An edited message keeps its id. */
  forget(ids: readonly string[], removed: readonly ConversationMessage[]): void {
    const { lost, excluded } = this.#state;
    const stored = new Set(ids);
    this.set({
      lost: forgetMessages(lost, removed),
      excluded: excluded.filter((id) => !stored.has(id)),
    });
  }

  /** Calls `append`. Resolves to the ids of the messages. */
  async #insert(
    conversationId: string,
    messages: readonly StoredMessage[],
    { after, newest }: AppendPlace,
    timeouts: TurnTimeouts,
  ): Promise<string[]> {
    const copies = messages.map((message) => ({ ...message })); // which a store may freeze, or take apart
    const append = (): unknown => this.store.append?.(conversationId, copies, { after, newest });
    const given = await timeouts.within(append, tooLate('store.append')).catch((cause: unknown) => {
      // A store's own conflict may be of another copy of this package, and have a cause.
      if (Object(cause).name === 'ConversationConflictError') throw new ConversationConflictError();
      if (ConversationStoreError.is(cause)) throw cause; // it took too long
      const why = APIAbortError.is(cause)
        ? 'it was stopped, and store.append did not end in time'
        : 'store.append failed';
      throw new ConversationStoreError(`The turn could not be stored: ${why}. See cause.`, { cause });
    });
    if (!Array.isArray(given)) return messages.map(({ id }) => id);
    if (given.every((id) => typeof id === 'string')) return messages.map(({ id }, at) => given[at] ?? id);
    // Numbers may be ids, or something else that the database returned, so the ids are looked up.
    const wanted = { newest: messages.length + BESIDE };
    const rows = await this.#read(conversationId, timeouts, wanted).catch(() => ({ messages: [] }));
    const found = findStored(messages, rows.messages.map(messageFrom)).map((row) => row?.id);
    const ids = found.every((id) => id !== undefined) ? found : textsOf(given, messages.length);
    return ids ?? messages.map(({ id }) => id);
  }

  /**
   * Stores messages as another conversation, with new ids, which `replyTo` and `recalled` name too. In several steps, if the
   * database makes the ids: what names a message is stored after it. Returns the store.
   */
  async copy(id: string, messages: readonly ConversationMessage[], timeouts: TurnTimeouts): Promise<ConversationStore> {
    if (this.store.append === undefined) throw new ConfigurationError('fork needs a store with append.');
    const excluded = new Set(this.store.saveState && this.#state.excluded);
    const ids = new Map<string, string>();
    let newest: string | undefined;
    for (let start = 0; start < messages.length; ) {
      const end = endOfStep(messages, start);
      const copies = messages.slice(start, end).map((_, at) => copyOf(messages, start + at, { ids, excluded }));
      const given = await this.#insert(id, stored(this.runtime, copies), { after: newest, newest }, timeouts);
      for (const [at, newId] of given.entries()) {
        const oldId = messages[start + at]?.id;
        if (oldId !== undefined) ids.set(oldId, newId);
      }
      newest = given.at(-1);
      start = end;
    }
    const state = { ...NEW_STATE, revision: 1, excluded: [...excluded].flatMap((one) => ids.get(one) ?? []) };
    const save = (): unknown => this.store.saveState?.(id, state);
    if (state.excluded.length > 0) await timeouts.within(save, tooLate('store.saveState'));
    return this.store;
  }

  /** Leaves a message out of prompts and searches, or takes it in again. */
  exclude(messageId: string, excluded: boolean): void {
    const others = this.#state.excluded.filter((id) => id !== messageId);
    this.set({ excluded: excluded ? [...others, messageId] : others });
    const messages = this.newest.messages.filter(({ id }) => id === messageId);
    if (excluded) this.set({ lost: forgetMessages(this.#state.lost, messages) });
  }

  /** @throws {ConfigurationError} when the store keeps no messages, so that none can be replaced */
  checkReplaceable(): void {
    if (!this.isStored) throw new ConfigurationError('To replace messages, the store needs append.');
  }

  /** Whether turns are stored here. Otherwise, the app stores them. */
  get isStored(): boolean {
    return this.store.append !== undefined;
  }

  /** The conversation goes on without the damaged parts of a state. The others are kept: messages stay excluded. */
  #withoutDamage(state: ConversationState): ConversationState | undefined {
    const issues = z.safeParse(stateSchema, state).error?.issues ?? [];
    const [issue] = issues;
    if (issue === undefined) return state;
    const path = ['state', ...issue.path.map(String)].join('.');
    this.onError(
      new ConfigurationError(
        `store.load must return the state that store.saveState got, unchanged: ${path} is invalid. The turn continues without it.`,
      ),
    );
    const parts = issues.map((one) => one.path[0] as keyof ConversationState);
    if (state.format !== NEW_STATE.format || parts.includes('revision')) return undefined;
    return { ...state, ...Object.fromEntries(parts.map((part) => [part, NEW_STATE[part]])) };
  }
}

/** All messages of a conversation, or the newest. */
export interface Newest {
  messages: readonly ConversationMessage[];
  /** How many messages are older than these. */
  older: number;
}

/** Where `append` stores messages, what stays before them, and what it deletes. */
export interface Spot extends AppendPlace {
  kept: readonly ConversationMessage[];
  removed: readonly ConversationMessage[];
}

/** Messages as they are stored: with ids, and with times that rise, so that a database can sort by them. */
export function stored(runtime: Runtime, messages: readonly ConversationMessage[]): StoredMessage[] {
  const now = runtime.wallClock();
  return messages.map((message, at) => ({
    ...message,
    id: message.id ?? crypto.randomUUID(),
    createdAt: timeOf(message) ?? new Date(now + at).toISOString(),
  }));
}

function messageFrom(row: StoredRow, at: number): ConversationMessage {
  return messageOf(row, (...bad) => new ConfigurationError(`store.load: messages[${at}].${bad.join(' ')}.`));
}

function tooLate(what: string): (ms: number) => Error {
  return (ms) =>
    new ConversationStoreError(
      `${what} took longer than ${ms} ms, what the timeout and the deadline left. It may still end: load the messages before you repeat it.`,
    );
}
