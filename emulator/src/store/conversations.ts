import {
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
    const id = checkedId('conversation', input.id ?? this.#ids.next('conv'));
    if (this.#states.get(id) !== undefined) throw new RangeError(`conversation ${id} already exists`);
    if (input.workspaceId !== undefined && this.#workspaces.get(input.workspaceId) === undefined) {
      throw new RangeError(`there is no workspace ${input.workspaceId}`);
    }
    const messages = this.#newMessages(id, input.messages ?? []);
    const createdAt = new Date(this.#now()).toISOString();
    const state: ConversationState = {
      id,
      ownerId: checkedId('user', input.ownerId ?? this.#defaultUser()),
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
    };
    this.#storage.transaction(() => {
      this.#states.set(id, state);
      this.#addMessages(id, messages);
    });
    return this.#record(id);
  }

  /** Appends messages. Returns them with their ids. */
  append(conversationId: string, messages: readonly MessageInput[]): MessageRecord[] {
    this.#record(conversationId);
    const added = this.#newMessages(conversationId, messages);
    this.#storage.transaction(() => this.#addMessages(conversationId, added));
    return structuredClone(added);
  }

  /** Deletes a conversation with its messages and summaries. Returns false if there is no such conversation. */
  delete(id: string): boolean {
    if (this.#states.get(id) === undefined) return false;
    this.#storage.transaction(() => {
      for (const { id: messageId } of this.messages(id)) this.#messages(id).delete(messageId);
      for (const { summary } of [...this.#versions(id).values()]) this.#versions(id).delete(String(summary.version));
      this.#states.delete(id);
    });
    return true;
  }

  /** A conversation with its messages. */
  get(id: string): ConversationRecord | undefined {
    return this.#states.get(id) === undefined ? undefined : this.#record(id);
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

  #versions(id: string): Collection<SummaryVersion> {
    return this.#storage.collection(`summaries/${id}`);
  }

  #messages(id: string): Collection<MessageRecord> {
    return this.#storage.collection(`messages/${id}`);
  }

  #addMessages(id: string, messages: readonly MessageRecord[]): void {
    const collection = this.#messages(id);
    for (const message of messages) collection.set(message.id, message);
  }

  #newMessages(conversationId: string, inputs: readonly MessageInput[]): MessageRecord[] {
    const existing = this.#messages(conversationId);
    const seen = new Set<string>();
    return inputs.map((input) => {
      if (!MESSAGE_ROLES.includes(input.role)) throw new RangeError(`not a message role: ${String(input.role)}`);
      if (typeof input.content !== 'string') throw new RangeError('the content of a message must be a string');
      const id = checkedId('message', input.id ?? this.#ids.next('msg'));
      if (seen.has(id) || existing.get(id) !== undefined) throw new RangeError(`message ${id} already exists`);
      seen.add(id);
      const createdAt = input.createdAt ?? new Date(this.#now()).toISOString();
      if (Number.isNaN(Date.parse(createdAt))) throw new RangeError(`not a timestamp: ${createdAt}`);
      return { id, role: input.role, content: input.content, createdAt, excluded: false };
    });
  }

  #record(id: string): ConversationRecord {
    const state = this.#states.get(id);
    if (state === undefined) throw new RangeError(`there is no conversation ${id}`);
    return {
      id,
      ownerId: state.ownerId,
      ...(state.workspaceId === undefined ? {} : { workspaceId: state.workspaceId }),
      createdAt: state.createdAt,
      messages: structuredClone(this.messages(id)),
    };
  }
}

const MOST_VERSIONS = 100;
