import { type ChatMessage, ConfigurationError, ContextGatewayError, type ErrorData } from '../index.js';
import { History } from './memory.js';
import {
  type BuiltPrompt,
  type ContextParts,
  type ConversationMessage,
  checkMessages,
  type Dropped,
  hashText,
  type PromptMessage,
  type PromptReport,
  wellFormed,
} from './model.js';
import { type Found, recall } from './recall.js';
import { normalise } from './receipt.js';
import { type ContextLine, costsOf, linesOf, PREFACE, renderLines, SECTIONS } from './render.js';
import { messageTokens, TokenCounter } from './tokens.js';

/** Arguments of `fitToBudget`. */
export interface FitParams {
  parts: ContextParts;
  /** The messages before the input, newest last. */
  history: readonly ConversationMessage[];
  input: readonly ConversationMessage[];
  instructions?: string | undefined;
  /** Maximum tokens of the prompt: the context window minus the room for the reply. */
  budget: number;
  /** Counts the tokens of a text. @default an estimate on the safe side */
  countTokens?: ((text: string) => number) | undefined;
  /** The `state` of the previous prompt, so that this one begins with the same bytes. */
  previous?: FitState | undefined;
  /** With `false`, no message is sent as it is: all may be recalled. @default true */
  tail?: boolean | undefined;
}

/** State that one prompt passes to the next. Plain JSON; pass it unchanged as `previous`. */
export interface FitState {
  /** Index of the first message of the history that is sent as it is. */
  readonly start: number;
  /** Identifies that message. Its index may change between prompts. */
  readonly first?: string | undefined;
  /** Identifies the lines from which the context was selected. */
  readonly key: string;
  /** How many of them were selected. */
  readonly lines: number;
}

/** A prompt that fits, and the state with which the next one can start with the same bytes. */
export type FittedPrompt = Omit<BuiltPrompt, 'report'> & { report: FitReport; state: FitState };

/** A prompt report without the fields that depend on how the context was read. */
export type FitReport = Omit<PromptReport, 'stale' | 'compactionExhausted'>;

/**
 * Shares of the room beside the instructions. The newest messages are cut to `newest`, or to `turn` if a turn begins
 * there, and grow to `newestAtMost`, so that prompts in between begin with the same bytes. The context takes at most
 * `context`, once messages no longer fit. What remains is for what is recalled.
 */
const SHARES = { newest: 0.25, turn: 0.35, newestAtMost: 0.55, context: 0.12 };
/** Tokens around the lines of the context: the delimiters, with a hash, and the message itself. */
const FRAME_TOKENS = 32;
/** With less room than this, nothing is recalled. */
const MIN_RECALL = 80;

/**
 * Builds a prompt that fits a token budget, from the context, the newest messages, what is recalled for the input, and
 * the input. A pure function.
 *
 * @throws {ContextBudgetError} when the instructions, the pins and the input do not fit
 * @throws {RequestValidationError} when `history` or `input` is not an array of messages
 * @example
 * ```ts
 * import { fitToBudget } from 'context-gateway/conversation';
 * const history = Array.from({ length: 500 }, (_, i) => ({ role: 'user', content: `Remark ${i} about the weather.` }));
 * const input = [{ role: 'user', content: 'What was remark 7?' }];
 * const { messages, recalled } = fitToBudget({ parts: {}, history, input, budget: 1_000 });
 * console.log(messages.length < 500, recalled?.content.includes('Remark 7 '));
 * ```
 */
export function fitToBudget(params: FitParams): FittedPrompt {
  checkMessages(params.history, 'history');
  checkMessages(params.input, 'input');
  if (!(params.budget > 0)) throw new ConfigurationError('budget must be a positive number of tokens.');
  const layout = layoutPrompt(params);
  return layout.fill(layout.start > 0 ? search(params) : { hits: [] });
}

/** A prompt whose context and newest messages are chosen. */
export interface PromptLayout {
  /** Index of the first message of the history that is sent as it is. */
  start: number;
  /** Adds what a search found for the input, as far as it fits. */
  fill(found: Found): FittedPrompt;
}

