/** Splits plain text into sentences. */
export type SplitSentences = (text: string) => readonly string[];

/** The sentences of a message that can say something: no code, no list marks, no spoken fillers. */
export function messageSentences(content: string, split: SplitSentences): string[] {
  const prose = content.replace(CODE_FENCE, '\n');
  const sentences: string[] = [];
  for (const line of prose.split(/\r?\n+/)) {
    for (const sentence of split(line)) {
      const tidy = tidySentence(sentence);
      if (tidy !== '') sentences.push(tidy);
    }
  }
  return sentences;
}

/** One line, without the mark of a list or a heading in front and without "uh" and "um" inside. */
function tidySentence(sentence: string): string {
  return sentence
    .replace(LIST_MARK, '')
    .replace(FILLERS, '')
    .replace(/\s+/g, ' ')
    .replace(/ ([,.;:!?])(?=\s|$)/g, '$1')
    .replace(/^[\s,;:–—-]+/, '')
    .trim();
}

const CODE_FENCE = /```[\s\S]*?(?:```|$)/g;
const LIST_MARK = /^\s*(?:(?:[-*•>]|\d{1,3}[.)]|#{1,6})\s+)+(?:\[[ xX]\]\s+)?/;
const FILLERS = /(?<![\w'-])(?:uh|um|uhm|er|erm|mm|hmm|mm-hmm|uh-huh)(?![\w'-])\s*,?/gi;
