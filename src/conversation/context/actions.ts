import {
  type CompactionLevel,
  ConfigurationError,
  type MemoryCreateParams,
  NotFoundError,
  type PinnedMemoryItem,
  type PinParams,
  type RequestOptions,
  type UserMemoryItem,
} from '../../index.js';
import { badInput } from '../messages.js';
import type { CompactionReport, ContextParts, LostEntry } from '../model.js';
import type { CheckedOptions } from '../options.js';
import type { ServiceContext } from './service.js';
import type { Session } from './session.js';

/** The methods of a `Conversation` for the service's context. */
export class ContextActions {
  readonly id: string;
  readonly #session: Session;
  readonly #service: ServiceContext | undefined;
  readonly #options: CheckedOptions;

  /** @internal */
  constructor(options: CheckedOptions, session: Session, service: ServiceContext | undefined) {
    this.id = options.conversationId;
    this.#options = options;
    this.#session = session;
    this.#service = service;
  }

  /**
   * Compacts now. Only one compaction runs at a time: calls during a compaction get its result. An abort ends the wait,
   * not the compaction.
   *
   * @example
   * ```ts
   * const { tokens } = await conversation.compact('light');
   * console.log(`${tokens.before} -> ${tokens.after} tokens`);
   * ```
   */
  async compact(level?: CompactionLevel, options: RequestOptions = {}): Promise<CompactionReport> {
    return this.#context('compact').compactor.compact(level, options);
  }

  /**
   * Reads the context from the service again.
   *
   * @example
   * ```ts
   * await context.pin('conv_sample', 'msg_sample_7'); // by another process
   * const { pins } = await conversation.refresh();
   * console.log(pins?.length);
   * ```
   */
  async refresh(options: RequestOptions = {}): Promise<ContextParts> {
    const timeouts = this.#session.timeouts(options);
    await this.#session.loadNewest(timeouts);
    const { snapshot, memory } = await this.#context('refresh').reader.read({ ...options, ...timeouts.request() });
    await this.#session.save(timeouts);
    return { summary: snapshot.summary, pins: snapshot.pins, memory };
  }

  /**
   * Returns the statements that compactions lost, oldest first, at most the newest 500. An app can offer to pin them.
   *
   * @example
   * ```ts
   * await conversation.compact('light');
   * await conversation.compact('aggressive');
   * for (const { section, text } of await conversation.lost()) console.log(`${section}: ${text}`);
   * ```
   */
  async lost(): Promise<LostEntry[]> {
    await this.#session.loadNewest(this.#session.timeouts());
    return [...this.#session.state.lost];
  }

  /**
   * Calls `context.pin`. The next turn includes the message.
   *
   * @example
   * ```ts
   * const { content } = await conversation.pin('msg_sample_7');
   * console.log(content);
   * ```
   */
  async pin(messageId: string, params?: PinParams, options?: RequestOptions): Promise<PinnedMemoryItem> {
    return this.#change(options, () => this.#context('pin').client.pin(this.id, messageId, params, options));
  }

  /**
   * Calls `context.unpin`. The next turn sees the change.
   *
   * @example
   * ```ts
   * await conversation.pin('msg_sample_7');
   * await conversation.unpin('msg_sample_7');
   * ```
   */
  async unpin(messageId: string, options?: RequestOptions): Promise<void> {
    return this.#change(options, () => this.#context('unpin').client.unpin(this.id, messageId, options));
  }

  /**
   * Leaves a message out of prompts and searches, and calls `context.exclude` if there is a context. What other messages quote of it
   * stays in them.
   *
   * @throws {RequestValidationError} when no message has this id
   * @example
   * ```ts
   * await conversation.exclude('msg_sample_7');
   * ```
   */
  async exclude(messageId: string, options?: RequestOptions): Promise<void> {
    return this.#mark('exclude', messageId, options);
  }

  /**
   * Undoes `exclude`: calls `context.include` if there is a context.
   *
   * @example
   * ```ts
   * await conversation.exclude('msg_sample_7');
   * await conversation.include('msg_sample_7');
   * ```
   */
  async include(messageId: string, options?: RequestOptions): Promise<void> {
    return this.#mark('include', messageId, options);
  }

  /**
   * Calls `context.memory.upsert` in the conversation's workspace. The next turn includes the item.
   *
   * @example
   * ```ts
   * const { content } = await conversation.remember({ type: 'fact', key: 'port', content: 'The user lives in Oslo.' });
   * console.log(content);
   * ```
   */
  async remember(params: Omit<MemoryCreateParams, 'workspaceId'>, options?: RequestOptions): Promise<UserMemoryItem> {
    const item = { ...params, workspaceId: this.#options.workspaceId };
    return this.#change(options, () => this.#context('remember').client.memory.upsert(item, options));
  }

  /** Makes a change after which the context is read again. */
  async #change<T>(options: RequestOptions = {}, change: () => T | Promise<T>, ids?: readonly string[]): Promise<T> {
    const timeouts = this.#session.timeouts(options);
    await this.#session.loadNewest(timeouts, ids);
    const changed = await change();
    this.#service?.reader.invalidate();
    await this.#session.save(timeouts);
    return changed;
  }

  /** Here and at the service, which may not have a message that the app stores. */
  async #mark(how: 'exclude' | 'include', messageId: string, options?: RequestOptions): Promise<void> {
    const unknown = badInput('messageId', 'must be the id of a message of this conversation');
    if (typeof messageId !== 'string') throw unknown;
    const isStored = (): boolean => this.#session.newest.messages.some(({ id }) => id === messageId);
    const mark = async (): Promise<void> => {
      const { context } = this.#options;
      if (context === undefined && !isStored() && !this.#session.state.excluded.includes(messageId)) throw unknown;
      await context?.[how](this.id, messageId, options).catch((error: unknown) => {
        if (!NotFoundError.is(error) || !isStored()) throw error;
      });
      this.#session.exclude(messageId, how === 'exclude');
    };
    await this.#change(options, mark, [messageId]);
  }

  #context(what: string): ServiceContext {
    if (this.#service !== undefined) return this.#service;
    throw new ConfigurationError(`${what} needs the option context: a ContextClient.`);
  }
}