/** `fitToBudget` in two steps and without checks, so that nothing is searched while all messages fit. */
export function layoutPrompt(params: FitParams): PromptLayout {
  const { parts, history, input, instructions, budget, previous } = params;
  const { countTokens: count = new TokenCounter().count } = params;
  const instructionTokens = instructions === undefined ? 0 : messageTokens([{ content: instructions }], count);
  const inputTokens = messageTokens(input, count);
  /** Tokens for all but the instructions. The same in every turn, so that a long input changes no later prompt. */
  const base = budget - instructionTokens;
  const room = base - inputTokens;
  const tail = new Tail(history, count);
  const context = new Context(parts, history, count);

  const { start, lines } =
    params.tail === false
      ? { start: history.length, lines: context.within(base / 2, history.length).lines }
      : regularLayout(previous, { tail, context, base });
  let layout = { start, ...context.first(lines, start) };
  if (layout.tokens + tail.tokens(start) > room) {
    // A long input leaves less room this once.
    const { tokens } = context.within(SHARES.context * room, start);
    const from = tail.startOfTurn(tail.startWithin(Math.min(SHARES.newestAtMost * room, room - tokens), start));
    layout = { start: from, ...context.within(SHARES.context * room, from) };
  }
  if (layout.tokens > room) {
    layout = { start: history.length, ...context.within(0, history.length) };
    if (layout.tokens > room) throw new ContextBudgetError(budget, tokensOf(layout.tokens));
  }
  return { start: layout.start, fill };

  function fill(found: Found): FittedPrompt {
    const { start: from, selected } = layout;
    const text = renderLines(selected);
    const tailTokens = tail.tokens(from);
    const left = room - layout.tokens - tailTokens;
    const sent = new Set(selected.map((line) => normalise(line.text)));
    const isSent = (content: string): boolean => sent.size > 0 && sent.has(normalise(content));
    const recalled = left < MIN_RECALL ? undefined : recall(found, { history, end: from, room: left, count, isSent });

    const asMessage = (content: string | undefined): PromptMessage[] => (content ? [{ role: 'user', content }] : []);
    const [contextMessage] = asMessage(text);
    const [recalledMessage] = asMessage(recalled?.text);
    // The casts are true: other roles were rejected, or are the AI SDK's, which sends its own messages in their place.
    const messages = [
      ...asMessage(text),
      ...tail.messages(from).map(({ role, content }) => ({ role, content: wellFormed(content) }) as PromptMessage),
      ...asMessage(recalled?.text),
      ...input.map(({ role, content }) => ({ role, content }) as PromptMessage),
    ];
    const chatMessages: ChatMessage[] =
      instructions === undefined ? messages : [{ role: 'system', content: instructions }, ...messages];
    return {
      ...{ instructions, messages, chatMessages, context: contextMessage, recalled: recalledMessage, start: from },
      state: { start, first: identify(history[start]), key: context.key, lines },
      report: {
        tokens: tokensOf(layout.tokens, tailTokens, recalled?.tokens),
        budget,
        estimated: params.countTokens === undefined,
        included: SECTIONS.filter((section) => selected.some((line) => line.section === section)),
        dropped: [...context.dropped(selected, from), ...tail.dropped(from)],
        recalled: recalled?.items ?? [],
        cacheKey: hashText(text),
        summaryVersion: parts.summary?.version ?? 0,
      },
    };
  }

  function tokensOf(contextTokens: number, tailTokens = 0, recalledTokens = 0): PromptReport['tokens'] {
    const total = Math.ceil(instructionTokens + contextTokens + tailTokens + recalledTokens + inputTokens);
    const [instructions = 0, context = 0, tail = 0, recalled = 0, input = 0] = [
      ...[instructionTokens, contextTokens, tailTokens, recalledTokens, inputTokens].map(Math.ceil),
    ];
    return { instructions, context, tail, recalled, input, total };
  }
}

