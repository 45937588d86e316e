import {
  type ChatMessage,
  type CompactionLevel,
  ConfigurationError,
  type MemoryCreateParams,
  NotFoundError,
  type PinnedMemoryItem,
  type PinParams,
  type RequestOptions,
  type UserMemoryItem,
} from '../../index.js';
import type { ServiceContext } from '../context/service.js';
import type { Session } from '../context/session.js';
import { type Background, Limits } from '../limits.js';
import { badInput, messagesOf } from '../messages.js';
import type {
  BuiltPrompt,
  ChatTurn,
  CompactionReport,
  ContextParts,
  FoundMessage,
  LostEntry,
  RecordedReply,
  ReplyStream,
  SentPrompt,
} from '../model.js';
import {
  type BuildOptions,
  type CheckedOptions,
  type ConversationOptions,
  checkOptions,
  type SearchOptions,
  type TurnInput,
  type TurnOptions,
} from '../options.js';
import { excerptOf } from '../search/passages.js';
import { requestAgain, requestFor, type TurnRequest } from './place.js';
import { Turns } from './turn.js';

/**
 * Creates a conversation whose prompts always fit the model's context window, and which finds what was said in messages
 * that no longer fit. Turns of one conversation run one after the other.
 *
 * @throws {ConfigurationError} when an option is invalid
 *
 * @example
 * ```ts
 * import { createConversation } from 'context-gateway/conversation';
 * const conversation = createConversation({ gateway, conversationId: 'pier', model: 'atlas-small' });
 * await conversation.send('The pier gets a red lamp.');
 * console.log((await conversation.send('Which lamp does the pier get?')).text);
 * ```
 */
export function createConversation(options: ConversationOptions): Conversation {
  return new Conversation(checkOptions(options));
}

/** A conversation whose prompts always fit the model's context window, and whose context is compacted when due. */
export class Conversation {
  readonly id: string;
  readonly #options: CheckedOptions;
  readonly #turns: Turns;
  readonly #session: Session;
  readonly #background: Background;

  /** @internal With a tag, Vue does not wrap it in a proxy, behind which private fields cannot be read. */
  get [Symbol.toStringTag](): string {
    return 'Conversation';
  }

  /** @internal */
  constructor(options: CheckedOptions) {
    this.id = options.conversationId;
    this.#options = options;
    this.#turns = new Turns(options);
    this.#session = this.#turns.session;
    this.#background = this.#turns.background;
  }

  /**
   * Sends the input and streams the reply: `for await (const text of conversation.stream('…'))`.
   *
   * The input is stored before it is sent, and the reply when it ends, also if it was stopped. Pass messages with ids,
   * `[{ role, content, id }]`, and a page can send a question once more that got no reply: it is not stored again. The new reply
   * replaces the old one, if no other message follows it, and otherwise becomes the newest message.
   *
   * @throws {ContextBudgetError} before anything is stored or sent, when the instructions, the pins and the input do not fit
   * @throws {ConversationStoreError} when the input cannot be stored (then nothing is sent), or the reply (then `turn` has it)
   * @throws {ConversationConflictError} when another process has stored messages since the turn began; nothing is sent
   * @example
   * ```ts
   * for await (const text of conversation.stream('The harbour opens at six. When does the harbour open?')) {
   *   process.stdout.write(text);
   * }
   * ```
   */
  stream(input: TurnInput, options: TurnOptions = {}): ReplyStream {
    return this.#turns.reply(options, this.#given(input));
  }

  /**
   * Sends the input and waits for the whole reply. Stores as `stream` does, and throws the same errors.
   *
   * @example
   * ```ts
   * const { text, usage } = await conversation.send('The harbour opens at six. When does the harbour open?');
   * console.log(text, usage.prompt_tokens > 0);
   * ```
   */
  send(input: TurnInput, options: TurnOptions = {}): Promise<ChatTurn> {
    return this.#turns.reply(options, this.#given(input), false).final();
  }

  /**
   * Generates another reply to the last message of the user, or the first one. The old reply is replaced when the new one is
   * stored, in one step: if that fails, it is still there. It stays, too, if a late reply to another question follows it.
   *
   * @throws {ConfigurationError} when the store has no `append`
   * @example
   * ```ts
   * await conversation.send('The harbour opens at six. When does the harbour open?');
   * console.log((await conversation.regenerate().final()).text);
   * ```
   */
  regenerate(options: TurnOptions = {}): ReplyStream {
    return this.#turns.reply(options, () => requestAgain(this.#session.history.messages));
  }

