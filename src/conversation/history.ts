import { ConfigurationError, type ContextMetadata } from '../index.js';
import type { ConversationMessage } from './messages.js';
import type { ConversationOptions } from './options.js';

/** The size of some messages. */
export interface Figures {
  tokens: number;
  messages: number;
}

/** The messages of a conversation, stored by the app or here. */
export class History {
  readonly #source: Exclude<ConversationOptions['history'], readonly ConversationMessage[]>;
  readonly #kept: ConversationMessage[] = [];
  readonly #excluded = new Set<string>();
  #added: Figures = { tokens: 0, messages: 0 };

  constructor(history: ConversationOptions['history'] = []) {
    if (typeof history === 'function') this.#source = history;
    else this.#kept.push(...history);
  }

  /** The messages stored here. None if the app stores them. */
  get kept(): readonly ConversationMessage[] {
    return this.#kept;
  }

  /** The total size of the messages that turns have added. */
  get added(): Figures {
    return this.#added;
  }

  async messages(): Promise<readonly ConversationMessage[]> {
    const messages = this.#source === undefined ? this.#kept : await this.#source();
    if (!Array.isArray(messages)) throw new ConfigurationError('history must give an array of messages.');
    if (this.#excluded.size === 0) return messages;
    return messages.map((message) =>
      message.id !== undefined && this.#excluded.has(message.id) ? { ...message, excluded: true } : message,
    );
  }

  add(messages: readonly ConversationMessage[], tokens: number): void {
    if (this.#source === undefined) this.#kept.push(...messages);
    this.#added = { tokens: this.#added.tokens + tokens, messages: this.#added.messages + messages.length };
  }

  exclude(messageId: string): void {
    this.#excluded.add(messageId);
  }

  include(messageId: string): void {
    this.#excluded.delete(messageId);
  }

  /** The service's figures plus the messages added since they were requested. */
  brought(metadata: ContextMetadata, since: Figures): ContextMetadata {
    const tokens = this.#added.tokens - since.tokens;
    return {
      ...metadata,
      totalTokens: metadata.totalTokens + tokens,
      compressedTokens: metadata.compressedTokens + tokens,
      recentMessageCount: metadata.recentMessageCount + this.#added.messages - since.messages,
    };
  }
}