/** Where the newest messages start and how many lines the context has, whatever the length of the input. */
function regularLayout(
  previous: FitState | undefined,
  { tail, context, base }: { tail: Tail; context: Context; base: number },
): { start: number; lines: number } {
  const start = tail.find(previous);
  const newest = tail.tokens(start, base);
  const isSame = previous?.key === context.key;
  // While all messages are sent, the context may take more than its share.
  const most = start > 0 ? SHARES.context * base : Math.max(SHARES.context * base, (1 - SHARES.newest) * base - newest);
  const lines = isSame ? previous.lines : context.within(most, start).lines;
  const { tokens } = context.first(lines, start);
  const isFull = start === 0 ? newest + tokens > base : newest > Math.min(SHARES.newestAtMost * base, base - tokens);
  // A new context changes the beginning anyway: the cheapest moment to cut.
  const isMoment = !isSame && start > 0 && newest > ((SHARES.newest + SHARES.newestAtMost) / 2) * base;
  if (!isFull && !isMoment) return { start, lines };
  const cut = tail.cut(SHARES.newest * base, SHARES.turn * base, start);
  return { start: cut, lines: context.within(SHARES.context * base, cut).lines };
}

function search({ history, input }: FitParams): Found {
  const index = new History(history);
  const query = input.at(-1)?.content ?? '';
  return { hits: index.search(query, { limit: 1000 }), index, query };
}

/** Identifies a message by its id, or else by its text. */
function identify(message: ConversationMessage | undefined): string | undefined {
  return message && (message.id ?? hashText(`${message.role} ${message.content}`));
}

/** The newest messages. Counted from the end, so that messages too old to send are never counted. */
class Tail {
  readonly #history: readonly ConversationMessage[];
  readonly #count: (text: string) => number;
  /** Cumulative tokens of the newest 0, 1, 2, … messages. */
  readonly #sums = [0];

  constructor(history: readonly ConversationMessage[], count: (text: string) => number) {
    this.#history = history;
    this.#count = count;
  }

  /** Without replies that have no text, which a service may reject. */
  messages(start: number): readonly ConversationMessage[] {
    return this.#history.slice(start).filter(({ content, excluded }) => content.trim() !== '' && excluded !== true);
  }

