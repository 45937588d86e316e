import { MAX_TIMER } from '../../base/runtime.js';
import { isTooLong } from '../../base/too-long.js';
import {
  APIError,
  APITimeoutError,
  type ChatCompletionStream,
  type GatewayClient,
  type StreamedChatCompletion,
} from '../../index.js';
import { Background } from '../background.js';
import { checkTurnOptions } from '../call-options.js';
import { ServiceContext } from '../context/service.js';
import { Session } from '../context/session.js';
import { badInput, messagesOf, questionIn } from '../messages.js';
import type { BuiltPrompt, ConversationMessage, RecordedReply, SentPrompt } from '../model.js';
import type { CheckedOptions, TurnInput, TurnOptions } from '../options.js';
import { ContextBudgetError } from '../prompt/budget-error.js';
import { estimate } from '../prompt/estimate.js';
import { calibrationOf, messageTokens, TokenCounter } from '../prompt/tokens.js';
import { type ConversationStore, memoryStore } from '../store.js';
import { TurnTimeouts } from '../turn-timeouts.js';
import { TurnOrder } from './order.js';
import { checkNewest, isRecorded, type Place, placeOf, placeOfAnother, positionOf } from './place.js';
import { Prompts, paramsOf } from './prompts.js';
import { Reply, type StartedTurn, type TurnEnd } from './reply.js';
import { type BegunTurn, TurnStorage } from './storage.js';

/** What a caller asks for. */
export type Ask =
  | { how: 'send'; input: TurnInput }
  | { how: 'regenerate' }
  | { how: 'edit'; messageId: string; text: string };

/** A prompt that was too long shrinks to this share of its counted tokens. How wrong the count was is unknown. */
const SMALLER = 0.75;
/** Milliseconds to store the question of a turn that was stopped, and to store a reply that exists. */
const STORING = { question: 1_000, reply: 5_000 };
/** A turn loads so many of the newest messages, and one more for so many tokens of its budget. */
const LEAST_NEWEST = 10;
const MESSAGE_TOKENS = 25;

/**
 * Makes the turns of a conversation, one after the other. A turn loads the store, builds a prompt (context, newest messages,
 * what is found for the input), sends it, stores the reply and the state, and starts a compaction if one is due.
 */
export class Turns {
  readonly background: Background;
  readonly session: Session;
  readonly service: ServiceContext | undefined;
  readonly prompts: Prompts;
  readonly #store: ConversationStore;
  readonly #storage: TurnStorage;

  constructor(private readonly options: CheckedOptions) {
    const { gateway, model, conversationId, store = memoryStore(), context, countTokens, runtime } = options;
    this.background = new Background((error) => options.onError?.(error));
    const { onError } = this.background;
    const counter = new TokenCounter(countTokens, onError, calibrationOf(gateway, model));
    this.#store = store;
    this.session = new Session(conversationId, store, newestOf(options), counter, runtime, onError);
    this.service = context && new ServiceContext(context, options, this.session, this.background);
    this.#storage = new TurnStorage(this.session, runtime);
    this.prompts = new Prompts(options, this.session, this.service, this.background);
  }

