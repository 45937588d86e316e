import { MAX_TIMER } from '../base/runtime.js';
import {
  APIAbortError,
  APIError,
  type ChatCompletionStream,
  ConfigurationError,
  type GatewayClient,
  type RequestOptions,
  type StreamedChatCompletion,
} from '../index.js';
import { type CurrentContext, ServiceContext } from './context.js';
import { Background, Limits } from './limits.js';
import { History } from './memory.js';
import {
  type BuiltPrompt,
  badArgument,
  type ConversationMessage,
  type SentPrompt,
  type StoredMessage,
  wellFormed,
} from './model.js';
import type { BuildOptions, CheckedOptions, TurnOptions } from './options.js';
import { ContextBudgetError, type FitState, layoutPrompt } from './prompt.js';
import { Searcher } from './recall.js';
import { Reply, type TurnEnd } from './reply.js';
import { ConversationConflictError, memoryStore, Session, stored } from './store.js';
import { messageTokens, TokenCounter } from './tokens.js';

/** What a turn sends, and what it replaces. */
export interface TurnRequest {
  input: readonly ConversationMessage[];
  /** The number of messages before the input. @default all */
  before?: number;
  /** The number of messages that stay in the store. If there are more than `before`, the input is among them. */
  kept?: number;
}

interface Built {
  layout: FitState;
  prompt: BuiltPrompt;
}

/** A prompt that was too long shrinks to this share of its counted tokens. How wrong the count was is unknown. */
const SMALLER = 0.75;

/**
 * Makes the turns of a conversation, one after the other. A turn loads the store, builds a prompt (context, newest messages,
 * what is found for the input), sends it, stores the reply and the state, and starts a compaction if one is due.
 */
export class Turns {
  readonly #options: CheckedOptions;
  readonly background: Background;
  readonly session: Session;
  readonly searcher: Searcher;
  readonly service: ServiceContext | undefined;
  /** Messages that the app passes to `buildMessages`. */
  readonly #passed = new History();
  #hasWarned = false;
  /** The newest turn, and its reply. */
  #last: Promise<unknown> = Promise.resolve();
  #lastReply: Reply | undefined;

  constructor(options: CheckedOptions) {
    const { conversationId, store = memoryStore(), context } = options;
    this.#options = options;
    this.background = new Background((error) => options.onError?.(error));
    this.session = new Session(conversationId, store, new TokenCounter(options.countTokens), this.background.onError);
    this.searcher = new Searcher(options.search, this.background.onError);
    this.service = context && new ServiceContext(context, options, this.session, this.background);
  }

  reply({ signal: caller, ...options }: TurnOptions, request: () => TurnRequest, stream = true): Reply {
    return new Reply((signal, reply) => this.#turn(request, { ...options, signal, stream }, reply), caller);
  }

  /** Stores a turn that was made elsewhere. */
  async record(
    input: readonly ConversationMessage[],
    { text, stopped }: { text: string; stopped?: boolean | undefined },
  ): Promise<void> {
    const { limits, end } = await this.#inOrder({});
    try {
      await this.#store({ input }, text, stopped);
      await this.compactWhenDue(limits);
    } finally {
      end();
    }
  }

  /** After a turn that was made elsewhere: reads the context, and compacts in the background if due. */
  async compactWhenDue(limits: Limits, sent?: SentPrompt): Promise<void> {
    await this.#current(limits).catch(this.background.onError);
    if (sent !== undefined) this.session.counter.calibrate(sent);
    await this.session.save();
    void this.service?.compactIfDue();
  }

  /** Builds a prompt for another client, with the stored messages or those that the app passes. */
  async prompt(input: readonly ConversationMessage[], options: BuildOptions): Promise<BuiltPrompt> {
    const limits = new Limits(options);
    await this.session.load(limits);
    const { messages } = options;
    if (messages !== undefined) this.#passed.update(messages);
    const history = messages === undefined ? this.session.history : this.#passed;
    const { prompt, layout } = await this.build({ input }, options, limits, { history });
    this.session.set({ layout });
    if (messages !== undefined) this.#warnOfLeftOut(prompt);
    return prompt;
  }

  async #current(limits: Limits): Promise<CurrentContext> {
    return (await this.service?.current(limits.request())) ?? { stale: false };
  }

