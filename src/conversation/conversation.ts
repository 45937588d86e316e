import {
  APIAbortError,
  APIError,
  type ChatCompletionStream,
  type ChatCompletions,
  type ChatMessage,
  type CompactionLevel,
  ConfigurationError,
  type GatewayClient,
  type MemoryCreateParams,
  type PinnedMemoryItem,
  type PinParams,
  type RequestOptions,
  RequestValidationError,
  type StreamedChatCompletion,
  type UserMemoryItem,
} from '../index.js';
import { type CurrentContext, ServiceContext } from './context.js';
import {
  type BuiltPrompt,
  type ChatTurn,
  type CompactionReport,
  type ContextParts,
  type ConversationMessage,
  type LedgerEntry,
  messagesOf,
  type ReplyStream,
  type SearchResult,
  wellFormed,
} from './model.js';
import { type ConversationOptions, checkOptions, type Window } from './options.js';
import { ContextBudgetError, type FitState, fitPrompt } from './prompt.js';
import { excerptOf } from './recall.js';
import { forgetMessage, isBinding, lostEntries } from './receipt.js';
import type { TurnEnd } from './respond.js';
import { History, Searcher } from './search.js';
import { ConversationConflictError, memoryStore, Session, stored } from './store.js';
import { messageTokens, TokenCounter } from './tokens.js';
import { Background, Limits, Reply } from './turn.js';

/** The user's new message, or several messages. The last one is the question. */
export type TurnInput = string | readonly ConversationMessage[];

/** Options of one turn. */
export interface TurnOptions extends RequestOptions {
  /** From 0 to 2. @default 1 */
  temperature?: number | undefined;
  /**
   * Maximum tokens of the reply. The prompt leaves room for them.
   * @default not sent; the prompt leaves room for `reserveOutput` tokens
   */
  max_tokens?: number | undefined;
}

/** Options of a prompt for another client. */
export interface BuildOptions
  extends Pick<TurnOptions, 'signal' | 'timeout' | 'deadline' | 'maxRetries' | 'max_tokens'> {
  /** The messages before the input, in place of those of the store. */
  messages?: readonly ConversationMessage[] | undefined;
  /** In place of the conversation's instructions. */
  instructions?: string | undefined;
}

/** Options of `search`. */
export interface SearchOptions extends Pick<RequestOptions, 'signal'> {
  /** Maximum number of messages. @default 10 */
  limit?: number | undefined;
}

/** A reply generated with another client. */
export interface MadeReply {
  text: string;
  /** Whether the reply was stopped before it was complete. */
  stopped?: boolean | undefined;
}

/** A prompt that another client has sent, and its length as the service reported it. */
export interface SentPrompt {
  messages: readonly { content: string }[];
  /** From the `usage` of the response. */
  prompt_tokens: number;
}

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
  return new Conversation(options, checkOptions(options));
}

