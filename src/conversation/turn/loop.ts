import { isTooLong } from '../../base/too-long.js';
import { APIError, type ChatCompletion, ConfigurationError } from '../../index.js';
import type { Session } from '../context/session.js';
import type { BuiltPrompt, ChatTurn, ConversationMessage, ReplyPart } from '../model.js';
import type { BuildOptions, CheckedOptions, ConversationOptions, TurnOptions } from '../options.js';
import { ContextBudgetError } from '../prompt/budget-error.js';
import { messageTokens } from '../prompt/tokens.js';
import { ConversationStoreError } from '../store.js';
import type { TurnTimeouts } from '../turn-timeouts.js';
import type { Prepared } from './begin.js';
import { notRun, runCalls } from './calls.js';
import type { Endings, MadeReply, Used } from './end.js';
import { answeredBy } from './place.js';
import { type Prompts, paramsOf } from './prompts.js';
import type { Reply, TurnEnd } from './reply.js';
import { STORING, stepOf, type TurnStorage } from './storage.js';

type Answer = Awaited<ReturnType<ConversationOptions['gateway']['chat']['completions']['create']>>;
type Completion = ChatCompletion | Exclude<Answer, { textStream: unknown }>;
/** The options of one request of a turn. */
type StepOptions = TurnOptions & { stream: boolean; step: number };

/** How many times a turn runs calls. */
const MAX_STEPS = 8;
/** Between the texts of two steps. */
export const BETWEEN_STEPS = '\n\n';
/** A prompt that was too long shrinks to this share of its counted tokens. How wrong the count was is unknown. */
const SMALLER = 0.75;

/** A turn as it goes on, and what its requests have used. */
type Current = Prepared & { used: Used[] };
/** The options of a turn, and whether its reply is streamed. */
type LoopOptions = TurnOptions & { stream: boolean };

/** Asks the model, runs the tools that it calls, and asks it again with their results, until it replies. */
export class Loop {
  constructor(
    private readonly options: CheckedOptions,
    private readonly session: Session,
    private readonly storage: TurnStorage,
    private readonly prompts: Prompts,
    private readonly endings: Endings,
  ) {}

  /** Yields the parts of a reply, and stores it. Its steps are stored, too, if what follows them fails. */
  async *run(
    prepared: Prepared,
    options: LoopOptions,
    reply: Reply,
    timeouts: TurnTimeouts,
  ): AsyncGenerator<string | ReplyPart, TurnEnd & { turn: ChatTurn }> {
    const current: Current = { ...prepared, used: [] };
    try {
      return yield* this.#steps(current, options, reply, timeouts);
    } catch (error) {
      const { begun, prompt, used } = current;
      if (begun.steps.length === begun.kept.length) throw error;
      const lost = await this.endings
        .end(begun, prompt, { text: '', stopped: true, used }, timeouts)
        .catch((failure) => {
          if (ConversationStoreError.is(error)) throw failure; // the same, with the turn
          this.session.onError(failure);
        });
      if (ConversationStoreError.is(error) && lost !== undefined)
        error.setTurn({ ...lost.turn, messages: [...answeredBy(begun.place), ...begun.steps] });
      throw error;
    }
  }

