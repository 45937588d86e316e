import { type ChatMessage, ConfigurationError } from '../../index.js';
import { checkMessages, hashText, questionIn, type SentMessage, sentMessages } from '../messages.js';
import type { BuiltPrompt, ContextParts, ConversationMessage, Dropped, PromptMessage, PromptReport } from '../model.js';
import { askedAt, MAX_HITS, queryOf } from '../search/search.js';
import { atOnce, type Found, searchMessages } from '../search/search-messages.js';
import { normalise } from '../search/words.js';
import { ContextBudgetError } from './budget-error.js';
import { type Recalled, recall } from './recall.js';
import { type ContextLine, costsOf, FRAME_TOKENS, linesOf, PREFACE, renderLines, SECTIONS } from './render.js';
import { type FitState, identify, type Newest, Tail } from './tail.js';
import { messageTokens, TokenCounter } from './tokens.js';

/** Arguments of `fitToBudget`. */
export interface FitParams {
  parts: ContextParts;
  /** The messages before the input, newest last. */
  history: readonly ConversationMessage[];
  input: readonly ConversationMessage[];
  instructions?: string | undefined;
  /** Maximum tokens of the prompt. */
  budget: number;
  /** Counts the tokens of a text. @default an estimate, usually a little too high */
  countTokens?: ((text: string) => number) | undefined;
  /** The `state` of the previous prompt, so that this one begins with the same bytes. */
  previous?: FitState | undefined;
  /** With `false`, the newest messages are not sent unchanged, but may be recalled like all others. @default true */
  tail?: boolean | undefined;
}

/** A prompt that fits, and the state with which the next one can start with the same bytes. */
export type FittedPrompt = Omit<BuiltPrompt, 'report'> & { report: FitReport; state: FitState };

/** A prompt report without the fields that depend on how the context was read. */
export type FitReport = Omit<PromptReport, 'stale' | 'compactionExhausted'>;

/**
 * Shares of the room beside the instructions. The newest messages are cut to `newest`, or to `turn` if a turn begins
 * there, and grow to `newestAtMost`, so that prompts in between begin with the same bytes. The context takes at most
 * `contextAlone` while all messages fit beside it, and `context` from then on. Once messages are left out, it has no
 * references: they are excerpts, and a search finds the messages. What remains is for what is recalled.
 */
const SHARES = { newest: 0.1, turn: 0.2, newestAtMost: 0.3, context: 0.12, contextAlone: 0.75 };
/** Share of the budget that stays for messages if the required parts take more than all of it, and always for the last turn. */
const BESIDE_REQUIRED = 0.25;

/**
 * Builds a prompt that fits a token budget, from the context, the newest messages, the messages that are recalled for the
 * input, and the input. A pure function.
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
  const layout = new PromptLayout(params);
  const { history, input } = params;
  if (layout.hasAll) return layout.fill();
  const now = askedAt(input) ?? new Date().toISOString();
  return layout.fill(atOnce(searchMessages(history, { text: queryOf(input), limit: MAX_HITS, now })));
}

interface LayoutParams extends FitParams {
  /** Messages of the conversation that are older than the history. @default 0 */
  older?: number | undefined;
  /** Tokens that the required parts may take beyond the budget. @default `budget` */
  limit?: number | undefined;
}

/** `fitToBudget` in two steps and without checks, so that nothing is searched while all messages fit. */
export class PromptLayout {
  readonly #params: LayoutParams;
  readonly #count: (text: string) => number;
  readonly #tail: Tail;
  readonly #context: Context;
  readonly #asked: readonly SentMessage[];
  readonly #instructionTokens: number;
  readonly #inputTokens: number;
  readonly #budget: number;
  /** The layout whatever the length of the input, so that a long input changes no later prompt. */
  readonly #regular: Layout;
  readonly #chosen: Layout;
  readonly #newest: Newest;

  constructor(params: LayoutParams) {
    const { parts, history, input, instructions, budget, limit = budget } = params;
    this.#params = params;
    this.#count = params.countTokens ?? new TokenCounter().count;
    this.#context = new Context(parts, history, this.#count, params.older);
    this.#asked = sentMessages(input, questionIn(input));
    this.#instructionTokens = instructions === undefined ? 0 : messageTokens([{ content: instructions }], this.#count);
    this.#inputTokens = messageTokens(this.#asked, this.#count);
    this.#tail = new Tail(history, this.#count, params.older);
    const required = this.#instructionTokens + this.#inputTokens + this.#context.within(0, history.length).tokens;
    const beside = required <= budget ? this.#tail.tokens(this.#last) : Number.POSITIVE_INFINITY;
    const more = required + Math.min(beside, BESIDE_REQUIRED * budget);
    this.#budget = Math.max(budget, Math.floor(Math.min(limit, more)));
    this.#regular = this.#regularLayout(budget - this.#instructionTokens);
    this.#chosen = this.#fittedLayout(this.#room);
    const { start, tokens, share } = this.#chosen;
    this.#newest = this.#tail.within(this.#room - tokens, start, share);
  }

