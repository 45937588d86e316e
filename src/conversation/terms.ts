/** The words of a text that carry meaning, cut to their stems; of scripts without spaces, pairs of characters. */
export function termsOf(text: string): Set<string> {
  const terms = new Set<string>();
  for (const [word] of text
    .normalize('NFKC')
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+/gu)) {
    if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(word)) {
      for (let i = 0; i < word.length - 1; i += 1) terms.add(word.slice(i, i + 2));
    } else if (word.length > 2 ? !STOP_WORDS.test(word) : /\d/.test(word)) {
      terms.add(stem(word));
    }
  }
  return terms;
}

/** How many terms two texts share. */
export function sharedTerms(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const term of a) if (b.has(term)) shared += 1;
  return shared;
}

/** Letters and digits only: texts that differ in case, punctuation or spaces are the same. */
export function normalise(text: string): string {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).join(' ');
}

/** The beginning stands for the word: "decide", "decided" and "decides" are one. Blunt, and the same for every language. */
function stem(word: string): string {
  return word.length > 6 ? word.slice(0, 6) : word.replace(/(?<=..)(?:ies|es|ed|s)$/, '');
}

const STOP_WORDS =
  /^(?:the|and|that|this|these|those|with|for|from|are|was|were|been|being|have|has|had|will|would|shall|should|can|could|may|might|must|does|did|not|but|what|when|where|which|who|whom|why|how|you|your|our|ours|they|them|their|its|his|her|she|him|there|here|then|than|also|just|about|into|some|any|all|very|more|most|such|yes|yeah|okay|well|like|mean|know|think|because|der|die|das|und|ein|eine|ist|nicht|wir|sie|mit|für|les|des|une|est|que|pour|los|las|por|con)$/;
