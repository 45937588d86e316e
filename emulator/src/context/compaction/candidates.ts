import type { Sliced } from '../../base/slices.js';
import { hashText } from '../../store/random.js';
import type { SummaryItem } from '../../store/summary.js';
import { parts } from '../../text/parts.js';
import { contentTerms } from '../../text/terms.js';
import { type Classification, classify, isQuestion } from './classify.js';
import { findReferences } from './references.js';

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
  // Without the reason, so that a decision repeated with another reason is the same one.
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
    .replace(/(?<![.’'_-])[.’'_-]+(?= |$)/g, '');
}

/** Tokens for the list mark and the line end of an entry, or for the mark of a gap. */
export const TOKENS_PER_ITEM = 2;

/** A2: the type of a reference that quotes part of a message verbatim. */
export const EXCERPT = 'excerpt';

const LIST_MARK = /^\s*(?:(?:[-*•>]|\d{1,3}[.)]|#{1,6})\s+)+(?:\[[ xX]\]\s+)?/;
const UNKNOWN =
  /\b(?:(?:don['’]t|do not) know|no idea|not (?:yet )?(?:sure|decided|clear)|undecided|unclear|to be decided)\b/i;

/** A sentence of prose, or a line of code. */
export interface Unit {
  text: string;
  isCode: boolean;
  /** The first of its line. */
  startsLine: boolean;
}

/** Consecutive units of a message, quoted in an excerpt together. */
export type Piece = Omit<Unit, 'isCode'>;

/** Splits plain text into sentences. */
export type SplitSentences = (text: string) => readonly string[];

/** The sentences of a message, and the lines of its fenced code, without the fences. */
export function* unitsOf(content: string, split: SplitSentences): Sliced<Unit[]> {
  const units: Unit[] = [];
  let isCode = false;
  for (const line of content.split(/\r?\n/)) {
    yield;
    if (FENCE.test(line)) isCode = !isCode;
    else if (isCode) units.push({ text: line.trimEnd(), isCode, startsLine: true });
    else {
      const prose = withoutSounds(line);
      const sentences: string[] = [];
      for (const part of parts(prose, LONGEST_PART)) {
        yield;
        sentences.push(...split(part));
      }
      // A line of one sentence keeps its indentation: it may be code, a row of a table or an entry of a log.
      const texts = sentences.length === 1 ? [prose.trimEnd()] : sentences.map((sentence) => sentence.trim());
      texts.forEach((text, at) => {
        if (contentTerms(text).length > 0) units.push({ text, isCode, startsLine: at === 0 });
      });
    }
  }
  return units;
}

/** Joins consecutive units into pieces of bounded length. A longer unit is cut. */
function* piecesOf(units: readonly Unit[]): Generator<Piece> {
  let piece: Piece | undefined;
  for (const unit of units) {
    let { startsLine } = unit;
    for (const part of parts(unit.text, LONGEST_PIECE)) {
      const text = part.trimEnd();
      if (piece !== undefined && piece.text.length + text.length <= LONGEST_PIECE) {
        piece.text += `${startsLine ? '\n' : ' '}${text}`;
      } else {
        if (piece !== undefined) yield piece;
        piece = { text, startsLine };
      }
      startsLine = false;
    }
  }
  if (piece !== undefined) yield piece;
}

/** The kept pieces of a message, in order, with `…` where text is left out between them. */
export function excerpt(pieces: readonly Piece[], kept: ReadonlySet<number>): string {
  let text = '';
  let last = -1;
  for (const at of [...kept].sort((a, b) => a - b)) {
    const { text: more, startsLine } = pieces[at] ?? { text: '', startsLine: false };
    const gap = startsLine ? '\n' : ' ';
    if (last !== -1) text += at === last + 1 ? gap : `${gap}…${gap}`;
    text += more;
    last = at;
  }
  return text;
}

/** Without "um", and the marks with which transcripts note sounds and gaps. */
function withoutSounds(line: string): string {
  const plain = line.replace(SOUND, '').replace(FILLER, '');
  return plain === line
    ? line
    : plain
        .replace(/ {2,}/g, ' ')
        .replace(/ ([,.;:!?])(?=\s|$)/g, '$1')
        .trim();
}

const SOUND =
  /[{[](?:vocal ?sound|nonvocal ?sound|disfmarker|gap|pause|silence|noise|music|applause|cough|sigh|laugh(?:ter)?|inaudible|unclear)[}\]]/gi;
const FILLER = /(?<![\w'-])(?:uh|um|uhm|er|erm|mm|hmm|mm-hmm|uh-huh)(?![\w'-])\s*,?/gi;
const FENCE = /^ {0,3}(?:`{3}|~{3})/;
/** In characters. */
const LONGEST_PART = 2000;
const LONGEST_PIECE = 600;
