import { pauses } from '../../base/pauses.js';
import { isRequestBound, MAX_TIMER } from '../../base/runtime.js';
import { isTooLong } from '../../base/too-long.js';
import {
  APIError,
  type ChatCompletionStream,
  ConfigurationError,
  type GatewayClient,
  type RequestOptions,
  type StreamedChatCompletion,
} from '../../index.js';
import { messageOf } from '../context/rows.js';
import { type CurrentContext, ServiceContext } from '../context/service.js';
import { type Appended, type Seen, Session, stored } from '../context/session.js';
import { Background, Limits } from '../limits.js';
import { badInput, wellFormed } from '../messages.js';
import type {
  BuiltPrompt,
  ChatTurn,
  ConversationMessage,
  PromptReport,
  RecordedReply,
  SentPrompt,
  StoredMessage,
} from '../model.js';
import type { BuildOptions, CheckedOptions, TurnOptions } from '../options.js';
import { ContextBudgetError } from '../prompt/budget-error.js';
import { estimateTokens } from '../prompt/estimate.js';
import { PromptLayout } from '../prompt/fit.js';
import { storedSources } from '../prompt/recall.js';
import { messageTokens, TokenCounter } from '../prompt/tokens.js';
import { History } from '../search/history.js';
import { Searcher } from '../search/search.js';
import { ConversationConflictError, ConversationStoreError, memoryStore } from '../store.js';
import {
  checkTexts,
  endOfOthers,
  findSame,
  isQuestion,
  isRecorded,
  requestFor,
  type TurnRequest,
  withNewIds,
} from './place.js';
import { Reply, type TurnEnd } from './reply.js';

/** A turn that has begun, with the messages that it saw. Others may be loaded until it ends. */
interface BegunTurn extends TurnRequest, Seen {
  input: readonly StoredMessage[];
  replyId?: string | undefined;
  /** New messages of the user that are stored. */
  question?: readonly StoredMessage[];
}

/** A prompt that was too long shrinks to this share of its counted tokens. How wrong the count was is unknown. */
const SMALLER = 0.75;

/**
 * Makes the turns of a conversation, one after the other. A turn loads the store, builds a prompt (context, newest messages,
 * what is found for the input), sends it, stores the reply and the state, and starts a compaction if one is due.
 */
export class Turns {
  readonly background: Background;
  readonly session: Session;
  readonly searcher: Searcher;
  readonly service: ServiceContext | undefined;
  /** Messages that the app passes to `buildMessages`. */
  readonly #passed: History;
  #hasWarned = false;
  /** The newest turn, and its reply. */
  #last: Promise<unknown> = Promise.resolve();
  #lastReply: Reply | undefined;

  constructor(private readonly options: CheckedOptions) {
    const { conversationId, store = memoryStore(), context, timeZone } = options;
    this.background = new Background((error) => options.onError?.(error));
    const { onError } = this.background;
    const counter = new TokenCounter(options.countTokens, onError);
    this.session = new Session(conversationId, store, new History([], timeZone), counter, onError);
    this.#passed = new History([], timeZone);
    this.searcher = new Searcher(options.search, onError);
    this.service = context && new ServiceContext(context, options, this.session, this.background);
  }

  reply({ signal, background, newest, ...options }: TurnOptions, request: () => TurnRequest, stream = true): Reply {
    const make = (): TurnRequest => {
      const made = request();
      this.session.checkNewest(newest, made.isAgain ? made.before : undefined);
      return made;
    };
    const makeTurn = (stop: AbortSignal, made: Reply) => this.#turn(make, { ...options, signal: stop, stream }, made);
    return new Reply(makeTurn, { signal, background });
  }

