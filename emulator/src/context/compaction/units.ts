import type { Sliced } from '../../base/slices.js';
import { parts } from '../../text/parts.js';
import { contentTerms } from '../../text/terms.js';

/** A sentence of prose, or a line of code. */
export interface Unit {
  text: string;
  isCode: boolean;
  /** The first of its line. */
  startsLine: boolean;
}

/** Consecutive units of a message, quoted in an excerpt together. */
export interface Piece {
  text: string;
  startsLine: boolean;
}

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
export function* piecesOf(units: readonly Unit[]): Generator<Piece> {
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
