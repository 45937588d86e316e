import { TOKENS_PER_MESSAGE } from './counter.js';
import type { ContextItem } from './items.js';
import type { ContextSection } from './prompt.js';
import { relevanceOf } from './relevance.js';
import { PREFACE, renderItem } from './render.js';
import { HEADINGS } from './sections.js';

type Count = (text: string) => number;

/** Lines of the context selected for a question. */
export interface Selection {
  items: readonly ContextItem[];
  tokens: number;
  /** The text from the app's own `render`, which replaces the items. */
  text?: string | undefined;
}

/**
 * Selects the lines of the context to send: all required lines, then the lines that match the question best, then the
 * others by section, newest first. The result keeps the order of the sections.
 */
export function selectItems(items: readonly ContextItem[], question: string, limit: number, count: Count): Selection {
  const chosen = new Set<ContextItem>();
  const headings = new Set<ContextSection>();
  let tokens = 0;
  const costOf = ({ section, text }: ContextItem): number =>
    count(renderItem(text)) + 1 + (headings.has(section) ? 0 : count(HEADINGS[section]) + 2);
  const take = (item: ContextItem, cost: number): void => {
    if (chosen.size === 0) tokens = frameTokens(count);
    chosen.add(item);
    headings.add(item.section);
    tokens += cost;
  };
  for (const item of items) if (item.required) take(item, costOf(item));
  for (const item of byWorth(
    items.filter(({ required }) => !required),
    question,
  )) {
    const cost = costOf(item);
    if (Math.max(tokens, frameTokens(count)) + cost <= limit) take(item, cost);
  }
  return { items: items.filter((item) => chosen.has(item)), tokens };
}

/** Whether a question asks for something that was not selected. */
export function asksForMore(items: readonly ContextItem[], selection: Selection, question: string): boolean {
  const chosen = new Set(selection.items.map(({ key }) => key));
  const relevance = relevanceOf(items, question);
  return items.some(({ key }, i) => !chosen.has(key) && (relevance[i]?.coverage ?? 0) >= ASKED_FOR);
}

/** Whether a text is a question or a request for information. */
export function asks(question: string): boolean {
  return ASKS.test(question);
}

/** Matches a text that ends with a question mark, or starts with a question word or a verb such as "remind". */
const ASKS =
  /[??؟]["'”»)\s]*$|^\W*(?:what|why|when|where|who|which|how|remind|recall|list|name|explain|tell|repeat|show|summari[sz]e)\b/i;
/** Minimum `coverage` of a line that the question may be asking for. */
const ASKED_FOR = 0.15;

/** Minimum share of the best score for a line to count as an answer. */
const ANSWERS = 0.3;

/** Tokens around the lines: the preface, the delimiters, and the message itself. */
function frameTokens(count: Count): number {
  return count(PREFACE) + 2 * BOUND_TOKENS + TOKENS_PER_MESSAGE;
}

/** `</context-` and a hash of eleven letters and digits. */
const BOUND_TOKENS = 14;

/** The order of value: the last section is dropped first. */
const WORTH: readonly ContextSection[] = [
  'goals',
  'decisions',
  'currentPlan',
  'preferences',
  'facts',
  'recovered',
  'openQuestions',
  'definitions',
  'importantReferences',
];

function byWorth(items: readonly ContextItem[], question: string): ContextItem[] {
  const relevance = relevanceOf(items, question);
  const best = relevance.reduce((most, { score }) => Math.max(most, score), 0);
  return items
    .map((item, age) => {
      const score = relevance[age]?.score ?? 0;
      return { item, age, score: best > 0 && score >= ANSWERS * best ? score : 0 };
    })
    .filter(({ item, score }) => score > 0 || !item.onRequest)
    .sort((a, b) => b.score - a.score || WORTH.indexOf(a.item.section) - WORTH.indexOf(b.item.section) || b.age - a.age)
    .map(({ item }) => item);
}
