import { ignoreErrors } from '../base/ignore-errors.js';
import { systemRuntime } from '../base/runtime.js';
import {
  APIAbortError,
  APIError,
  type ChatCompletions,
  type ChatMessage,
  type CompactionLevel,
  type CompactionResult,
  type CompletionUsage,
  ConfigurationError,
  type ContextClient,
  type GatewayClient,
  type MemoryCreateParams,
  NotFoundError,
  type PinnedMemoryItem,
  type PinParams,
  type RequestOptions,
  RequestValidationError,
  type StreamedChatCompletion,
  type UserMemoryItem,
} from '../index.js';
import { afterCompaction, afterFailure, type ContextSize, dueLevel } from './compaction.js';
import { ContextCache, type CurrentContext } from './context.js';
import { messageTokens, TokenCounter } from './counter.js';
import { forgetMessage, type Ledger, lostEntries, observeSummary } from './ledger.js';
import { type Hit, MessageIndex } from './memory.js';
import {
  type BuiltPrompt,
  type ChatTurn,
  type CompactionReceipt,
  type CompactionReport,
  type ContextParts,
  type ConversationMessage,
  type LedgerEntry,
  messagesOf,
  type ReplyStream,
  type SearchResult,
  type Snapshot,
  timeOf,
  wellFormed,
} from './model.js';
import { type ConversationOptions, checkOptions, type Window } from './options.js';
import { ContextBudgetError, type FitState, fitPrompt } from './prompt.js';
import { excerptOf, type Found, joinHits } from './recall.js';
import { diffSummaries, entriesOf, isBinding, normalise, sharedTerms, termsOf } from './receipt.js';
import {
  ConversationConflictError,
  type ConversationState,
  type ConversationStore,
  checkLoaded,
  History,
  memoryStore,
  NEW_STATE,
} from './store.js';
import { Limits, type ReceiptWatch, Reply, type ReplyWriter, type TurnEnd, untilAborted } from './turn.js';

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

