import { contentTerms } from '../terms.js';
import type { Cue } from './cues.js';

/** A sentence that makes no item of its own, with the section that a faint cue suggests. */
export interface PlainSentence {
  text: string;
  section: Cue['section'] | undefined;
}

/** Sentences in a row that go into the summary together, so that they read on their own. */
export interface Passage {
  section: Cue['section'];
  text: string;
  /** 1 when one of its sentences has a faint cue. */
  weight: number;
}

/** A sentence without its loose end, if anything is left then. */
export function plainText(sentence: string): string | undefined {
  const whole = withoutLooseEnd(sentence);
  const terms = contentTerms(whole).length;
  // Scripts without spaces have few words and many terms.
  return terms === 0 || (terms < 4 && whole.split(' ').length < 3) ? undefined : whole;
}

/** Word by word, because an expression that looks for an end tries every beginning. */
function withoutLooseEnd(sentence: string): string {
  const words = sentence.split(' ');
  while (LOOSE_WORD.test(words.at(-1) ?? 'end')) words.pop();
  const last = words.pop() ?? '';
  return [...words, last.length > LONGEST_WORD ? last : last.replace(/[,;–—-]+$/, '')].join(' ');
}

/** Joins each run of plain sentences, up to the length of a passage. */
export function passages(runs: readonly (readonly PlainSentence[])[]): Passage[] {
  return runs
    .flatMap((run) => split(run.flatMap(clauses)).map(passage))
    .filter(({ text }) => new Set(contentTerms(text)).size >= LEAST_TERMS);
}

function passage(sentences: readonly PlainSentence[]): Passage {
  const text = sentences.map((sentence) => sentence.text).join(' ');
  const cued = sentences.find(({ section }) => section !== undefined)?.section;
  return { text, section: cued ?? nearestSection(text), weight: cued === undefined ? 0 : 1 };
}

/**
 * The section whose words a passage is nearest to. What somebody wants is a goal; what has to be, ought to be or must be
 * reckoned with is a requirement; the rest says what is being done or proposed, which is the plan as it stands.
 */
function nearestSection(text: string): Cue['section'] {
  const goals = text.match(WANTED)?.length ?? 0;
  const requirements = text.match(NEEDED)?.length ?? 0;
  if (requirements > 0 && requirements >= goals) return 'requirements';
  return goals > 0 ? 'goals' : 'currentPlan';
}

/** A sentence that is too long for a passage, as the clauses it consists of; what has no clauses is no prose. */
function clauses(sentence: PlainSentence): PlainSentence[] {
  if (sentence.text.length <= LONGEST_PASSAGE) return [sentence];
  const parts: string[] = [];
  for (const clause of sentence.text.split(CLAUSE_START)) {
    const last = parts.at(-1);
    if (last === undefined || last.length + clause.length > LONGEST_PASSAGE) parts.push(clause);
    else parts[parts.length - 1] = `${last} ${clause}`;
  }
  return parts.filter((text) => text.length <= LONGEST_PASSAGE).map((text) => ({ ...sentence, text }));
}

function split(run: readonly PlainSentence[]): PlainSentence[][] {
  const parts: PlainSentence[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const sentence of run) {
    if (length + sentence.text.length > LONGEST_PASSAGE) {
      parts.push([]);
      length = 0;
    }
    parts.at(-1)?.push(sentence);
    length += sentence.text.length;
  }
  return parts;
}

/** In characters. */
const LONGEST_PASSAGE = 400;
const CLAUSE_START = /(?<=,) | (?=(?:and|but|so|because|which|then|or)\b)/i;
const LEAST_TERMS = 2;
/** A word that announces something which does not come, or marks alone. */
const LOOSE_WORD = /^(?:and|or|but|so|because|if|that|which|the|an?|to|of|for|with|is|are|like)?[,;–—-]*$/i;
const LONGEST_WORD = 60;
const WANTED = /\b(?:wants?|wanted|would like|'d like|hopes?|wish(?:es)?|looking for|ideal(?:ly)?|nice to have)\b/gi;
const NEEDED =
  /\b(?:needs?|needed|should(?:n't)?|ha(?:s|ve|d) to|must|only|never|always|at (?:least|most)|limit(?:ed|s)?|cannot|can't|important|necessary|essential|enough|too \w+|problem|fails?)\b/gi;
