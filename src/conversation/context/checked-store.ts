import { pauses } from '../../base/pauses.js';
import { APIAbortError, ConfigurationError } from '../../index.js';
import type { ConversationMessage, StoredMessage } from '../model.js';
import {
  type AppendPlace,
  ConversationConflictError,
  type ConversationState,
  type ConversationStore,
  ConversationStoreError,
  type StoredRow,
  type WantedMessages,
} from '../store.js';
import type { TurnTimeouts } from '../turn-timeouts.js';
import { checkLoaded, type Loaded, messageOf } from './rows.js';

const NOTHING: WantedMessages = { newest: 0, words: [], ids: [], positions: [] };

/** The store of an app. What it returns is checked, and what it does ends in time. */
export class CheckedStore {
  /** The messages that it returned last. */
  #known: readonly unknown[] = [];

  constructor(readonly given: ConversationStore) {}

  /** Whether turns are stored. */
  get isWritten(): boolean {
    return this.given.append !== undefined;
  }

  /** With `wanted`, the store may return a part. @throws {ConversationStoreError} */
  async load(id: string, timeouts: TurnTimeouts, wanted?: Partial<WantedMessages>): Promise<Loaded> {
    const all = wanted && { ...NOTHING, ...wanted };
    const loaded = await timeouts
      .within(() => this.given.load(id, all), tooLate('store.load'))
      .catch(failed('The conversation could not be loaded', 'store.load'));
    if (this.isWritten && loaded?.edits === undefined && loaded != null)
      throw new ConfigurationError('store.load must return edits: how often append got after, null if it never did.');
    return checkLoaded(loaded);
  }

  /** Checks rows, of which there may be very many. Those of the last time are known. */
  async messagesFrom(given: readonly StoredRow[]): Promise<ConversationMessage[]> {
    const messages: ConversationMessage[] = [];
    const pause = pauses();
    for (const [at, row] of [...given].entries()) {
      if (at % 500 === 499) await pause();
      messages.push(row === this.#known[at] ? (row as ConversationMessage) : this.#messageFrom(row, at));
    }
    this.#known = messages;
    return messages;
  }

  /** Resolves to how many messages were added. @throws {ConversationStoreError} @throws {ConversationConflictError} */
  async append(
    id: string,
    messages: readonly StoredMessage[],
    place: AppendPlace,
    timeouts: TurnTimeouts,
  ): Promise<number> {
    const copies = messages.map((message) => ({ ...message })); // which a store may freeze, or take apart
    const append = (): unknown => this.given.append?.(id, copies, { ...place });
    const added = await timeouts
      .within(append, tooLate('store.append'))
      .catch(failed('The turn could not be stored', 'store.append'));
    const count = Number(added ?? Number.NaN);
    if (Number.isInteger(count) && count >= 0 && count <= messages.length) return count;
    throw new ConfigurationError('store.append must return how many messages it added: those whose id was not stored.');
  }

  async setExcluded(id: string, messageId: string, excluded: 0 | 1, timeouts: TurnTimeouts): Promise<void> {
    const set = (): unknown => this.given.setExcluded?.(id, messageId, excluded);
    await timeouts
      .within(set, tooLate('store.setExcluded'))
      .catch(failed('The message could not be changed', 'store.setExcluded'));
  }

  async saveState(id: string, state: ConversationState, revision: number, timeouts: TurnTimeouts): Promise<void> {
    const save = (): unknown => this.given.saveState?.(id, state, revision);
    await timeouts.within(save, tooLate('store.saveState')).catch((error: unknown) => {
      throw isConflict(error) ? new ConversationConflictError() : error;
    });
  }

  #messageFrom(row: StoredRow, at: number): ConversationMessage {
    const message = messageOf(row, (...bad) => new ConfigurationError(`store.load: messages[${at}].${bad.join(' ')}.`));
    if (message.id !== undefined || !this.isWritten) return message;
    throw new ConfigurationError(
      `store.load: messages[${at}].id is missing. A store with append returns each id as it got it.`,
    );
  }
}

/** A store's own conflict may be of another copy of this package, and have a cause. */
function isConflict(error: unknown): boolean {
  return Object(error).name === 'ConversationConflictError';
}

/** Makes the error of a function of the store that failed. */
function failed(what: string, name: string): (cause: unknown) => never {
  return (cause) => {
    if (isConflict(cause)) throw new ConversationConflictError();
    if (ConversationStoreError.is(cause)) throw cause; // it took too long
    if (APIAbortError.is(cause) && name === 'store.load') throw cause;
    const why = APIAbortError.is(cause) ? `it was stopped, and ${name} did not end in time` : `${name} failed`;
    throw new ConversationStoreError(`${what}: ${why}. See cause.`, { cause });
  };
}

/** Makes the error of a function of the store that took too long. */
export function tooLate(what: string): (ms: number) => Error {
  return (ms) =>
    new ConversationStoreError(
      `${what} took longer than ${ms} ms, what the timeout and the deadline left. It may still end: load the messages before you repeat it.`,
    );
}