  /** Whether all messages are sent, so that there is nothing to search. */
  get hasAll(): boolean {
    const [from, to] = this.#newest.gap;
    return this.#older + this.#chosen.start === 0 && from === to;
  }

  /** Adds what a search found for the input, best first, until the rest is not worth its tokens. */
  fill(found: Found = { messages: [], coverage: 1 }): FittedPrompt {
    const { parts, history, instructions, countTokens } = this.#params;
    const { start, selected, tokens } = this.#chosen;
    const text = renderLines(selected);
    const recalled = this.#recall(found);
    const [context] = asMessages(text);
    const [recalledMessage] = asMessages(recalled?.text);
    const { messages: newest, gap } = this.#newest;
    // The cast is true: other roles were rejected, or are the AI SDK's, which sends its own messages in their place.
    const messages = [...asMessages(text), ...newest, ...asMessages(recalled?.text), ...this.#asked] as PromptMessage[];
    const chatMessages: ChatMessage[] =
      instructions === undefined ? messages : [{ role: 'system', content: instructions }, ...messages];
    return {
      instructions,
      messages,
      chatMessages,
      context,
      recalled: recalledMessage,
      start: this.#older + start,
      state: { start: this.#older + this.#regular.start, first: identify(history[this.#regular.start]) },
      report: {
        tokens: this.#tokensOf(tokens, this.#newest.tokens, recalled?.tokens),
        budget: this.#budget,
        estimated: countTokens === undefined,
        included: SECTIONS.filter((section) => selected.some((line) => line.section === section)),
        dropped: [...this.#context.dropped(selected, start), ...this.#tail.dropped(start, gap)],
        recalled: recalled?.items ?? [],
        cacheKey: hashText(text),
        summaryVersion: parts.summary?.version ?? 0,
      },
    };
  }

  get #older(): number {
    return this.#params.older ?? 0;
  }

  /** Where the last turn begins. It is always sent. */
  get #last(): number {
    return this.#params.tail === false ? this.#params.history.length : this.#tail.lastTurn;
  }

  /** Tokens for the context, the newest messages and what is recalled. */
  get #room(): number {
    return this.#budget - this.#instructionTokens - this.#inputTokens;
  }

