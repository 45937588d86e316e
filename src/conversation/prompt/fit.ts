import type { ChatMessage } from '../../index.js';
import { textOf } from '../content.js';
import { hashText, isSent, questionIn, type SentMessage, sentMessages } from '../messages.js';
import type { BuiltPrompt, ContextParts, ConversationMessage, PromptMessage, PromptReport } from '../model.js';
import { queryOf } from '../search/search.js';
import type { Found } from '../search/search-messages.js';
import { normalise } from '../search/words.js';
import { ContextBudgetError } from './budget-error.js';
import { type Chosen, Context } from './context.js';
import { type Recalled, recall } from './recall.js';
import { renderLines, SECTIONS } from './render.js';
import { fittedSteps, type Newest, Tail } from './tail.js';
import { messageTokens } from './tokens.js';

/**
 * Shares of the room beside the instructions. The newest messages begin where they take `newest` to `newestAtMost`. The context
 * takes at most `contextAlone` while all messages fit beside it, and `context` from then on. Once messages are left out, it has
 * no references: they are excerpts, and a search finds the messages. What remains is for what is recalled. Of a last turn that
 * takes more, replies beside the newest take at most `turn`.
 */
const SHARES = { newest: 0.06, turn: 0.2, newestAtMost: 0.25, context: 0.125, contextAlone: 0.75 };
/** Share of the budget that stays for messages if the required parts take more than all of it, and always for the last turn. */
const BESIDE_REQUIRED = 0.25;

interface LayoutParams {
  parts: ContextParts;
  /** The messages before the input, newest last. */
  history: readonly ConversationMessage[];
  /** Messages of the conversation that are older than the history. Without it, the positions of the messages are not known. */
  older?: number | undefined;
  input: readonly ConversationMessage[];
  instructions?: string | undefined;
  /** Their definitions are counted with the instructions. */
  tools?: readonly object[] | undefined;
  /** Maximum tokens of the prompt. */
  budget: number;
  /** Tokens that the required parts may take beyond the budget. @default `budget` */
  limit?: number | undefined;
  /** Counts the tokens of a text. */
  count: (text: string) => number;
  /** With `false`, the newest messages are not sent unchanged, but may be recalled like all others. @default true */
  tail?: boolean | undefined;
}

/**
 * A prompt that fits a token budget, from the context, the newest messages, the messages that are recalled for the input, and the
 * input. In two steps, so that nothing is searched while all messages fit.
 *
 * @throws {ContextBudgetError} when the instructions, the pins and the input do not fit
 */
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
    const { parts, history, input, instructions, tools = [], budget, limit = budget } = params;
    this.#params = params;
    this.#count = params.count;
    this.#context = new Context(parts, history, this.#count, params.older);
    const told = [instructions, ...tools.map((tool) => JSON.stringify(tool))].flatMap((content) =>
      content === undefined ? [] : { content },
    );
    this.#instructionTokens = messageTokens(told, this.#count);
    const pins = this.#context.within(0, history.length).tokens;
    const room = Math.max(budget, limit) - this.#instructionTokens - pins;
    this.#asked = fittedSteps(sentMessages(input, questionIn(input)), room, this.#count);
    this.#inputTokens = messageTokens(this.#asked, this.#count);
    this.#tail = new Tail(history, this.#count, params.older);
    const required = this.#instructionTokens + this.#inputTokens + pins;
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
    const { parts, instructions } = this.#params;
    const { start, selected, tokens } = this.#chosen;
    const text = renderLines(selected);
    const recalled = this.#recall(found);
    const [context] = asMessages(text);
    const [recalledMessage] = asMessages(recalled?.text);
    const { messages: newest, gap } = this.#newest;
    const sent: SentMessage[] = [...asMessages(text), ...newest, ...asMessages(recalled?.text), ...this.#asked];
    const system = instructions === undefined ? [] : [{ role: 'system', content: instructions }];
    return {
      instructions,
      messages: sent.flatMap(asText),
      // The cast is true: other roles were rejected, or are the AI SDK's, which sends its own messages in their place.
      chatMessages: [...system, ...sent] as ChatMessage[],
      context,
      recalled: recalledMessage,
      start: this.#older + start,
      report: {
        tokens: this.#tokensOf(tokens, this.#newest.tokens, recalled?.tokens),
        budget: this.#budget,
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
    if (found.messages.length === 0) return undefined;
    const { start, selected, tokens } = this.#chosen;
    const { history, input } = this.#params;
    const room = this.#room - tokens - this.#newest.tokens;
    const [from, to] = this.#newest.gap;
    const isNewest = (position: number): boolean => {
      const at = position - this.#older;
      return at >= start && !(at >= from && at < to);
    };
    const context = new Set(selected.map((line) => normalise(line.text)));
    const sent = [...[...history.slice(start, from), ...history.slice(to)].filter(isSent), ...input];
    const query = queryOf(input);
    const recalled = recall(found, { query, isNewest, room, count: this.#count, context, sent });
    return recalled.items.length > 0 ? recalled : undefined;
  }

  /** `base`: tokens for all but the instructions. */
  #regularLayout(base: number): Layout {
    const { history, tail: hasTail } = this.#params;
    const [tail, context] = [this.#tail, this.#context];
    if (hasTail === false) return context.within(base / 2, history.length);
    const beside = this.#older === 0 ? base - tail.tokens(0, base) : -1;
    for (const share of [SHARES.contextAlone, SHARES.context]) {
      const all = context.within(share * base, 0);
      if (all.tokens <= beside) return all;
    }
    const start = tail.startBetween(SHARES.newest * base, SHARES.newestAtMost * base);
    if (start <= this.#last) return context.within(SHARES.context * base, start);
    return this.#besideLast(SHARES.context * base, base);
  }

  /**
   * The regular layout, or if a long input or a long last turn leaves less room this once, a smaller one: what is recalled gives
   * way, then the context but for pins, then the newest turns but the last.
   *
   * @throws {ContextBudgetError}
   */
  #fittedLayout(room: number): Layout {
    const [tail, context, last, { history }] = [this.#tail, this.#context, this.#last, this.#params];
    const fits = ({ start, tokens, share }: Layout): boolean =>
      tokens + tail.within(Number.POSITIVE_INFINITY, start, share).tokens <= room;
    if (fits(this.#regular)) return this.#regular;
    const { start, share } = this.#regular;
    if (share === undefined) {
      const besideAll = context.within(room - tail.tokens(start), start);
      if (fits(besideAll)) return besideAll;
      const left = room - context.within(0, history.length).tokens;
      const besideSome = context.within(0, Math.max(start, tail.startBetween(left, left)));
      if (besideSome.start <= last && fits(besideSome)) return besideSome;
    }
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

interface Layout extends Chosen {
  /** Tokens up to which all of the last turn is sent, if it is longer than the newest messages should be. @default no limit */
  share?: number;
}

/** A prompt, and its report without the fields that depend on what was read. */
type FittedPrompt = Omit<BuiltPrompt, 'report'> & {
  report: Omit<PromptReport, 'estimated' | 'stale' | 'compactionExhausted'>;
};

/** A message as text. Of calls and their results, nothing. */
function asText(message: SentMessage): PromptMessage[] {
  const content = textOf(message);
  const role = message.role as PromptMessage['role']; // as above
  return message.role === 'tool' || content.trim() === '' ? [] : [{ role, content }];
}

function asMessages(content: string | undefined): PromptMessage[] {
  return content ? [{ role: 'user', content }] : [];
}
