import {
  APIError,
  type ChatMessage,
  type CompactionLevel,
  type CompletionUsage,
  ConfigurationError,
  type ContextMetadata,
  type MemoryCreateParams,
  type PinnedMemoryItem,
  type PinParams,
  type RequestOptions,
  type StreamedChatCompletion,
  type UserMemoryItem,
} from '../index.js';
import { ContextBudgetError } from './budget-error.js';
import { checkOptions, type Window } from './checked-options.js';
import { Compactions } from './compactions.js';
import type { Conversation, MadeReply, ReplyStream, TurnInput, TurnOptions } from './conversation.js';
import { TokenCounter } from './counter.js';
import { isBinding } from './entries.js';
import { type FitParams, type FitState, fitToBudget } from './fit.js';
import { History } from './history.js';
import { ContextKeeper, type Kept } from './keeper.js';
import type { LedgerEntry } from './ledger-state.js';
import { type ConversationMessage, messagesOf } from './messages.js';
import type { CompactionReport, ConversationOptions } from './options.js';
import type { BuiltPrompt, ChatTurn, ContextParts } from './prompt.js';
import { Reply } from './reply.js';
import { MEMORY_SECTIONS, SECTIONS } from './sections.js';
import { messageTokens } from './tail.js';
import { tell } from './tell.js';
import { untilAborted } from './until-aborted.js';

/**
 * Creates a conversation whose prompts always fit the model's context window. It reads the compacted context, builds
 * the messages, streams the reply, compacts when due, and recovers statements that a compaction lost.
 *
 * @throws {ConfigurationError} when an option is invalid
 */
export function createConversation(options: ConversationOptions): Conversation {
  return new ManagedConversation(options, checkOptions(options));
}

class ManagedConversation implements Conversation {
  readonly id: string;
  readonly #options: ConversationOptions;
  readonly #window: Window;
  readonly #history: History;
  readonly #counter: TokenCounter;
  readonly #keeper: ContextKeeper;
  readonly #compactions: Compactions;
  /** State of the last prompt in use, from which the next is built. */
  #state: FitState | undefined;

