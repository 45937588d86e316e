import type { ChatMessage } from '../index.js';
import { ContextBudgetError } from './budget-error.js';
import { TokenCounter } from './counter.js';
import { hashText } from './hash.js';
import { type ContextItem, itemsOf, memorySection, passagesOf } from './items.js';
import type { ConversationMessage } from './messages.js';
import type { BuiltPrompt, ContextParts, ContextSection, Dropped, PromptReport } from './prompt.js';
import { renderItems } from './render.js';
import { asksForMore, type Selection, selectItems } from './select.js';
import { cutTail, LOW_WATER, messageTokens, startOfTurn } from './tail.js';

/** What has to fit, and into how much. */
export interface FitParams {
  parts: ContextParts;
  /** The app's messages before the input. */
  history: readonly ConversationMessage[];
  input: readonly ConversationMessage[];
  instructions?: string | undefined;
  /** Tokens that the prompt may have: the window less what is left for the reply. */
  budget: number;
  /** @default an estimate on the safe side */
  countTokens?: ((text: string) => number) | undefined;
  /** @default 0.5 */
  contextShare?: number | undefined;
  sections?: readonly ContextSection[] | undefined;
  placement?: 'user' | 'system' | undefined;
  mergeUserTurns?: boolean | undefined;
  render?: ((parts: ContextParts, budget: number) => string) | undefined;
  /** Look for answers to the input in the messages that do not fit any more. @default false */
  searchHistory?: boolean | undefined;
  /** The newest messages that no summary holds yet: they go last. @default 0 */
  keepRecent?: number | undefined;
  /** `state` of the prompt before: what it sent is sent again as far as possible, so that the beginning stays the same. */
  previous?: FitState | undefined;
}

/** What one prompt passes on to the next: give it back as it is. */
export interface FitState {
  /** The first message of the history that was sent. */
  readonly tailStart: number;
  /** @internal What there was to choose from. */
  readonly offer: Offer;
  /** @internal */
  readonly chosen: Selection;
  /** @internal */
  readonly text: string;
  /** @internal */
  readonly passages: WeakMap<ConversationMessage, readonly ContextItem[]>;
}

/** A prompt that fits, and what the next one needs to begin with the same bytes. */
export type FittedPrompt = Omit<BuiltPrompt, 'report'> & { report: FitReport; state: FitState };

/** What can be said without knowing where the parts come from. */
export type FitReport = Omit<PromptReport, 'stale' | 'compactionExhausted'>;

/**
 * Choose what to send so that it fits: context, newest messages, input. Pure.
 *
 * @throws {ContextBudgetError} when what must not be dropped does not fit
 */
export function fitToBudget(params: FitParams): FittedPrompt {
  return new Fit(params).fitted();
}

/** Sections that make room before any message does. */
const FIRST_TO_GO: ReadonlySet<ContextSection> = new Set(['importantReferences', 'definitions', 'openQuestions']);
/** Of the room, what a question that asks for more may fill with answers, beside the newest turn. */
const RECALL_SHARE = 0.9;
/** Of the room, so much is left to the messages although there are few. */
const ROOM_TO_GROW = 0.25;

class Fit {
  readonly #params: FitParams;
  readonly #count: (text: string) => number;
  readonly #offer: Offer;
  readonly #passages: WeakMap<ConversationMessage, readonly ContextItem[]>;
  readonly #question: string;
  readonly #instructionTokens: number;
  readonly #inputTokens: number;
  /** For context and tail. */
  readonly #room: number;
  readonly #share: number;

  constructor(params: FitParams) {
    const { instructions, input, budget } = params;
    this.#params = params;
    this.#count = params.countTokens ?? new TokenCounter().count;
    this.#offer = offerOf(params);
    this.#passages = params.previous?.passages ?? new WeakMap();
    this.#question = input.at(-1)?.content ?? '';
    this.#instructionTokens = instructions === undefined ? 0 : messageTokens([{ content: instructions }], this.#count);
    this.#inputTokens = messageTokens(input, this.#count);
    this.#room = budget - this.#instructionTokens - this.#inputTokens;
    this.#share = (params.contextShare ?? 0.5) * this.#room;
  }

