import { isRequestBound, type Runtime } from '../../base/runtime.js';
import { ConfigurationError, type RequestOptions } from '../../index.js';
import { timeOf } from '../messages.js';
import type { ConversationMessage, StoredMessage } from '../model.js';
import type { TokenCounter } from '../prompt/tokens.js';
import { type Archive, archiveOf } from '../search/archive.js';
import type {
  AppendPlace,
  ConversationState,
  ConversationStore,
  StoredConversation,
  StoredRow,
  WantedMessages,
} from '../store.js';
import { TurnTimeouts } from '../turn-timeouts.js';
import { CheckedStore, tooLate } from './checked-store.js';
import { copyOf, endOfStep } from './copy.js';
import { forgetMessages } from './receipt.js';
import { NEW_STATE, withoutDamage } from './state.js';

/** What is loaded of a conversation, and what must be stored. */
export class Session {
  /** What was loaded or stored last. A turn keeps what it has loaded, because other calls load, too. */
  newest: Newest = { messages: [], older: 0 };
  #state: ConversationState = NEW_STATE;
  readonly #store: CheckedStore;
  #lastSave: Promise<void> = Promise.resolve();

  constructor(
    readonly id: string,
    store: ConversationStore,
    /** How many of the newest messages a turn needs. */
    private readonly needed: number,
    readonly counter: TokenCounter,
    private readonly runtime: Runtime,
    private readonly onError: (error: unknown) => void,
  ) {
    this.#store = new CheckedStore(store);
  }

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
    return this.#take(await this.#store.load(this.id, timeouts));
  }

  /**
   * Loads the newest messages, if the store can return a part. All, if one with these ids is older, so that what the turn knows of it
   * and of what follows it is complete.
   */
  async loadNewest(timeouts: TurnTimeouts, ids: readonly (string | undefined)[] = []): Promise<Newest> {
    const known = ids.filter((id) => id !== undefined);
    const part = await this.#store.load(this.id, timeouts, { newest: this.needed, ids: known });
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
    const loaded = await this.#store.messagesFrom(rows);
    const known = state && withoutDamage(state, this.onError);
    if (known && known.revision > this.#state.revision) this.#state = known;
    this.newest = { messages: this.marked(loaded), older };
    return this.newest;
  }

  /** All messages, for what is no turn. */
  async everyMessage(timeouts: TurnTimeouts): Promise<readonly ConversationMessage[]> {
    if (this.newest.older === 0) return this.newest.messages;
    const { messages } = await this.#store.load(this.id, timeouts);
    return this.marked(await this.#store.messagesFrom(messages));
  }

  /** The messages of which a search loads those that it needs. */
  archive({ messages: newest, older }: Newest, timeouts: TurnTimeouts): Archive {
    if (older === 0) return archiveOf(newest);
    const messages = new Array<ConversationMessage | undefined>(older).fill(undefined).concat(newest);
    const load = async ({ words = [], ids = [], positions = [] }: Partial<WantedMessages>): Promise<void> => {
      const missing = positions.filter((position) => messages[position] === undefined);
      if (words.length + ids.length + missing.length === 0) return;
      const part = await this.#store.load(this.id, timeouts, { words, ids, positions: missing });
      const found = this.marked(await this.#store.messagesFrom(part.messages));
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
    const state = { ...this.#state, revision: revision + 1 };
    this.#state = state;
    this.#lastSave = (isRequestBound() ? Promise.resolve() : this.#lastSave)
      .then(() => this.#store.saveState(this.id, state, this.timeouts()))
      .catch((error: unknown) => {
        // Otherwise what another process saves meanwhile would look older.
        if (this.#state.revision === state.revision) this.#state = { ...this.#state, revision };
        this.onError(error);
      });
    await timeouts.within(() => this.#lastSave, tooLate('store.saveState')).catch(this.onError);
  }

  /**
   * Stores messages of a turn, in place of those that `spot` removes. Resolves to their ids.
   *
   * @throws {ConversationStoreError} when that fails, with a `cause`, or takes too long, without one. Nothing was removed
   * then, unless the response of the store was lost.
   */
  async append(turn: readonly StoredMessage[], spot: Spot, older: number, timeouts: TurnTimeouts): Promise<string[]> {
    const ids = await this.#store.append(this.id, turn, spot, timeouts);
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

  /**
   * Stores messages as another conversation, with new ids, which `replyTo` and `recalled` name too. In several steps, if the
   * database makes the ids: what names a message is stored after it. Returns the store.
   */
  async copy(id: string, messages: readonly ConversationMessage[], timeouts: TurnTimeouts): Promise<ConversationStore> {
    const { given: store } = this.#store;
    if (store.append === undefined) throw new ConfigurationError('fork needs a store with append.');
    const excluded = new Set(store.saveState && this.#state.excluded);
    const ids = new Map<string, string>();
    let newest: string | undefined;
    for (let start = 0; start < messages.length; ) {
      const end = endOfStep(messages, start);
      const copies = messages.slice(start, end).map((_, at) => copyOf(messages, start + at, { ids, excluded }));
      const given = await this.#store.append(id, stored(this.runtime, copies), { after: newest, newest }, timeouts);
      for (const [at, newId] of given.entries()) {
        const oldId = messages[start + at]?.id;
        if (oldId !== undefined) ids.set(oldId, newId);
      }
      newest = given.at(-1);
      start = end;
    }
    const state = { ...NEW_STATE, revision: 1, excluded: [...excluded].flatMap((one) => ids.get(one) ?? []) };
    if (state.excluded.length > 0) await this.#store.saveState(id, state, timeouts);
    return store;
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
    return this.#store.given.append !== undefined;
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
