import {
  APIAbortError,
  APIError,
  type ChatMessage,
  type CompactionLevel,
  type CompletionUsage,
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
import { Compactor } from './compactor.js';
import type { Conversation, MadeReply, ReplyStream, TurnInput, TurnOptions } from './conversation.js';
import { TokenCounter } from './counter.js';
import { isBinding } from './entries.js';
import { type FitParams, type FitState, type FittedPrompt, fitToBudget } from './fit.js';
import { SECTIONS } from './items.js';
import { ContextKeeper, type Kept } from './keeper.js';
import type { LedgerEntry } from './ledger-state.js';
import type { ConversationMessage } from './messages.js';
import type { CompactionReport, ConversationOptions } from './options.js';
import type { BuiltPrompt, ChatTurn, ContextParts, ContextSection } from './prompt.js';
import { Reply } from './reply.js';
import type { Snapshot } from './snapshot.js';
import { messageTokens } from './tail.js';

/**
 * A conversation whose every turn fits the model's window: it reads the compact context, builds the messages, streams the
 * reply, compacts when due, and brings back what a compaction lost.
 *
 * @throws {ConfigurationError} when an option cannot work
 */
export function createConversation(options: ConversationOptions): Conversation {
  return new ManagedConversation(options);
}

const MEMORY_SECTIONS: readonly ContextSection[] = ['constraints', 'definitions', 'preferences', 'facts'];

class ManagedConversation implements Conversation {
  readonly id: string;
  readonly #options: ConversationOptions;
  readonly #window: Window;
  readonly #counter: TokenCounter;
  readonly #keeper: ContextKeeper;
  readonly #compactor: Compactor | undefined;
  readonly #kept: ConversationMessage[];
  readonly #excluded = new Set<string>();
  readonly #closing = new AbortController();
  #compaction: Promise<CompactionReport> | undefined;
  #autoCompaction: Promise<void> | undefined;
  /** What the last prompt passes on to the next. */
  #state: FitState | undefined;
  /** What came after the snapshot was read, and is not in its figures. */
  #since = { snapshot: undefined as Snapshot | undefined, tokens: 0, messages: 0 };

  constructor(options: ConversationOptions) {
    const { conversationId, history, compaction, countTokens, sections = SECTIONS } = options;
    this.id = conversationId;
    this.#options = options;
    this.#window = checkOptions(options);
    this.#counter = new TokenCounter(countTokens);
    this.#keeper = new ContextKeeper(
      options,
      sections.some((section) => MEMORY_SECTIONS.includes(section)),
    );
    const { contextWindow, reserveOutput } = this.#window;
    this.#compactor = compaction === false ? undefined : new Compactor(compaction ?? {}, contextWindow - reserveOutput);
    this.#kept = typeof history === 'function' ? [] : [...(history ?? [])];
  }

  get history(): readonly ConversationMessage[] {
    return this.#kept;
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

  async buildMessages(
    input: TurnInput,
    options: Pick<TurnOptions, 'signal' | 'max_tokens'> = {},
  ): Promise<BuiltPrompt> {
    return (await this.#build(input, options)).prompt;
  }

  async contextMessage(
    question: string,
    { signal }: Pick<TurnOptions, 'signal'> = {},
  ): Promise<ChatMessage | undefined> {
    const { contextWindow, reserveOutput } = this.#window;
    const kept = await this.#keeper.read({ signal });
    const budget = contextWindow - reserveOutput;
    return this.#fit(messagesOf(question), kept, { history: [], budget }).context;
  }

  async record(input: TurnInput, { text, stopped = false }: MadeReply): Promise<void> {
    const kept = await this.#keeper.read();
    this.#append(messagesOf(input), { role: 'assistant', content: text, ...(stopped && { stopped }) });
    this.#compactWhenDue(kept.snapshot);
  }

  compact(level?: CompactionLevel, options: RequestOptions = {}): Promise<CompactionReport> {
    // The guard is set before anything is awaited.
    this.#compaction ??= this.#keeper.compact(level, options).finally(() => {
      this.#compaction = undefined;
    });
    return this.#compaction;
  }

  async refresh(options: RequestOptions = {}): Promise<ContextParts> {
    return (await this.#keeper.read({ signal: options.signal, fresh: true })).parts;
  }

  async lost(): Promise<LedgerEntry[]> {
    return [...(await this.#keeper.lost())].filter(isBinding);
  }

  async pin(params: PinParams, options?: RequestOptions): Promise<PinnedMemoryItem> {
    return this.#changing(this.#options.context.pin(this.id, params, options));
  }

  async unpin(messageId: string, options?: RequestOptions): Promise<void> {
    return this.#changing(this.#options.context.unpin(this.id, messageId, options));
  }

  async exclude(messageId: string, options?: RequestOptions): Promise<void> {
    await this.#options.context.exclude(this.id, messageId, options);
    this.#excluded.add(messageId);
    const message = (await this.#history()).find(({ id }) => id === messageId);
    await this.#keeper.withdraw(message?.content);
  }

  async include(messageId: string, options?: RequestOptions): Promise<void> {
    await this.#changing(this.#options.context.include(this.id, messageId, options));
    this.#excluded.delete(messageId);
  }

  async remember(params: Omit<MemoryCreateParams, 'workspaceId'>, options?: RequestOptions): Promise<UserMemoryItem> {
    const { context, workspaceId } = this.#options;
    return this.#changing(
      context.memory.upsert({ ...params, ...(workspaceId !== undefined && { workspaceId }) }, options),
    );
  }

  async idle(): Promise<void> {
    await this.#autoCompaction;
    await this.#compaction?.catch(() => {}); // its error is its caller's
  }

  close(): void {
    this.#closing.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    await this.idle();
  }

  async *#write(
    input: TurnInput,
    options: TurnOptions,
    settle: (turn: ChatTurn) => void,
  ): AsyncGenerator<string, void> {
    const { answer: stream, built } = await this.#ask(input, options, (messages, request) =>
      this.#options.gateway.chat.completions.create({ ...messages, stream: true }, request),
    );
    let text = '';
    let ending: 'stopped' | 'whole' | 'broken' = 'stopped'; // what it is when the reader leaves
    try {
      for await (const piece of stream.textStream) {
        text += piece;
        yield piece;
      }
      ending = 'whole';
      settle(this.#completed(input, built, await stream.finalCompletion()));
    } catch (error) {
      ending = APIAbortError.is(error) ? 'stopped' : 'broken';
      throw error;
    } finally {
      const turn = ending === 'whole' || text === '' ? undefined : this.#stopped(input, built, text);
      if (turn !== undefined && ending === 'stopped') settle(turn);
    }
  }

  /** Build, and send. A prompt that the service finds too long was not worked on: it is built smaller, and sent once more. */
  async #ask<T>(
    input: TurnInput,
    { temperature, max_tokens, ...request }: TurnOptions,
    send: (params: { model: string; messages: ChatMessage[] }, request: RequestOptions) => PromiseLike<T>,
  ): Promise<{ answer: T; built: Built }> {
    const params = {
      model: this.#options.model,
      ...(temperature !== undefined && { temperature }),
      ...(max_tokens !== undefined && { max_tokens }),
    };
    const { signal } = request;
    const built = await this.#build(input, { signal, max_tokens });
    const { chatMessages } = built.prompt;
    try {
      return { built, answer: await send({ ...params, messages: chatMessages }, request) };
    } catch (error) {
      if (!APIError.is(error) || error.code !== 'context_length_exceeded') throw error;
      this.#counter.undercounted();
      const budget = Math.floor(SMALLER * messageTokens(chatMessages, this.#counter.count));
      const smaller = await this.#build(input, { signal, max_tokens, budget }).catch((reason: unknown) => {
        throw ContextBudgetError.is(reason) ? error : reason; // nothing more can be dropped
      });
      return { built: smaller, answer: await send({ ...params, messages: smaller.prompt.chatMessages }, request) };
    }
  }

  async #build(input: TurnInput, options: BuildOptions): Promise<Built> {
    const { signal, max_tokens = this.#window.reserveOutput } = options;
    let kept = await this.#keeper.read({ signal });
    const { compaction } = this.#options;
    if (compaction !== false && compaction?.mode === 'before') {
      const due = this.#compactWhenDue(kept.snapshot);
      if (due !== undefined) {
        await settledWithin(due, compaction.timeout ?? 10_000);
        kept = await this.#keeper.read({ signal });
      }
    }
    const fitted = this.#fit(messagesOf(input), kept, {
      history: await this.#history(),
      previous: this.#state,
      budget: Math.min(options.budget ?? Number.POSITIVE_INFINITY, this.#window.contextWindow - max_tokens),
    });
    this.#state = fitted.state;
    const { instructions, messages, chatMessages, context } = fitted;
    const report = {
      ...fitted.report,
      estimated: this.#counter.estimated,
      stale: kept.stale,
      compactionExhausted: this.#compactor?.exhausted === true,
    };
    return { kept, prompt: { instructions, messages, chatMessages, context, report } };
  }

  #fit(
    input: readonly ConversationMessage[],
    { parts, snapshot }: Kept,
    more: Pick<FitParams, 'history' | 'previous' | 'budget'>,
  ): FittedPrompt {
    const { instructions, contextShare, sections, placement, mergeUserTurns, render, ledger } = this.#options;
    return fitToBudget({
      ...{ instructions, contextShare, sections, placement, mergeUserTurns, render, parts, input },
      ...more,
      countTokens: this.#counter.count,
      searchHistory: ledger !== false,
      keepRecent: snapshot === undefined ? 0 : this.#metadataNow(snapshot).recentMessageCount,
    });
  }

  #completed(input: TurnInput, { kept, prompt }: Built, completion: StreamedChatCompletion): ChatTurn {
    const { usage } = completion;
    const text = completion.choices[0]?.message.content ?? '';
    const contents = prompt.chatMessages.map(({ content }) => content);
    if (usage !== undefined) this.#counter.calibrate(contents, usage.prompt_tokens);
    this.#append(messagesOf(input), { role: 'assistant', content: text });
    this.#compactWhenDue(kept.snapshot);
    const { report } = prompt;
    return { text, stopped: false, ...this.#usage(prompt, text, usage), completion, report };
  }

  #stopped(input: TurnInput, { kept, prompt }: Built, text: string): ChatTurn {
    this.#append(messagesOf(input), { role: 'assistant', content: text, stopped: true });
    this.#compactWhenDue(kept.snapshot);
    return { text, stopped: true, ...this.#usage(prompt, text), report: prompt.report };
  }

  #usage({ report }: BuiltPrompt, text: string, usage?: CompletionUsage): Pick<ChatTurn, 'usage' | 'usageEstimated'> {
    if (usage !== undefined) return { usage, usageEstimated: false };
    const prompt_tokens = report.tokens.total;
    const completion_tokens = this.#counter.count(text);
    return {
      usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
      usageEstimated: true,
    };
  }

  async #history(): Promise<readonly ConversationMessage[]> {
    const { history } = this.#options;
    const messages = typeof history === 'function' ? await history() : this.#kept;
    if (this.#excluded.size === 0) return messages;
    return messages.map((message) =>
      message.id !== undefined && this.#excluded.has(message.id) ? { ...message, excluded: true } : message,
    );
  }

  #append(input: readonly ConversationMessage[], reply: ConversationMessage): void {
    if (typeof this.#options.history !== 'function') this.#kept.push(...input, reply);
    this.#since.tokens += messageTokens([...input, reply], this.#counter.count);
    this.#since.messages += input.length + 1;
  }

  async #changing<T>(change: Promise<T>): Promise<T> {
    const changed = await change;
    this.#keeper.invalidate();
    return changed;
  }

  /** The figures of a snapshot, with what came after it. */
  #metadataNow(snapshot: Snapshot): ContextMetadata {
    if (this.#since.snapshot !== snapshot) this.#since = { snapshot, tokens: 0, messages: 0 };
    const { tokens, messages } = this.#since;
    const { totalTokens, compressedTokens, recentMessageCount, ...rest } = snapshot.metadata;
    return {
      ...rest,
      totalTokens: totalTokens + tokens,
      compressedTokens: compressedTokens + tokens,
      recentMessageCount: recentMessageCount + messages,
    };
  }

  /** Runs in the background, and fails without failing a turn. */
  #compactWhenDue(snapshot: Snapshot | undefined): Promise<void> | undefined {
    const compactor = this.#compactor;
    if (compactor === undefined || snapshot === undefined || this.#autoCompaction !== undefined) return undefined;
    const metadata = this.#metadataNow(snapshot);
    const level = compactor.levelNow(metadata);
    if (level === undefined) return undefined;
    this.#autoCompaction = this.#autoCompact(compactor, level, { ...snapshot, metadata }).finally(() => {
      this.#autoCompaction = undefined;
    });
    return this.#autoCompaction;
  }

  async #autoCompact(compactor: Compactor, first: CompactionLevel, { metadata, summary }: Snapshot): Promise<void> {
    const request = { signal: this.#closing.signal, maxRetries: 0 }; // a later turn tries again
    try {
      if (!(await compactor.isAllowed(metadata, summary))) return;
      const { result } = await this.compact(first, request);
      const next = compactor.learn(first, result, metadata);
      if (next === undefined) return;
      compactor.learn(next, (await this.compact(next, request)).result, metadata);
    } catch (error) {
      compactor.failed(error, metadata.compressedTokens);
      this.#options.onError?.(error);
    }
  }
}

/** A prompt that was too long shrinks by so much: the count of it was wrong by an unknown amount. */
const SMALLER = 0.75;

interface BuildOptions extends Pick<TurnOptions, 'signal' | 'max_tokens'> {
  budget?: number;
}

interface Built {
  kept: Kept;
  prompt: BuiltPrompt;
}

function messagesOf(input: TurnInput): readonly ConversationMessage[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input;
}

async function settledWithin(task: Promise<unknown>, time: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, time);
  });
  await Promise.race([task, late]).finally(() => clearTimeout(timer));
}