  /**
   * Replaces the text of a message of the user and all messages after it, and streams the reply. They are replaced when the
   * reply is stored, in one step: if it fails before its first word, they are still there. The message keeps its id, unless your
   * database makes another.
   *
   * @throws {ConfigurationError} when the store has no `append`
   * @example
   * ```ts
   * const { messages } = await conversation.send('The harbour opens at six. When does the harbour open?');
   * const reply = conversation.edit(messages[0]?.id ?? '', 'The harbour opens at nine. When does the harbour open?');
   * console.log((await reply.final()).text);
   * ```
   */
  edit(messageId: string, text: string, options: TurnOptions = {}): ReplyStream {
    return this.#turns.reply(options, () => {
      const at = this.#session.find(messageId);
      const { id, role, name } = this.#session.history.messages[at] ?? {};
      if (role !== 'user') throw badInput('messageId', 'must be the id of a message of the user');
      // With the same id, which the page keeps, so that it can edit the message again.
      return { input: messagesOf([{ id, role: 'user', content: text, name }]), before: at, kept: at };
    });
  }

  /**
   * Copies the messages up to and including this one into a new conversation, without the service's context.
   *
   * @example
   * ```ts
   * const { messages } = await conversation.send('The harbour opens at six.');
   * const fork = await conversation.fork(messages[0]?.id ?? '');
   * console.log((await fork.send('When does the harbour open?')).text);
   * ```
   */
  async fork(messageId: string): Promise<Conversation> {
    const limits = new Limits({});
    await this.#session.load(limits);
    const copied = this.#session.history.messages.slice(0, this.#session.find(messageId) + 1);
    const conversationId = crypto.randomUUID();
    const store = await this.#session.copy(conversationId, copied, limits);
    return new Conversation({ ...this.#options, conversationId, context: undefined, store });
  }

  /**
   * Finds messages by their words, names and dates: for citations, and as a tool for the model.
   *
   * @example
   * ```ts
   * await conversation.send('The harbour opens at six.');
   * for (const { role, text } of await conversation.search('harbour', { limit: 1 })) console.log(role, text);
   * ```
   */
  async search(query: string, { limit = 10, signal }: SearchOptions = {}): Promise<FoundMessage[]> {
    const limits = new Limits({ signal });
    await this.#session.load(limits);
    const found = await this.#turns.searcher.search(query, limit, this.#session.history, limits);
    return found.slice(0, limit).map((one) => ({ ...one, text: excerptOf(one.text, query, EXCERPT) }));
  }

  /**
   * Builds the prompt for an input, to send with any client. Pass the reply to `record`. Give the input an id if you store it
   * before: it is then in the prompt once.
   *
   * @example
   * ```ts
   * const { chatMessages } = await conversation.buildMessages('The harbour opens at six. When does the harbour open?');
   * const { choices } = await gateway.chat.completions.create({ model: 'atlas-small', messages: chatMessages });
   * console.log(choices[0]?.message.content);
   * ```
   */
  async buildMessages(input: TurnInput, options: BuildOptions = {}): Promise<BuiltPrompt> {
    return this.#turns.prompt(messagesOf(input), options);
  }

  /**
   * Builds one message with the context and the messages that are found for a question, for prompts that you build
   * yourself. It has at most half of the token budget. Resolves to `undefined` if there is nothing to send.
   *
   * @example
   * ```ts
   * await context.pin('conv_sample', 'msg_sample_7');
   * const message = await conversation.contextMessage('Why Parquet?');
   * console.log(message?.content.includes('finance team'));
   * ```
   */
  async contextMessage(
    question: string,
    options: Pick<RequestOptions, 'signal'> = {},
  ): Promise<ChatMessage | undefined> {
    const input = messagesOf(question);
    const limits = new Limits(options);
    await this.#session.load(limits);
    const prompt = await this.#turns.build({ input }, options, limits, {
      most: Math.floor(this.#options.budget / 2),
      tail: false,
    });
    const texts = [prompt.context, prompt.recalled].flatMap((message) => message?.content ?? []);
    return texts.length === 0 ? undefined : { role: 'user', content: texts.join('\n\n') };
  }

  /**
   * Stores a turn that was made with another client, and compacts in the background if due. Without `reply`, stores the input
   * alone, so that a question is there before you send it. If the input is already stored (by its ids), it is not stored again:
   * the reply replaces the stored one, if no other message follows it, and a changed text the stored text. Recording a turn twice
   * stores it once.
   *
   * @throws {RequestValidationError} when a stored message has another text, unless it is the last question, with its new reply
   * @throws {ConversationStoreError} when the turn cannot be stored
   * @example
   * ```ts
   * await conversation.record('The harbour opens at six.', { text: 'Noted.' });
   * console.log((await conversation.send('When does the harbour open?')).text);
   * ```
   */
  record(input: TurnInput, reply?: RecordedReply): Promise<void> {
    const messages = messagesOf(input);
    if (reply !== undefined && typeof reply?.text !== 'string') throw badInput('reply', 'must be { text }');
    if (typeof (reply?.id ?? '') !== 'string') throw badInput('reply.id', 'must be a string');
    return this.#background.run(this.#turns.record(messages, reply)); // whose errors a caller may ignore
  }

  /**
   * Compacts in the background if due. Call it after turns that you do not pass to `record`. Pass `sent`, a prompt and its
   * reported tokens, to correct the token estimate.
   *
   * @example
   * ```ts
   * const { chatMessages: messages } = await conversation.buildMessages('When does the harbour open?');
   * const { usage } = await gateway.chat.completions.create({ model: 'atlas-small', messages });
   * conversation.compactWhenDue(usage && { messages, prompt_tokens: usage.prompt_tokens });
   * await conversation.idle();
   * ```
   */
  compactWhenDue(sent?: SentPrompt): void {
    const limits = new Limits({ signal: this.#background.signal });
    this.#background.behind(this.#session.load(limits).then(() => this.#turns.compactWhenDue(limits, sent)));
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
    return this.#context('compact').compact(level, options);
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
    const limits = new Limits(options);
    await this.#session.load(limits);
    const { snapshot, memory } = await this.#context('refresh').read({ ...options, ...limits.request() });
    await this.#session.save(limits);
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
    await this.#session.load(new Limits({}));
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
   * Leaves a message out of prompts and searches, and calls `context.exclude` if there is a context.
   *
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

  /**
   * Resolves when no background work is running. For tests, and before a serverless function returns.
   *
   * @example
   * ```ts
   * await conversation.send('The harbour opens at six.');
   * await conversation.idle(); // before a serverless function returns
   * ```
   */
  async idle(): Promise<void> {
    await this.#background.idle();
  }

  /**
   * Stops background work. The two clients stay open.
   *
   * @example
   * ```ts
   * conversation.close(); // or `await using conversation = createConversation({ … })`
   * ```
   */
  close(): void {
    this.#background.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    await this.idle();
  }

  /** Makes a change after which the context is read again. */
  async #change<T>(options: RequestOptions = {}, change: () => T | Promise<T>): Promise<T> {
    const limits = new Limits(options);
    await this.#session.load(limits);
    const changed = await change();
    this.#turns.service?.invalidate();
    await this.#session.save(limits);
    return changed;
  }

  /** Here and at the service, which may not have a message that the app stores. */
  async #mark(how: 'exclude' | 'include', messageId: string, options?: RequestOptions): Promise<void> {
    const isStored = (): boolean => this.#session.history.messages.some(({ id }) => id === messageId);
    await this.#change(options, async () => {
      await this.#options.context?.[how](this.id, messageId, options).catch((error: unknown) => {
        if (!NotFoundError.is(error) || !isStored()) throw error;
      });
      this.#session.exclude(messageId, how === 'exclude');
    });
  }

  /** Copies the input now, so that later changes by the caller change nothing. An error is thrown by the reply. */
  #given(input: TurnInput): () => TurnRequest {
    const copy = Array.isArray(input) ? input.map((message) => ({ ...message })) : input;
    return () => requestFor(messagesOf(copy), this.#session.history.messages);
  }

  #context(what: string): ServiceContext {
    if (this.#turns.service !== undefined) return this.#turns.service;
    throw new ConfigurationError(`${what} needs the option context: a ContextClient.`);
  }
}

/** Characters. */
const EXCERPT = 400;
