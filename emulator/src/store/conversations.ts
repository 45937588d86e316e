import { runSync, type Sliced } from '../base/slices.js';
import {
  type CompactionReceipt,
  type ConversationInput,
  type ConversationRecord,
  type ConversationState,
  MESSAGE_ROLES,
  type MessageInput,
  type MessageRecord,
  type SummaryVersion,
} from './conversation-records.js';
import type { IdSource } from './random.js';
import { type Collection, checkedId, type Storage } from './storage.js';
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
  /** The conversations that have a message with this content; undefined until it is needed. */
  #byContent: Map<string, Set<string>> | undefined;

  constructor(storage: Storage, ids: IdSource, now: () => number, workspaces: Workspaces, defaultUser: () => string) {
    this.#states = storage.collection('conversations');
    this.#storage = storage;
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
      for (const { id: messageId } of this.messages(id)) this.#messages(id).delete(messageId);
      const createdAt = new Date(this.#now()).toISOString();
      const ownerId = checkedId('user', input.ownerId ?? this.#defaultUser());
      const messages = yield* this.#adding(id, input.messages ?? []);
      this.#states.set(id, {
        id,
        ownerId,
        workspaceId: input.workspaceId,
        createdAt,
        stylePreferences: structuredClone(input.stylePreferences ?? {}),
        pins: [],
        summary: [],
        version: 0,
        lastUpdated: createdAt,
        folded: 0,
        leftOut: [],
        summaryBudget: 0,
        lastCompactionAt: null,
      });
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

  /** Deletes a conversation with its messages and summaries. Returns false if there is no such conversation. */
  delete(id: string): boolean {
    if (this.#states.get(id) === undefined) return false;
    this.#storage.transaction(() => {
      for (const { id: messageId } of this.messages(id)) this.#messages(id).delete(messageId);
      for (const { summary } of [...this.#versions(id).values()]) this.#versions(id).delete(String(summary.version));
      for (const { number } of this.receipts(id)) this.#receipts(id).delete(String(number));
      this.#states.delete(id);
    });
    this.reload();
    return true;
  }

  /** A conversation with its messages. */
  get(id: string): ConversationRecord | undefined {
    return this.#states.get(id) === undefined ? undefined : this.#record(id);
  }

  /**
   * @internal The conversation that a prompt belongs to: that of its newest message which only one conversation has, word
   * for word.
   */
  quotedIn(messages: readonly { role: string; content: string }[]): string | undefined {
    const byContent = this.#contents();
    for (const { role, content } of [...messages].reverse()) {
      if (role === 'system' || content === '') continue;
      const holders = byContent.get(content);
      if (holders === undefined) continue;
      const [id] = holders;
      if (holders.size === 1 && id !== undefined && this.#states.get(id) !== undefined) return id;
    }
    return undefined;
  }

  /** @internal Drops what is cached from the previous records. */
  reload(): void {
    this.#byContent = undefined;
  }

  #contents(): Map<string, Set<string>> {
    if (this.#byContent === undefined) {
      this.#byContent = new Map();
      for (const { id } of this.states()) for (const { content } of this.messages(id)) this.#holds(id, content);
    }
    return this.#byContent;
  }

  #holds(id: string, content: string): void {
    const holders = this.#byContent?.get(content);
    if (holders === undefined) this.#byContent?.set(content, new Set([id]));
    else holders.add(id);
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
    for (const message of this.#messages(id).values()) return message;
    return undefined;
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
    return structuredClone([...this.#versions(id).values()]);
  }

  /** @internal The current version of the summary, not copied. */
  lastVersion(id: string): SummaryVersion | undefined {
    let last: SummaryVersion | undefined;
    for (const version of this.#versions(id).values()) last = version;
    return last;
  }

  /** @internal */
  keepVersion(id: string, version: SummaryVersion): void {
    const versions = this.#versions(id);
    versions.set(String(version.summary.version), version);
    versions.delete(String(version.summary.version - MOST_VERSIONS));
  }

  /** The receipts of the last 100 compactions, oldest first. */
  receipts(id: string): CompactionReceipt[] {
    return structuredClone([...this.#receipts(id).values()]);
  }

  /** @internal Numbers a receipt and keeps it. */
  keepReceipt(id: string, receipt: Omit<CompactionReceipt, 'number'>): void {
    const receipts = this.#receipts(id);
    let number = 1;
    for (const last of receipts.values()) number = last.number + 1;
    receipts.set(String(number), { number, ...receipt });
    receipts.delete(String(number - MOST_VERSIONS));
  }

  #receipts(id: string): Collection<CompactionReceipt> {
    return this.#storage.collection(`receipts/${id}`);
  }

  #versions(id: string): Collection<SummaryVersion> {
    return this.#storage.collection(`summaries/${id}`);
  }

  #messages(id: string): Collection<MessageRecord> {
    return this.#storage.collection(`messages/${id}`);
  }

  /** Stores messages in several transactions, and takes back what it has stored if one fails. */
  *#adding(id: string, inputs: readonly MessageInput[]): Sliced<MessageRecord[]> {
    const messages = yield* this.#newMessages(id, inputs);
    const collection = this.#messages(id);
    let stored = 0;
    const storeNext = (): void => {
      const next = messages.slice(stored, stored + AT_ONCE);
      for (const message of next) {
        if (collection.get(message.id) !== undefined) throw new RangeError(`message ${message.id} already exists`);
        collection.set(message.id, message);
        if (this.#byContent !== undefined) this.#holds(id, message.content);
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

  *#newMessages(conversationId: string, inputs: readonly MessageInput[]): Sliced<MessageRecord[]> {
    const existing = this.#messages(conversationId);
    const seen = new Set<string>();
    const ids = this.#ids.series('msg');
    const now = new Date(this.#now()).toISOString();
    const messages: MessageRecord[] = [];
    for (const input of inputs) {
      yield;
      if (!MESSAGE_ROLES.includes(input.role)) throw new RangeError(`not a message role: ${String(input.role)}`);
      if (typeof input.content !== 'string') throw new RangeError('the content of a message must be a string');
      const id = checkedId('message', input.id ?? ids.next());
      if (seen.has(id) || existing.get(id) !== undefined) throw new RangeError(`message ${id} already exists`);
      seen.add(id);
      const createdAt = input.createdAt ?? now;
      if (Number.isNaN(Date.parse(createdAt))) throw new RangeError(`not a timestamp: ${createdAt}`);
      messages.push({ id, role: input.role, content: input.content, createdAt, excluded: false });
    }
    if (inputs.some(({ id }) => id === undefined)) ids.save();
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

const MOST_VERSIONS = 100;
/** Messages that are stored in one transaction. */
const AT_ONCE = 100;