  /** Old messages are not counted in tokens, because there may be very many. */
  dropped(start: number): Dropped[] {
    let [excluded, old] = [0, 0];
    for (let at = 0; at < this.#history.length; at += 1) {
      if (this.#history[at]?.excluded === true) excluded += 1;
      else if (at < start) old += 1;
    }
    const dropped: Dropped[] = [
      { section: 'history', messages: old, reason: 'budget' },
      { section: 'history', messages: excluded, reason: 'excluded' },
    ];
    return dropped.filter(({ messages }) => messages !== 0);
  }

  /** Stops counting above `most`. */
  tokens(start: number, most = Number.POSITIVE_INFINITY): number {
    const length = Math.max(0, this.#history.length - start);
    for (let newest = this.#sums.length; newest <= length; newest += 1) {
      const sum = this.#sums[newest - 1] ?? 0;
      if (sum > most) return sum;
      const message = this.#history.at(-newest);
      const cost = message === undefined || message.excluded === true ? 0 : messageTokens([message], this.#count);
      this.#sums.push(sum + cost);
    }
    return this.#sums[length] ?? 0;
  }

  /**
   * Index of the previous prompt's first message. If the app passes only its newest messages, that message has moved
   * towards the front or is gone.
   */
  find(previous: FitState | undefined): number {
    let at = Math.min(previous?.start ?? 0, this.#history.length);
    while (at > 0 && identify(this.#history[at]) !== previous?.first) at -= 1;
    return at;
  }

  /** The lowest index from `from` on with which the tail fits. It may be in the middle of a turn. */
  startWithin(room: number, from: number): number {
    let start = this.#history.length;
    while (start > from && this.tokens(start - 1) <= room) start -= 1;
    return start;
  }

  /** The index from which on the tail has at least `least` tokens, if that is possible with at most `most`. */
  cut(least: number, most: number, from: number): number {
    const start = this.startWithin(least, from);
    let turn = Math.max(from, start - 1);
    while (turn > from && this.#history[turn]?.role !== 'user') turn -= 1;
    return turn < start && this.tokens(turn) <= most ? this.startOfTurn(turn) : this.startOfTurn(start);
  }

  /**
   * The next index that starts a turn, so that no reply is sent without its question, and no result of a tool without
   * its call.
   */
  startOfTurn(start: number): number {
    let at = start;
    while (start > 0 && at < this.#history.length && this.#history[at]?.role !== 'user') at += 1;
    return at;
  }
}

/** The lines of the context, and how many of them fit. */
class Context {
  readonly #lines: readonly ContextLine[];
  readonly #history: readonly ConversationMessage[];
  readonly #count: (text: string) => number;
  /** Changes if any line does. */
  readonly key: string;

  constructor(parts: ContextParts, history: readonly ConversationMessage[], count: (text: string) => number) {
    this.#lines = linesOf(parts);
    this.#history = history;
    this.#count = count;
    this.key = hashText(this.#lines.map(({ section, text }) => `${section}: ${text}`).join('\n'));
  }

  /** The first lines, the most valuable ones, and pins whose message the tail does not contain. */
  first(lines: number, start: number): { selected: readonly ContextLine[]; tokens: number; lines: number } {
    const selected = this.#lines.slice(0, Math.max(lines, this.#pins)).filter(this.#isBeside(start));
    let tokens = selected.length === 0 ? 0 : this.#count(PREFACE) + FRAME_TOKENS;
    const headings = new Set<string>();
    for (const one of selected) {
      const { line, heading } = costsOf(one);
      tokens += this.#count(line) + 1 + (headings.has(heading) ? 0 : this.#count(heading) + 3);
      headings.add(heading);
    }
    return { selected, tokens, lines };
  }

  /** As many lines as fit. Pins are required. */
  within(room: number, start: number): { selected: readonly ContextLine[]; tokens: number; lines: number } {
    let [low, high] = [this.#pins, this.#lines.length];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.first(middle, start).tokens <= room) low = middle;
      else high = middle - 1;
    }
    return this.first(low, start);
  }

  /** The lines that are in neither the context nor the tail. */
  dropped(selected: readonly ContextLine[], start: number): Dropped[] {
    const chosen = new Set(selected);
    return this.#lines
      .filter((line) => !chosen.has(line))
      .filter(this.#isBeside(start))
      .map(({ section, id, text }) => ({ section, id, tokens: Math.ceil(this.#count(text)), reason: 'budget' }));
  }

  get #pins(): number {
    const end = this.#lines.findIndex(({ section }) => section !== 'pinnedMemory');
    return end === -1 ? this.#lines.length : end;
  }

  #isBeside(start: number): (line: ContextLine) => boolean {
    const ids = new Set<string | undefined>();
    for (let at = start; at < this.#history.length; at += 1) ids.add(this.#history[at]?.id);
    return ({ messageId }) => messageId === undefined || !ids.has(messageId);
  }
}

/** The parts that must not be dropped (instructions, pins, the new input) do not fit in the budget. Nothing was sent. */
export class ContextBudgetError extends ContextGatewayError {
  /** Maximum tokens of the prompt. */
  readonly budget: number;
  /** Tokens that each required part would take. */
  readonly tokens: PromptReport['tokens'];

  constructor(budget: number, tokens: PromptReport['tokens']) {
    super(
      `The prompt does not fit: instructions (${tokens.instructions}), input (${tokens.input}) and pins (${tokens.context}) take ${tokens.total} tokens of ${budget}. Shorten the input, unpin messages, or raise contextWindow.`,
    );
    this.budget = budget;
    this.tokens = tokens;
  }

  override get name(): string {
    return 'ContextBudgetError';
  }

  /** @internal */
  get errorData(): ErrorData {
    const message = 'Your message is too long. Shorten it and send it again.';
    return { status: 413, code: 'context_length_exceeded', message };
  }

  protected override facts(): Record<string, unknown> {
    return { budget: this.budget, tokens: this.tokens };
  }
}
