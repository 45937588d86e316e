/**
 * Splits a text into parts of bounded length. It cuts at the end of a sentence if possible, else of a clause, else of a
 * word. Callers use it because finding sentences in one long text takes more than linear time.
 */
export function* parts(text: string, longest: number): Generator<string, undefined> {
  let at = 0;
  while (text.length - at > longest) {
    const part = wholeCharacters(text.slice(at, at + longest), cutIn(text, at, longest));
    yield part;
    at += part.length;
  }
  yield text.slice(at);
}

/** The first `length` characters of a text; one fewer if the cut would split a surrogate pair. */
export function wholeCharacters(text: string, length: number): string {
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(length - 1)) && length > 1;
  return text.slice(0, isHalf ? length - 1 : length);
}

/** The length of the next part. Searches backwards through the second half of the allowed length. */
function cutIn(text: string, at: number, longest: number): number {
  let word = 0;
  let clause = 0;
  for (let end = longest; end > longest / 2; end -= 1) {
    const last = text.charAt(at + end - 1);
    const isSpace = last === ' ' || last === '\t' || last === '\n' || last === '\r';
    const before = text.charAt(at + end - 2);
    if ((isSpace && '.!?'.includes(before)) || '。！？'.includes(last)) return end;
    if (isSpace && word === 0) word = end;
    if (
      clause === 0 &&
      (isSpace ? ',;'.includes(before) || CONJUNCTION.test(text.slice(at + end, at + end + 8)) : last === ',')
    )
      clause = end;
  }
  return clause || word || longest;
}

const CONJUNCTION = /^(?:and|but|so|because|which|then|or)\s/i;
