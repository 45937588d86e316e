import { parts } from './parts.js';

/** The sentences of a text, which end at a mark or a line. */
export function sentencesOf(text: string): string[] {
  const sentences: string[] = [];
  let open = '';
  for (const part of parts(text, LONGEST)) {
    for (const piece of piecesOf(part)) {
      open += piece;
      if (goesOn(open)) continue;
      if (open.trim() !== '') sentences.push(open.trim());
      open = '';
    }
  }
  if (open.trim() !== '') sentences.push(open.trim());
  return sentences;
}

/** What may be sentences. Most short lines have no mark in them, and a text may have tens of thousands. */
function* piecesOf(text: string): Generator<string, undefined> {
  for (const line of text.split(AFTER_LINE)) {
    if (!MARK_WITHIN.test(line)) yield line;
    else for (const { segment } of SEGMENTER.segment(line)) yield* segment.split(BEFORE_BRACKET);
  }
}

/** Whether a mark is that of an abbreviation, the number of an item, an address or code. */
function goesOn(text: string): boolean {
  if (text.length > LONGEST / 2) return false;
  if (text.split('`').length % 2 === 0) return true;
  return /[.!?]["')]*$/.test(text.slice(-4)) || ABBREVIATION.test(text.slice(-12)) || ITEM.test(text.slice(0, 8));
}

const AFTER_LINE = /(?<=\n)/;
const MARK_WITHIN = /[.!?…。！？｡\r\u0085\u2028\u2029][^\n]/;
const SEGMENTER = new Intl.Segmenter('en', { granularity: 'sentence' });
/** In characters. The segmenter needs quadratic time for a long text. */
const LONGEST = 4000;
/** Which the segmenter takes for the middle of a sentence, if a small letter follows. */
const BEFORE_BRACKET = /(?<=[.!?] )(?=[([])/;
/** Before a name or a number, and an initial. */
const ABBREVIATION =
  /(?:^|[\s("'])(?:Mr|Mrs|Ms|Dr|Prof|Sr|Jr|St|Mt|Gen|Rev|Capt|Fig|vs|etc|approx|dept|est|incl|max|min|Art|Abs|Nr|e\.g|i\.e|cf|z\.B|d\.h|u\.a|ca|bzw|[A-Z])\.[ \t]*$/;
const ITEM = /^\s*(?:\d{1,3}|[a-z])\.[ \t]*$/;