  async build(
    { input, before }: TurnRequest,
    { max_tokens = this.#options.reserveOutput, instructions = this.#options.instructions }: BuildOptions,
    limits: Limits,
    { history = this.session.history, share = 1, tail }: { history?: History; share?: number; tail?: false } = {},
  ): Promise<Built> {
    const { contextWindow } = this.#options;
    if (!Number.isInteger(max_tokens) || max_tokens < 0 || max_tokens >= contextWindow)
      throw badArgument(
        'max_tokens',
        `must be a whole number of tokens below contextWindow, which is ${contextWindow}`,
      );
    const { stale, snapshot, memory } = await this.#current(limits);
    const { layout, lost } = this.session.state;
    const messages = history.messages.slice(0, before);
    const params = {
      ...{ parts: { ...snapshot, memory }, history: messages, input, instructions, tail },
      budget: Math.floor(share * (contextWindow - max_tokens)),
      countTokens: this.session.counter.count,
      previous: layout,
    };
    const plan = layoutPrompt(params);
    // Without a search, as long as all messages fit.
    const isAll = plan.start === 0 && lost.length === 0;
    const found = isAll ? { hits: [] } : await this.searcher.found(input, messages, { history, limits, lost });
    const { state, report, ...prompt } = plan.fill(found);
    const { estimated } = this.session.counter;
    const compactionExhausted = snapshot !== undefined && this.service?.isExhausted(snapshot) === true;
    return { layout: state, prompt: { ...prompt, report: { ...report, estimated, stale, compactionExhausted } } };
  }

  /** Waits for the earlier turns. Reads the last reply to its end, so that an abandoned one does not delay this turn. */
  async #inOrder(options: RequestOptions, reply?: Reply): Promise<{ limits: Limits; end: () => void }> {
    const limits = new Limits(options);
    const before = this.#last;
    let end = (): void => {};
    this.#last = new Promise((resolve) => {
      end = () => resolve(before);
    });
    void this.#lastReply?.readOn();
    this.#lastReply = reply;
    try {
      await limits.within('The previous turn', () => before, MAX_TIMER);
      await this.session.load(limits);
      return { limits, end };
    } catch (error) {
      end();
      throw error;
    }
  }

  async *#turn(
    make: () => TurnRequest,
    options: TurnOptions & { signal: AbortSignal; stream: boolean },
    reply: Reply,
  ): AsyncGenerator<string, TurnEnd> {
    const { signal } = options;
    const { limits, end } = await this.#inOrder(options, reply);
    try {
      const made = make();
      const request = { ...made, input: made.input.map(stored) }; // dated now, not when the reply ends
      this.session.checkReplaceable(request.kept);
      const { answer, built } = await this.#ask(request, options, limits);
      reply.report = built.prompt.report;
      if (!('textStream' in answer)) return await this.#ended(request, built, answer);
      let text = '';
      let completion: StreamedChatCompletion | undefined;
      let error: unknown;
      try {
        for await (const piece of answer.textStream) {
          text += piece;
          yield piece;
          if (signal.aborted) throw new APIAbortError({ cause: signal.reason });
        }
        completion = await answer.finalCompletion();
      } catch (reason) {
        if (text === '') throw reason;
        error = reason;
      }
      return { ...(await this.#ended(request, built, completion, text)), error };
    } finally {
      end();
    }
  }

  /** Builds and sends a prompt. If the service rejects it as too long, builds a smaller one and sends that, once. */
  async #ask(
    request: TurnRequest,
    { temperature, max_tokens, stream, ...options }: TurnOptions & { stream: boolean },
    limits: Limits,
  ): Promise<{ answer: StreamedChatCompletion | ChatCompletionStream; built: Built }> {
    const { model, gateway } = this.#options;
    const send = ({ prompt: { chatMessages: messages } }: Built) =>
      // The cast is true: only text is sent, so the documented types are those of the replies.
      (gateway as GatewayClient).chat.completions.create(
        { model, temperature, max_tokens, messages, stream },
        { ...options, ...limits.request() },
      );
    const built = await this.build(request, { max_tokens }, limits);
    try {
      return { built, answer: await send(built) };
    } catch (error) {
      if (!APIError.is(error) || error.code !== 'context_length_exceeded') throw error;
      this.session.counter.undercounted();
      const { chatMessages, report } = built.prompt;
      const share = SMALLER * (messageTokens(chatMessages, this.session.counter.count) / report.budget);
      const smaller = await this.build(request, { max_tokens }, limits, { share }).catch((reason: unknown) => {
        throw ContextBudgetError.is(reason) ? error : reason; // nothing is left to drop: report the service's error
      });
      return { built: smaller, answer: await send(smaller) };
    }
  }

  /** Stores a turn. Without a completion, it was stopped. */
  async #ended(
    request: TurnRequest,
    { prompt: { report, chatMessages }, layout }: Built,
    completion: StreamedChatCompletion | undefined,
    partial = '',
  ): Promise<TurnEnd> {
    const text = completion === undefined ? partial : (completion.choices[0]?.message.content ?? '');
    const { total: prompt_tokens } = report.tokens;
    const completion_tokens = Math.ceil(this.session.counter.count(text));
    const estimate = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
    const { usage = estimate } = completion ?? {};
    const usageEstimated = usage === estimate;
    if (!usageEstimated) this.session.counter.calibrate({ messages: chatMessages, ...usage });
    const stopped = completion === undefined;
    const turn = { text, stopped, usage, usageEstimated, completion, report };
    this.session.set({ layout });
    const messages = await this.#store(request, text, stopped).catch((error: unknown) => {
      if (ConversationConflictError.is(error)) error.setTurn({ ...turn, messages: [] });
      throw error;
    });
    await this.session.save();
    const compaction = this.service?.compactIfDue();
    return { turn: { ...turn, messages }, receipt: this.background.settled().then(() => compaction) };
  }

  /** Stores a turn, in place of the messages that it replaces. */
  async #store({ input, before, kept }: TurnRequest, text: string, stopped = false): Promise<StoredMessage[]> {
    const asked = kept === before ? input.map(stored) : [];
    const turn = [...asked, stored({ role: 'assistant', content: wellFormed(text), ...(stopped && { stopped }) })];
    const removed = await this.session.append(turn, kept);
    if (removed.length > 0) this.service?.exclude(removed);
    return turn;
  }

  /** Before the first compaction, messages that are neither sent nor recalled are in no summary either. */
  #warnOfLeftOut({ report: { dropped, recalled, summaryVersion } }: BuiltPrompt): void {
    const { messages = 0 } = dropped.find(({ section, reason }) => section === 'history' && reason === 'budget') ?? {};
    const left = messages - recalled.filter(({ role }) => role !== 'summary').length;
    if (this.#hasWarned || left <= 0 || summaryVersion > 0 || this.service === undefined) return;
    this.#hasWarned = true;
    const message = `${left} older messages were left out: they do not fit, they do not match the input, and the service has no summary of them. If the service has these messages, call compact(). If not, leave out the option context.`;
    this.background.onError(new ConfigurationError(message));
  }
}
