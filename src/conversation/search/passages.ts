import { wordsAsked, wordsIn } from './words.js';

/** Characters above which a message is long, and of its passages. */
export const LONG = 3000;
export const PASSAGE = 1000;

/**
 * The paragraphs of a text, short ones together, long ones cut to `size` characters. A block of code or a table stays in
 * one piece.
 */
export function passagesOf(content: string, size: number): string[] {
  const passages = [''];
  for (const paragraph of paragraphsOf(content)) {
    const isWhole = paragraph.length <= size || /^ {0,3}(?:```|~~~|\|)/m.test(paragraph);
    for (const piece of isWhole ? [paragraph] : piecesOf(paragraph, size)) {
      const passage = passages.at(-1) ?? '';
      if (passage.length + piece.length <= size) passages[passages.length - 1] = passage + piece;
      else passages.push(piece);
    }
  }
  return passages.map((passage) => passage.trim()).filter((passage) => passage !== '');
}

/** An empty line does not end a block of code. */
function* paragraphsOf(content: string): Generator<string> {
  let paragraph = '';
  let isCode = false;
  // linear: the second alternative takes the same line
  for (const [line] of content.matchAll(/[^\n]*\n|[^\n]+/g)) {
    if (/^ {0,3}(?:```|~~~)/.test(line)) isCode = !isCode;
    paragraph += line;
    if (isCode || line.trim() !== '') continue;
    yield paragraph;
    paragraph = '';
  }
  yield paragraph;
}

/** Cuts at white space. */
function piecesOf(text: string, size: number): readonly string[] {
  // linear: at most 360 characters at a time
  return text.match(new RegExp(`[^]{1,${size}}(?:\\s|$)|[^]{1,${size}}`, 'gu')) ?? [];
}

/** The part of a text that shares most words with a query. A block of code or a table stays whole. */
export function excerptOf(content: string, query: string, size: number): string {
  if (content.length <= size) return content;
  const words = new Set(wordsAsked(query));
  let best = '';
  let most = -1;
  for (const passage of passagesOf(content, size)) {
    const shared = new Set(wordsIn(passage).filter((word) => words.has(word))).size;
    if (shared > most) [best, most] = [passage, shared];
  }
  return best;
}
