import { type CompactionLevel, ConfigurationError, NotFoundError, type RequestOptions } from '../../index.js';
import { badInput } from '../messages.js';
import type { CompactionReport, LostEntry } from '../model.js';
import type { CheckedOptions, ExcludeOptions } from '../options.js';
import type { ServiceContext } from './service.js';
import type { Session } from './session.js';

/** The methods of a `Conversation` for the service's context. */
export class ContextActions {
  readonly id: string;
  readonly #session: Session;
  readonly #service: ServiceContext | undefined;

  /** @internal */
  constructor(options: CheckedOptions, session: Session, service: ServiceContext | undefined) {
    this.id = options.conversationId;
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
    if (this.#service !== undefined) return this.#service.compactor.compact(level, options);
    throw new ConfigurationError('compact needs the option context: a ContextClient.');
  }

  /**
   * Returns the statements that compactions lost, also those of other processes: oldest first, at most the newest 500. An app can
   * offer to pin them.
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
   * Leaves a message out of prompts and searches, and calls `context.exclude` if there is a context. If it belongs to a reply that called
   * tools, all messages of that reply are left out. What other messages quote of it stays in them. With `undo`, takes it in again.
   *
   * @throws {RequestValidationError} when no message has this id
   * @example
   * ```ts
   * await conversation.exclude('msg_sample_7');
   * await conversation.exclude('msg_sample_7', { undo: true });
   * ```
   */
  async exclude(messageId: string, options: ExcludeOptions = {}): Promise<void> {
    const { undo, ...request } = options ?? {};
    if (typeof messageId !== 'string') throw unknownMessage();
    if (undo !== undefined && undo !== true) throw badInput('options.undo', 'must be true, or left out');
    const timeouts = this.#session.timeouts(request);
    const { messages } = await this.#session.loadNewest(timeouts, [messageId]);
    const message = messages.find(({ id }) => id === messageId);
    const isStored = message !== undefined;
    if (this.#service === undefined && !isStored) throw unknownMessage();
    if (this.#service === undefined) this.#session.checkStored('exclude');
    const exclude = async (): Promise<void> => {
      // The service may not have a message that the app stores.
      await this.#service?.client[undo ? 'include' : 'exclude'](this.id, messageId, request).catch((error: unknown) => {
        if (!NotFoundError.is(error) || !isStored) throw error;
      });
      if (!isStored || !this.#session.isStored) return;
      // A search that loads one of its messages would not know of the others.
      const { reply } = message;
      const all = reply === undefined ? [message] : (await this.#session.load(timeouts)).messages;
      for (const one of all)
        if (one === message || one.reply === reply) await this.#session.setExcluded(one, undo ? 0 : 1, timeouts);
    };
    await (this.#service?.excluding(exclude()) ?? exclude());
    await this.#session.save(timeouts);
  }
}

function unknownMessage(): Error {
  return badInput('messageId', 'must be the id of a message of this conversation');
}
