import { parts } from '../../text/parts.js';
import { contentTerms } from '../../text/terms.js';
import type { Segment } from './blocks.js';

/** A part of a message that stays as it was said: a few sentences in a row, or lines of a block. */
export interface Piece {
  text: string;
  /** Lines of a block, where it is not prose. */
  lines?: BlockLines;
}

/** Where lines stand in their block. */
interface BlockLines {
  block: Segment;
  /** The first line, and the one after the last. */
  from: number;
  to: number;
  /** False for the middle of a line that is too long for one piece. */
  startsLine: boolean;
  endsLine: boolean;
}

/** Sentences in a row, as many as a piece holds. */
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

/** Lines in a row, as many as a piece holds; a line that is longer is cut. */
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

/** A sentence without its loose end, if anything is left then. */
export function plainText(sentence: string): string | undefined {
  const whole = withoutLooseEnd(sentence);
  const terms = contentTerms(whole).length;
  // Scripts without spaces have few words and many terms.
  return terms === 0 || (terms < 4 && whole.split(' ').length < 3) ? undefined : whole;
}

/** Word by word, because an expression that looks for an end tries every beginning. */
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
/** A word that announces something which does not come, or marks alone. */
const LOOSE_WORD = /^(?:and|or|but|so|because|if|that|which|the|an?|to|of|for|with|is|are|like)?[,;–—-]{0,60}$/i;
