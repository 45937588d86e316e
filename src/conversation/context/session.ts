import { isRequestBound, type Runtime } from '../../base/runtime.js';
import { ConfigurationError, type RequestOptions } from '../../index.js';
import { inTurns } from '../in-turns.js';
import { cleaned, timeOf } from '../messages.js';
import type { ConversationMessage, StoredMessage } from '../model.js';
import { messageTokens, type TokenCounter } from '../prompt/tokens.js';
import { type Archive, archiveOf } from '../search/archive.js';
import {
  type AppendPlace,
  ConversationConflictError,
  type ConversationState,
  type ConversationStore,
  type WantedMessages,
} from '../store.js';
import { TurnTimeouts } from '../turn-timeouts.js';
import { CheckedStore, tooLate } from './checked-store.js';
import { forgetMessages } from './receipt.js';
import type { Loaded } from './rows.js';
import { checkState, joined, NEW_STATE } from './state.js';

/** All messages of a conversation, or the newest, as they are stored. */
export interface Seen {
  messages: readonly ConversationMessage[];
  /** How many messages are older than these. */
  older: number;
  /** How often messages were replaced. */
  edits: number;
}

/** How many messages a turn loads: at first, and how many times as many while the budget is not full. */
const FIRST = { least: 10, tokensOfOne: 25, times: 4 };

/** What is loaded of a conversation, and what must be stored. */
export class Session {
  /** What was loaded or stored last. A turn keeps what it has loaded, because other calls load, too. */
  newest: Seen = { messages: [], older: 0, edits: 0 };
  readonly #store: CheckedStore;
  #state: ConversationState = NEW_STATE;
  /** The state that is stored, and its revision. */
  #saved = { state: NEW_STATE, revision: -1 };
  /** A state that cannot be read is not saved over. */
  #isUnreadable = false;
  #lastSave: Promise<void> = Promise.resolve();

