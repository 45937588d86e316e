import { type ChatMessage, ConfigurationError } from '../index.js';
import { ContextBudgetError } from './budget-error.js';
import { TokenCounter } from './counter.js';
import { droppedOf } from './dropped.js';
import { hashText } from './hash.js';
import { type ContextItem, passagesOf } from './items.js';
import { type ConversationMessage, checkMessages } from './messages.js';
import { type Offer, offerOf } from './offer.js';
import type { BuiltPrompt, ContextParts, ContextSection, PromptMessage, PromptReport } from './prompt.js';
import { renderItems } from './render.js';
import { asks, asksForMore, type Selection, selectItems } from './select.js';
import { isIncluded, LOW_WATER, messageTokens, Tail } from './tail.js';

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
  /** Share of the room for context and history that the context may take if messages need the rest. @default 0.5 */
  contextShare?: number | undefined;
  sections?: readonly ContextSection[] | undefined;
  placement?: 'user' | 'system' | undefined;
  mergeUserTurns?: boolean | undefined;
  render?: ((parts: ContextParts, budget: number) => string) | undefined;
  /** Whether to search messages that no longer fit for answers to the input. @default false */
  searchHistory?: boolean | undefined;
  /** Number of newest messages that no summary contains yet. They are dropped last. @default 0 */
  keepRecent?: number | undefined;
  /**
   * The `state` of the previous prompt. As much of it as possible is repeated, so that the model's prompt cache
   * applies.
   */
  previous?: FitState | undefined;
}

/** State that one prompt passes to the next. Pass it unchanged as `previous`. */
export interface FitState {
  /** Index of the first message of the history that was sent. */
  readonly tailStart: number;
  /** @internal That message. Its index may change between prompts. */
  readonly first: ConversationMessage | undefined;
  /** @internal The lines available for selection. */
  readonly offer: Offer;
  /** @internal Those lines without pinned messages that the tail contains. */
  readonly beside: readonly ContextItem[];
  /** @internal */
  readonly chosen: Selection;
  /** @internal */
  readonly text: string;
  /** @internal Passages of the searched messages, by message content. */
  readonly passages: Passages;
}

/** A prompt that fits, and the state with which the next one can start with the same bytes. */
export type FittedPrompt = Omit<BuiltPrompt, 'report'> & { report: FitReport; state: FitState };

/** A prompt report without the fields that depend on how the context was read. */
export type FitReport = Omit<PromptReport, 'stale' | 'compactionExhausted'>;

/**
 * Builds a prompt that fits a token budget, from the context, the newest messages and the input. A pure function.
 *
 * @throws {ContextBudgetError} when the parts that must not be dropped do not fit
 * @throws {ConfigurationError} when `history` or `input` is not an array of messages, or `budget` is not positive
 */
export function fitToBudget(params: FitParams): FittedPrompt {
  checkMessages(params.history, 'history');
  checkMessages(params.input, 'input');
  if (!(params.budget > 0)) throw new ConfigurationError('budget must be a number of tokens.');
  return new Fit(params).fitted();
}

/** Sections that are dropped before any message. */
const FIRST_TO_GO: ReadonlySet<ContextSection> = new Set(['importantReferences', 'definitions', 'openQuestions']);
/** Share of the room that answers may fill when the question asks for something dropped. */
const RECALL_SHARE = 0.9;
/** Share of the room that is left for messages even when there are few. */
const ROOM_TO_GROW = 0.25;
/** Minimum share of its room that the tail fills. Below it, a cut caused by one long input is undone. */
const LOWEST_WATER = 0.5;

class Fit {
  readonly #params: FitParams;
  readonly #count: (text: string) => number;
  readonly #offer: Offer;
  readonly #tail: Tail;
  readonly #question: string;
  readonly #instructionTokens: number;
  readonly #inputTokens: number;
  /** Tokens for context and tail together. */
  readonly #room: number;
  readonly #share: number;
  #passages: Passages;

  constructor(params: FitParams) {
    const { instructions, history, input, budget } = params;
    this.#params = params;
    this.#count = params.countTokens ?? new TokenCounter().count;
    this.#offer = offerOf(params);
    this.#tail = new Tail(history, this.#count);
    this.#passages = params.previous?.passages ?? new Map();
    this.#question = input.at(-1)?.content ?? '';
    this.#instructionTokens = instructions === undefined ? 0 : messageTokens([{ content: instructions }], this.#count);
    this.#inputTokens = messageTokens(input, this.#count);
    this.#room = budget - this.#instructionTokens - this.#inputTokens;
    this.#share = (params.contextShare ?? 0.5) * this.#room;
  }

