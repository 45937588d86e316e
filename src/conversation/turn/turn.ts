import { MAX_TIMER } from '../../base/runtime.js';
import { isTooLong } from '../../base/too-long.js';
import { APIError, APITimeoutError, type ChatCompletionStream, type StreamedChatCompletion } from '../../index.js';
import { Background } from '../background.js';
import { checkTurnOptions } from '../call-options.js';
import { ContextReader } from '../context/reader.js';
import { ServiceContext } from '../context/service.js';
import { type Seen, Session, stored } from '../context/session.js';
import { inTurns } from '../in-turns.js';
import { badInput, messagesOf } from '../messages.js';
import type { BuiltPrompt, ChatTurn, ConversationMessage, StoredMessage } from '../model.js';
import type { CheckedOptions, PrepareOptions, TurnInput, TurnOptions } from '../options.js';
import { ContextBudgetError } from '../prompt/budget-error.js';
import { calibrationOf, messageTokens, TokenCounter } from '../prompt/tokens.js';
import { type ConversationStore, memoryStore } from '../store.js';
import { TurnTimeouts } from '../turn-timeouts.js';
import { type Ask, Beginnings } from './begin.js';
import { Endings, type MadeReply } from './end.js';
import { TurnOrder } from './order.js';
import { positionOf } from './place.js';
import { PreparedTurn } from './prepared.js';
import { Prompts, paramsOf } from './prompts.js';
import { Reply, type StartedTurn, type TurnEnd } from './reply.js';
import { type BegunTurn, TurnStorage } from './storage.js';

/** What a caller asks for. */
export type Asked = { how: 'send'; input: TurnInput } | Exclude<Ask, { how: 'send' }>;

type Messages = readonly ConversationMessage[];

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
      return new PreparedTurn(prompt, crypto.randomUUID(), (reply) => this.#endings.measure(prompt, reply));
    }
    const input = stored(this.options.runtime, given);
    const ask: Ask =
      edit === undefined ? { how: 'send', input } : { how: 'edit', messageId: edit, text: given[0]?.content ?? '' };
    const { begun, prompt } = await this.#beginnings.prepare(ask, built, timeouts, crypto.randomUUID());
    const store = async (reply: MadeReply): Promise<ChatTurn> =>
      (await this.#endings.end(begun, prompt, reply, this.session.timeouts())).turn;
    return new PreparedTurn(prompt, begun.replyId, (reply) => this.background.run(store(reply)));
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
  ): AsyncGenerator<string, TurnEnd> {
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
      const { begun: asked, prompt: built } = await this.#beginnings.prepare(ask, options, timeouts, reply.id);
      const { answer, prompt } = await this.#ask(asked, built, options, timeouts);
      reply.report = prompt.report;
      if (!('textStream' in answer)) {
        ended = await this.#endings.end(asked, prompt, { text: textOf(answer), completion: answer }, timeouts);
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
      const made = completion === undefined ? { text, stopped: true } : { text: textOf(completion), completion };
      ended = { ...(await this.#endings.end(asked, prompt, made, timeouts)), error };
      return ended;
    } finally {
      turns.end(ended?.turn);
      this.#running.delete(reply);
    }
  }

  /** Sends a prompt. If the service rejects it as too long, builds a smaller one and sends that, once. */
  async #ask(
    { place, seen }: BegunTurn,
    prompt: BuiltPrompt,
    { temperature, max_tokens, stream, newest: _, ...options }: TurnOptions & { stream: boolean },
    timeouts: TurnTimeouts,
  ): Promise<{ answer: StreamedChatCompletion | ChatCompletionStream; prompt: BuiltPrompt }> {
    const { model, gateway } = this.options;
    const send = ({ chatMessages: messages }: BuiltPrompt) =>
      gateway.chat.completions.create(
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

function textOf({ choices }: StreamedChatCompletion): string {
  return choices[0]?.message.content ?? '';
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
