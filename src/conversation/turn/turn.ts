import { MAX_TIMER } from '../../base/runtime.js';
import { isTooLong } from '../../base/too-long.js';
import { APIError, APITimeoutError, type StreamedChatCompletion } from '../../index.js';
import { Background } from '../background.js';
import { checkTurnOptions } from '../call-options.js';
import { bodyOf, textOf } from '../content.js';
import { ContextReader } from '../context/reader.js';
import { ServiceContext } from '../context/service.js';
import { type Seen, Session, stored } from '../context/session.js';
import { inTurns } from '../in-turns.js';
import { badInput, messagesOf } from '../messages.js';
import type { BuiltPrompt, ChatTurn, ConversationMessage, ReplyPart, StoredMessage } from '../model.js';
import type { CheckedOptions, ConversationOptions, PrepareOptions, TurnInput, TurnOptions } from '../options.js';
import { ContextBudgetError } from '../prompt/budget-error.js';
import { calibrationOf, messageTokens, TokenCounter } from '../prompt/tokens.js';
import { type ConversationStore, memoryStore } from '../store.js';
import { TurnTimeouts } from '../turn-timeouts.js';
import { type Ask, Beginnings } from './begin.js';
import { runCalls } from './calls.js';
import { Endings, type MadeReply } from './end.js';
import { TurnOrder } from './order.js';
import { positionOf } from './place.js';
import { PreparedTurn } from './prepared.js';
import { Prompts, paramsOf } from './prompts.js';
import { Reply, type StartedTurn, type TurnEnd } from './reply.js';
import { type BegunTurn, STORING, TurnStorage } from './storage.js';

/** What a caller asks for. */
export type Asked = { how: 'send'; input: TurnInput } | Exclude<Ask, { how: 'send' }>;

type Messages = readonly ConversationMessage[];
type Answer = Awaited<ReturnType<ConversationOptions['gateway']['chat']['completions']['create']>>;
type Completion = StreamedChatCompletion | Exclude<Answer, { textStream: unknown }>;
/** The options of one request of a turn. */
type StepOptions = TurnOptions & { stream: boolean; step: number };

/** How many times a turn runs calls. */
const MAX_STEPS = 8;
/** Between the texts of two steps. */
const BETWEEN_STEPS = '\n\n';

