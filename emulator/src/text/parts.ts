/**
 * A text in parts of bounded length, cut at the end of a sentence where there is one, else of a clause, else of a word.
 * What looks for sentences needs more than linear time for one long text.
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

/** The beginning of a text; never half of a character. */
export function wholeCharacters(text: string, length: number): string {
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(length - 1)) && length > 1;
  return text.slice(0, isHalf ? length - 1 : length);
}

/** The length of the next part. The second half of what it may be is looked at, from its end. */
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
