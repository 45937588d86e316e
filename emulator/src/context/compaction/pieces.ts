import { parts } from '../../text/parts.js';
import { contentTerms } from '../../text/terms.js';
import type { Segment } from './blocks.js';

/** A part of a message that is quoted verbatim: consecutive sentences, or lines of a block. */
export interface Piece {
  text: string;
  /** Its position in a block; undefined for prose. */
  lines?: BlockLines;
}

/** The position of lines in their block. */
interface BlockLines {
  block: Segment;
  /** The first line, inclusive; `to` is exclusive. */
  from: number;
  to: number;
  /** False for the middle of a line that is too long for one piece. */
  startsLine: boolean;
  endsLine: boolean;
}

/** Joins consecutive sentences into pieces of bounded length. */
export function* prosePieces(sentences: readonly string[]): Generator<Piece> {
  let text = '';
  for (const sentence of sentences) {
    for (const part of parts(sentence, LONGEST_PIECE)) {
      if (text !== '' && text.length + part.length > LONGEST_PIECE) {
        yield { text };
        text = '';
      }
      text = text === '' ? part.trim() : `${text} ${part.trim()}`;
    }
  }
  if (text !== '') yield { text };
}

/** Joins consecutive lines into pieces of bounded length. A line that is longer than a piece is cut. */
export function* blockPieces(block: Segment): Generator<Piece> {
  let from = 0;
  let length = 0;
  for (const [at, line] of block.lines.entries()) {
    if (at > from && (length + line.length > LONGEST_PIECE || at - from === MOST_LINES)) {
      yield wholeLines(block, from, at);
      from = at;
      length = 0;
    }
    length += line.length + 1;
    if (line.length <= LONGEST_PIECE) continue;
    let startsLine = true;
    let rest = line.length;
    for (const text of parts(line, LONGEST_PIECE)) {
      rest -= text.length;
      yield { text, lines: { block, from: at, to: at + 1, startsLine, endsLine: rest === 0 } };
      startsLine = false;
    }
    from = at + 1;
    length = 0;
  }
  if (from < block.lines.length) yield wholeLines(block, from, block.lines.length);
}

function wholeLines(block: Segment, from: number, to: number): Piece {
  const text = block.lines.slice(from, to).join('\n');
  return { text, lines: { block, from, to, startsLine: true, endsLine: true } };
}

/** The sentence without dangling words at its end; undefined if too little remains. */
export function plainText(sentence: string): string | undefined {
  const whole = withoutLooseEnd(sentence);
  const terms = contentTerms(whole).length;
  // Scripts without spaces have few words and many terms.
  return terms === 0 || (terms < 4 && whole.split(' ').length < 3) ? undefined : whole;
}

/** Works word by word: a regular expression anchored at the end would try every start. */
function withoutLooseEnd(sentence: string): string {
  const words = sentence.split(' ');
  while (LOOSE_WORD.test(words.at(-1) ?? 'end')) words.pop();
  const last = words.pop() ?? '';
  return [...words, last.length > LONGEST_WORD ? last : last.replace(/[,;–—-]+$/, '')].join(' ');
}

/** In characters. */
const LONGEST_PIECE = 400;
const LONGEST_WORD = 60;
const MOST_LINES = 12;
/** A word that leads to something that never follows, or punctuation alone. */
const LOOSE_WORD = /^(?:and|or|but|so|because|if|that|which|the|an?|to|of|for|with|is|are|like)?[,;–—-]{0,60}$/i;