  async *#steps(
    current: Current,
    options: LoopOptions,
    reply: Reply,
    timeouts: TurnTimeouts,
  ): AsyncGenerator<string | ReplyPart, TurnEnd & { turn: ChatTurn }> {
    const { tools = this.options.tools ?? [], maxSteps = this.options.maxSteps ?? MAX_STEPS } = options;
    const end = (made: MadeReply) =>
      this.endings.end(current.begun, current.prompt, { ...made, used: current.used }, timeouts);
    for (let step = 0; ; step += 1) {
      const offered = step < maxSteps ? tools : [];
      const { answer, prompt } = await this.#ask(current, { ...options, tools: offered, step }, timeouts);
      current.prompt = prompt;
      reply.report = prompt.report;
      const { text, completion, error } = yield* read(answer, timeouts);
      if (completion === undefined) return { ...(await end({ text, stopped: true })), error };
      const asked = completion.choices[0]?.message.tool_calls ?? [];
      if (asked.length === 0) return end({ text, completion });
      for (const call of asked) yield { type: 'call', call };
      const isOver = offered.length === 0 && tools.length > 0;
      if (isOver) this.session.onError(stillCalls(step));
      const calls = isOver ? notRun(asked, tools) : await runCalls(asked, offered, timeouts, this.session.onError);
      for (const { call, result } of calls) if (result !== undefined) yield { type: 'result', call, result };
      if (isOver || calls.some(({ result }) => result === undefined)) return end({ text, completion, calls });
      const { facts, used } = this.endings.factsOf(prompt, { text, completion });
      current.used.push(used);
      const messages = stepOf({ role: 'assistant', content: text, ...facts }, calls);
      current.begun = this.storage.withStep(current.begun, messages);
      current.begun = await timeouts.storing(STORING, () => this.storage.storeSteps(current.begun, timeouts));
      timeouts.throwIfAborted();
      current.prompt = await this.continued(current, messages, options, timeouts);
      if (text !== '') yield BETWEEN_STEPS;
    }
  }

  /** The prompt of a turn with one more step, which it has kept. */
  continued(
    { begun, prompt }: Prepared,
    step: readonly ConversationMessage[],
    options: BuildOptions,
    timeouts: TurnTimeouts,
  ): Promise<BuiltPrompt> {
    const again = () => this.prompts.build(paramsOf(begun), options, timeouts);
    return this.prompts.continued(prompt, step, options.max_tokens, again);
  }

  /** Sends a prompt. If the service rejects it as too long, builds a smaller one and sends that, once. */
  async #ask(
    { begun, prompt }: Prepared,
    { temperature, max_tokens, stream, tools = [], maxSteps: _, newest: __, step, ...options }: StepOptions,
    timeouts: TurnTimeouts,
  ): Promise<{ answer: Answer; prompt: BuiltPrompt }> {
    const { model, gateway } = this.options;
    // One key for one request.
    const key = options.idempotencyKey && step > 0 ? { idempotencyKey: `${options.idempotencyKey}-${step}` } : {};
    const send = ({ chatMessages: messages }: BuiltPrompt) => {
      const params = { model, temperature, max_tokens, messages, stream, ...(tools.length > 0 && { tools }) };
      return gateway.chat.completions.create(params, { ...options, ...key, ...timeouts.request() });
    };
    try {
      return { prompt, answer: await send(prompt) };
    } catch (error) {
      if (!APIError.is(error) || !isTooLong(error)) throw error;
      const { counter } = this.session;
      counter.undercounted();
      const most = Math.floor(SMALLER * messageTokens(prompt.chatMessages, counter.count));
      const params = { ...paramsOf(begun), most };
      const smaller = await this.prompts.build(params, { max_tokens, tools }, timeouts).catch((reason: unknown) => {
        throw ContextBudgetError.is(reason) ? error : reason; // nothing is left to drop: report the service's error
      });
      return { prompt: smaller, answer: await send(smaller) };
    }
  }
}

function stillCalls(steps: number): Error {
  return new ConfigurationError(
    `The model still calls tools after ${steps} steps. Raise maxSteps, or tell the model when to stop.`,
  );
}

/** Reads the text of an answer. An error after the first piece is returned with the text. */
async function* read(
  answer: Answer,
  timeouts: TurnTimeouts,
): AsyncGenerator<string, { text: string; completion?: Completion; error?: unknown }> {
  if (!('textStream' in answer)) return { text: answer.choices[0]?.message.content ?? '', completion: answer };
  let text = '';
  try {
    for await (const piece of answer.textStream) {
      text += piece;
      yield piece;
      timeouts.throwIfAborted();
    }
    const completion = await answer.finalCompletion();
    return { text: completion.choices[0]?.message.content ?? '', completion };
  } catch (error) {
    if (text === '') throw error;
    return { text, error };
  }
}
