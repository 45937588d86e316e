/** A surrogate without its other half. With the `u` flag, pairs do not match. */
const LONE_SURROGATES = /[\uD800-\uDFFF]/gu;
/** The first half of a character that UTF-16 writes in two. A service may send its halves in two chunks. */
const FIRST_HALF = /[\ud800-\udbff]$/;

/**
 * Marks in a row. `normalize` sorts them, which takes quadratic time, so they are taken apart as in the stream-safe format of
 * Unicode (UAX 15). The last two become marks.
 */
const MARKS = /[\p{M}\uFF9E\uFF9F]{30}/gu;
/** As many characters of which none is of a script without marks: seen in a fifth of the time that `MARKS` takes. */
const MAYBE_MARKS = /[^\0-\u02FF\u30A0-\uA66E\uAC00-\uD7FF]{30}/;
/** A mark that is invisible, and that others are not sorted across. */
const JOINER = '\u034F';

/** Signs that stand for a phrase of 18 and of 8 letters. All others become at most six. */
const PHRASES = /[\uFDFA\uFDFB]+/g;

/**
 * `String.prototype.normalize('NFKC')` in proportion to the length of a text, also of one that was made to take long. Every text
 * from outside passes here before any other form of it is made.
 */
export function nfkc(text: string): string {
  const apart = MAYBE_MARKS.test(text) ? text.replace(MARKS, `$&${JOINER}`) : text;
  return apart.replace(PHRASES, ' ').normalize('NFKC');
}

/** `String.prototype.isWellFormed`, which Hermes and Safari before 16.4 do not have. */
export function isWellFormed(text: string): boolean {
  const native = (text as Partial<string>).isWellFormed;
  return native === undefined ? text.search(LONE_SURROGATES) === -1 : native.call(text);
}

/** `String.prototype.toWellFormed`: each surrogate without its other half becomes U+FFFD. */
export function toWellFormed(text: string): string {
  const native = (text as Partial<string>).toWellFormed;
  return native === undefined ? text.replace(LONE_SURROGATES, '\uFFFD') : native.call(text);
}

/** The beginning of a text, and never half a character. */
export function startOf(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(FIRST_HALF, '');
}

/** Reads a text that arrives in pieces, and never returns half a character. */
export class CharacterJoiner {
  #half = '';

  /** What is complete with this piece. The first half of a character waits for the next piece. */
  add(piece: string): string {
    const text = this.#half + piece;
    this.#half = isWellFormed(text) ? '' : (FIRST_HALF.exec(text)?.[0] ?? '');
    return toWellFormed(text.slice(0, text.length - this.#half.length));
  }

  /** The end of the text: U+FFFD if half a character is left. */
  end(): string {
    const rest = toWellFormed(this.#half);
    this.#half = '';
    return rest;
  }
}
