import type { Sliced } from '../../base/slices.js';
import { hashText } from '../../store/random.js';
import type { SummaryItem } from '../../store/summary.js';
import { contentTerms } from '../../text/terms.js';
import { type Reply, replyKind } from './answers.js';
import { type Segment, segments } from './blocks.js';
import { type Cue, classify, revises } from './cues.js';
import { blockPieces, type Piece, plainText, prosePieces } from './pieces.js';
import { findReferences } from './references.js';
import { lineSentences, type SplitSentences } from './sentences.js';

/** A message, as far as compaction looks at it. */
export interface SourceMessage {
  id: string;
  role: string;
  content: string;
  createdAt: string;
}

/** An item that might go into the summary. */
export interface Candidate {
  item: SummaryItem;
  /** Strength of its wording: 3 says outright what it is, 0 says nothing of it, less than 0 is no prose. */
  weight: number;
  terms: ReadonlySet<string>;
  /** Takes an earlier decision back. */
  revises: boolean;
  /** Which of its message's pieces it is, if it is one. */
  piece?: number;
}

/** What one message has to offer. It depends on the message alone, so it may be remembered. */
export interface Offer {
  candidates: readonly Candidate[];
  pieces: readonly Piece[];
  /** It asks something. */
  asks: boolean;
  /** What it is to one who asked something before. */
  reply: Reply;
}

/** What is needed to read a text. */
export interface TextTools {
  split: SplitSentences;
  countTokens: (text: string) => number;
}

/** Reads a message. */
export function* offerOf(message: SourceMessage, tools: TextTools): Sliced<Offer> {
  const candidates: Candidate[] = [];
  const pieces: Piece[] = [];
  const parts = yield* segments(message.content);
  const hasBlocks = parts.some(({ kind }) => kind !== 'prose');
  function* addPieces(more: Iterable<Piece>): Sliced<void> {
    let isFirst = true;
    for (const piece of more) {
      yield;
      const terms = new Set(contentTerms(piece.text));
      if (piece.lines === undefined && terms.size < LEAST_TERMS) continue;
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

/** The items and the other sentences of lines that are read as prose. */
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
      const cue = classify(sentence);
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
  const id = `dec_${hashText([...new Set(terms)].join(' '))}`;
  const item = { section, text, id, reason, timestamp: message.createdAt };
  return { ...candidate(item, weight, terms, message, tools), revises: revises(sentence) };
}

/** Priced as if it stood alone: its marks and its fence come with it. */
function pieceCandidate(
  piece: Piece,
  { terms, at, isFirst, hasBlocks }: { terms: ReadonlySet<string>; at: number; isFirst: boolean; hasBlocks: boolean },
  message: SourceMessage,
  { countTokens }: TextTools,
): Candidate {
  const { open = '', close = '' } = piece.lines?.block.fence ?? {};
  const fence = open === '' ? 0 : countTokens(`${open}\n${close}\n`);
  const tokens = countTokens(`\n${piece.text}`) + fence + (hasBlocks ? TOKENS_PER_MARK : TOKENS_PER_GAP);
  // The head of a table or of a function tells what the rest is.
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

/** The words of an entry, as they are counted. */
export function itemWords({ term, text, reason, label }: Omit<SummaryItem, 'messageId' | 'tokens'>): string {
  return [term, text, reason, label].filter(Boolean).join(' ');
}

/** The mark and the line end of one entry. */
export const TOKENS_PER_ITEM = 2;

/** A2: the kind of a reference that is a part of a message, word for word. */
export const EXCERPT = 'excerpt';

/** The mark of a gap, or the frame of the entry. */
const TOKENS_PER_GAP = 3;
/** "… 64 lines left out", on a line of its own. */
const TOKENS_PER_MARK = 9;
/** In different terms: a sentence of fewer says nothing. */
const LEAST_TERMS = 2;
const BLOCK_HEAD = 0;
const BLOCK = -2;