  reply(ask: Ask, given: TurnOptions | null, stream = true): Reply {
    const { background, ...options } = given ?? {};
    const start = (reply: Reply): StartedTurn => {
      checkTurnOptions({ ...options, background });
      const timeouts = new TurnTimeouts(this.options.runtime, options, () => void reply.readOn());
      return { timeouts, pieces: this.#turn(ask, { ...options, stream }, reply, timeouts) };
    };
    return new Reply(start, background, this.background.onError);
  }

  /** Stores a turn that was made elsewhere, or without a reply the input alone. */
  async record(input: readonly ConversationMessage[], reply: RecordedReply | undefined): Promise<void> {
    const timeouts = this.session.timeouts({ signal: this.background.signal });
    const { before, end } = TurnOrder.enter(this.#store, this.session.id);
    try {
      await before; // also after `close`
      await timeouts.storing(STORING.reply, async () => {
        const seen = await this.session.loadNewest(timeouts, [...input.map(({ id }) => id), reply?.id]);
        const { messages } = seen;
        const found = placeOf(input, messages, { mayEdit: reply !== undefined });
        const place = found.kind === 'new' ? ({ ...found, kind: 'recorded' } as const) : found;
        if (isRecorded(place, reply, messages)) return;
        const begun = await this.#storage.storeInput(this.#storage.begin(place, seen, reply?.id), timeouts);
        if (reply === undefined) return;
        await this.#storeReply(begun, reply, timeouts);
        await this.compactWhenDue(timeouts);
      });
    } finally {
      end();
    }
  }

  /** After a turn that was made elsewhere: reads the context, and compacts in the background if due. */
  async compactWhenDue(timeouts: TurnTimeouts, sent?: SentPrompt): Promise<void> {
    await this.prompts.context(timeouts).catch(this.background.onError);
    if (sent !== undefined) this.session.counter.calibrate(sent);
    await this.session.save(timeouts);
    void this.service?.compactor.compactIfDue();
  }

  async *#turn(
    ask: Ask,
    { newest, ...options }: TurnOptions & { stream: boolean },
    reply: Reply,
    timeouts: TurnTimeouts,
  ): AsyncGenerator<string, TurnEnd> {
    const input = ask.how === 'send' ? messagesOf(ask.input) : [];
    const turns = TurnOrder.enter(this.#store, this.session.id, keyOf(input), reply);
    let ended: TurnEnd | undefined;
    try {
      await waited(turns.before, timeouts);
      let seen = await this.session.loadNewest(
        timeouts,
        ask.how === 'edit' ? [ask.messageId] : input.map(({ id }) => id),
      );
      if (ask.how === 'regenerate' && questionIn(seen.messages) === undefined) seen = await this.session.load(timeouts);
      const place = this.#placeOf(ask, input, seen.messages);
      const turn = await turns.same;
      if (turn !== undefined && (place.kind === 'again' || !this.session.isStored)) {
        reply.report = turn.report;
        yield turn.text;
        ended = { turn };
        return ended;
      }
      checkNewest(newest, place, seen.messages);
      const begun = this.#storage.begin(place, seen, reply.id); // dated now, not when the reply ends
      const built = await this.prompts.build(paramsOf(begun.place, begun.seen), options, timeouts);
      timeouts.throwIfAborted(); // a turn that was stopped before stores nothing, nor does one whose prompt does not fit
      const store = () => this.#storage.storeInput(begun, timeouts);
      const asked = await timeouts.storing(STORING.question, store).finally(() => timeouts.throwIfAborted());
      const { answer, prompt } = await this.#ask(asked, built, options, timeouts);
      reply.report = prompt.report;
      if (!('textStream' in answer)) {
        ended = await this.#ended(asked, timeouts, prompt, answer);
        return ended;
      }
      let text = '';
      let completion: StreamedChatCompletion | undefined;
      let error: unknown;
      try {
        for await (const piece of answer.textStream) {
          text += piece;
          yield piece;
          timeouts.throwIfAborted();
        }
        completion = await answer.finalCompletion();
      } catch (reason) {
        if (text === '') throw reason;
        error = reason;
      }
      ended = { ...(await this.#ended(asked, timeouts, prompt, completion, text)), error };
      return ended;
    } finally {
      turns.end(ended?.turn);
    }
  }

  #placeOf(
    ask: Ask,
    input: readonly ConversationMessage[],
    messages: readonly ConversationMessage[],
  ): Place<ConversationMessage> {
    if (ask.how === 'send') return placeOf(input, messages);
    this.session.checkReplaceable();
    if (ask.how === 'regenerate') return placeOfAnother(messages);
    const { id, role, name } = messages[positionOf(ask.messageId, messages)] ?? {};
    if (role !== 'user') throw badInput('messageId', 'must be the id of a message of the user');
    // With the same id, which the page keeps, so that it can edit the message again.
    return { kind: 'edit', input: messagesOf([{ id, role, content: ask.text, name }]), from: ask.messageId };
  }

  /** Sends a prompt. If the service rejects it as too long, builds a smaller one and sends that, once. */
  async #ask(
    { place, seen }: BegunTurn,
    prompt: BuiltPrompt,
    { temperature, max_tokens, stream, ...options }: TurnOptions & { stream: boolean },
    timeouts: TurnTimeouts,
  ): Promise<{ answer: StreamedChatCompletion | ChatCompletionStream; prompt: BuiltPrompt }> {
    const { model, gateway } = this.options;
    const send = ({ chatMessages: messages }: BuiltPrompt) =>
      // The cast is true: only text is sent, so the documented types are those of the replies.
      (gateway as GatewayClient).chat.completions.create(
        { model, temperature, max_tokens, messages, stream },
        { ...options, ...timeouts.request() },
      );
    try {
      return { prompt, answer: await send(prompt) };
    } catch (error) {
      if (!APIError.is(error) || !isTooLong(error)) throw error;
      const { counter } = this.session;
      counter.undercounted();
      const most = Math.floor(SMALLER * messageTokens(prompt.chatMessages, counter.count));
      const params = { ...paramsOf(place, seen), most };
      const smaller = await this.prompts.build(params, { max_tokens }, timeouts).catch((reason: unknown) => {
        throw ContextBudgetError.is(reason) ? error : reason; // nothing is left to drop: report the service's error
      });
      return { prompt: smaller, answer: await send(smaller) };
    }
  }

  /** Stores a turn. Without a completion, it was stopped. */
  async #ended(
    asked: BegunTurn,
    timeouts: TurnTimeouts,
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
    const { messages, removed } = await timeouts.storing(STORING.reply, async () => {
      const kept = await this.#storeReply(asked, turn, timeouts);
      await this.session.save(timeouts);
      return kept;
    });
    const compaction = this.service?.compactor.compactIfDue();
    // After an edit it begins when the replaced messages are excluded. A page does not wait for these requests.
    return { turn: { ...turn, messages }, receipt: removed.length > 0 ? undefined : compaction };
  }

  /** What a reply replaced is removed from the service's summaries, too. */
  async #storeReply(asked: BegunTurn, reply: RecordedReply, timeouts: TurnTimeouts) {
    const kept = await this.#storage.storeReply(asked, reply, timeouts);
    if (kept.removed.length > 0) this.service?.exclude(kept.removed);
    return kept;
  }

  /** An app's `countTokens` may return no number for a reply. The turn is stored all the same. */
  #tokensOf(text: string): number {
    try {
      return Math.ceil(this.session.counter.count(text));
    } catch (error) {
      this.background.onError(error);
      return Math.ceil(estimate(text));
    }
  }
}

/** How many of the newest messages a prompt may contain, if they are not very short. */
function newestOf({ budget }: CheckedOptions): number {
  return LEAST_NEWEST + Math.ceil(budget / MESSAGE_TOKENS);
}

/** What an input asks, so that the same question is known while it is being asked. It has an id then. */
function keyOf(input: readonly ConversationMessage[]): string | undefined {
  if (input.at(-1)?.id === undefined) return undefined;
  return JSON.stringify(input.map(({ id, content }) => [id, content]));
}

/** Waits for the turns before. */
function waited(before: Promise<unknown>, timeouts: TurnTimeouts): Promise<unknown> {
  const late = (ms: number): Error =>
    new APITimeoutError(
      `The previous turn took longer than ${ms} ms, the deadline of this one. Pass a longer one, or send it again.`,
      { kind: 'deadline', phase: 'connect', sent: 'no' },
    );
  return timeouts.within(() => before, late, MAX_TIMER);
}