  fitted(): FittedPrompt {
    const { budget, history, previous } = this.#params;
    const required = this.#select(this.#offer.items, 0);
    if (required.tokens > this.#room) throw new ContextBudgetError(budget, this.#tokens(required.tokens, 0));
    const regular = this.#regular(Math.min(previous?.tailStart ?? 0, history.length));
    return this.#recalling(regular) ?? this.#prompt(regular, regular);
  }

  /** As the prompt before, and only longer, if that is possible. */
  #regular(start: number): Layout {
    const { previous } = this.#params;
    const isNew = previous !== undefined && previous.offer.key !== this.#offer.key;
    const selection = this.#sameAgain() ?? this.#selectBeside(start, this.#limit(start));
    // A new context breaks the common beginning as it is: the best moment to cut.
    if (isNew && this.#tailTokens(start) > LOW_WATER * (this.#room - selection.tokens)) return this.#cut(start);
    if (this.#fits(selection, start)) return { selection, start };
    const leaner = this.#selectBeside(start, this.#limit(start), ({ section }) => !FIRST_TO_GO.has(section));
    return leaner.items.length < selection.items.length && this.#fits(leaner, start)
      ? { selection: leaner, start }
      : this.#cut(start);
  }

  /**
   * When the question asks for something that would not be sent: most of the room for what answers it. The prompt after this one
   * goes on from the regular one, whose beginning a model's cache still holds.
   */
  #recalling(regular: Layout): FittedPrompt | undefined {
    const { history, render, searchHistory = false } = this.#params;
    if (render !== undefined) return undefined;
    const gone = searchHistory ? history.slice(0, regular.start).filter(isIncluded) : [];
    const items = [...this.#besideTail(regular.start), ...gone.flatMap((message) => this.#passagesOf(message))];
    if (!asksForMore(items, regular.selection, this.#question)) return undefined;
    const newest = this.#tailTokens(
      Math.max(
        0,
        history.findLastIndex(({ role }) => role === 'user'),
      ),
    );
    const most = Math.min(RECALL_SHARE * this.#room, this.#room - newest);
    const selection = this.#select(items, Math.max(most, this.#limit(regular.start)));
    let { start } = regular;
    while (start < history.length && !this.#fits(selection, start)) start = startOfTurn(history, start + 1);
    return this.#prompt({ selection, start }, regular);
  }

  /** With a block less of the tail. What is pinned in the block comes back into the context: hence the loop. */
  #cut(from: number): Layout {
    const { history, keepRecent = 0 } = this.#params;
    for (let start = from; ; ) {
      const selection = this.#selectBeside(start, this.#share);
      const next = cutTail(history, start, {
        room: this.#room - selection.tokens,
        keep: keepRecent,
        count: this.#count,
      });
      if (next === start && this.#fits(selection, start)) return { selection, start };
      if (start >= history.length) return { selection: this.#selectBeside(start, this.#room), start };
      start = Math.max(next, startOfTurn(history, start + (next === start ? 1 : 0)));
    }
  }

  #fits({ tokens }: Selection, start: number): boolean {
    return tokens + this.#tailTokens(start) <= this.#room;
  }

  /** The selection of the prompt before, unless there is another choice now. */
  #sameAgain(): Selection | undefined {
    const { previous, render } = this.#params;
    return render === undefined && previous?.offer.key === this.#offer.key ? previous.chosen : undefined;
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

  /** The context's share; more while there are few messages. */
  #limit(start: number): number {
    return Math.max(this.#share, (1 - ROOM_TO_GROW) * this.#room - this.#tailTokens(start));
  }

  /** A pinned message that is in the tail is not said twice. */
  #besideTail(start: number): readonly ContextItem[] {
    const ids = new Set(this.#tail(start).map(({ id }) => id));
    return this.#offer.items.filter(({ messageId }) => messageId === undefined || !ids.has(messageId));
  }

  #passagesOf(message: ConversationMessage): readonly ContextItem[] {
    const passages = this.#passages.get(message) ?? passagesOf(message);
    this.#passages.set(message, passages);
    return passages;
  }

  #tail(start: number): readonly ConversationMessage[] {
    return this.#params.history.slice(start).filter(isIncluded);
  }

  #tailTokens(start: number): number {
    return messageTokens(this.#tail(start), this.#count);
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
    const context: ChatMessage | undefined =
      text === '' ? undefined : { role: inSystem ? 'system' : 'user', content: text };
    const said = [...this.#tail(start), ...input].map(({ role, content }) => ({ role, content }));
    const apart = inSystem || context === undefined ? said : [context, ...said];
    const messages = mergeUserTurns ? joinUserTurns(apart) : apart;
    return {
      instructions,
      messages,
      chatMessages: instructions === undefined ? messages : [{ role: 'system', content: instructions }, ...messages],
      context,
      report: this.#report(chosen, start),
      state: this.#stateAfter(next, chosen === next.selection ? text : undefined),
    };
  }

  #stateAfter({ selection, start }: Layout, text = renderItems(selection.items)): FitState {
    return { tailStart: start, offer: this.#offer, chosen: selection, text, passages: this.#passages };
  }

  #report({ items, tokens }: Selection, start: number): FitReport {
    const { parts, budget, countTokens } = this.#params;
    return {
      tokens: this.#tokens(tokens, this.#tailTokens(start)),
      budget,
      estimated: countTokens === undefined,
      included: [...new Set(items.map(({ section }) => section))],
      dropped: this.#dropped(new Set(items), start),
      recovered: items.flatMap(({ recovered }) => recovered ?? []),
      cacheKey: hashText([this.#offer.key, ...items.map(({ key }) => key)].join('\n')),
      summaryVersion: parts.summary?.version ?? 0,
    };
  }

  #dropped(chosen: ReadonlySet<ContextItem>, start: number): Dropped[] {
    const { history, parts } = this.#params;
    const inactive = (parts.memory ?? []).filter(({ isActive }) => isActive === false);
    const missing = this.#besideTail(start).filter((item) => !chosen.has(item) && !item.onRequest);
    const ofHistory = (messages: readonly ConversationMessage[], reason: Dropped['reason']): Dropped[] =>
      messages.length === 0
        ? []
        : [{ section: 'history', messages: messages.length, tokens: messageTokens(messages, this.#count), reason }];
    return [
      ...inactive.map(
        ({ id, type, content }): Dropped => ({
          section: memorySection(type),
          id,
          tokens: this.#count(content),
          reason: 'inactive',
        }),
      ),
      ...missing.map(
        ({ section, id, text }): Dropped => ({ section, id, tokens: this.#count(text), reason: 'budget' }),
      ),
      ...ofHistory(history.slice(0, start).filter(isIncluded), 'budget'),
      ...ofHistory(
        history.filter((message) => !isIncluded(message)),
        'excluded',
      ),
    ];
  }
}

/** What is sent beside the instructions and the input. */
interface Layout {
  selection: Selection;
  /** Of the tail. */
  start: number;
}

/** The same parts give the same offer, without looking at them again. */
function offerOf({ parts, sections, placement, previous }: FitParams): Offer {
  const { summary, pins, memory, recovered } = parts;
  const from = [summary, pins, memory, recovered, sections, placement];
  if (previous?.offer.from.every((part, i) => part === from[i]) === true) return previous.offer;
  const items = itemsOf(parts, sections);
  return {
    from,
    items,
    key: hashText([placement, ...items.map(({ section, text }) => `${section}: ${text}`)].join('\n')),
  };
}

interface Offer {
  from: readonly unknown[];
  items: readonly ContextItem[];
  key: string;
}

function isIncluded({ excluded }: ConversationMessage): boolean {
  return excluded !== true;
}

function sameKeys(a: readonly ContextItem[], b: readonly ContextItem[]): boolean {
  return a.length === b.length && a.every(({ key }, i) => key === b[i]?.key);
}

/** For models that insist on roles that alternate. */
function joinUserTurns(messages: readonly ChatMessage[]): ChatMessage[] {
  const joined: ChatMessage[] = [];
  for (const { role, content } of messages) {
    const last = joined.at(-1);
    if (role === 'user' && last?.role === 'user') last.content += `\n\n${content}`;
    else joined.push({ role, content });
  }
  return joined;
}