  fitted(): FittedPrompt {
    const required = this.#select(this.#offer.items, 0);
    if (required.tokens > this.#room) {
      throw new ContextBudgetError(this.#params.budget, this.#tokens(required.tokens, 0));
    }
    const from = this.#startBefore();
    const likeBefore = this.#regular(from);
    const isShort = this.#tail.tokens(likeBefore.start) < LOWEST_WATER * (this.#room - likeBefore.selection.tokens);
    const regular = from > 0 && isShort ? this.#regular(0) : likeBefore;
    return this.#recalling(regular) ?? this.#prompt(regular, regular);
  }

  /**
   * Index of the previous prompt's first message. If the app passes only its newest messages, that message has moved
   * towards the front or is gone.
   */
  #startBefore(): number {
    const { history, previous } = this.#params;
    let at = Math.min(previous?.tailStart ?? 0, history.length - 1);
    while (at > 0 && !isSame(history[at], previous?.first)) at -= 1;
    return Math.max(0, at);
  }

  /** The layout of the previous prompt plus the new messages, if that fits. */
  #regular(from: number): Layout {
    const { previous } = this.#params;
    const start = this.#tail.startWithin(this.#room, from);
    if (start > from) return this.#cut(this.#tail.startOfTurn(start));
    const isNew = previous !== undefined && previous.offer.key !== this.#offer.key;
    const selection = this.#sameAgain(start) ?? this.#selectBeside(start, this.#limit(start));
    // A new context changes the prompt's prefix anyway, so this is the cheapest moment to cut the tail.
    if (isNew && this.#tail.tokens(start) > LOW_WATER * (this.#room - selection.tokens)) return this.#cut(start);
    if (this.#fits(selection, start)) return { selection, start };
    const leaner = this.#selectBeside(start, this.#limit(start), ({ section }) => !FIRST_TO_GO.has(section));
    return leaner.items.length < selection.items.length && this.#fits(leaner, start)
      ? { selection: leaner, start }
      : this.#cut(start);
  }

  /**
   * If the question asks for something that would not be sent, gives most of the room to lines that answer it. The next
   * prompt continues from the regular layout, whose prefix may still be in the model's prompt cache.
   */
  #recalling(regular: Layout): FittedPrompt | undefined {
    const { history, render, keepRecent = 0 } = this.#params;
    if (render !== undefined || !asks(this.#question)) return undefined;
    const items = this.#searched(regular.start);
    if (!asksForMore(items, regular.selection, this.#question)) return undefined;
    const newest = Math.max(
      0,
      history.findLastIndex(({ role }) => role === 'user'),
    );
    const { tokens } = this.#select(items, RECALL_SHARE * this.#room);
    const latest = Math.max(regular.start, Math.min(newest, history.length - keepRecent));
    const start = this.#tail.startOfTurn(Math.min(latest, this.#tail.startWithin(this.#room - tokens, regular.start)));
    // Select again: pins from the messages just dropped are now required, and passages of those messages are available.
    const selection = this.#select(this.#searched(start), this.#room - this.#tail.tokens(start));
    return this.#fits(selection, start) ? this.#prompt({ selection, start }, regular) : undefined;
  }

  /** Cuts a block off the tail. Pins from that block move back into the context and may overfill it, hence the loop. */
  #cut(from: number): Layout {
    const { history, keepRecent = 0 } = this.#params;
    for (let start = from; ; ) {
      const selection = this.#selectBeside(start, this.#share);
      const next = this.#tail.cut(this.#room - selection.tokens, start, keepRecent);
      if (next === start && this.#fits(selection, start)) return { selection, start };
      if (start >= history.length) return { selection: this.#selectBeside(start, this.#room), start };
      start = Math.max(next, this.#tail.startOfTurn(start + (next === start ? 1 : 0)));
    }
  }

  #fits({ tokens }: Selection, start: number): boolean {
    return tokens + this.#tail.tokens(start) <= this.#room;
  }

  /** The previous prompt's selection, if the available lines are unchanged. */
  #sameAgain(start: number): Selection | undefined {
    const { previous, render } = this.#params;
    if (render !== undefined || previous?.offer.key !== this.#offer.key) return undefined;
    return sameKeys(previous.beside, this.#besideTail(start)) ? previous.chosen : undefined;
  }

  #selectBeside(start: number, limit: number, isWanted: (item: ContextItem) => boolean = () => true): Selection {
    return this.#select(this.#besideTail(start).filter(isWanted), limit);
  }

  #select(items: readonly ContextItem[], limit: number): Selection {
    const { render, parts } = this.#params;
    if (render === undefined) return selectItems(items, this.#question, limit, this.#count);
    const text = render(parts, Math.max(limit, this.#share));
    return { items: [], text, tokens: text === '' ? 0 : messageTokens([{ content: text }], this.#count) };
  }

  /** Maximum tokens of the context: its share, or more while there are few messages. */
  #limit(start: number): number {
    return Math.max(this.#share, (1 - ROOM_TO_GROW) * this.#room - this.#tail.tokens(start));
  }

  /** The available lines, without pinned messages that the tail contains. */
  #besideTail(start: number): readonly ContextItem[] {
    const ids = new Set(this.#tail.messages(start).map(({ id }) => id));
    return this.#offer.items.filter(({ messageId }) => messageId === undefined || !ids.has(messageId));
  }

  /** Lines that may answer a question: the context, and passages from the newest of the messages that are not sent. */
  #searched(start: number): readonly ContextItem[] {
    const { history, searchHistory = false } = this.#params;
    const passages: Map<string, readonly ContextItem[]> = new Map();
    let room = searchHistory ? MOST_PASSAGES : 0;
    for (let at = start - 1; at >= 0 && room > 0; at -= 1) {
      const message = history[at];
      if (message === undefined || !isIncluded(message) || passages.has(message.content)) continue;
      const found = this.#passages.get(message.content) ?? passagesOf(message, room);
      passages.set(message.content, found);
      room -= found.length;
    }
    if (passages.size > 0) this.#passages = passages;
    return [...this.#besideTail(start), ...[...passages.values()].reverse().flat()];
  }

  #tokens(context: number, tail: number): PromptReport['tokens'] {
    const total = this.#instructionTokens + context + tail + this.#inputTokens;
    return { instructions: this.#instructionTokens, context, tail, input: this.#inputTokens, total };
  }

  #prompt({ selection: chosen, start }: Layout, next: Layout): FittedPrompt {
    const { placement, previous, input, mergeUserTurns = false } = this.#params;
    const isSame = previous?.offer.key === this.#offer.key && sameKeys(previous.chosen.items, chosen.items);
    const text = chosen.text ?? (isSame ? previous.text : renderItems(chosen.items));
    const inSystem = placement === 'system';
    const instructions = [this.#params.instructions, inSystem ? text : ''].filter(Boolean).join('\n\n') || undefined;
    // The cast is true: other roles were rejected.
    const said = [...this.#tail.messages(start), ...input].map(
      ({ role, content }) => ({ role, content }) as PromptMessage,
    );
    const apart = inSystem || text === '' ? said : [{ role: 'user' as const, content: text }, ...said];
    const messages = mergeUserTurns ? joinUserTurns(apart) : apart;
    const context: ChatMessage | undefined =
      text === '' ? undefined : { role: inSystem ? 'system' : 'user', content: text };
    return {
      instructions,
      messages,
      chatMessages: instructions === undefined ? messages : [{ role: 'system', content: instructions }, ...messages],
      context,
      report: this.#report(chosen, start, text),
      state: this.#stateAfter(next, chosen === next.selection ? text : undefined),
    };
  }

  #stateAfter({ selection, start }: Layout, text = renderItems(selection.items)): FitState {
    return {
      tailStart: start,
      first: this.#params.history[start],
      offer: this.#offer,
      beside: this.#besideTail(start),
      chosen: selection,
      text,
      passages: this.#passages,
    };
  }

  #report({ items, tokens }: Selection, start: number, text: string): FitReport {
    const { parts, history, budget, countTokens } = this.#params;
    const chosen = new Set(items);
    const lines = this.#besideTail(start).filter((item) => !chosen.has(item) && !item.onRequest);
    return {
      tokens: this.#tokens(tokens, this.#tail.tokens(start)),
      budget,
      estimated: countTokens === undefined,
      included: [...new Set(items.map(({ section }) => section))],
      dropped: droppedOf({ parts, lines, history, start }, this.#count),
      recovered: items.flatMap(({ recovered }) => recovered ?? []),
      cacheKey: hashText(text),
      summaryVersion: parts.summary?.version ?? 0,
    };
  }
}

/** The context and the tail of a prompt. */
interface Layout {
  selection: Selection;
  /** Index of the tail's first message. */
  start: number;
}

type Passages = ReadonlyMap<string, readonly ContextItem[]>;

/** Maximum number of passages searched, newest first. Rating more would take longer than a tenth of a second. */
const MOST_PASSAGES = 3_000;

function sameKeys(a: readonly ContextItem[], b: readonly ContextItem[]): boolean {
  return a.length === b.length && a.every(({ key }, i) => key === b[i]?.key);
}

function isSame(a: ConversationMessage | undefined, b: ConversationMessage | undefined): boolean {
  if (a === undefined || b === undefined || a === b) return a === b;
  return a.id === undefined ? a.role === b.role && a.content === b.content : a.id === b.id;
}

/** For models that require alternating roles. */
function joinUserTurns(messages: readonly PromptMessage[]): PromptMessage[] {
  const joined: PromptMessage[] = [];
  for (const { role, content } of messages) {
    const last = joined.at(-1);
    if (role === 'user' && last?.role === 'user') last.content += `\n\n${content}`;
    else joined.push({ role, content });
  }
  return joined;
}
