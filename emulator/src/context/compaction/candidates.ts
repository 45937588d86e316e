import type { Sliced } from '../../base/slices.js';
import { hashText } from '../../store/random.js';
import type { SummaryItem } from '../../store/summary.js';
import { contentTerms } from '../../text/terms.js';
import { type Classification, classify, isQuestion } from './classify.js';
import { findReferences } from './references.js';
import { type Piece, piecesOf, type SplitSentences, type Unit, unitsOf } from './units.js';

/** The parts of a message that compaction reads. */
export interface SourceMessage {
  id: string;
  role: string;
  content: string;
  createdAt: string;
}

/** A possible item of the summary. */
export interface Candidate {
  item: SummaryItem;
  terms: ReadonlySet<string>;
  /** Its index among the pieces of its message, if it is a piece. */
  piece?: number;
}

/** The candidates of one message. They depend on the message alone, so they may be cached. */
export interface Extraction {
  candidates: readonly Candidate[];
  pieces: readonly Piece[];
  /** What the message is to a question before it: `unknown` if it begins so, `nothing` if it only asks. */
  reply: 'answer' | 'unknown' | 'nothing';
}

export interface TextTools {
  split: SplitSentences;
  countTokens: (text: string) => number;
}

/** Extracts the candidates of a message. */
export function* extract(message: SourceMessage, tools: TextTools): Sliced<Extraction> {
  const candidates: Candidate[] = [];
  const units = yield* unitsOf(message.content, tools.split);
  const rest: Unit[] = [];
  for (const unit of units) {
    yield;
    const sentence = unit.text.replace(LIST_MARK, '').trim();
    const found = unit.isCode ? undefined : classify(sentence, message.role);
    if (found !== undefined) candidates.push(statement(sentence, found, message, tools));
    // A question is listed only while it is open, and quoted in any case: its answer may need it.
    if (found === undefined || isQuestion(sentence)) rest.push(unit);
  }
  const pieces: Piece[] = [];
  for (const piece of piecesOf(rest)) {
    yield;
    const item = { section: 'importantReferences', type: EXCERPT, text: piece.text, label: message.role } as const;
    candidates.push({ ...candidate(item, contentTerms(piece.text), message, tools), piece: pieces.length });
    pieces.push(piece);
  }
  for (const { type, value, label } of yield* findReferences(message.content)) {
    const item = { section: 'importantReferences', text: value, type, label } as const;
    candidates.push(candidate(item, [value.toLowerCase()], message, tools));
    yield;
  }
  const saysUnknown = UNKNOWN.test(message.content.split(/[.!?\n]/, 1)[0] ?? '');
  const saysMore = units.some(({ text }) => !isQuestion(text));
  const reply = saysUnknown ? 'unknown' : saysMore ? 'answer' : 'nothing';
  return { candidates, pieces, reply };
}

function statement(sentence: string, found: Classification, message: SourceMessage, tools: TextTools): Candidate {
  const { section, reason = '', term = '', text = sentence } = found;
  const terms = contentTerms(sentence);
  if (section === 'definitions') return candidate({ section, text, term }, contentTerms(term), message, tools);
  if (section !== 'decisions') return candidate({ section, text }, terms, message, tools);
  // Of the text without the reason, so that a decision repeated with another reason is the same one.
  const id = `dec_${hashText(plainWords(text))}`;
  return candidate({ section, text, id, reason, timestamp: message.createdAt }, terms, message, tools);
}

function candidate(
  item: Omit<SummaryItem, 'messageId' | 'tokens'>,
  terms: readonly string[],
  { id }: SourceMessage,
  { countTokens }: TextTools,
): Candidate {
  const tokens = countTokens(itemWords(item)) + TOKENS_PER_ITEM;
  return { item: { ...item, messageId: id, tokens }, terms: new Set(terms) };
}

/** The text of an entry whose tokens are counted. */
export function itemWords({ term, text, reason, label }: Omit<SummaryItem, 'messageId' | 'tokens'>): string {
  return [term, text, reason, label].filter(Boolean).join(' ');
}

/** The words of a text, without case and punctuation. */
export function plainWords(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’._-]*/gu) ?? [])
    .join(' ')
    .replace(/[.’'_-]+(?= |$)/g, '');
}

/** Tokens for the list mark and the line end of an entry, or for the mark of a gap. */
export const TOKENS_PER_ITEM = 2;

/** A2: the type of a reference that quotes part of a message verbatim. */
export const EXCERPT = 'excerpt';

const LIST_MARK = /^\s*(?:(?:[-*•>]|\d{1,3}[.)]|#{1,6})\s+)+(?:\[[ xX]\]\s+)?/;
const UNKNOWN =
  /\b(?:(?:don['’]t|do not) know|no idea|not (?:yet )?(?:sure|decided|clear)|undecided|unclear|to be decided)\b/i;
