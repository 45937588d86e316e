/** The stems of the significant words of a text. For scripts without spaces, pairs of characters. */
export function termsOf(text: string): Set<string> {
  const terms = new Set<string>();
  for (const [word] of text.normalize('NFKC').toLowerCase().matchAll(WORDS)) {
    if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(word)) {
      for (let i = 0; i < word.length - 1; i += 1) terms.add(word.slice(i, i + 2));
    } else if (word.length > 2 ? !STOP_WORDS.test(word) : /\d/.test(word)) {
      terms.add(stem(word));
    }
  }
  return terms;
}

/** Counts the terms that two texts share. */
export function sharedTerms(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const term of a) if (b.has(term)) shared += 1;
  return shared;
}

/** Normalises a text, so that case, punctuation and spaces make no difference. */
export function normalise(text: string): string {
  return (text.normalize('NFKC').toLowerCase().match(WORDS) ?? []).join(' ');
}

/** Returns the text itself, and its sentences. */
export function sentencesOf(text: string): string[] {
  return [text, ...text.split(/[.!?]+(?=\s)|[。！？\n]+/)].filter((sentence) => sentence.trim() !== '');
}

/** Letters and digits, with the signs that change their meaning: C++ and C#, -20 and 20, < 5 and > 5. */
const WORDS = /[\p{L}\p{N}]+[+#]*|[<>≤≥]|(?<![\p{L}\p{N}])-(?=\p{N})/gu;

/**
 * Cuts a word to its beginning: "decide", "decided" and "decides" become equal. Crude, but works for many languages.
 */
function stem(word: string): string {
  return word.length > 6 ? word.slice(0, 6) : word.replace(/(?<=..)(?:ies|es|ed|s)$/, '');
}

const STOP_WORDS =
  /^(?:the|and|that|this|with|for|from|are|was|were|have|has|had|will|would|should|can|could|did|does|not|but|what|when|where|which|who|why|how|you|your|our|they|their|because|its|about|into|all|der|die|das|und|ist|nicht|wir|mit|für)$/;
