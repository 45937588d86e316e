/** The share of a question's evidence that a prompt holds: messages of which 80 % of the content words are in it. */
export function recallOf(evidence: readonly string[], prompt: readonly string[]): number | undefined {
  const sent = new Set(prompt.flatMap((text) => [...contentWords(text)]));
  const wanted = evidence.map(contentWords).filter(({ size }) => size >= LEAST);
  const found = wanted.filter((words) => [...words].filter((word) => sent.has(word)).length >= ENOUGH * words.size);
  return wanted.length === 0 ? undefined : found.length / wanted.length;
}

const ENOUGH = 0.8;
/** Messages with fewer content words say too little to be looked for. */
const LEAST = 3;

const known = new Map<string, Set<string>>();

function contentWords(text: string): Set<string> {
  const words = known.get(text) ?? new Set(wordsOf(text));
  known.set(text, words);
  return words;
}

function* wordsOf(text: string): Generator<string> {
  for (const [run] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    if (/\p{Script=Han}/u.test(run)) for (let i = 0; i < run.length - 1; i += 1) yield run.slice(i, i + 2);
    else if (run.length >= 3 && !COMMON.has(run)) yield run;
  }
}

const COMMON = new Set(
  'the and that this these those with for from are was were been being have has had will would shall should can could may might must does did not but what when where which who whom why how you your our they them their its his her she him there here then than also just about into some any all very more most such yes yeah okay well like mean know think one two get got going said say thing something because so want really maybe kind sort bit'.split(
    ' ',
  ),
);
