import { runSync, type Sliced } from '../base/slices.js';
import type {
  CompactionReceipt,
  ConversationInput,
  ConversationRecord,
  ConversationState,
  MessageInput,
  MessageRecord,
  SummaryVersion,
} from './conversation-records.js';
import { newState, stateAfterCut } from './conversation-states.js';
import { newMessages } from './new-messages.js';
import { Quotes } from './quotes.js';
import type { IdSource } from './random.js';
import { SdkRecords } from './sdk-records.js';
import { type Collection, checkedId, type Storage } from './storage.js';
import { SummaryHistory } from './summary-history.js';
import type { Workspaces } from './workspaces.js';

/** Conversations and their messages. */
export class Conversations {
  readonly #states: Collection<ConversationState>;
  readonly #storage: Storage;
  readonly #ids: IdSource;
  readonly #now: () => number;
  readonly #workspaces: Workspaces;
  readonly #defaultUser: () => string;
  /** Conversations that are being created. */
  readonly #begun = new Set<string>();
  readonly #quotes = new Quotes(() => this.#contents());
  /** @internal Versions and receipts. */
  readonly history: SummaryHistory;
  /** @internal */
  readonly sdk: SdkRecords;
  /** @internal Rewrites the summary after a cut, in its transaction. */
  onCut: ((id: string) => void) | undefined;

  constructor(storage: Storage, ids: IdSource, now: () => number, workspaces: Workspaces, defaultUser: () => string) {
    this.#states = storage.collection('conversations');
    this.#storage = storage;
    this.history = new SummaryHistory(storage);
    this.sdk = new SdkRecords(storage);
    this.#ids = ids;
    this.#now = now;
    this.#workspaces = workspaces;
    this.#defaultUser = defaultUser;
  }