/** A prompt that was too long shrinks to this share of its counted tokens. How wrong the count was is unknown. */
const SMALLER = 0.75;

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
  readonly #beginnings: Beginnings;
  readonly #endings: Endings;
  /** Replies whose turns have begun. */
  readonly #running = new Set<Reply>();

  constructor(private readonly options: CheckedOptions) {
    const { gateway, model, conversationId, store = memoryStore(), countTokens, runtime } = options;
    this.background = new Background((error) => options.onError?.(error));
    const { onError } = this.background;
    const counter = new TokenCounter(countTokens, onError, calibrationOf(gateway, model));
    this.#store = store;
    this.session = new Session(conversationId, store, options.budget, counter, runtime, onError);
    const reader = new ContextReader(options, this.session, this.background);
    this.service = reader.context && new ServiceContext(reader.context, options, this.session, this.background);
    this.#storage = new TurnStorage(this.session, runtime);
    this.prompts = new Prompts(options, this.session, reader, this.service, this.background);
    this.#endings = new Endings(this.session, this.#storage, this.service, this.background);
    this.#beginnings = new Beginnings(this.session, this.#storage, this.prompts);
  }

  reply(ask: Asked, given: TurnOptions | null, stream = true): Reply {
    const { background, ...options } = given ?? {};
    const start = (reply: Reply): StartedTurn => {
      checkTurnOptions({ ...options, background });
      this.#running.add(reply);
      const timeouts = new TurnTimeouts(this.options.runtime, options, () => void reply.readOn());
      return { timeouts, pieces: this.#turn(ask, { ...options, stream }, reply, timeouts) };
    };
    return new Reply(start, background, this.background.onError);
  }

  /** Begins a turn whose reply another client generates. It holds no place in the order. */
  async prepare(given: readonly ConversationMessage[], options: PrepareOptions): Promise<PreparedTurn> {
    const { history, edit, newest, instructions, max_tokens, ...request } = options;
    if (edit !== undefined && (history !== undefined || given.length > 1 || given[0]?.role !== 'user'))
      throw badInput('options.edit', 'takes a text as the input, and no history');
    const timeouts = this.session.timeouts(request);
    const built = { instructions, max_tokens, newest };
    if (history !== undefined) {
      const prompt = await this.prompts.forHistory(given, history, built, timeouts);
      const steps: ConversationMessage[] = [];
      return new PreparedTurn(prompt, crypto.randomUUID(), {
        store: (reply) => this.#endings.measure(prompt, reply),
        keep: async (step) => {
          steps.push(...step);
          return this.prompts.continued(prompt, steps, max_tokens);
        },
      });
    }
    const input = stored(this.options.runtime, given);
    const ask: Ask =
      edit === undefined ? { how: 'send', input } : { how: 'edit', messageId: edit, text: given[0]?.content ?? '' };
    const prepared = await this.#beginnings.prepare(ask, built, timeouts, crypto.randomUUID());
    const { prompt } = prepared;
    let { begun } = prepared;
    const store = async (reply: MadeReply): Promise<ChatTurn> =>
      (await this.#endings.end(begun, prompt, reply, this.session.timeouts())).turn;
    const keep = async (step: Messages) => {
      begun = await this.#storage.storeStep(begun, step, this.session.timeouts());
      return this.prompts.continued(prompt, begun.steps, max_tokens);
    };
    return new PreparedTurn(prompt, begun.replyId, {
      store: (reply) => this.background.run(store(reply)),
      keep: (step) => this.background.run(keep(step)),
    });
  }

  /** Resolves when no turn runs, and no background work. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) {
      const running = [...this.#running];
      await Promise.all(running.map((reply) => reply.readOn()));
      for (const reply of running) this.#running.delete(reply); // also one whose input was refused
    }
    await this.background.idle();
  }

  /** Adds messages as they are. */
  async add(given: readonly ConversationMessage[]): Promise<readonly StoredMessage[]> {
    this.session.checkStored('add');
    const messages = stored(this.options.runtime, given);
    const timeouts = this.session.timeouts();
    const { before, end } = TurnOrder.enter(this.#store, this.session.id);
    try {
      await before;
      return await this.#storage.add(messages, timeouts);
    } finally {
      end();
    }
  }

  /** The messages of turns before one, at least so many. */
  async messages(before: string | undefined, limit: number, timeouts: TurnTimeouts): Promise<Messages> {
    const pageOf = ({ messages }: Pick<Seen, 'messages'>): Messages => {
      const turns = inTurns(messages);
      const end = before === undefined ? turns.length : startOfTurn(turns, positionOf(before, turns));
      return turns.slice(startOfTurn(turns, Math.max(0, end - limit)), end);
    };
    const seen = await this.session.loadNewest(timeouts, [before]);
    const page = pageOf(seen);
    const isWhole = page.length >= limit && page[0]?.role === 'user';
    return seen.older > 0 && !isWhole ? pageOf(await this.session.load(timeouts)) : page;
  }

  async *#turn(
    given: Asked,
    options: TurnOptions & { stream: boolean },
    reply: Reply,
    timeouts: TurnTimeouts,
  ): AsyncGenerator<string | ReplyPart, TurnEnd> {
    const asks = given.how === 'send' ? messagesOf(given.input) : [];
    const ask: Ask = given.how === 'send' ? { how: 'send', input: stored(this.options.runtime, asks) } : checked(given);
    const turns = TurnOrder.enter(this.#store, this.session.id, keyOf(asks), reply);
    let ended: TurnEnd | undefined;
    try {
      await waited(turns.before, timeouts);
      const turn = await turns.same;
      // Its question may have been edited since.
      const place = turn && (await this.#beginnings.begin(ask, undefined, timeouts, reply.id)).place;
      if (turn !== undefined && (place?.kind === 'again' || !this.session.isStored)) {
        reply.report = turn.report;
        yield turn.text;
        ended = { turn };
        return ended;
      }
      let { begun, prompt } = await this.#beginnings.prepare(ask, options, timeouts, reply.id);
      const { tools = this.options.tools ?? [], maxSteps = this.options.maxSteps ?? MAX_STEPS } = options;
      for (let step = 0; ; step += 1) {
        const offered = step < maxSteps ? tools : [];
        const asked = await this.#ask(begun, prompt, { ...options, tools: offered, step }, timeouts);
        prompt = asked.prompt;
        reply.report = prompt.report;
        const { text, completion, error } = yield* read(asked.answer, timeouts);
        const message = completion?.choices[0]?.message;
        const calls = offered.length > 0 ? (message?.tool_calls ?? []) : [];
        const made: MadeReply = completion === undefined ? { text, stopped: true } : { text, completion };
        if (calls.length > 0) {
          for (const call of calls) yield { type: 'call', call };
          const { results, waiting } = await runCalls(calls, offered, timeouts);
          for (const { tool_call_id, content } of results) {
            const call = calls.find(({ id }) => id === tool_call_id);
            if (call !== undefined) yield { type: 'result', call, result: textOf({ content }) };
          }
          if (waiting.length === 0) {
            const kept = { role: 'assistant', content: text, tool_calls: calls };
            begun = await timeouts.storing(STORING, () => this.#storage.storeStep(begun, [kept, ...results], timeouts));
            timeouts.throwIfAborted();
            if (text !== '') yield BETWEEN_STEPS;
            continue;
          }
          Object.assign(made, { toolCalls: calls, results });
        }
        ended = { ...(await this.#endings.end(begun, prompt, made, timeouts)), error };
        return ended;
      }
    } finally {
      turns.end(ended?.turn);
      this.#running.delete(reply);
    }
  }

  /** Sends a prompt, with the steps so far. If the service rejects it as too long, builds a smaller one and sends that, once. */
  async #ask(
    { place, seen, steps }: BegunTurn,
    prompt: BuiltPrompt,
    { temperature, max_tokens, stream, tools = [], maxSteps: _, newest: __, step, ...options }: StepOptions,
    timeouts: TurnTimeouts,
  ): Promise<{ answer: Answer; prompt: BuiltPrompt }> {
    const { model, gateway } = this.options;
    // One key for one request.
    const key = options.idempotencyKey && step > 0 ? { idempotencyKey: `${options.idempotencyKey}-${step}` } : {};
    const send = (built: BuiltPrompt) => {
      const messages = this.prompts.continued(built, steps, max_tokens);
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
      const params = { ...paramsOf(place, seen), most };
      const smaller = await this.prompts.build(params, { max_tokens }, timeouts).catch((reason: unknown) => {
        throw ContextBudgetError.is(reason) ? error : reason; // nothing is left to drop: report the service's error
      });
      return { prompt: smaller, answer: await send(smaller) };
    }
  }
}

/** @throws {RequestValidationError} when the new text of an edit is none */
function checked(ask: Exclude<Ask, { how: 'send' }>): Ask {
  if (ask.how !== 'edit') return ask;
  if (typeof ask.text !== 'string') throw badInput('text', 'must be a text');
  const [message] = messagesOf(ask.text);
  return { ...ask, text: message?.content ?? '' };
}

/** The position where the turn of a message begins. */
function startOfTurn(messages: Messages, at: number): number {
  let start = at;
  while (start > 0 && messages[start]?.role !== 'user') start -= 1;
  return start;
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

/** What an input asks, so that the same question is known while it is being asked. It has an id then. */
function keyOf(input: readonly ConversationMessage[]): string | undefined {
  if (input.at(-1)?.id === undefined) return undefined;
  return JSON.stringify(input.map((message) => [message.id, bodyOf(message)]));
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