/** A conversation whose prompts always fit the model's context window, and whose context is compacted when due. */
export class Conversation {
  readonly id: string;
  readonly #options: ConversationOptions;
  /** Only text is sent, so the documented types are those of the replies. */
  readonly #completions: ChatCompletions;
  readonly #window: Window;
  readonly #counter: TokenCounter;
  readonly #background = new Background((error) => this.#options.onError?.(error));
  readonly #session: Session;
  readonly #searcher: Searcher;
  readonly #service: ServiceContext | undefined;
  /** Messages that the app passes to `buildMessages`, and the layout of their prompts. */
  readonly #passed = new History();
  #passedLayout: FitState | undefined;
  #hasWarned = false;
  /** The reply of the turn that runs. */
  #running: Reply | undefined;
  #lastTurn: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(options: ConversationOptions, window: Window) {
    const { context, conversationId, store = memoryStore(), countTokens, search } = options;
    const { onError } = this.#background;
    this.id = conversationId;
    this.#options = { ...options };
    this.#completions = (options.gateway as GatewayClient).chat.completions;
    this.#window = window;
    this.#counter = new TokenCounter(countTokens);
    this.#session = new Session(conversationId, store, this.#counter, onError);
    this.#searcher = new Searcher(search, onError);
    this.#service =
      context &&
      new ServiceContext(context, this.#options, {
        ...{ session: this.#session, background: this.#background, count: this.#counter.count },
        budget: window.contextWindow - window.reserveOutput,
      });
  }

  /**
   * Sends the input and streams the reply: `for await (const text of conversation.stream('…'))`.
   *
   * @throws {ContextBudgetError} before anything is sent, when the instructions, the pins and the input do not fit
   * @example
   * ```ts
   * for await (const text of conversation.stream('The harbour opens at six. When does the harbour open?')) {
   *   process.stdout.write(text);
   * }
   * ```
   */
  stream(input: TurnInput, options: TurnOptions = {}): ReplyStream {
    return this.#reply(options, givenInput(input));
  }

  /**
   * Sends the input and waits for the whole reply.
   *
   * @throws {ContextBudgetError} before anything is sent, when the instructions, the pins and the input do not fit
   * @example
   * ```ts
   * const { text, usage } = await conversation.send('The harbour opens at six. When does the harbour open?');
   * console.log(text, usage.prompt_tokens > 0);
   * ```
   */
  send(input: TurnInput, options: TurnOptions = {}): Promise<ChatTurn> {
    return this.#reply(options, givenInput(input), false).final();
  }

  /**
   * Sends the input and resolves to the response for a page: `stream(input, options).toResponse()`. Pass the signal of
   * the request, so that a page that leaves early stops the reply.
   *
   * @example
   * ```ts
   * const response = await conversation.respond('The harbour opens at six. When does the harbour open?');
   * console.log(response.status, (await response.text()).split('\n')[0]);
   * ```
   */
  respond(input: TurnInput, options: TurnOptions = {}): Promise<Response> {
    return this.stream(input, options).toResponse();
  }

  /**
   * Generates the last reply again, in place of the old one.
   *
   * @throws {ConfigurationError} when the store has no `append` and `truncate`
   * @example
   * ```ts
   * await conversation.send('The harbour opens at six. When does the harbour open?');
   * console.log((await conversation.regenerate().final()).text);
   * ```
   */
  regenerate(options: TurnOptions = {}): ReplyStream {
    return this.#reply(options, () => {
      const { messages } = this.#session.history;
      const end = messages.findLastIndex(({ role }) => role === 'user') + 1;
      const start = messages.slice(0, end).findLastIndex(({ role }) => role !== 'user') + 1;
      if (end === 0) throw badArgument('regenerate', 'there is no message of the user to reply to');
      return { input: messages.slice(start, end), history: start, stored: end };
    });
  }

  /**
   * Replaces the text of a message of the user, removes all messages after it, and streams the reply.
   *
   * @throws {ConfigurationError} when the store has no `append` and `truncate`
   * @example
   * ```ts
   * const { messages } = await conversation.send('The harbour opens at six. When does the harbour open?');
   * const reply = conversation.edit(messages[0]?.id ?? '', 'The harbour opens at nine. When does the harbour open?');
   * console.log((await reply.final()).text);
   * ```
   */
  edit(messageId: string, text: string, options: TurnOptions = {}): ReplyStream {
    return this.#reply(options, () => {
      const at = this.#session.find(messageId);
      const { name } = this.#session.history.messages[at] ?? {};
      return {
        input: messagesOf([{ role: 'user', content: text, ...(name !== undefined && { name }) }]),
        history: at,
        stored: at,
      };
    });
  }

  /**
   * Copies the messages up to and including one into another conversation. With the id of a conversation that the
   * service has, it uses that context; otherwise it has none.
   *
   * @example
   * ```ts
   * const { messages } = await conversation.send('The harbour opens at six.');
   * const fork = await conversation.fork(messages[0]?.id ?? '');
   * console.log((await fork.send('When does the harbour open?')).text);
   * ```
   */
  async fork(messageId: string, conversationId?: string): Promise<Conversation> {
    await this.#session.load({});
    const copied = this.#session.history.messages
      .slice(0, this.#session.find(messageId) + 1)
      .map(({ id, ...message }) => stored(message));
    const id = conversationId ?? crypto.randomUUID();
    const store = await this.#session.copy(id, copied);
    const context = conversationId === undefined ? undefined : this.#options.context;
    return new Conversation({ ...this.#options, conversationId: id, context, store }, this.#window);
  }

  /**
   * Finds messages by their words, names and dates: for citations, and as a tool for the model.
   *
   * @example
   * ```ts
   * await conversation.send('The harbour opens at six.');
   * for (const { role, excerpt } of await conversation.search('harbour', { limit: 1 })) console.log(role, excerpt);
   * ```
   */
  async search(query: string, { limit = 10, signal }: SearchOptions = {}): Promise<SearchResult[]> {
    const limits = await this.#session.load({ signal });
    const hits = await this.#searcher.hits(query, { limit, neighbours: false }, this.#session.history, limits);
    return hits.slice(0, limit).flatMap(({ position, score, excerpt }) => {
      const message = this.#session.history.messages[position];
      return message === undefined
        ? []
        : [{ ...message, score, excerpt: excerpt ?? excerptOf(message.content, query, isExcerpt) }];
    });
  }

  /**
   * Builds the prompt for an input, to send with any client. Pass the reply to `record`.
   *
   * @example
   * ```ts
   * const { chatMessages } = await conversation.buildMessages('The harbour opens at six. When does the harbour open?');
   * const { choices } = await gateway.chat.completions.create({ model: 'atlas-small', messages: chatMessages });
   * console.log(choices[0]?.message.content);
   * ```
   */
  async buildMessages(input: TurnInput, options: BuildOptions = {}): Promise<BuiltPrompt> {
    const asked = messagesOf(input);
    const { messages } = options;
    const limits = await this.#session.load(options);
    if (messages === undefined) {
      const { prompt, layout } = await this.#build({ input: asked }, options, limits);
      this.#session.set({ layout });
      return prompt;
    }
    this.#passed.update(messages);
    const { prompt, layout } = await this.#build({ input: asked }, options, limits, { history: this.#passed });
    this.#passedLayout = layout;
    this.#warnOfLeftOut(prompt);
    return prompt;
  }

  /**
   * Builds one message with the context and what is found for a question, within half of the window, for prompts that
   * you build yourself. Resolves to `undefined` if there is nothing to send.
   *
   * @example
   * ```ts
   * await context.pin('conv_sample', { messageId: 'msg_sample_7' });
   * const message = await conversation.contextMessage('Why Parquet?');
   * console.log(message?.content.includes('finance team'));
   * ```
   */
  async contextMessage(
    question: string,
    options: Pick<RequestOptions, 'signal'> = {},
  ): Promise<ChatMessage | undefined> {
    const input = messagesOf(question);
    const limits = await this.#session.load(options);
    const { prompt } = await this.#build({ input }, options, limits, { share: 0.5, tail: false });
    const texts = [prompt.context, prompt.recalled].flatMap((message) => message?.content ?? []);
    return texts.length === 0 ? undefined : { role: 'user', content: texts.join('\n\n') };
  }

  /**
   * Stores a turn that was made with another client, and compacts in the background if due.
   *
   * @example
   * ```ts
   * await conversation.record('The harbour opens at six.', { text: 'Noted.' });
   * console.log((await conversation.send('When does the harbour open?')).text);
   * ```
   */
  record(input: TurnInput, reply: MadeReply): Promise<void> {
    const messages = messagesOf(input);
    if (typeof reply?.text !== 'string') throw badArgument('reply', 'must be { text }');
    const record = async (): Promise<void> => {
      const { limits, end } = await this.#inOrder({});
      try {
        await this.#store({ input: messages }, reply.text, reply.stopped, limits);
        await this.#current(limits).catch(this.#background.onError);
        await this.#session.save(limits);
        void this.#service?.compactIfDue();
      } finally {
        end();
      }
    };
    return this.#background.run(record()); // whose errors a caller may ignore
  }

  /**
   * Compacts in the background if due. Call it after turns that you do not pass to `record`. With `sent`, the estimate
   * of tokens is corrected by the reported length of a prompt: later prompts use more of the window.
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
    const read = this.#session.load({ signal: this.#background.signal }).then(async (limits) => {
      await this.#current(limits);
      if (sent === undefined) return;
      const contents = sent.messages.map(({ content }) => content);
      this.#counter.calibrate(contents, sent.prompt_tokens);
      await this.#session.save();
    });
    this.#background.behind(read.then(() => this.#service?.compactIfDue()));
  }

  /**
   * Compacts now. Only one compaction runs at a time: calls made meanwhile share its result. An abort ends the wait,
   * not the compaction.
   *
   * @example
   * ```ts
   * const { tokens } = await conversation.compact('light');
   * console.log(`${tokens.before} -> ${tokens.after} tokens`);
   * ```
   */
  compact(level?: CompactionLevel, options: RequestOptions = {}): Promise<CompactionReport> {
    return this.#service?.compact(level, options) ?? Promise.reject(contextMissing('compact'));
  }

  /**
   * Reads the context from the service again.
   *
   * @example
   * ```ts
   * await context.pin('conv_sample', { messageId: 'msg_sample_7' }); // by another process
   * const { pins } = await conversation.refresh();
   * console.log(pins?.length);
   * ```
   */
  async refresh(options: RequestOptions = {}): Promise<ContextParts> {
    const limits = await this.#session.load(options);
    const { summary, pins, memory } = await this.#context('refresh').read({ ...options, ...limits.request() });
    await this.#session.save();
    return { summary, pins, memory };
  }

  /**
   * Statements that compactions dropped, oldest first. An app can offer to pin them.
   *
   * @example
   * ```ts
   * await conversation.compact('light');
   * await conversation.compact('aggressive');
   * for (const { section, text } of await conversation.lost()) console.log(`${section}: ${text}`);
   * ```
   */
  async lost(): Promise<LedgerEntry[]> {
    await this.#session.load({});
    return lostEntries(this.#session.state.ledger).filter(isBinding);
  }

  /**
   * Calls `context.pin`. The next turn includes the message.
   *
   * @example
   * ```ts
   * const { content } = await conversation.pin({ messageId: 'msg_sample_7' });
   * console.log(content);
   * ```
   */
  async pin(params: PinParams, options?: RequestOptions): Promise<PinnedMemoryItem> {
    return this.#change(await this.#context('pin').client.pin(this.id, params, options));
  }

  /**
   * Calls `context.unpin`. The next turn sees the change.
   *
   * @example
   * ```ts
   * await conversation.pin({ messageId: 'msg_sample_7' });
   * await conversation.unpin('msg_sample_7');
   * ```
   */
  async unpin(messageId: string, options?: RequestOptions): Promise<void> {
    return this.#change(await this.#context('unpin').client.unpin(this.id, messageId, options));
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
    await this.#options.context?.exclude(this.id, messageId, options);
    await this.#session.load({});
    const message = this.#session.history.messages.find(({ id }) => id === messageId);
    const { excluded, ledger } = this.#session.state;
    this.#session.set({
      excluded: [...excluded.filter((id) => id !== messageId), messageId],
      ledger: forgetMessage(ledger, message?.content),
    });
    await this.#change(undefined);
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
    await this.#options.context?.include(this.id, messageId, options);
    await this.#session.load({});
    this.#session.set({ excluded: this.#session.state.excluded.filter((id) => id !== messageId) });
    await this.#change(undefined);
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
    const { workspaceId } = this.#options;
    const { client } = this.#context('remember');
    return this.#change(await client.memory.upsert({ ...params, workspaceId }, options));
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

  /** Waits for the turns before. A reply that no one goes on reading does not delay the next turn. */
  async #inOrder(options: RequestOptions): Promise<{ limits: Limits; end: () => void }> {
    const limits = new Limits(options);
    const before = this.#lastTurn;
    let end = (): void => {};
    this.#lastTurn = new Promise((resolve) => {
      end = () => resolve(before);
    });
    void this.#running?.readOn();
    try {
      await limits.within('The turn before', () => before, Number.POSITIVE_INFINITY);
      return { limits: await this.#session.load(limits), end };
    } catch (error) {
      end();
      throw error;
    }
  }

  #reply({ signal: caller, ...options }: TurnOptions, request: () => TurnRequest, stream = true): Reply {
    return new Reply((signal, reply) => this.#turn(request, { ...options, signal, stream }, reply), caller);
  }

  async *#turn(
    make: () => TurnRequest,
    options: TurnOptions & { signal: AbortSignal; stream: boolean },
    reply: Reply,
  ): AsyncGenerator<string, TurnEnd> {
    const { signal } = options;
    if (signal.aborted) throw new APIAbortError({ cause: signal.reason });
    const { limits, end } = await this.#inOrder(options);
    this.#running = reply;
    let text = '';
    try {
      const request = make();
      this.#checkStore(request);
      const { answer, built } = await this.#ask(request, options, limits);
      reply.report = built.prompt.report;
      if (!('textStream' in answer)) return await this.#ended(request, built, limits, textOf(answer), answer);
      try {
        for await (const piece of answer.textStream) {
          text += piece;
          yield piece;
          if (signal.aborted) throw new APIAbortError({ cause: signal.reason });
        }
        const completion = await answer.finalCompletion();
        return await this.#ended(request, built, limits, textOf(completion), completion);
      } catch (error) {
        if (text === '' || ConversationConflictError.is(error)) throw error;
        return { ...(await this.#ended(request, built, limits, text)), error };
      }
    } finally {
      this.#running = undefined;
      end();
    }
  }

  /** @throws {ConfigurationError} when the store cannot replace messages */
  #checkStore({ stored: kept }: TurnRequest): void {
    if (kept === undefined) return;
    this.#session.check('append', 'truncate');
    const removed = this.#session.history.messages[kept];
    if (removed !== undefined && removed.id === undefined)
      throw new ConfigurationError('To replace messages, store.load must return them with their ids.');
  }

  /** Before the first compaction, messages that are left out and not found are in no summary either. */
  #warnOfLeftOut({ report: { dropped, recalled, summaryVersion } }: BuiltPrompt): void {
    const { messages = 0 } = dropped.find(({ section, reason }) => section === 'history' && reason === 'budget') ?? {};
    const left = messages - recalled.filter(({ role }) => role !== 'summary').length;
    if (this.#hasWarned || left <= 0 || summaryVersion > 0 || this.#options.context === undefined) return;
    this.#hasWarned = true;
    const message = `${left} older messages are in no prompt: they do not fit, nothing in them matches the input, and the service has no summary of them. Call compact(), if the service has these messages; otherwise leave out context.`;
    this.#background.onError(new ConfigurationError(message));
  }

  /** Builds and sends a prompt. If the service rejects it as too long, builds a smaller one and sends that, once. */
  async #ask(
    request: TurnRequest,
    { temperature, max_tokens, stream, ...options }: TurnOptions & { stream: boolean },
    limits: Limits,
  ): Promise<{ answer: StreamedChatCompletion | ChatCompletionStream; built: Built }> {
    const send = ({ prompt: { chatMessages: messages } }: Built) => {
      const params = { model: this.#options.model, temperature, max_tokens, messages, stream };
      return this.#completions.create(params, { ...options, ...limits.request() });
    };
    const built = await this.#build(request, { max_tokens }, limits);
    try {
      return { built, answer: await send(built) };
    } catch (error) {
      if (!APIError.is(error) || error.code !== 'context_length_exceeded') throw error;
      this.#counter.undercounted();
      const { chatMessages, report } = built.prompt;
      const share = SMALLER * (messageTokens(chatMessages, this.#counter.count) / report.budget);
      const smaller = await this.#build(request, { max_tokens }, limits, { share }).catch((reason: unknown) => {
        throw ContextBudgetError.is(reason) ? error : reason; // nothing is left to drop: report the service's error
      });
      return { built: smaller, answer: await send(smaller) };
    }
  }

  async #build(
    { input, history: end }: TurnRequest,
    { max_tokens, instructions = this.#options.instructions }: BuildOptions,
    limits: Limits,
    { history = this.#session.history, share = 1, tail }: { history?: History; share?: number; tail?: false } = {},
  ): Promise<Built> {
    const budget = Math.floor(share * this.#budgetBeside(max_tokens));
    const { stale, snapshot } = await this.#current(limits);
    const messages = end === undefined ? history.messages : history.messages.slice(0, end);
    const previous = history === this.#passed ? this.#passedLayout : this.#session.state.layout;
    const { count: countTokens, estimated } = this.#counter;
    const params = {
      ...{ parts: snapshot ?? {}, input, instructions, budget, countTokens, previous, tail },
      history: messages,
    };
    // Without a search, as long as all messages fit.
    const plain = fitPrompt({ ...params, found: { hits: [] } });
    const isAll = plain.start === 0 && lostEntries(this.#session.state.ledger).length === 0;
    const { state, report, ...prompt } = isAll
      ? plain
      : fitPrompt({
          ...params,
          found: await this.#searcher.found(input, messages, { history, limits, ledger: this.#session.state.ledger }),
        });
    const compactionExhausted = snapshot !== undefined && this.#service?.isExhausted(snapshot) === true;
    return { layout: state, prompt: { ...prompt, report: { ...report, estimated, stale, compactionExhausted } } };
  }

  #budgetBeside(max_tokens = this.#window.reserveOutput): number {
    const { contextWindow } = this.#window;
    if (Number.isInteger(max_tokens) && max_tokens >= 0 && max_tokens < contextWindow)
      return contextWindow - max_tokens;
    throw badArgument('max_tokens', `must be a whole number of tokens below contextWindow, which is ${contextWindow}`);
  }

  async #current(limits: Limits): Promise<CurrentContext> {
    return (await this.#service?.current(limits.request())) ?? { stale: false };
  }

  /** Stores a turn. Without a completion, it was stopped. */
  async #ended(
    request: TurnRequest,
    { prompt: { report, chatMessages }, layout }: Built,
    limits: Limits,
    text: string,
    completion?: StreamedChatCompletion,
  ): Promise<TurnEnd> {
    const { total: prompt_tokens } = report.tokens;
    const completion_tokens = this.#counter.count(text);
    const estimated = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
    const { usage } = completion ?? {};
    if (usage !== undefined)
      this.#counter.calibrate(
        chatMessages.map(({ content }) => content),
        usage.prompt_tokens,
      );
    const stopped = completion === undefined;
    const turn = { text, stopped, usage: usage ?? estimated, usageEstimated: usage === undefined, completion, report };
    this.#session.set({ layout });
    const messages = await this.#store(request, text, stopped, limits).catch((error: unknown) => {
      if (ConversationConflictError.is(error)) error.setTurn({ ...turn, messages: [] });
      throw error;
    });
    await this.#session.save(limits);
    const compaction = this.#service?.compactIfDue() ?? [];
    return { turn: { ...turn, messages }, receipts: this.#background.settled().then(() => compaction) };
  }

  /** Stores a turn, in place of the messages that it replaces. */
  async #store(
    { input, history: end, stored: kept }: TurnRequest,
    text: string,
    stopped = false,
    limits: Limits,
  ): Promise<ConversationMessage[]> {
    const reply = stored({ role: 'assistant', content: wellFormed(text), ...(stopped && { stopped }) });
    const turn = kept !== undefined && kept !== end ? [reply] : [...input.map(stored), reply];
    const removed = kept === undefined ? [] : this.#session.history.messages.slice(kept);
    const forgotten = await this.#session.append(turn, removed, limits);
    if (forgotten) this.#service?.exclude(removed.flatMap(({ id }) => id ?? []));
    return turn;
  }

  async #change<T>(changed: T): Promise<T> {
    this.#service?.invalidate();
    await this.#session.save();
    return changed;
  }

  #context(what: string): ServiceContext {
    if (this.#service !== undefined) return this.#service;
    throw contextMissing(what);
  }
}

/** What a turn sends, and what it replaces. */
interface TurnRequest {
  input: readonly ConversationMessage[];
  /** The number of messages before the input. @default all */
  history?: number;
  /** The number of messages that stay in the store. If there are more than in `history`, the input is among them. */
  stored?: number;
}

interface Built {
  layout: FitState;
  prompt: BuiltPrompt;
}

/** A prompt that was too long shrinks to this share of its counted tokens. How wrong the count was is unknown. */
const SMALLER = 0.75;

/** Checks and copies the input now. An error is thrown by the reply. */
function givenInput(input: TurnInput): () => TurnRequest {
  try {
    const messages = messagesOf(input);
    return () => ({ input: messages });
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function contextMissing(what: string): ConfigurationError {
  return new ConfigurationError(`${what} needs the option context: a ContextClient.`);
}

function textOf({ choices }: StreamedChatCompletion): string {
  return choices[0]?.message.content ?? '';
}

function badArgument(name: string, message: string): RequestValidationError {
  return new RequestValidationError([{ path: [name], message }]);
}

const isExcerpt = (text: string): boolean => text.length <= EXCERPT;
/** Characters. */
const EXCERPT = 400;