  constructor(
    readonly id: string,
    store: ConversationStore,
    /** Tokens of a prompt. */
    private readonly budget: number,
    readonly counter: TokenCounter,
    private readonly runtime: Runtime,
    readonly onError: (error: unknown) => void,
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
  async load(timeouts: TurnTimeouts): Promise<Seen> {
    const loaded = await this.#store.load(this.id, timeouts);
    this.#adopt(loaded);
    return this.#see(await this.#store.messagesFrom(loaded.messages), 0, loaded);
  }

  /**
   * Loads the newest turns, if the store can return a part: as many as a prompt may contain. All messages, if one with these ids is
   * older, so that what the turn knows of it and of what follows it is complete.
   */
  async loadNewest(timeouts: TurnTimeouts, ids: readonly (string | undefined)[] = []): Promise<Seen> {
    const known = ids.filter((id) => id !== undefined);
    let before = 0;
    for (let newest = FIRST.least + Math.ceil(this.budget / FIRST.tokensOfOne); ; newest *= FIRST.times) {
      const loaded = await this.#store.load(this.id, timeouts, { newest, ids: known });
      const { messages: rows, count = rows.length } = loaded;
      const positionOf = (at: number): number => (loaded.count === undefined ? at : Number(rows[at]?.position));
      if (rows.length > 0 ? positionOf(rows.length - 1) !== count - 1 : count > 0)
        throw new ConfigurationError(
          `store.load returned ${count} as count, and not the message at position ${count - 1}, which is the newest.`,
        );
      // Those that follow each other, up to the newest.
      let start = rows.length;
      while (start > 0 && positionOf(start - 1) === count - rows.length + start - 1) start -= 1;
      // From a question on: of a reply whose question is older, it is not known whether that is excluded.
      const first =
        start === 0 && count === rows.length ? 0 : rows.findIndex(({ role }, at) => at >= start && role === 'user');
      start = Math.max(start, first);
      const older = count - rows.length + start;
      const isKnown = ({ id }: { id?: unknown }): boolean => known.includes(String(id));
      // What the first one follows is not known either.
      if (older > 0 && rows.slice(0, start + 1).some(isKnown)) return this.load(timeouts);
      const messages = await this.#store.messagesFrom(rows.slice(start));
      const hasAll = older === 0 || messages.length <= before; // or all that the store returns
      if (hasAll || (first >= 0 && messageTokens(messages, this.counter.count) >= this.budget)) {
        this.#adopt(loaded);
        return this.#see(await this.#withExcluded(messages, timeouts), older, loaded);
      }
      before = messages.length;
    }
  }

  /** Late replies to older questions, excluded with these. */
  async #withExcluded(
    messages: readonly ConversationMessage[],
    timeouts: TurnTimeouts,
  ): Promise<readonly ConversationMessage[]> {
    const known = new Set(messages.map(({ id }) => id));
    const ids = [...new Set(messages.flatMap(({ replyTo }) => (known.has(replyTo) ? [] : (replyTo ?? []))))];
    if (ids.length === 0) return messages;
    const { messages: rows } = await this.#store.load(this.id, timeouts, { ids });
    const excluded = new Set((await this.#store.messagesFrom(rows)).flatMap((one) => (one.excluded ? one.id : [])));
    return messages.map((one) => (excluded.has(one.replyTo) ? { ...one, excluded: true } : one));
  }

  #see(messages: readonly ConversationMessage[], older: number, { edits }: { edits: number }): Seen {
    this.newest = { messages, older, edits };
    return this.newest;
  }

  /** Takes a state that another process has saved. */
  #adopt({ state, revision }: Loaded): void {
    if (revision <= this.#saved.revision) return;
    let stored = NEW_STATE;
    try {
      this.#isUnreadable = false;
      if (state !== undefined && state !== null) stored = checkState(state);
    } catch (error) {
      this.#isUnreadable = true;
      this.onError(error);
    }
    this.#state = this.#state === this.#saved.state ? stored : joined(stored, this.#state);
    this.#saved = { state: stored, revision };
  }

  /** All messages, for what is no turn. */
  async everyMessage(timeouts: TurnTimeouts): Promise<readonly ConversationMessage[]> {
    if (this.newest.older === 0) return this.newest.messages;
    return this.#store.messagesFrom((await this.#store.load(this.id, timeouts)).messages);
  }

  /** The messages of which a search loads those that it needs, in the order of their turns. */
  archive({ messages: newest, older }: Pick<Seen, 'messages' | 'older'>, timeouts: TurnTimeouts): Archive {
    const turns = inTurns(newest);
    if (older === 0) return archiveOf(turns);
    const messages = new Array<ConversationMessage | undefined>(older).fill(undefined).concat(turns);
    const known = new Map(newest.map((message) => [message.id, message]));
    const read = async (wanted: Partial<WantedMessages>): Promise<number[]> => {
      const part = await this.#store.load(this.id, timeouts, wanted);
      const found = await this.#store.messagesFrom(part.messages);
      return part.messages.flatMap((row, at) => {
        const position = part.count === undefined ? at : Number(row.position);
        const message = found[at];
        if (position >= older || message === undefined) return [];
        messages[position] = message;
        known.set(message.id, message);
        return position;
      });
    };
    const load = async ({ words = [], ids = [], positions = [] }: Partial<WantedMessages>): Promise<void> => {
      const missing = positions.filter((position) => messages[position] === undefined);
      if (words.length + ids.length + missing.length === 0) return;
      const added = new Set<number>();
      for (let given = await read({ words, ids, positions: missing }); given.length > 0; ) {
        given = given.filter((position) => !added.has(position));
        for (const position of given) added.add(position);
        // The questions of replies: that of `replyTo`, or the message of the user before.
        const replies = given.flatMap((at) => (isReply(messages[at]) ? { at, ...messages[at] } : []));
        const named = replies.flatMap(({ replyTo }) => (known.has(replyTo) ? [] : (replyTo ?? [])));
        const before = replies.flatMap(({ at, replyTo }) => (replyTo === undefined && at > 0 ? at - 1 : []));
        const wanted = { ids: [...new Set(named)], positions: before.filter((at) => messages[at] === undefined) };
        given = wanted.ids.length + wanted.positions.length > 0 ? await read(wanted) : [];
      }
      for (const position of added) {
        const message = messages[position];
        if (message === undefined || !isReply(message)) continue;
        let at = position;
        while (isReply(messages[at])) at -= 1;
        const question = message.replyTo === undefined ? messages[at] : known.get(message.replyTo);
        if (question?.excluded) messages[position] = { ...message, excluded: true };
      }
    };
    return { messages, load };
  }

  /** Saves one state at a time, if it has changed. Waits as long as the timeouts allow. */
  async save(timeouts: TurnTimeouts): Promise<void> {
    const before = isRequestBound() ? Promise.resolve() : this.#lastSave;
    this.#lastSave = before.then(() => this.#save()).catch(this.onError);
    await timeouts.within(() => this.#lastSave, tooLate('store.saveState')).catch(this.onError);
  }

  async #save(): Promise<void> {
    for (let isFirst = true; this.#state !== this.#saved.state && !this.#isUnreadable; isFirst = false) {
      const state = this.#state;
      const { revision } = this.#saved;
      try {
        await this.#store.saveState(this.id, cleaned(state), Math.max(0, revision), this.timeouts());
        this.#saved = { state, revision: Math.max(0, revision) + 1 };
      } catch (error) {
        if (!isFirst || !ConversationConflictError.is(error)) throw error;
        this.#saved = { ...this.#saved, revision: -1 };
        this.#adopt(await this.#store.load(this.id, this.timeouts(), { newest: 1 }));
      }
    }
  }

  /** Adds messages, or replaces some. Resolves to how many were added. */
  async append(messages: readonly StoredMessage[], place: AppendPlace, timeouts: TurnTimeouts): Promise<number> {
    return this.#store.append(this.id, messages, place, timeouts);
  }

  /** Stores messages as another conversation. Returns the store. */
  async copy(id: string, messages: readonly StoredMessage[], timeouts: TurnTimeouts): Promise<ConversationStore> {
    await this.#store.append(id, messages, { edits: 0, newest: null }, timeouts);
    return this.#store.given;
  }

  /** Leaves a message out of prompts and searches, or takes it in again. */
  async setExcluded(marked: ConversationMessage, excluded: 0 | 1, timeouts: TurnTimeouts): Promise<void> {
    await this.#store.setExcluded(this.id, marked.id ?? '', excluded, timeouts);
    if (excluded === 1) this.forget([marked]);
    const messages = this.newest.messages.map((message) =>
      message.id === marked.id ? { ...message, excluded: excluded === 1 } : message,
    );
    this.newest = { ...this.newest, messages };
  }

  /** Forgets lost statements that stand in messages which are excluded or replaced. */
  forget(messages: readonly ConversationMessage[]): void {
    const lost = forgetMessages(this.#state.lost, messages);
    if (lost.length < this.#state.lost.length) this.set({ lost });
  }

  /** @throws {ConfigurationError} when the store keeps no messages */
  checkStored(what: string): void {
    if (!this.isStored) throw new ConfigurationError(`${what} needs a store with append and setExcluded.`);
  }

  /** Whether turns are stored. */
  get isStored(): boolean {
    return this.#store.isWritten;
  }
}

function isReply(message: ConversationMessage | undefined): boolean {
  return message !== undefined && message.role !== 'user';
}

/** Messages as they are stored: with ids, and with times that rise. */
export function stored(runtime: Runtime, messages: readonly ConversationMessage[]): StoredMessage[] {
  const now = runtime.wallClock();
  return messages.map((message, at) => ({
    ...message,
    id: message.id ?? crypto.randomUUID(),
    createdAt: timeOf(message) ?? new Date(now + at).toISOString(),
  }));
}