  #recall(found: Found): Recalled | undefined {
    const { start, selected, tokens } = this.#chosen;
    const room = this.#room - tokens - this.#newest.tokens;
    const [from, to] = this.#newest.gap;
    const isNewest = (position: number): boolean => {
      const at = position - this.#older;
      return at >= start && !(at >= from && at < to);
    };
    const sent = new Set(selected.map((line) => normalise(line.text)));
    const query = queryOf(this.#params.input);
    const recalled = recall(found, { query, isNewest, room, count: this.#count, sent });
    return recalled.items.length > 0 ? recalled : undefined;
  }

  /** `base`: tokens for all but the instructions. */
  #regularLayout(base: number): Layout {
    const { history, previous, tail: hasTail } = this.#params;
    const [tail, context] = [this.#tail, this.#context];
    if (hasTail === false) return context.within(base / 2, history.length);
    const found = tail.find(previous);
    // After a prompt with a smaller budget, the newest messages are far fewer than their share.
    const isKept = found > 0 && tail.tokens(found, base) >= (SHARES.newest / 2) * base;
    // A part of a conversation moves with each turn: it must not begin where the part does.
    const first = this.#older === 0 ? 0 : tail.startOfTurn(Math.ceil(history.length / 4));
    const start = Math.min(isKept ? found : first, this.#last);
    const newest = tail.tokens(start, base);
    const alone = context.within(SHARES.contextAlone * base, start);
    const isAll = this.#older + start === 0;
    if (isAll && newest + alone.tokens <= base) return alone;
    const layout = context.within(SHARES.context * base, start);
    const most = isAll ? base : SHARES.newestAtMost * base;
    if (newest <= Math.min(most, base - layout.tokens)) return layout;
    const cut = tail.cut(SHARES.newest * base, SHARES.turn * base, start);
    if (cut <= this.#last) return context.within(SHARES.context * base, cut);
    return this.#besideLast(SHARES.context * base, base);
  }

  /**
   * The regular layout, or a smaller one if a long input or a long last turn leaves less room this once.
   *
   * @throws {ContextBudgetError}
   */
  #fittedLayout(room: number): Layout {
    const [tail, context, last, { history }] = [this.#tail, this.#context, this.#last, this.#params];
    const fits = ({ start, tokens, share }: Layout): boolean =>
      tokens + tail.within(Number.POSITIVE_INFINITY, start, share).tokens <= room;
    if (fits(this.#regular)) return this.#regular;
    const { start, tokens } = context.within(SHARES.context * room, this.#regular.start);
    const from = tail.startOfTurn(tail.startWithin(Math.min(SHARES.newestAtMost * room, room - tokens), start));
    const smaller = context.within(SHARES.context * room, from);
    if (from <= last && fits(smaller)) return smaller;
    const besideLast = this.#besideLast(SHARES.context * room, room);
    if (last < history.length && room - besideLast.tokens >= BESIDE_REQUIRED * this.#params.budget) return besideLast;
    const required = this.#besideLast(0, room);
    if (required.tokens <= room) return required;
    throw new ContextBudgetError(this.#budget, this.#tokensOf(required.tokens));
  }

  /** The last turn alone, beside a context of so many tokens. If it is shortened, the pins of its messages are in the context. */
  #besideLast(contextTokens: number, room: number): Layout {
    const share = SHARES.turn * room;
    const whole = { ...this.#context.within(contextTokens, this.#last), share };
    const isWhole = this.#tail.tokens(this.#last) <= Math.min(share, room - whole.tokens);
    const { length } = this.#params.history;
    return isWhole ? whole : { ...this.#context.within(contextTokens, length), start: this.#last, share };
  }

  #tokensOf(contextTokens: number, tailTokens = 0, recalledTokens = 0): PromptReport['tokens'] {
    const parts = [this.#instructionTokens, contextTokens, tailTokens, recalledTokens, this.#inputTokens];
    const total = Math.ceil(parts.reduce((sum, tokens) => sum + tokens, 0));
    const [instructions = 0, context = 0, tail = 0, recalled = 0, input = 0] = parts.map(Math.ceil);
    return { instructions, context, tail, recalled, input, total };
  }
}

/** The chosen lines of the context, and where the newest messages start. */
interface Layout {
  start: number;
  selected: readonly ContextLine[];
  tokens: number;
  /** Tokens up to which all of the last turn is sent, if it is longer than the newest messages should be. @default no limit */
  share?: number;
}

function asMessages(content: string | undefined): PromptMessage[] {
  return content ? [{ role: 'user', content }] : [];
}

/** The lines of the context, and how many of them fit. */
class Context {
  readonly #lines: readonly ContextLine[];
  /** The places of the messages that lines repeat, by their ids. */
  readonly #places = new Map<string | undefined, number>();
  readonly #count: (text: string) => number;

  constructor(
    parts: ContextParts,
    history: readonly ConversationMessage[],
    count: (text: string) => number,
    private readonly older = 0,
  ) {
    const lines = linesOf(parts);
    const ids = new Set(lines.flatMap(({ messageId }) => messageId ?? []));
    const excluded = new Set<string | undefined>();
    for (const [at, message] of history.entries()) {
      const { id = '' } = message;
      if (ids.has(id)) this.#places.set(id, at);
      if (ids.has(id) && message.excluded === true) excluded.add(id);
    }
    this.#lines = lines.filter(({ messageId }) => !excluded.has(messageId));
    this.#count = count;
  }

  /** The most valuable lines, as many as fit. Pins are required, unless the tail contains their message. */
  within(room: number, start: number): Layout {
    const selected: ContextLine[] = [];
    const headings = new Set<string>();
    let tokens = this.#count(PREFACE) + FRAME_TOKENS;
    for (const one of this.#lines.filter(this.#isBeside(start))) {
      const { line, heading } = costsOf(one);
      const more = this.#count(line) + 1 + (headings.has(heading) ? 0 : this.#count(heading) + 3);
      const isAllowed = tokens + more <= room && (this.older + start === 0 || one.section !== 'importantReferences');
      if (one.section !== 'pinnedMemory' && !isAllowed) break;
      tokens += more;
      headings.add(heading);
      selected.push(one);
    }
    return { start, selected, tokens: selected.length === 0 ? 0 : tokens };
  }

  /** The lines that are in neither the context nor the tail. */
  dropped(selected: readonly ContextLine[], start: number): Dropped[] {
    const chosen = new Set(selected);
    return this.#lines
      .filter((line) => !chosen.has(line))
      .filter(this.#isBeside(start))
      .map(({ section, id, text }) => ({ section, id, tokens: Math.ceil(this.#count(text)), reason: 'budget' }));
  }

  #isBeside(start: number): (line: ContextLine) => boolean {
    return ({ messageId }) => (this.#places.get(messageId) ?? -1) < start;
  }
}