  constructor(options: ConversationOptions, window: Window) {
    const { conversationId, history, compaction = {}, countTokens, sections = SECTIONS } = options;
    this.id = conversationId;
    this.#options = options;
    this.#window = window;
    this.#history = new History(history);
    this.#counter = new TokenCounter(countTokens);
    this.#keeper = new ContextKeeper(options, {
      withMemory: sections.some((section) => MEMORY_SECTIONS.includes(section)),
      added: () => this.#history.added,
      onError: this.#onError,
    });
    this.#compactions = new Compactions(this.#keeper, compaction, {
      budget: window.contextWindow - window.reserveOutput,
      onError: this.#onError,
    });
  }

  get history(): readonly ConversationMessage[] {
    return this.#history.kept;
  }

  stream(input: TurnInput, options: TurnOptions = {}): ReplyStream {
    return new Reply((settle) => this.#write(input, options, settle));
  }

  async send(input: TurnInput, options: TurnOptions = {}): Promise<ChatTurn> {
    const { answer, built } = await this.#ask(input, options, (messages, request) =>
      this.#options.gateway.chat.completions.create({ ...messages, stream: false }, request),
    );
    return this.#completed(input, built, answer);
  }

  async buildMessages(input: TurnInput, options: BuildOptions = {}): Promise<BuiltPrompt> {
    const built = await this.#build(input, options);
    this.#state = built.state;
    return built.prompt;
  }

  async contextMessage(question: string, options?: Pick<TurnOptions, 'signal'>): Promise<ChatMessage | undefined> {
    const { parts } = await this.#keeper.read(options);
    const { contextWindow, reserveOutput } = this.#window;
    const input = messagesOf(question);
    const share = Math.floor((this.#options.contextShare ?? 0.5) * (contextWindow - reserveOutput));
    // The app's own messages are unknown here, so the context can only take its share of the window.
    return fitToBudget({
      ...{ ...this.#fitting, parts, input, instructions: undefined, history: [], contextShare: 1 },
      budget: share + messageTokens(input, this.#counter.count),
    }).context;
  }

  record(input: TurnInput, reply: MadeReply): void {
    if (typeof reply?.text !== 'string') throw new ConfigurationError('record takes the reply: { text }.');
    const messages = messagesOf(input);
    // Start the read before adding the turn: the service's figures do not include the turn yet.
    this.compactWhenDue();
    this.#append(messages, reply.text, reply.stopped);
  }

  compactWhenDue(): void {
    const read = this.#keeper.read().then((kept) => this.#afterReply(kept));
    this.#compactions.inBackground(read).catch(this.#onError);
  }

  compact(level?: CompactionLevel, options?: RequestOptions): Promise<CompactionReport> {
    return this.#compactions.run(level, options);
  }

  async refresh(options?: RequestOptions): Promise<ContextParts> {
    return (await this.#keeper.read({ ...options, fresh: true })).parts;
  }

  async lost(): Promise<LedgerEntry[]> {
    return (await this.#keeper.lost()).filter(isBinding);
  }

  async pin(params: PinParams, options?: RequestOptions): Promise<PinnedMemoryItem> {
    return this.#changing(this.#options.context.pin(this.id, params, options));
  }

  async unpin(messageId: string, options?: RequestOptions): Promise<void> {
    return this.#changing(this.#options.context.unpin(this.id, messageId, options));
  }

  async exclude(messageId: string, options?: RequestOptions): Promise<void> {
    await this.#options.context.exclude(this.id, messageId, options);
    this.#history.exclude(messageId);
    const message = (await this.#history.messages()).find(({ id }) => id === messageId);
    await this.#keeper.withdraw(message?.content);
  }

  async include(messageId: string, options?: RequestOptions): Promise<void> {
    await this.#changing(this.#options.context.include(this.id, messageId, options));
    this.#history.include(messageId);
  }

  async remember(params: Omit<MemoryCreateParams, 'workspaceId'>, options?: RequestOptions): Promise<UserMemoryItem> {
    const { context, workspaceId } = this.#options;
    return this.#changing(context.memory.upsert({ ...params, workspaceId }, options));
  }

  idle(): Promise<void> {
    return this.#compactions.idle();
  }

  close(): void {
    this.#compactions.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    await this.idle();
  }

  get #fitting(): Pick<FitParams, 'countTokens'> & ConversationOptions {
    return { ...this.#options, countTokens: this.#counter.count };
  }

  readonly #onError = (error: unknown): void => tell(this.#options.onError, error);

  async *#write(
    input: TurnInput,
    options: TurnOptions,
    settle: (turn: ChatTurn) => void,
  ): AsyncGenerator<string, void> {
    const { answer: stream, built } = await this.#ask(input, options, (messages, request) =>
      this.#options.gateway.chat.completions.create({ ...messages, stream: true }, request),
    );
    let text = '';
    let turn: ChatTurn | undefined;
    try {
      for await (const piece of stream.textStream) {
        text += piece;
        yield piece;
      }
      turn = this.#completed(input, built, await stream.finalCompletion());
    } finally {
      // Without a turn, the loop was left, aborted or cut off by an error.
      if (text !== '') turn ??= this.#turn(input, built, { text, stopped: true });
      if (turn !== undefined) settle(turn);
    }
  }

  /** Builds and sends a prompt. If the service rejects it as too long, builds a smaller one and sends that, once. */
  async #ask<T>(
    input: TurnInput,
    { temperature, max_tokens, ...request }: TurnOptions,
    send: (params: { model: string; messages: ChatMessage[] }, request: RequestOptions) => PromiseLike<T>,
  ): Promise<{ answer: T; built: Built }> {
    const params = { model: this.#options.model, temperature, max_tokens };
    const { signal } = request;
    const built = await this.#build(input, { signal, max_tokens });
    const { chatMessages } = built.prompt;
    try {
      return { built, answer: await send({ ...params, messages: chatMessages }, request) };
    } catch (error) {
      if (!APIError.is(error) || error.code !== 'context_length_exceeded') throw error;
      this.#counter.undercounted();
      const most = Math.floor(SMALLER * messageTokens(chatMessages, this.#counter.count));
      const smaller = await this.#build(input, { signal, max_tokens }, most).catch((reason: unknown) => {
        throw ContextBudgetError.is(reason) ? error : reason; // nothing is left to drop: report the service's error
      });
      return { built: smaller, answer: await send({ ...params, messages: smaller.prompt.chatMessages }, request) };
    }
  }

  async #build(
    input: TurnInput,
    { signal, max_tokens }: BuildOptions,
    most = Number.POSITIVE_INFINITY,
  ): Promise<Built> {
    const asked = messagesOf(input);
    const budget = Math.min(most, this.#budgetBeside(max_tokens));
    const kept = await this.#read(signal);
    const metadata = this.#metadataNow(kept);
    const { state, ...prompt } = fitToBudget({
      ...this.#fitting,
      parts: kept.parts,
      history: await this.#history.messages(),
      input: asked,
      budget,
      searchHistory: this.#options.ledger !== false,
      keepRecent: metadata?.recentMessageCount,
      previous: this.#state,
    });
    const compactionExhausted = this.#compactions.isExhausted(metadata);
    const report = { ...prompt.report, estimated: this.#counter.estimated, stale: kept.stale, compactionExhausted };
    return { kept, state, prompt: { ...prompt, report } };
  }

  #budgetBeside(max_tokens = this.#window.reserveOutput): number {
    const { contextWindow } = this.#window;
    if (Number.isInteger(max_tokens) && max_tokens >= 0 && max_tokens < contextWindow)
      return contextWindow - max_tokens;
    throw new ConfigurationError(
      `max_tokens must be a whole number of tokens below contextWindow, which is ${contextWindow}.`,
    );
  }

  /** Reads the context for a prompt. With mode `before`, first runs a compaction that is due. */
  async #read(signal: AbortSignal | undefined): Promise<Kept> {
    const kept = await this.#keeper.read({ signal });
    const { compaction } = this.#options;
    if (compaction === false || compaction?.mode !== 'before') return kept;
    const { timeout = 10_000 } = compaction;
    await untilAborted(settledWithin(this.#whenDue(kept), timeout), signal);
    return this.#keeper.read({ signal });
  }

  #completed(input: TurnInput, built: Built, completion: StreamedChatCompletion): ChatTurn {
    const { usage } = completion;
    const text = completion.choices[0]?.message.content ?? '';
    const contents = built.prompt.chatMessages.map(({ content }) => content);
    if (usage !== undefined) this.#counter.calibrate(contents, usage.prompt_tokens);
    return { ...this.#turn(input, built, { text, stopped: false, usage }), completion };
  }

  #turn(
    input: TurnInput,
    { kept, prompt: { report }, state }: Built,
    { text, stopped, usage }: { text: string; stopped: boolean; usage?: CompletionUsage | undefined },
  ): ChatTurn {
    const prompt_tokens = report.tokens.total;
    const completion_tokens = this.#counter.count(text);
    const estimated = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
    this.#state = state;
    this.#append(messagesOf(input), text, stopped);
    this.#afterReply(kept);
    return { text, stopped, usage: usage ?? estimated, usageEstimated: usage === undefined, report };
  }

  #append(input: readonly ConversationMessage[], text: string, stopped = false): void {
    const messages = [...input, { role: 'assistant', content: text, ...(stopped && { stopped }) }];
    this.#history.add(messages, messageTokens(messages, this.#counter.expect));
  }

  async #changing<T>(change: Promise<T>): Promise<T> {
    const changed = await change;
    this.#keeper.invalidate();
    return changed;
  }

  #metadataNow({ snapshot }: Kept): ContextMetadata | undefined {
    return snapshot && this.#history.brought(snapshot.metadata, snapshot.added);
  }

  /** Compacts if due, except with mode `before`: then the next turn does. */
  #afterReply(kept: Kept): void {
    const { compaction } = this.#options;
    if (compaction !== false && compaction?.mode !== 'before') this.#whenDue(kept);
  }

  #whenDue(kept: Kept): Promise<unknown> | undefined {
    const metadata = this.#metadataNow(kept);
    return metadata && kept.snapshot && this.#compactions.whenDue(metadata, kept.snapshot);
  }
}

/** A prompt that was too long shrinks to this share of its counted tokens. How wrong the count was is unknown. */
const SMALLER = 0.75;

type BuildOptions = Pick<TurnOptions, 'signal' | 'max_tokens'>;

interface Built {
  kept: Kept;
  state: FitState;
  prompt: BuiltPrompt;
}

async function settledWithin(task: Promise<unknown> = Promise.resolve(), time: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, time);
  });
  await Promise.race([task.catch(() => {}), late]).finally(() => clearTimeout(timer));
}
