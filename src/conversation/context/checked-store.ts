import { pauses } from '../../base/pauses.js';
import { APIAbortError, ConfigurationError } from '../../index.js';
import type { ConversationMessage, StoredMessage } from '../model.js';
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
import type { TurnTimeouts } from '../turn-timeouts.js';
import { checkLoaded, messageOf, textsOf } from './rows.js';
import { findStored } from './stored.js';

/** Messages that other processes may have stored after those of a turn. */
const BESIDE = 50;
const NOTHING: WantedMessages = { newest: 0, words: [], ids: [], positions: [] };

/** The store of an app. What it returns is checked, and what it does ends in time. */
export class CheckedStore {
  /** The rows that it returned last, and the messages made of them. */
  #known: { rows: readonly unknown[]; messages: readonly ConversationMessage[] } = { rows: [], messages: [] };

  constructor(readonly given: ConversationStore) {}

  /** With `wanted`, the store may return a part. */
  async load(id: string, timeouts: TurnTimeouts, wanted?: Partial<WantedMessages>): Promise<StoredConversation> {
    const all = wanted && { ...NOTHING, ...wanted };
    return checkLoaded(await timeouts.within(() => this.given.load(id, all), tooLate('store.load')));
  }

  /** Checks rows, of which there may be very many. Those of the last time are known. */
  async messagesFrom(given: readonly StoredRow[]): Promise<ConversationMessage[]> {
    const rows = [...given]; // the store may change its array meanwhile
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

  /** Stores messages. Resolves to their ids. @throws {ConversationStoreError} @throws {ConversationConflictError} */
  async append(
    conversationId: string,
    messages: readonly StoredMessage[],
    { after, newest }: AppendPlace,
    timeouts: TurnTimeouts,
  ): Promise<string[]> {
    const copies = messages.map((message) => ({ ...message })); // which a store may freeze, or take apart
    const append = (): unknown => this.given.append?.(conversationId, copies, { after, newest });
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
    const rows = await this.load(conversationId, timeouts, wanted).catch(() => ({ messages: [] }));
    const found = findStored(messages, rows.messages.map(messageFrom)).map((row) => row?.id);
    const ids = found.every((id) => id !== undefined) ? found : textsOf(given, messages.length);
    return ids ?? messages.map(({ id }) => id);
  }

  async saveState(id: string, state: ConversationState, timeouts: TurnTimeouts): Promise<void> {
    await timeouts.within((): unknown => this.given.saveState?.(id, state), tooLate('store.saveState'));
  }
}

function messageFrom(row: StoredRow, at: number): ConversationMessage {
  return messageOf(row, (...bad) => new ConfigurationError(`store.load: messages[${at}].${bad.join(' ')}.`));
}

/** Makes the error of a function of the store that took too long. */
export function tooLate(what: string): (ms: number) => Error {
  return (ms) =>
    new ConversationStoreError(
      `${what} took longer than ${ms} ms, what the timeout and the deadline left. It may still end: load the messages before you repeat it.`,
    );
}
