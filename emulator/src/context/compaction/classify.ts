import type { Section } from '../../store/summary.js';
import { contentTerms } from '../../text/terms.js';
import { CUES, HEDGES, NAMES } from './cues.js';

/** What the wording of a sentence reveals. */
export interface Classification {
  section: Exclude<Section, 'importantReferences'>;
  reason?: string;
  term?: string;
  /** For definitions the meaning alone, for decisions the sentence without its reason. */
  text?: string;
}

/** The section of a sentence, by the first cue in the table that it contains. */
export function classify(sentence: string, role: string): Classification | undefined {
  const plain = sentence.replace(OPENING, '').trim();
  if (sentence.length > LONGEST || BROKEN_OFF.test(plain) || countTerms(plain) < 2) return undefined;
  if (isQuestion(plain)) return isOpenQuestion(plain) ? { section: 'openQuestions' } : undefined;
  if (/!["'”’)\]]{0,4}$/.test(plain)) return undefined;
  for (const { section, isOfUser, pattern } of PATTERNS) {
    const match = isOfUser && role !== 'user' ? null : pattern.exec(plain);
    if (match === null) continue;
    const clause = plain.slice(0, match.index).split(NEW_CLAUSE).at(-1) ?? '';
    const isHedged = HEDGED.test(clause);
    if (isHedged && (section === 'decisions' || section === 'requirements')) continue;
    if (section === 'definitions') {
      const definition = definitionOf(match);
      if (definition !== undefined) return definition;
      continue;
    }
    return section === 'decisions' ? { section, ...withReason(sentence) } : { section };
  }
  return undefined;
}

/** Whether the sentence ends with a question mark, closing quotes and brackets aside. */
export function isQuestion(sentence: string): boolean {
  return /\?["'”’)\]]{0,4}$/.test(sentence);
}

/** Whether a question asks about the matter: not the other speaker, and not for the meaning of a word. */
function isOpenQuestion(question: string): boolean {
  return ASKS.test(question) && !ASKS_SPEAKER.test(question) && !TAG_QUESTION.test(question);
}

function definitionOf({ groups }: RegExpExecArray): Classification | undefined {
  const term = groups?.term?.replace(/^(?:the|an?|our|by) /i, '').replace(/^["“'`]|["”'`]$/g, '') ?? '';
  const text = groups?.meaning?.replace(/[.!]+$/, '').trim() ?? '';
  if (NO_TERM.test(term) || countTerms(term) === 0 || countTerms(text) < 2) return undefined;
  return { section: 'definitions', term, text };
}

/** Splits a decision from the clause that gives its reason. The reason ends where the next clause begins. */
function withReason(sentence: string): { text: string; reason: string } {
  const match = REASON.exec(sentence);
  if (match === null) return { text: sentence, reason: '' };
  const before = sentence.slice(0, match.index);
  const after = sentence.slice(match.index + match[0].length).replace(/[.!]+$/, '');
  const reason = match[1]?.trim() ?? '';
  return countTerms(before) < 2 ? { text: sentence, reason } : { text: `${before}${after}.`, reason };
}

function countTerms(text: string): number {
  return new Set(contentTerms(text)).size;
}

/** A cue's words as a regular expression. */
export function patternOf(words: string): RegExp {
  const named = (source: string): string =>
    source.replace(/<(\w+)>/g, (name, key: string) => (key in NAMES ? NAMES[key as keyof typeof NAMES] : name));
  // Names may contain names.
  const source = named(named(named(words)))
    .replace(/'(?=[a-z])/g, "['’]")
    .replace('<term>', `(?<term>["“'\`]?\\w[\\w .\\-/]{0,40}?["”'\`]?)`)
    .replace('<meaning>', '(?<meaning>[^;]+)');
  return new RegExp(`(?<![\\w'’-])(?:${source})(?![\\w-])`, 'i');
}

const PATTERNS = CUES.map((cue) => ({ ...cue, pattern: patternOf(cue.words) }));
const HEDGED = patternOf(HEDGES);

/** "It could take days, so we decided to" is a decision, although "could" only considers. */
const NEW_CLAUSE = /,? so (?!that )|; /;
/** In characters. */
const LONGEST = 600;
const ASKS =
  /^(?:open question|how|what(?!['’]s| is| are)|which|who|why|where|when|is|are|do|does|can|could|should|will|would|has|have)\b/i;
const ASKS_SPEAKER = /\b(?:i|me|my|you|your)\b/i;
const OPENING = /^(?:(?:ok(?:ay)?|so|and|but|well|yeah|yes|also|then|lol|haha|actually|fyi|note that|i think)[, ]+)+/i;
const TAG_QUESTION =
  /, (?:right|ok(?:ay)?|no|huh|eh|(?:is|are|do|does|did|was|can|could|would|should)(?:n['’]t)? \w+)\?/i;
/** A sentence that breaks off in the middle is not worth keeping. */
const BROKEN_OFF = /(?:[,;}…–—-]|\.\.\.|\b(?:and|or|but|the|a|to|of|so))$/i;
const NO_TERM =
  /^(?:it|this|that|these|those|which|what|he|she|we|they|you|i|everything|something|nothing|one|here|there)\b/i;
const REASON =
  /,? (?:because(?: of)?|since(?! (?:\d|last|then|yesterday))|so that|due to|in order to|given that) (.+?)(?=[.!]*$|;|,? (?:and|so|but) (?:we|i|let's|they|it|the|then)\b|, then\b)/i;
