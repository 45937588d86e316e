import type { Sliced } from '../../base/slices.js';
import { hashText } from '../../store/random.js';
import type { SummaryItem } from '../../store/summary.js';
import { contentTerms } from '../../text/terms.js';
import { type Segment, segments } from './blocks.js';
import { type Cue, classify, revises } from './cues.js';
import { blockPieces, type Piece, plainText, prosePieces } from './pieces.js';
import { findReferences } from './references.js';
import { type ReplyKind, replyKind } from './replies.js';
import { lineSentences, type SplitSentences } from './sentences.js';

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
  /** Strength of its wording: 3 states outright what the item is, 0 gives no hint, below 0 is not prose. */
  weight: number;
  terms: ReadonlySet<string>;
  /** Revokes an earlier decision. */
  revises: boolean;
  /** Its index among the pieces of its message, if it is a piece. */
  piece?: number;
}

/** The candidates of one message. They depend on the message alone, so they may be cached. */
export interface Extraction {
  candidates: readonly Candidate[];
  pieces: readonly Piece[];
  /** The message asks something. */
  asks: boolean;
  /** What the message is to an earlier question. */
  reply: ReplyKind;
}

export interface TextTools {
  split: SplitSentences;
  countTokens: (text: string) => number;
}

/** Extracts the candidates of a message. */
export function* extract(message: SourceMessage, tools: TextTools): Sliced<Extraction> {
  const candidates: Candidate[] = [];
  const pieces: Piece[] = [];
  const parts = yield* segments(message.content);
  const hasBlocks = parts.some(({ kind }) => kind !== 'prose');
  function* addPieces(more: Iterable<Piece>): Sliced<void> {
    let isFirst = true;
    for (const piece of more) {
      yield;
      const terms = new Set(contentTerms(piece.text));
      candidates.push(pieceCandidate(piece, { terms, at: pieces.length, isFirst, hasBlocks }, message, tools));
      pieces.push(piece);
      isFirst = false;
    }
  }
  for (const part of parts) {
    const read = part.kind === 'prose' || part.kind === 'list' ? yield* readProse(part, message, tools) : undefined;
    if (read !== undefined && (part.kind === 'prose' || read.items.length > 0)) {
      candidates.push(...read.items);
      yield* addPieces(prosePieces(read.plain));
    } else {
      yield* addPieces(blockPieces(part));
    }
    yield;
  }
  for (const { type, value, label } of yield* findReferences(message.content)) {
    const item = { section: 'importantReferences', text: value, type, label } as const;
    candidates.push(candidate(item, type === 'value' ? 1 : 2, [value.toLowerCase()], message, tools));
    yield;
  }
  return { candidates, pieces, asks: message.content.includes('?'), reply: replyKind(message.content) };
}

/** The items found in lines of prose, and the remaining sentences. */
function* readProse(
  part: Segment,
  message: SourceMessage,
  tools: TextTools,
): Sliced<{ items: Candidate[]; plain: string[] }> {
  const items: Candidate[] = [];
  const plain: string[] = [];
  for (const line of part.lines) {
    for (const sentence of yield* lineSentences(line, tools.split)) {
      yield;
      const cue = classify(sentence, message.role);
      const rest = cue === undefined ? plainText(sentence) : undefined;
      if (cue !== undefined) items.push(cuedCandidate(sentence, cue, message, tools));
      if (rest !== undefined) plain.push(rest);
    }
  }
  return { items, plain };
}

function cuedCandidate(sentence: string, cue: Cue, message: SourceMessage, tools: TextTools): Candidate {
  const { section, weight, reason = '', term = '', text = sentence } = cue;
  const terms = contentTerms(sentence);
  if (section === 'definitions') return candidate({ section, text, term }, weight, contentTerms(term), message, tools);
  if (section !== 'decisions') return candidate({ section, text }, weight, terms, message, tools);
  // Of the text without the reason, so that a decision repeated with another reason is the same one.
  const id = `dec_${hashText([...new Set(contentTerms(text))].join(' '))}`;
  const item = { section, text, id, reason, timestamp: message.createdAt };
  return { ...candidate(item, weight, terms, message, tools), revises: revises(sentence) };
}

/** Its tokens are counted as if it stood alone, with its gap mark and fence. */
function pieceCandidate(
  piece: Piece,
  { terms, at, isFirst, hasBlocks }: { terms: ReadonlySet<string>; at: number; isFirst: boolean; hasBlocks: boolean },
  message: SourceMessage,
  { countTokens }: TextTools,
): Candidate {
  const { open = '', close = '' } = piece.lines?.block.fence ?? {};
  const fence = open === '' ? 0 : countTokens(`${open}\n${close}\n`);
  const tokens = countTokens(`\n${piece.text}`) + fence + (hasBlocks ? TOKENS_PER_MARK : TOKENS_PER_GAP);
  // The head of a table or a function explains the rest.
  const weight = piece.lines === undefined ? 0 : isFirst ? BLOCK_HEAD : BLOCK;
  return {
    item: {
      section: 'importantReferences',
      type: EXCERPT,
      text: piece.text,
      label: message.role,
      messageId: message.id,
      tokens,
    },
    weight,
    terms,
    revises: false,
    piece: at,
  };
}

function candidate(
  item: Omit<SummaryItem, 'messageId' | 'tokens'>,
  weight: number,
  terms: readonly string[],
  { id }: SourceMessage,
  { countTokens }: TextTools,
): Candidate {
  const tokens = countTokens(itemWords(item)) + TOKENS_PER_ITEM;
  return { item: { ...item, messageId: id, tokens }, weight, terms: new Set(terms), revises: false };
}

/** The text of an entry whose tokens are counted. */
export function itemWords({ term, text, reason, label }: Omit<SummaryItem, 'messageId' | 'tokens'>): string {
  return [term, text, reason, label].filter(Boolean).join(' ');
}

/** Tokens for the list mark and the line end of an entry. */
export const TOKENS_PER_ITEM = 2;

/** A2: the type of a reference that quotes part of a message verbatim. */
export const EXCERPT = 'excerpt';

/** Tokens for the mark of a gap, or for the frame of the entry. */
const TOKENS_PER_GAP = 3;
/** Tokens for "… 64 lines left out" on a line of its own. */
const TOKENS_PER_MARK = 9;
const BLOCK_HEAD = 0;
const BLOCK = -2;