  /** Stores a turn that was made elsewhere, or without a reply the input alone. */
  async record(input: readonly ConversationMessage[], reply: RecordedReply | undefined): Promise<void> {
    const { limits, end } = await this.#inOrder({ signal: this.background.ended });
    try {
      const { messages } = this.session.history;
      const request = requestFor(input, messages, { mayEdit: reply !== undefined });
      if (isRecorded(request, reply, messages)) return;
      if (request.isAgain !== true) checkTexts(input, messages);
      const begun = this.#begun(request, reply?.id);
      if (reply === undefined) return void (await this.#append(begun.input, begun, undefined, limits));
      await this.#store(begun, reply, limits);
      await this.compactWhenDue(new Limits({ signal: this.background.signal }));
    } finally {
      end();
    }
  }

  /** A request with what is stored now, when ids and times are given to its input. */
  #begun(request: TurnRequest, replyId: string | undefined): BegunTurn {
    const { messages: seen } = this.session.history;
    const { before, kept } = request;
    const isStored = kept !== before;
    const input = isStored ? stored(request.input) : withNewIds(stored(request.input), seen.slice(0, kept));
    const begun = { ...request, seen, input, replyId };
    this.session.checkStorable(begun);
    return begun;
  }

  /** Stores new messages of the user before they are sent. What replaces others is stored with its reply. */
  async #storeInput(request: BegunTurn, limits: Limits): Promise<BegunTurn> {
    const { input, seen, kept } = request;
    if (kept !== undefined) return request;
    limits.throwIfAborted(); // a turn that was stopped before stores nothing
    const { messages: question } = await limits.storing((storing) => this.session.append(input, { seen }, storing));
    limits.throwIfAborted();
    const all = [...seen, ...question];
    return { ...request, input: question, question, seen: all, before: seen.length, kept: all.length };
  }

  /** After a turn that was made elsewhere: reads the context, and compacts in the background if due. */
  async compactWhenDue(limits: Limits, sent?: SentPrompt): Promise<void> {
    await this.#current(limits).catch(this.background.onError);
    if (sent !== undefined) this.session.counter.calibrate(sent);
    await this.session.save(limits);
    void this.service?.compactIfDue();
  }

  /** Builds a prompt for another client, with the stored messages or those that the app passes. */
  async prompt(input: readonly ConversationMessage[], options: BuildOptions): Promise<BuiltPrompt> {
    const limits = new Limits(options);
    await this.session.load(limits);
    const messages = options.messages && this.session.marked(passed(options.messages));
    if (messages !== undefined) this.#passed.update(messages);
    const history = messages === undefined ? this.session.history : this.#passed;
    const prompt = await this.build(requestFor(input, history.messages), options, limits, { history });
    if (messages !== undefined) this.#warnOfLeftOut(prompt);
    return prompt;
  }

  async #current(limits: Limits): Promise<CurrentContext> {
    return (await this.service?.current(limits.request())) ?? { stale: false };
  }

  async build(
    { input, before, seen }: TurnRequest & Partial<Seen>,
    { max_tokens = this.options.reserveOutput, instructions = this.options.instructions }: BuildOptions,
    limits: Limits,
    {
      history = this.session.history,
      most = Number.POSITIVE_INFINITY,
      tail,
    }: { history?: History; most?: number; tail?: false } = {},
  ): Promise<BuiltPrompt> {
    const { contextWindow, budget } = this.options;
    if (!Number.isInteger(max_tokens) || max_tokens < 0 || max_tokens >= contextWindow)
      throw badInput('max_tokens', `must be a whole number of tokens below contextWindow, which is ${contextWindow}`);
    const { stale, snapshot, memory } = await this.#current(limits);
    const { layout, lost } = this.session.state;
    const messages = (seen ?? history.messages).slice(0, before);
    const params = {
      ...{ parts: { ...snapshot, memory }, history: messages, input, instructions, tail },
      budget: Math.min(budget, contextWindow - max_tokens, most),
      limit: Math.min(contextWindow - max_tokens, most),
      countTokens: this.session.counter.count,
      previous: layout,
    };
    const pause = pauses();
    const plan = new PromptLayout(params);
    await pause();
    // Without a search, as long as all messages fit.
    const isAll = plan.start === 0 && lost.length === 0;
    const found = isAll ? undefined : await this.searcher.found(input, messages, { history, limits, lost });
    await pause();
    const { state, report, ...prompt } = plan.fill(found);
    await pause();
    const { estimated } = this.session.counter;
    const compactionExhausted = snapshot !== undefined && this.service?.isExhausted(snapshot) === true;
    if (tail !== false) this.session.set({ layout: state });
    return { ...prompt, report: { ...report, estimated, stale, compactionExhausted } };
  }

  /** Waits for the earlier turns. Reads the last reply to its end, so that an abandoned one does not delay this turn. */
  async #inOrder(options: RequestOptions, reply?: Reply): Promise<{ limits: Limits; end: () => void }> {
    const limits = new Limits(options);
    // In workerd, conflicts in the store keep the order instead.
    const before = isRequestBound() ? undefined : this.#last;
    let end = (): void => {};
    this.#last = new Promise((resolve) => {
      end = () => resolve(before);
    });
    if (!isRequestBound()) void this.#lastReply?.readOn();
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
    const { limits, end } = await this.#inOrder(options, reply);
    try {
      const begun = this.#begun(make(), reply.id); // dated now, not when the reply ends
      const built = await this.build(begun, options, limits); // an input that does not fit is not stored
      const request = await this.#storeInput(begun, limits);
      const { answer, prompt } = await this.#ask(request, built, options, limits);
      reply.report = prompt.report;
      if (!('textStream' in answer)) return await this.#ended(request, limits, prompt, answer);
      let text = '';
      let completion: StreamedChatCompletion | undefined;
      let error: unknown;
      try {
        for await (const piece of answer.textStream) {
          text += piece;
          yield piece;
          limits.throwIfAborted();
        }
        completion = await answer.finalCompletion();
      } catch (reason) {
        if (text === '') throw reason;
        error = reason;
      }
      return { ...(await this.#ended(request, limits, prompt, completion, text)), error };
    } finally {
      end();
    }
  }

  /** Sends a prompt. If the service rejects it as too long, builds a smaller one and sends that, once. */
  async #ask(
    request: BegunTurn,
    prompt: BuiltPrompt,
    { temperature, max_tokens, stream, ...options }: TurnOptions & { stream: boolean },
    limits: Limits,
  ): Promise<{ answer: StreamedChatCompletion | ChatCompletionStream; prompt: BuiltPrompt }> {
    const { model, gateway } = this.options;
    const send = ({ chatMessages: messages }: BuiltPrompt) =>
      // The cast is true: only text is sent, so the documented types are those of the replies.
      (gateway as GatewayClient).chat.completions.create(
        { model, temperature, max_tokens, messages, stream },
        { ...options, ...limits.request() },
      );
    try {
      return { prompt, answer: await send(prompt) };
    } catch (error) {
      if (!APIError.is(error) || !isTooLong(error)) throw error;
      this.session.counter.undercounted();
      const most = Math.floor(SMALLER * messageTokens(prompt.chatMessages, this.session.counter.count));
      const smaller = await this.build(request, { max_tokens }, limits, { most }).catch((reason: unknown) => {
        throw ContextBudgetError.is(reason) ? error : reason; // nothing is left to drop: report the service's error
      });
      return { prompt: smaller, answer: await send(smaller) };
    }
  }

  /** Stores a turn. Without a completion, it was stopped. */
  async #ended(
    request: BegunTurn,
    turnLimits: Limits,
    { report, chatMessages }: BuiltPrompt,
    completion: StreamedChatCompletion | undefined,
    partial = '',
  ): Promise<TurnEnd> {
    const text = completion === undefined ? partial : (completion.choices[0]?.message.content ?? '');
    const { total: prompt_tokens } = report.tokens;
    const completion_tokens = this.#tokensOf(text);
    const estimate = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
    const { usage = estimate } = completion ?? {};
    const usageEstimated = usage === estimate;
    if (!usageEstimated) this.session.counter.calibrate({ messages: chatMessages, ...usage });
    const turn = { text, stopped: completion === undefined, usage, usageEstimated, completion, report };
    const { messages, replaced } = await turnLimits.storing(async (limits) => {
      const kept = await this.#store(request, turn, limits);
      await this.session.save(limits);
      return kept;
    });
    const compaction = this.service?.compactIfDue();
    // After an edit it begins when the replaced messages are excluded. A page does not wait for these requests.
    return { turn: { ...turn, messages }, receipt: replaced ? undefined : compaction };
  }

  /** An app's `countTokens` may return no number for a reply. The turn is stored all the same. */
  #tokensOf(text: string): number {
    try {
      return Math.ceil(this.session.counter.count(text));
    } catch (error) {
      this.background.onError(error);
      return estimateTokens(text);
    }
  }

  /** Stores a reply, in place of the messages that it replaces. An edited message is stored with it. */
  async #store(
    { input, before, question = [], replyId, ...place }: BegunTurn,
    reply: RecordedReply & { report?: PromptReport },
    limits: Limits,
  ): Promise<{ messages: StoredMessage[]; replaced: boolean }> {
    const { text, stopped, report } = reply;
    const asked = place.kept === before ? input : [];
    // The id of a question that is stored in the same step is known only then, and its reply follows it.
    const replyTo = asked.length > 0 ? undefined : input.findLast(isQuestion)?.id;
    const more = { replyTo, ...(stopped && { stopped: true }), ...(report && storedSources(report)) };
    const answer: ConversationMessage = { id: replyId, role: 'assistant', content: wellFormed(text), ...more };
    const added = withNewIds(stored([...asked, answer]), place.seen.slice(0, place.kept));
    try {
      const { messages, removed } = await this.#append(added, place, input.at(-1), limits);
      if (removed.length > 0) this.service?.exclude(removed);
      return { messages: [...question, ...messages], replaced: removed.length > 0 };
    } catch (error) {
      // With the question, also if it is stored: `record` stores the reply after it.
      const messages = asked.length > 0 ? added : [...input, ...added];
      if (ConversationStoreError.is(error) && isTurn(reply)) error.setTurn({ ...reply, messages });
      throw error;
    }
  }

  /** Stores messages. What replaces nothing else follows what other processes have stored meanwhile. */
  async #append(
    added: readonly StoredMessage[],
    place: Seen & { isAgain?: boolean },
    question: StoredMessage | undefined,
    limits: Limits,
    tries = 20,
  ): Promise<Appended> {
    try {
      return await this.session.append(added, place, limits);
    } catch (error) {
      const { seen, kept = seen.length } = place;
      const isAdded = question === undefined || findSame(added, question) !== undefined;
      const removes = kept < seen.length && (place.isAgain !== true || isAdded);
      if (!ConversationConflictError.is(error) || removes || tries === 0) throw error;
      await this.session.load(limits).catch(() => {
        throw error; // which gets the reply
      });
      const { messages: others } = this.session.history;
      const there = added.map((one) => findSame(others, one)?.id);
      const missing = withNewIds(
        added.filter((_, at) => there[at] === undefined),
        others,
      );
      if (missing.length === 0) return { messages: [...added], removed: [] };
      const same = findSame(others, question ?? {});
      const last = isAdded || same === undefined ? others.length : endOfOthers(others, others.indexOf(same) + 1);
      // Another tab has edited the question, or has its whole reply.
      if ((same === undefined && !isAdded) || (last < others.length && missing.at(-1)?.stopped)) throw error;
      const next = { seen: others, kept: last, isAgain: true };
      const { messages, removed } = await this.#append(
        missing,
        next,
        isAdded ? undefined : question,
        limits,
        tries - 1,
      );
      const ids = [...messages];
      return { messages: added.map((one, at) => ({ ...one, id: there[at] ?? ids.shift()?.id ?? one.id })), removed };
    }
  }

  /** Before the first compaction, messages that are neither sent nor recalled are in no summary either. */
  #warnOfLeftOut({ report: { dropped, recalled, summaryVersion } }: BuiltPrompt): void {
    const { messages = 0 } = dropped.find(({ section, reason }) => section === 'history' && reason === 'budget') ?? {};
    const left = messages - recalled.filter(({ role }) => role !== 'summary').length;
    if (this.#hasWarned || left <= 0 || summaryVersion > 0 || this.service === undefined) return;
    this.#hasWarned = true;
    const message = `${left} older messages were left out, and the service has no summary of them. If it has them, call compact(). If not, leave out the option context.`;
    this.background.onError(new ConfigurationError(message));
  }
}

/** @throws {RequestValidationError} that names the message and its field */
function passed(messages: BuildOptions['messages']): ConversationMessage[] {
  if (!Array.isArray(messages)) throw badInput('messages', 'must be an array of { role, content }');
  return messages.map((row, at) => messageOf(row, (field, message) => badInput(['messages', at, field], message)));
}

/** Whether a reply has the other fields of a turn. One that was recorded has not. */
function isTurn(reply: object): reply is Omit<ChatTurn, 'messages'> {
  return 'report' in reply;
}
