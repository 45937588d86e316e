import type { Sliced } from '../../base/slices.js';
import { parts } from '../../text/parts.js';

/** Splits plain text into sentences. */
export type SplitSentences = (text: string) => readonly string[];

/** The sentences of a line of prose, without list marks and transcribed noises. */
export function* lineSentences(line: string, split: SplitSentences): Sliced<string[]> {
  const sentences: string[] = [];
  for (const part of parts(line, LONGEST_PART)) {
    yield;
    for (const sentence of split(part.replace(NOISE, ' '))) {
      // Speech without punctuation has no sentence ends, so it is cut into clauses.
      for (const clause of parts(sentence, sentence.length > LONGEST_SENTENCE ? LONGEST_CLAUSE : LONGEST_SENTENCE)) {
        yield;
        const tidy = tidySentence(clause);
        if (tidy !== '') sentences.push(tidy);
      }
    }
  }
  return sentences;
}

/** Whether the sentence ends with a question mark, closing quotes and brackets aside. */
export function isQuestion(sentence: string): boolean {
  return /\?["'”’)\]]{0,4}$/.test(sentence);
}

/** In characters. */
const LONGEST_PART = 2000;
const LONGEST_SENTENCE = 600;
const LONGEST_CLAUSE = 300;

/** The sentence on one line, without list marks, fillers, stuttered words and empty openings ("Okay so"). */
function tidySentence(sentence: string): string {
  const plain = sentence
    .replace(LIST_MARK, '')
    .replace(FILLERS, '')
    .replace(/\s+/g, ' ')
    .replace(/ ([,.;:!?])(?=\s|$)/g, '$1')
    .replace(WORD_TWICE, '$1')
    .replace(/([,;:])(?: ?[,;:])+/g, '$1')
    .replace(/[,;:]\.$/, '.')
    .replace(/^[\s,;:.–—-]+/, '')
    .trim();
  const opened = plain.replace(OPENING, '');
  return opened === plain ? plain : `${opened.charAt(0).toUpperCase()}${opened.slice(1)}`;
}

const LIST_MARK = /^\s*(?:(?:[-*•>]|\d{1,3}[.)]|#{1,6})\s+)+(?:\[[ xX]\]\s+)?/;
/** How transcripts mark sounds and gaps. */
const NOISE =
  /[{[(<](?:vocal ?sound|nonvocal ?sound|disfmarker|gap|pause|silence|noise|music|applause|crosstalk|cough(?:s|ing)?|sigh(?:s|ing)?|laugh(?:s|ter|ing)?|inaudible|unintelligible|unclear|breath(?:es|ing)?)[}\])>]/gi;
const FILLERS = /(?<![\w'-])(?:uh|um|uhm|er|erm|mm|hmm|mm-hmm|uh-huh)(?![\w'-])\s*,?/gi;
/** "was was": a repeated word, except those that English itself doubles ("had had"). */
const WORD_TWICE = /(?<![\w'’`.-])(?!(?:that|had|very|no) )([a-z][a-z'’]*)(?: \1)+(?![\w'’`-])/g;
/** "Okay so", "Well,": openings without content. "Actually" signals a change, and stays. */
const OPENING =
  /^(?:(?:(?:so|and|or|but|well|okay|ok|yeah|yep|yes|oh|right|alright|anyway|now|because|'cause|basically|also)(?:,? |\. )|(?:i mean|you know|i think|i guess|and then),? )(?=\S))+/i;