  /** Creates a conversation. Returns it with the ids of its messages. */
  create(input: ConversationInput = {}): ConversationRecord {
    return structuredClone(this.#storage.transaction(() => runSync(this.creating(input))));
  }

  /**
   * @internal Like `create`, in slices. It exists only when all its messages do. The result is not copied.
   */
  *creating(input: ConversationInput): Sliced<ConversationRecord> {
    const id = checkedId('conversation', input.id ?? this.#ids.next('conv'));
    if (this.#states.get(id) !== undefined || this.#begun.has(id))
      throw new RangeError(`conversation ${id} already exists`);
    if (input.workspaceId !== undefined && this.#workspaces.get(input.workspaceId) === undefined) {
      throw new RangeError(`there is no workspace ${input.workspaceId}`);
    }
    this.#begun.add(id);
    try {
      // Left over if the emulator was killed while it created a conversation with this id.
      for (const { id: messageId } of this.messages(id)) this.#remove(id, messageId);
      const createdAt = new Date(this.#now()).toISOString();
      const ownerId = checkedId('user', input.ownerId ?? this.#defaultUser());
      const messages = yield* this.#adding(id, input.messages ?? []);
      const stylePreferences = structuredClone(input.stylePreferences ?? {});
      this.save(newState({ id, ownerId, workspaceId: input.workspaceId, createdAt, stylePreferences }));
      return { ...this.#head(id), messages };
    } finally {
      this.#begun.delete(id);
    }
  }

  /** Appends messages. Returns them with their ids. */
  append(conversationId: string, messages: readonly MessageInput[]): MessageRecord[] {
    return structuredClone(this.#storage.transaction(() => runSync(this.appending(conversationId, messages))));
  }

  /** @internal Like `append`, in slices. The result is not copied. */
  *appending(conversationId: string, messages: readonly MessageInput[]): Sliced<MessageRecord[]> {
    this.#head(conversationId);
    return yield* this.#adding(conversationId, messages);
  }

  /**
   * Deletes the messages after this one, or all with `null`, with their pins and what the summary took from them. Returns how
   * many it deleted.
   */
  cut(id: string, messageId: string | null): number {
    const state = this.#states.get(id);
    if (state === undefined) throw new RangeError(`there is no conversation ${id}`);
    const messages = this.messages(id);
    const end = messageId === null ? 0 : messages.findIndex((message) => message.id === messageId) + 1;
    if (messageId !== null && end === 0) throw new RangeError(`there is no message ${messageId}`);
    const deleted = messages.slice(end);
    this.#storage.transaction(() => {
      for (const message of deleted) this.#remove(id, message.id);
      this.save(stateAfterCut(state, messages.slice(0, end)));
      this.onCut?.(id);
    });
    this.reload();
    return deleted.length;
  }

  /** Deletes a conversation with its messages and summaries. Returns false if there is no such conversation. */
  delete(id: string): boolean {
    if (this.#states.get(id) === undefined) return false;
    this.#storage.transaction(() => {
      for (const { id: messageId } of this.messages(id)) this.#remove(id, messageId);
      this.history.delete(id);
      this.sdk.states.delete(id);
      this.#states.delete(id);
    });
    this.reload();
    return true;
  }

  /** A conversation with its messages. */
  get(id: string): ConversationRecord | undefined {
    return this.#states.get(id) === undefined ? undefined : this.#record(id);
  }

  /** @internal The conversation that a prompt belongs to. */
  quotedIn(messages: readonly { role: string; content: string }[]): string | undefined {
    return this.#quotes.find(messages, (id) => this.#states.get(id) !== undefined);
  }

  /** @internal Drops what is cached from the previous records. */
  reload(): void {
    this.#quotes.clear();
  }

  *#contents(): Iterable<readonly [string, string]> {
    for (const { id } of this.states()) for (const { content } of this.messages(id)) yield [id, content];
  }

  /** All conversations with their messages, oldest first. */
  list(): ConversationRecord[] {
    return [...this.#states.values()].map((state) => this.#record(state.id));
  }

  /** @internal */
  states(): ConversationState[] {
    return [...this.#states.values()];
  }

  /** @internal */
  state(id: string): ConversationState | undefined {
    return this.#states.get(id);
  }

  /** @internal */
  save(state: ConversationState): void {
    this.#states.set(state.id, state);
  }

  /** @internal */
  messages(id: string): MessageRecord[] {
    return [...this.#messages(id).values()];
  }

  /** @internal */
  firstMessage(id: string): MessageRecord | undefined {
    const [first] = this.#messages(id).values();
    return first;
  }

  /** @internal */
  countMessages(id: string): number {
    return this.#messages(id).size;
  }

  /** @internal */
  message(id: string, messageId: string): MessageRecord | undefined {
    return this.#messages(id).get(messageId);
  }

  /** @internal */
  saveMessage(id: string, message: MessageRecord): void {
    this.#messages(id).set(message.id, message);
  }

  /** @internal Makes several changes in one transaction. */
  together<T>(work: () => T): T {
    return this.#storage.transaction(work);
  }

  /** The last 100 versions of the summary, oldest first, including the current one. */
  summaryVersions(id: string): SummaryVersion[] {
    return structuredClone(this.history.versions(id));
  }

  /** The receipts of the last 100 compactions, oldest first. */
  receipts(id: string): CompactionReceipt[] {
    return structuredClone(this.history.receipts(id));
  }

  #remove(id: string, messageId: string): void {
    this.#messages(id).delete(messageId);
    this.sdk.fields(id).delete(messageId);
  }

  #messages(id: string): Collection<MessageRecord> {
    return this.#storage.collection(`messages/${id}`);
  }

  /** Stores messages in several transactions, and takes back what it has stored if one fails. */
  *#adding(id: string, inputs: readonly MessageInput[]): Sliced<MessageRecord[]> {
    const collection = this.#messages(id);
    const messages = yield* newMessages(inputs, collection, this.#ids, this.#now());
    let stored = 0;
    const storeNext = (): void => {
      const next = messages.slice(stored, stored + AT_ONCE);
      for (const message of next) {
        if (collection.get(message.id) !== undefined) throw new RangeError(`message ${message.id} already exists`);
        collection.set(message.id, message);
        this.#quotes.add(id, message.content);
      }
      stored += next.length;
    };
    try {
      while (stored < messages.length) {
        this.#storage.transaction(storeNext);
        yield;
      }
    } catch (error) {
      for (const message of messages.slice(0, stored)) collection.delete(message.id);
      throw error;
    }
    return messages;
  }

  #record(id: string): ConversationRecord {
    return { ...this.#head(id), messages: structuredClone(this.messages(id)) };
  }

  #head(id: string): Omit<ConversationRecord, 'messages'> {
    const state = this.#states.get(id);
    if (state === undefined) throw new RangeError(`there is no conversation ${id}`);
    const { ownerId, workspaceId, createdAt } = state;
    return { id, ownerId, ...(workspaceId !== undefined && { workspaceId }), createdAt };
  }
}

/** Messages that are stored in one transaction. */
const AT_ONCE = 100;
