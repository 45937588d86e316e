/**
 * Estimates the tokens of a text without a tokenizer. It tends to be too high rather than too low. The costs are fitted
 * to the o200k encoding. For a text of one kind (prose, code, JSON, ids, numbers, emoji), the estimate is at most 10 %
 * below the exact count.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [piece] of text.matchAll(PIECES)) tokens += cost(piece);
  return Math.ceil(tokens);
}

/**
 * Runs of ASCII letters and digits, runs of other letters, single symbols, and white space. A single space is skipped,
 * except before a digit, because it belongs to the next token.
 */
const PIECES = /[A-Za-z0-9]+|\s+(?=\d)|\s{2,}|[^\S ]|\p{L}[\p{L}\p{M}]*|\S/gu;

function cost(piece: string): number {
  if (/^[A-Za-z0-9]/.test(piece)) return asciiCost(piece);
  if (/^\s/.test(piece)) return 1;
  if (/^\p{L}/u.test(piece)) return letterCost(piece);
  const code = piece.codePointAt(0) ?? 0;
  if (code < 0x80) return 0.7;
  if (code < 0x2030 || (code >= 0x3000 && code < 0xff00)) return 1;
  return code < 0x10000 ? 1.6 : 2;
}

function asciiCost(run: string): number {
  const parts = run.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
  const mixed = /\d/.test(run) && /[A-Za-z]/.test(run);
  // Ids: a token covers less than two random characters.
  if ((mixed && run.length >= 5) || (parts.length > 3 && run.length < parts.length * 2.5)) {
    return run.length * (/[a-z]/.test(run) ? 0.7 : 0.85);
  }
  return parts.reduce((tokens, part) => tokens + partCost(part), 0);
}

function partCost(part: string): number {
  if (/\d/.test(part)) return Math.ceil(part.length / 3);
  const isRandom = /[^aeiouy]{6}/i.test(part);
  return isRandom ? part.length / 1.6 : Math.ceil(part.length / 6);
}

function letterCost(run: string): number {
  if (/^[\p{Script=Han}\p{Script=Hangul}]/u.test(run) || /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(run)) {
    return run.length * 0.85;
  }
  return /^\p{Script=Latin}/u.test(run) ? Math.max(1, run.length * 0.4) : Math.max(0.7, run.length * 0.42);
}
