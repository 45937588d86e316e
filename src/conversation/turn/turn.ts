import { MAX_TIMER } from '../../base/runtime.js';
import { APITimeoutError } from '../../index.js';
import { Background } from '../background.js';
import { checkTurnOptions } from '../call-options.js';
import { bodyOf } from '../content.js';
import { ContextReader } from '../context/reader.js';
import { ServiceContext } from '../context/service.js';
import { type Seen, Session, stored } from '../context/session.js';
import { inTurns } from '../in-turns.js';
import { badInput, messagesOf } from '../messages.js';
import type { BuiltPrompt, ChatTurn, ConversationMessage, ReplyPart, StoredMessage } from '../model.js';
import type { BuildOptions, CheckedOptions, PrepareOptions, TurnInput, TurnOptions } from '../options.js';
import { calibrationOf, TokenCounter } from '../prompt/tokens.js';
import { type ConversationStore, memoryStore } from '../store.js';
import { TurnTimeouts } from '../turn-timeouts.js';
import { type Ask, Beginnings } from './begin.js';
import { Endings, type MadeReply } from './end.js';
import { BETWEEN_STEPS, Loop } from './loop.js';
import { TurnOrder } from './order.js';
import { positionOf, startOfTurn } from './place.js';
import { PreparedTurn } from './prepared.js';
import { Prompts } from './prompts.js';
import { Reply, type StartedTurn, type TurnEnd } from './reply.js';
import { TurnStorage } from './storage.js';

/** What a caller asks for. */
export type Asked = { how: 'send'; input: TurnInput } | Exclude<Ask, { how: 'send' }>;

type Messages = readonly ConversationMessage[];
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
  readonly #loop: Loop;
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
    this.#loop = new Loop(options, this.session, this.#storage, this.prompts, this.#endings);
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
    const { history, edit, newest, instructions, max_tokens, tools, ...request } = options;
    if (edit !== undefined && (history !== undefined || given.length > 1 || given[0]?.role !== 'user'))
      throw badInput('options.edit', 'takes a text as the input, and no history');
    const timeouts = this.session.timeouts(request);
    const built = { instructions, max_tokens, newest, tools };
    if (history !== undefined) return this.#prepareFor(given, history, built, timeouts);
    const input = stored(this.options.runtime, given);
    const ask: Ask =
      edit === undefined ? { how: 'send', input } : { how: 'edit', messageId: edit, text: given[0]?.content ?? '' };
    let current = await this.#beginnings.prepare(ask, built, timeouts, crypto.randomUUID());
    const store = async (reply: MadeReply): Promise<ChatTurn> =>
      (await this.#endings.end(current.begun, current.prompt, reply, this.session.timeouts())).turn;
    let failed: string | undefined;
    const keep = async (step: Messages): Promise<BuiltPrompt> => {
      const later = this.session.timeouts();
      const key = JSON.stringify(step);
      // The same step after an error may be stored already.
      if (failed !== key) current = { ...current, begun: this.#storage.withStep(current.begun, step) };
      failed = key;
      current = { ...current, begun: await this.#storage.storeSteps(current.begun, later) };
      current = { ...current, prompt: await this.#loop.continued(current, step, built, later) };
      failed = undefined;
      return current.prompt;
    };
    return new PreparedTurn(current.prompt, current.begun.replyId, {
      store: (reply) => this.background.run(store(reply)),
      keep: (step) => this.background.run(keep(step)),
    });
  }

  /** A turn whose messages the app stores. */
  async #prepareFor(
    input: Messages,
    all: Messages,
    built: BuildOptions,
    timeouts: TurnTimeouts,
  ): Promise<PreparedTurn> {
    // Results belong to the turn of their calls.
    const start = input[0]?.role === 'tool' ? startOfTurn(all, all.length - 1) : all.length;
    const [history, given] = [all.slice(0, start), [...all.slice(start), ...input]];
    let steps: Messages = [];
    let prompt = await this.prompts.forHistory(given, history, built, timeouts);
    return new PreparedTurn(prompt, crypto.randomUUID(), {
      store: (reply) => this.#endings.measure(prompt, reply, steps),
      keep: async (step) => {
        steps = [...steps, ...step];
        const again = () => this.prompts.forHistory([...given, ...steps], history, built, this.session.timeouts());
        prompt = await this.prompts.continued(prompt, step, built.max_tokens, again);
        return prompt;
      },
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
      const isOfResults = asks[0]?.role === 'tool'; // they have a reply, and so no place any more
      const place = isOfResults
        ? undefined
        : turn && (await this.#beginnings.begin(ask, undefined, timeouts, reply.id)).place;
      if (turn !== undefined && (isOfResults || place?.kind === 'again' || !this.session.isStored)) {
        reply.report = turn.report;
        yield* partsOf(turn);
        ended = { turn };
        return ended;
      }
      const prepared = await this.#beginnings.prepare(ask, options, timeouts, reply.id);
      ended = yield* this.#loop.run(prepared, options, reply, timeouts);
      return ended;
    } finally {
      turns.end(ended?.turn);
      this.#running.delete(reply);
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

/** The parts of a turn that another call has asked for. */
function* partsOf({ steps, text, toolCalls = [] }: ChatTurn): Generator<string | ReplyPart> {
  for (const step of steps) {
    yield step.text;
    for (const { call } of step.calls) yield { type: 'call', call };
    for (const { call, result } of step.calls) yield { type: 'result', call, result };
    if (step.text !== '') yield BETWEEN_STEPS;
  }
  yield text;
  for (const call of toolCalls) yield { type: 'call', call };
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