/**
 * Creates a conversation whose prompts always fit the model's context window, and which finds what was said in messages
 * that no longer fit. Turns of one conversation run one after the other.
 *
 * @throws {ConfigurationError} when an option is invalid
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
  readonly #store: ConversationStore;
  readonly #counter: TokenCounter;
  readonly #history = new History();
  /** Messages that the app passes to `buildMessages`, and the layout of their prompts. */
  readonly #passed = new History();
  #passedLayout: FitState | undefined;
  #hasWarned = false;
  readonly #cache: ContextCache | undefined;
  #state: ConversationState = NEW_STATE;
  /** Turns whose storing failed. They are stored with the next one. */
  #unsaved: readonly ConversationMessage[] = [];
  #lostIndex: { ledger: Ledger; entries: LedgerEntry[]; index: MessageIndex } | undefined;
  /** The reply of the turn that runs. */
  #reply: Reply | undefined;
  #lastTurn: Promise<unknown> = Promise.resolve();
  #lastSave: Promise<void> = Promise.resolve();
  readonly #tasks = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  #compaction: Promise<CompactionReport> | undefined;
  #isCompacting = false;
  /** A compaction of ours whose result was not read yet, and the receipt of the newest that was. */
  #cause: Cause | undefined;
  #receipt: Promise<CompactionReceipt> | undefined;
  readonly #watches = new Set<(receipt: CompactionReceipt) => void>();

  /** @internal */
  constructor(options: ConversationOptions, window: Window) {
    const { context: client, conversationId, workspaceId, onContextError } = options;
    this.id = conversationId;
    this.#options = { ...options };
    this.#completions = (options.gateway as GatewayClient).chat.completions;
    this.#window = window;
    this.#store = options.store ?? memoryStore();
    this.#counter = new TokenCounter(options.countTokens);
    this.#cache =
      client &&
      new ContextCache({
        ...{ client, conversationId, workspaceId, onContextError, onError: this.#onError },
        messages: () => this.#history.messages.length,
        latest: () => this.#state.snapshot,
        store: (snapshot) => this.#observe(snapshot),
        inBackground: (read) => this.#behind(read(this.#closing.signal).then(() => this.#save())),
      });
  }

  /**
   * Sends the input and streams the reply: `for await (const text of conversation.stream('…'))`.
   *
   * @throws {ContextBudgetError} before anything is sent, when the instructions, the pins and the input do not fit
   */
  stream(input: TurnInput, options: TurnOptions = {}): ReplyStream {
    return this.#stream(options, givenInput(input));
  }

  /**
   * Sends the input and waits for the whole reply.
   *
   * @throws {ContextBudgetError} before anything is sent, when the instructions, the pins and the input do not fit
   */
  async send(input: TurnInput, options: TurnOptions = {}): Promise<ChatTurn> {
    const request: TurnRequest = { input: messagesOf(input) };
    return this.#inOrder(options, async (limits) => {
      const { answer, built } = await this.#ask(request, options, limits, (params, request) =>
        this.#completions.create({ ...params, stream: false }, request),
      );
      return this.#completed(request, built, answer, limits);
    });
  }

  /**
   * Sends the input and resolves to the response for a page: `stream(input, options).toResponse()`. Pass the signal of
   * the request, so that a page that leaves early stops the reply.
   */
  respond(input: TurnInput, options: TurnOptions = {}): Promise<Response> {
    return this.stream(input, options).toResponse();
  }

  /**
   * Generates the last reply again, in place of the old one.
   *
   * @throws {ConfigurationError} when the store has no `append` and `truncate`
   */
  regenerate(options: TurnOptions = {}): ReplyStream {
    return this.#stream(options, () => {
      const { messages } = this.#history;
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
   */
  edit(messageId: string, text: string, options: TurnOptions = {}): ReplyStream {
    return this.#stream(options, () => {
      const at = this.#find(messageId);
      const { name } = this.#history.messages[at] ?? {};
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
   */
  async fork(messageId: string, conversationId?: string): Promise<Conversation> {
    await this.#load({});
    const copied = this.#history.messages
      .slice(0, this.#find(messageId) + 1)
      .map(({ id, ...message }) => stored(message));
    const id = conversationId ?? crypto.randomUUID();
    this.#checkStore('append');
    await new Limits({}).within('store.append', () => this.#store.append?.(id, copied, 0));
    const context = conversationId === undefined ? undefined : this.#options.context;
    return new Conversation({ ...this.#options, conversationId: id, context, store: this.#store }, this.#window);
  }

  /** Finds messages by their words, names and dates: for citations, and as a tool for the model. */
  async search(query: string, { limit = 10, signal }: SearchOptions = {}): Promise<SearchResult[]> {
    const limits = await this.#load({ signal });
    const hits = await this.#hits(query, { limit, neighbours: false }, this.#history, limits);
    return hits.slice(0, limit).flatMap(({ position, score, excerpt }) => {
      const message = this.#history.messages[position];
      return message === undefined
        ? []
        : [{ ...message, score, excerpt: excerpt ?? excerptOf(message.content, query, isExcerpt) }];
    });
  }

  /** Builds the prompt for an input, to send with any client. Pass the reply to `record`. */
  async buildMessages(input: TurnInput, options: BuildOptions = {}): Promise<BuiltPrompt> {
    const asked = messagesOf(input);
    const { messages } = options;
    const limits = await this.#load(options);
    if (messages === undefined) {
      const { prompt, layout } = await this.#build({ input: asked }, options, limits);
      this.#state = { ...this.#state, layout };
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
   */
  async contextMessage(
    question: string,
    options: Pick<RequestOptions, 'signal'> = {},
  ): Promise<ChatMessage | undefined> {
    const input = messagesOf(question);
    const limits = await this.#load(options);
    const { prompt } = await this.#build({ input }, options, limits, { share: 0.5, tail: false });
    const texts = [prompt.context, prompt.recalled].flatMap((message) => message?.content ?? []);
    return texts.length === 0 ? undefined : { role: 'user', content: texts.join('\n\n') };
  }

  /** Stores a turn that was made with another client, and compacts in the background if due. */
  record(input: TurnInput, reply: MadeReply): Promise<void> {
    const messages = messagesOf(input);
    if (typeof reply?.text !== 'string') throw badArgument('reply', 'must be { text }');
    const recorded = this.#inOrder({}, async (limits) => {
      await this.#append({ input: messages }, reply.text, reply.stopped, limits);
      await this.#context(limits).catch(this.#onError);
      await this.#save(limits);
      this.#compactIfDue();
    });
    return this.#inBackground(recorded); // whose errors a caller may ignore
  }

  /** Compacts in the background if due. Call it after turns that you do not pass to `record`. */
  compactWhenDue(): void {
    const read = this.#load({ signal: this.#closing.signal }).then((limits) => this.#context(limits));
    this.#behind(read.then(() => this.#compactIfDue()));
  }

  /**
   * Compacts now. Only one compaction runs at a time: calls made meanwhile share its result. An abort ends the wait,
   * not the compaction.
   */
  compact(level?: CompactionLevel, { signal, ...request }: RequestOptions = {}): Promise<CompactionReport> {
    // Set before any `await`: a second call in the same tick must see it.
    this.#compaction ??= this.#inBackground(
      this.#compact(level, { ...request, signal: this.#closing.signal }).finally(() => {
        this.#compaction = undefined;
      }),
    );
    return untilAborted(this.#compaction, signal);
  }

  /** Reads the context from the service again. */
  async refresh(options: RequestOptions = {}): Promise<ContextParts> {
    const limits = await this.#load(options);
    const { cache } = this.#withContext('refresh');
    const { summary, pins, memory } = await cache.fetch({ ...options, ...limits.request() });
    await this.#save();
    return { summary, pins, memory };
  }

  /** Statements that compactions dropped, oldest first. An app can offer to pin them. */
  async lost(): Promise<LedgerEntry[]> {
    await this.#load({});
    return lostEntries(this.#state.ledger).filter(isBinding);
  }

  /** Calls `context.pin`. The next turn includes the message. */
  async pin(params: PinParams, options?: RequestOptions): Promise<PinnedMemoryItem> {
    return this.#change(await this.#withContext('pin').client.pin(this.id, params, options));
  }

  async unpin(messageId: string, options?: RequestOptions): Promise<void> {
    return this.#change(await this.#withContext('unpin').client.unpin(this.id, messageId, options));
  }

  /** Leaves a message out of prompts and searches, and calls `context.exclude` if there is a context. */
  async exclude(messageId: string, options?: RequestOptions): Promise<void> {
    await this.#options.context?.exclude(this.id, messageId, options);
    await this.#load({});
    const message = this.#history.messages.find(({ id }) => id === messageId);
    const { excluded, ledger } = this.#state;
    this.#state = {
      ...this.#state,
      excluded: [...excluded.filter((id) => id !== messageId), messageId],
      ledger: forgetMessage(ledger, message?.content),
    };
    await this.#change(undefined);
  }

  async include(messageId: string, options?: RequestOptions): Promise<void> {
    await this.#options.context?.include(this.id, messageId, options);
    await this.#load({});
    this.#state = { ...this.#state, excluded: this.#state.excluded.filter((id) => id !== messageId) };
    await this.#change(undefined);
  }

  /** Calls `context.memory.upsert` in the conversation's workspace. The next turn includes the item. */
  async remember(params: Omit<MemoryCreateParams, 'workspaceId'>, options?: RequestOptions): Promise<UserMemoryItem> {
    const { workspaceId } = this.#options;
    const { client } = this.#withContext('remember');
    return this.#change(await client.memory.upsert({ ...params, workspaceId }, options));
  }

  /** Resolves when no background work is running. For tests, and before a serverless function returns. */
  async idle(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.allSettled(this.#tasks);
  }

  /** Stops background work. The two clients stay open. */
  close(): void {
    this.#closing.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    await this.idle();
  }

  readonly #onError = (error: unknown): void => {
    if (!this.#closing.signal.aborted) ignoreErrors(() => this.#options.onError?.(error));
  };

  /** Runs turns one after the other. A reply that nobody reads on does not hold up the next turn. */
  async #inOrder<T>(options: RequestOptions, turn: (limits: Limits) => Promise<T>): Promise<T> {
    const limits = new Limits(options);
    const before = this.#lastTurn;
    let done = (): void => {};
    const mine = new Promise<void>((resolve) => {
      done = resolve;
    });
    this.#lastTurn = before.then(() => mine);
    this.#reply?.readOn();
    try {
      await limits.within('The turn before', () => before, Number.POSITIVE_INFINITY);
      return await turn(await this.#load(limits));
    } finally {
      done();
    }
  }

  #stream(options: TurnOptions, request: () => TurnRequest): Reply {
    const reply: Reply = new Reply(
      (signal, writer) =>
        this.#inOrder({ ...options, signal }, async (limits) => {
          this.#reply = reply;
          try {
            return await this.#write(request, { ...options, signal }, limits, writer);
          } finally {
            this.#reply = undefined;
          }
        }),
      options.signal,
      () => this.#watchReceipts(),
    );
    return reply;
  }

  #watchReceipts(): ReceiptWatch {
    const receipts: CompactionReceipt[] = [];
    const watch = (receipt: CompactionReceipt): void => void receipts.push(receipt);
    this.#watches.add(watch);
    return {
      collect: () => Promise.allSettled([...this.#tasks]).then(() => receipts),
      end: () => void this.#watches.delete(watch),
    };
  }

  async #write(
    make: () => TurnRequest,
    options: TurnOptions,
    limits: Limits,
    { begin, push }: ReplyWriter,
  ): Promise<TurnEnd> {
    const request = make();
    if (request.stored !== undefined) {
      this.#checkStore('append', 'truncate');
      const removed = this.#history.messages[request.stored];
      if (removed !== undefined && removed.id === undefined)
        throw new ConfigurationError('To replace messages, store.load must return them with their ids.');
    }
    const { answer: stream, built } = await this.#ask(request, options, limits, (params, request) =>
      this.#completions.create({ ...params, stream: true }, request),
    );
    begin(built.prompt.report);
    let text = '';
    try {
      for await (const piece of stream.textStream) {
        if (!(await push(piece))) throw new APIAbortError({ cause: options.signal?.reason });
        text += piece;
      }
      return { turn: await this.#completed(request, built, await stream.finalCompletion(), limits) };
    } catch (error) {
      if (text === '' || ConversationConflictError.is(error)) throw error;
      return { turn: await this.#turn(request, built, { text, stopped: true }, limits), error };
    }
  }

  /** Before the first compaction, messages that are left out and not found are in no summary either. */
  #warnOfLeftOut({ report: { dropped, recalled, summaryVersion } }: BuiltPrompt): void {
    const { messages = 0 } = dropped.find(({ section, reason }) => section === 'history' && reason === 'budget') ?? {};
    const left = messages - recalled.filter(({ role }) => role !== 'summary').length;
    if (this.#hasWarned || left <= 0 || summaryVersion > 0 || this.#options.context === undefined) return;
    this.#hasWarned = true;
    const message = `${left} older messages are in no prompt: they do not fit, nothing in them matches the input, and the service has no summary of them. Call compact(), if the service has these messages; otherwise leave out context.`;
    this.#onError(new ConfigurationError(message));
  }

  /** Builds and sends a prompt. If the service rejects it as too long, builds a smaller one and sends that, once. */
  async #ask<T>(
    request: TurnRequest,
    { temperature, max_tokens, ...options }: TurnOptions,
    limits: Limits,
    send: (params: { model: string; messages: ChatMessage[] }, request: RequestOptions) => PromiseLike<T>,
  ): Promise<{ answer: T; built: Built }> {
    const params = { model: this.#options.model, temperature, max_tokens };
    const built = await this.#build(request, { max_tokens }, limits);
    const { chatMessages } = built.prompt;
    try {
      return { built, answer: await send({ ...params, messages: chatMessages }, { ...options, ...limits.request() }) };
    } catch (error) {
      if (!APIError.is(error) || error.code !== 'context_length_exceeded') throw error;
      this.#counter.undercounted();
      const share = SMALLER * (messageTokens(chatMessages, this.#counter.count) / built.prompt.report.budget);
      const smaller = await this.#build(request, { max_tokens }, limits, { share }).catch((reason: unknown) => {
        throw ContextBudgetError.is(reason) ? error : reason; // nothing is left to drop: report the service's error
      });
      const messages = smaller.prompt.chatMessages;
      return { built: smaller, answer: await send({ ...params, messages }, { ...options, ...limits.request() }) };
    }
  }

  async #build(
    { input, history: end }: TurnRequest,
    { max_tokens, instructions = this.#options.instructions }: BuildOptions,
    limits: Limits,
    { history = this.#history, share = 1, tail }: { history?: History; share?: number; tail?: false } = {},
  ): Promise<Built> {
    const budget = Math.floor(share * this.#budgetBeside(max_tokens));
    const { parts, stale, snapshot } = await this.#context(limits);
    const messages = end === undefined ? history.messages : history.messages.slice(0, end);
    const previous = history === this.#passed ? this.#passedLayout : this.#state.layout;
    const { count: countTokens, estimated } = this.#counter;
    const params = { ...{ parts, input, instructions, budget, countTokens, previous, tail }, history: messages };
    // Without a search, as long as all messages fit.
    const plain = fitPrompt({ ...params, found: { hits: [] } });
    const isAll = plain.start === 0 && lostEntries(this.#state.ledger).length === 0;
    const { state, report, ...prompt } = isAll
      ? plain
      : fitPrompt({ ...params, found: await this.#found(input, messages, history, limits) });
    const isTooLarge = snapshot !== undefined && this.#sizeOf(snapshot).now >= this.#sizeOf(snapshot).limit;
    const compactionExhausted = this.#state.compaction.exhausted === true && isTooLarge;
    return { layout: state, prompt: { ...prompt, report: { ...report, estimated, stale, compactionExhausted } } };
  }

  #budgetBeside(max_tokens = this.#window.reserveOutput): number {
    const { contextWindow } = this.#window;
    if (Number.isInteger(max_tokens) && max_tokens >= 0 && max_tokens < contextWindow)
      return contextWindow - max_tokens;
    throw badArgument('max_tokens', `must be a whole number of tokens below contextWindow, which is ${contextWindow}`);
  }

  async #context(limits: Limits): Promise<CurrentContext> {
    return (await this.#cache?.read(limits.request())) ?? { snapshot: undefined, parts: {}, stale: false };
  }

  /** What the history and lost statements have for an input. The two user messages before it count, with less weight. */
  async #found(
    input: readonly ConversationMessage[],
    messages: readonly ConversationMessage[],
    history: History,
    limits: Limits,
  ): Promise<Found> {
    const { content: query } = input.findLast(({ role }) => role === 'user') ?? input.at(-1) ?? { content: '' };
    const previous: string[] = [];
    for (let at = messages.length - 1; at >= 0 && previous.length < 2; at -= 1) {
      const { role, content } = messages[at] ?? { role: '', content: '' };
      if (role === 'user') previous.push(content);
    }
    const hits = await this.#hits(query, { previous, limit: MAX_HITS }, history, limits);
    const index = await history.index();
    const lost: LedgerEntry[] = [];
    for (const entry of this.#lostFor(query)) {
      const [origin] = index.search(entry.text, { limit: 1, neighbours: false });
      const content = normalise(messages[origin?.position ?? -1]?.content ?? '');
      if (!content.includes(normalise(entry.text))) lost.push(entry);
      if (origin !== undefined) hits.splice(Math.min(hits.length, 3), 0, origin);
    }
    return { hits, lost, index, query };
  }

  #lostFor(query: string): LedgerEntry[] {
    const { ledger } = this.#state;
    if (this.#lostIndex?.ledger !== ledger) {
      const entries = lostEntries(ledger);
      const index = new MessageIndex();
      index.append(entries.map(({ text, term = '' }) => ({ role: 'user', content: `${term} ${text}` })));
      this.#lostIndex = { ledger, entries, index };
    }
    const { entries, index } = this.#lostIndex;
    return index
      .search(query, { limit: MAX_LOST, neighbours: false })
      .flatMap(({ position }) => entries[position] ?? []);
  }

  /** Searches by words, and with the app's own search if there is one. */
  async #hits(
    query: string,
    options: { limit: number; previous?: readonly string[]; neighbours?: boolean },
    history: History,
    limits: Limits,
  ): Promise<Hit[]> {
    const [index, ids] = await Promise.all([history.index(), this.#idsFrom(query, options.limit, limits)]);
    const { messages } = history;
    const hits = index.search(query, options);
    const positions = new Map(ids.length === 0 ? [] : messages.map(({ id }, at) => [id, at]));
    const all =
      ids.length === 0
        ? hits
        : joinHits(
            hits,
            ids.flatMap((id) => positions.get(id) ?? []),
          );
    return all.filter(({ position }) => messages[position]?.excluded !== true);
  }

  async #idsFrom(query: string, limit: number, { signal }: Limits): Promise<string[]> {
    const { search } = this.#options;
    if (search === undefined) return [];
    const stop = new AbortController();
    try {
      const bounded = new Limits({ signal, timeout: SEARCH_TIMEOUT });
      const found = await bounded.within('search', () => search(query, { limit, signal: stop.signal }));
      return found.map(({ id }) => id);
    } catch (error) {
      if (signal?.aborted === true) throw error;
      this.#onError(error);
      return [];
    } finally {
      stop.abort();
    }
  }

  async #completed(
    request: TurnRequest,
    built: Built,
    completion: StreamedChatCompletion,
    limits: Limits,
  ): Promise<ChatTurn> {
    const { usage } = completion;
    const text = completion.choices[0]?.message.content ?? '';
    const contents = built.prompt.chatMessages.map(({ content }) => content);
    if (usage !== undefined) this.#counter.calibrate(contents, usage.prompt_tokens);
    return { ...(await this.#turn(request, built, { text, stopped: false, usage }, limits)), completion };
  }

  async #turn(
    request: TurnRequest,
    { prompt: { report }, layout }: Built,
    { text, stopped, usage }: { text: string; stopped: boolean; usage?: CompletionUsage | undefined },
    limits: Limits,
  ): Promise<ChatTurn> {
    const prompt_tokens = report.tokens.total;
    const completion_tokens = this.#counter.count(text);
    const estimated = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
    const turn = { text, stopped, usage: usage ?? estimated, usageEstimated: usage === undefined, report };
    this.#state = { ...this.#state, layout };
    const messages = await this.#append(request, text, stopped, limits).catch((error: unknown) => {
      if (ConversationConflictError.is(error)) error.setTurn({ ...turn, messages: [] });
      throw error;
    });
    await this.#save(limits);
    this.#compactIfDue();
    return { ...turn, messages };
  }

  /** Stores a turn. If that fails, it is stored with the next one. */
  async #append(request: TurnRequest, text: string, stopped = false, limits: Limits): Promise<ConversationMessage[]> {
    const { input, history: end, stored: kept } = request;
    const reply = stored({ role: 'assistant', content: wellFormed(text), ...(stopped && { stopped }) });
    const turn = kept !== undefined && kept !== end ? [reply] : [...input.map(stored), reply];
    if (this.#store.append === undefined) return turn; // the app stores its turns
    const before = this.#history.messages;
    const removed = kept === undefined ? [] : before.slice(kept);
    await this.#remove(removed, limits);
    const position = before.length - removed.length - this.#unsaved.length;
    const unsaved = [...this.#unsaved, ...turn];
    try {
      const ids = await this.#settled(limits).within('store.append', () =>
        this.#store.append?.(this.id, unsaved, position),
      );
      this.#unsaved = [];
      for (const [at, message] of unsaved.entries()) message.id = ids?.[at] ?? message.id;
    } catch (error) {
      if (ConversationConflictError.is(error)) throw error;
      this.#unsaved = unsaved;
      this.#onError(error);
    }
    this.#history.update([...before.slice(0, before.length - removed.length), ...turn]);
    return turn;
  }

  /** Removes messages from the store, from the summaries of the service, and from what compactions lost. */
  async #remove(removed: readonly ConversationMessage[], limits: Limits): Promise<void> {
    const first = removed[0]?.id;
    if (first === undefined) return;
    await this.#settled(limits).within('store.truncate', () => this.#store.truncate?.(this.id, first));
    this.#unsaved = [];
    const { context } = this.#options;
    const ledger = removed.reduce((left, { content }) => forgetMessage(left, content), this.#state.ledger);
    this.#state = { ...this.#state, ledger };
    if (context === undefined) return;
    this.#invalidate();
    const exclude = async (): Promise<void> => {
      for (const { id } of removed) {
        const excluded = id && context.exclude(this.id, id, { signal: this.#closing.signal });
        // The service may not have the message.
        await Promise.resolve(excluded).catch((error: unknown) => NotFoundError.is(error) || this.#onError(error));
      }
      this.#invalidate();
    };
    this.#behind(exclude());
  }

  /** After the reply, an abort by the caller does not end the storing. */
  #settled({ signal }: Limits): Limits {
    return new Limits(signal?.aborted === true ? { timeout: ABORTED_TIMEOUT } : {});
  }

  async #load(options: RequestOptions | Limits): Promise<Limits> {
    const limits = options instanceof Limits ? options : new Limits(options);
    const loaded = await limits.within('store.load', () => this.#store.load(this.id));
    const { messages, state } = checkLoaded(loaded, this.#history.messages);
    if (state && state.revision > this.#state.revision) {
      this.#state = state;
      this.#counter.calibration = state.calibration;
    }
    if (this.#unsaved.length > 0) {
      const newest = new Set(messages.slice(-2 * this.#unsaved.length).map(({ id }) => id));
      this.#unsaved = this.#unsaved.filter(({ id }) => !newest.has(id)); // a store may fail after it has stored them
    }
    const all = this.#unsaved.length === 0 ? messages : [...messages, ...this.#unsaved];
    const excluded = new Set(this.#state.excluded);
    const isExcluded = ({ id }: ConversationMessage): boolean => id !== undefined && excluded.has(id);
    this.#history.update(
      excluded.size === 0
        ? all
        : all.map((message) => (isExcluded(message) ? { ...message, excluded: true } : message)),
    );
    return limits;
  }

  /** One at a time, so that no older state overwrites a newer one. */
  #save(limits = new Limits({})): Promise<void> {
    const { calibration } = this.#counter;
    const state = { ...this.#state, calibration, revision: this.#state.revision + 1 };
    this.#state = state;
    const save = (): Promise<void> =>
      this.#settled(limits)
        .within('store.saveState', () => this.#store.saveState?.(this.id, state))
        .catch(this.#onError);
    this.#lastSave = this.#lastSave.then(save);
    return this.#lastSave;
  }

  async #change<T>(changed: T): Promise<T> {
    this.#invalidate();
    await this.#save();
    return changed;
  }

  #invalidate(): void {
    this.#cache?.invalidate();
    const { snapshot } = this.#state;
    if (snapshot !== undefined) this.#state = { ...this.#state, snapshot: { ...snapshot, readAt: 0 } };
  }

  #sizeOf({ metadata, messages }: Snapshot): ContextSize {
    const since = this.#history.messages.slice(messages);
    const { compaction } = this.#options;
    const { contextWindow, reserveOutput } = this.#window;
    return {
      now: metadata.compressedTokens + messageTokens(since, this.#counter.count),
      stored: metadata.compressedTokens,
      limit: (compaction || DEFAULT_LIMIT) * (contextWindow - reserveOutput),
    };
  }

  #compactIfDue(): void {
    const { snapshot, compaction } = this.#state;
    if (this.#options.compaction === false || this.#closing.signal.aborted || snapshot === undefined) return;
    if (this.#isCompacting || this.#compaction !== undefined) return;
    const size = this.#sizeOf(snapshot);
    const level = dueLevel(compaction, size);
    if (level === undefined) return;
    this.#isCompacting = true;
    const done = (): void => {
      this.#isCompacting = false;
    };
    this.#behind(this.#compactFrom(level, size).finally(done));
  }

  async #compactFrom(first: CompactionLevel, size: ContextSize): Promise<void> {
    try {
      let level: CompactionLevel | undefined = first;
      // If a level saves nothing, try the next one, once. No retries here: after a failure, a later turn tries again.
      for (let attempt = 0; level !== undefined && attempt < 2; attempt += 1) {
        const report: CompactionReport = await this.compact(level, { maxRetries: 0 });
        if (report.result === undefined) break;
        const { state, retry, error } = afterCompaction(report.level ?? level, report.result, size);
        this.#state = { ...this.#state, compaction: state };
        if (error !== undefined) this.#onError(error);
        level = retry;
      }
    } catch (error) {
      this.#state = { ...this.#state, compaction: afterFailure(this.#state.compaction, error, size) };
      this.#onError(error);
    }
    await this.#save();
  }

  /** Compacts, then reads the context to report the difference. */
  async #compact(level: CompactionLevel | undefined, options: RequestOptions): Promise<CompactionReport> {
    const { client, cache } = this.#withContext('compact');
    const limits = await this.#load(options);
    const { snapshot: before } = await this.#context(limits);
    const result = await client.compact(this.id, { level }, { ...options, ...limits.request() });
    this.#invalidate();
    this.#cause = { level, result };
    this.#receipt = undefined;
    // Read at once, so that the ledger sees every version even if no turn follows. A failed read does not fail the
    // compaction, which is already done.
    const after = await cache.fetch(limits.request()).catch((error: unknown) => this.#onError(error));
    const receipt = await (this.#receipt as Promise<CompactionReceipt> | undefined); // set when the read was observed
    await this.#save();
    const version = before?.summary.version ?? 0;
    const versions = { before: version, after: after?.summary.version ?? version };
    return receipt ?? { level, result, versions, tokens: tokensOf(result) };
  }

  /** Processes each snapshot once: if it has a new version, records what that version lost. */
  async #observe(snapshot: Snapshot): Promise<void> {
    const { snapshot: before, ledger } = this.#state;
    const cause = this.#cause;
    this.#cause = undefined;
    this.#state = { ...this.#state, snapshot, ledger: observeSummary(ledger, snapshot.summary, snapshot.metadata) };
    if (before === undefined || (cause === undefined && !compactedSince(before, snapshot))) return;
    const receipt = this.#receiptOf(before, snapshot, cause).then((receipt) => {
      for (const watch of this.#watches) watch(receipt);
      new Promise((resolve) => resolve(this.#options.onCompaction?.(receipt))).catch(this.#onError);
      return receipt;
    });
    this.#receipt = receipt;
    this.#behind(receipt);
  }

  async #receiptOf(before: Snapshot, after: Snapshot, cause: Cause | undefined): Promise<CompactionReceipt> {
    const read = { before: before.metadata.compressedTokens, after: after.metadata.compressedTokens };
    return {
      ...cause,
      versions: { before: before.summary.version, after: after.summary.version },
      tokens: cause === undefined ? read : tokensOf(cause.result),
      diff: diffSummaries(before.summary, after.summary),
      onlyInHistory: await this.#countOnlyInHistory(after),
    };
  }

  /** Counts old messages that are neither pinned nor the origin of a statement. */
  async #countOnlyInHistory({ summary, pins, metadata }: Snapshot): Promise<number> {
    const { messages } = this.#history;
    const end = Math.max(0, messages.length - metadata.recentMessageCount);
    const pinned = new Set(pins.map(({ messageId }) => messageId));
    const old = messages.slice(0, end);
    const represented = new Set(Array.from(old.keys()).filter((at) => isExempt(old[at], pinned)));
    const index = await this.#history.index();
    let began = performance.now();
    for (const { text } of entriesOf(summary)) {
      const terms = termsOf(text);
      for (const { position } of index.search(text, { limit: 3, neighbours: false })) {
        const content = messages[position]?.content ?? '';
        if (position < end && sharedTerms(terms, termsOf(content)) >= SAME_STATEMENT * terms.size)
          represented.add(position);
      }
      if (performance.now() - began < MAX_BLOCK) continue;
      await new Promise((resolve) => setTimeout(resolve, 0));
      began = performance.now();
    }
    return end - represented.size;
  }

  #find(messageId: string): number {
    const at = this.#history.messages.findIndex(({ id }) => id === messageId);
    if (at >= 0) return at;
    throw badArgument('messageId', 'must be the id of a message of this conversation');
  }

  #checkStore(...names: ('append' | 'truncate')[]): void {
    const missing = names.filter((name) => this.#store[name] === undefined);
    if (missing.length > 0) throw new ConfigurationError(`This needs a store with ${missing.join(' and ')}.`);
  }

  #withContext(what: string): { client: ContextClient; cache: ContextCache } {
    const [client, cache] = [this.#options.context, this.#cache];
    if (client !== undefined && cache !== undefined) return { client, cache };
    throw new ConfigurationError(`${what} needs the option context: a ContextClient.`);
  }

  /** Makes `idle` wait for the task. */
  #inBackground<T>(task: Promise<T>): Promise<T> {
    this.#tasks.add(task);
    task.catch(() => {}).finally(() => this.#tasks.delete(task)); // the caller handles the error
    return task;
  }

  /** Work behind the turns, whose errors go to `onError`. */
  #behind(task: Promise<unknown>): void {
    this.#inBackground(task.catch(this.#onError));
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

interface Cause {
  level: CompactionLevel | undefined;
  result: CompactionResult;
}

/** A prompt that was too long shrinks to this share of its counted tokens. How wrong the count was is unknown. */
const SMALLER = 0.75;
/** Messages that a search returns for a prompt. */
const MAX_HITS = 1000;
/** Lost statements that a prompt repeats. */
const MAX_LOST = 5;
/** Milliseconds for the app's own search. */
const SEARCH_TIMEOUT = 2_000;
/** Milliseconds for storing a turn that was aborted. */
const ABORTED_TIMEOUT = 5_000;
/** Share of the prompt's budget from which on the context is compacted. */
const DEFAULT_LIMIT = 0.75;
/** Share of a statement's terms that the message has from which it comes. */
const SAME_STATEMENT = 0.8;
/** Milliseconds of work before other events are handled. */
const MAX_BLOCK = 8;

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

/** A message as it is stored: with an id and a time. */
function stored(message: ConversationMessage): ConversationMessage {
  const now = new Date(systemRuntime.wallClock()).toISOString();
  return { ...message, id: message.id ?? crypto.randomUUID(), createdAt: timeOf(message) ?? now };
}

function badArgument(name: string, message: string): RequestValidationError {
  return new RequestValidationError([{ path: [name], message }]);
}

const isExcerpt = (text: string): boolean => text.length <= EXCERPT;
/** Characters. */
const EXCERPT = 400;

function isExempt(message: ConversationMessage | undefined, pinned: ReadonlySet<string | undefined>): boolean {
  return message === undefined || message.excluded === true || (message.id !== undefined && pinned.has(message.id));
}

/**
 * Whether a compaction happened between two snapshots. Excluding a message creates a new version too, so the time of
 * the last compaction decides. If the service does not report it, every new version counts as a compaction.
 */
function compactedSince(before: Snapshot, after: Snapshot): boolean {
  if (before.summary.version === after.summary.version) return false;
  const { lastCompactionAt } = after.metadata;
  return lastCompactionAt === undefined || lastCompactionAt !== before.metadata.lastCompactionAt;
}

function tokensOf({ previousTokenCount, newTokenCount }: CompactionResult): CompactionReport['tokens'] {
  return { before: previousTokenCount, after: newTokenCount };
}
