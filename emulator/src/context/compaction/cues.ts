import type { Section } from '../../store/summary.js';
import { contentTerms } from '../../text/terms.js';
import { CONSTRUCTIONS, DEFINITIONS, NO_TERM, OPENNESS, QUESTION_OPEN } from './constructions.js';
import { isQuestion } from './sentences.js';

/** What the wording of a sentence reveals. */
export interface Cue {
  section: Exclude<Section, 'importantReferences'>;
  /** 2 for an ordinary cue, 3 for an explicit one. */
  weight: number;
  reason?: string;
  term?: string;
  /** For definitions the meaning alone, for decisions the sentence without its reason. */
  text?: string;
}

/**
 * The section of a sentence, by its construction. A keyword is not enough: "let's keep going" decides nothing, and
 * "I must have missed it" requires nothing.
 */
export function classify(sentence: string, role: string): Cue | undefined {
  const substance = countTerms(sentence);
  const words = sentence.split(' ').length;
  if (words < 3 || substance < 1 || sentence.length > LONGEST_SENTENCE || BROKEN_OFF.test(sentence)) return undefined;
  if (isQuestion(sentence)) return questionCue(sentence, substance);
  const definition = definitionIn(sentence);
  if (definition !== undefined) return definition;
  const fit = CONSTRUCTIONS.find(({ pattern, unless, isOfUser }) => {
    const match = isOfUser && role !== 'user' ? null : pattern.exec(sentence);
    if (match === null) return false;
    const before = sentence.slice(0, match.index).split(NEW_CLAUSE).at(-1) ?? '';
    return unless?.test(before) !== true;
  });
  if (fit === undefined) return undefined;
  const { section, weight } = fit;
  // "That is still to be decided" is useless without what "that" refers to.
  if (section === 'openQuestions' && countTerms(sentence.replace(OPENNESS, ' ')) < 2) return undefined;
  return section === 'decisions' ? { section, weight, ...withReason(sentence) } : { section, weight };
}

/** Whether the sentence revokes an earlier decision. */
export function revises(sentence: string): boolean {
  return /\b(actually|instead|no longer|scratch that|scrap|changed (?:my|our) minds?|rather than|not .{3,40} (?:anymore|any more)|revert(?:ed|ing)?|drop(?:ped|ping)? the)\b/i.test(
    sentence,
  );
}

/**
 * Splits a decision from the clause that gives its reason, without the conjunction. The reason ends where the next
 * clause begins, so that a decision after it is kept: "We dropped X because it is slow, and we use Y."
 */
function withReason(sentence: string): { text: string; reason: string } {
  const match = REASON.exec(sentence);
  if (match === null) return { text: sentence, reason: '' };
  const reason = match[1]?.trim() ?? '';
  const before = sentence.slice(0, match.index);
  const after = sentence.slice(match.index + match[0].length).replace(/[.!]+$/, '');
  const text = `${before.replace(/[,\s]+$/, '')}${after}.`;
  return countTerms(before) < 2 ? { text: sentence, reason } : { text, reason };
}

function questionCue(sentence: string, substance: number): Cue | undefined {
  if (substance < 2 || !QUESTION_OPEN.test(sentence)) return undefined;
  return { section: 'openQuestions', weight: /\bopen (?:question|issue|point)\b/i.test(sentence) ? 3 : 2 };
}

function definitionIn(sentence: string): Cue | undefined {
  for (const pattern of DEFINITIONS) {
    const match = pattern.exec(sentence);
    const term = match?.groups?.term
      ?.replace(/^(?:the|an?|our|by)\s+/i, '')
      .replace(/^["“'`]|["”'`]$/g, '')
      .trim();
    const meaning = match?.groups?.meaning?.replace(/[.!]+$/, '').trim();
    if (term === undefined || meaning === undefined || term.split(' ').length > 4) continue;
    if (NO_TERM.test(term) || countTerms(term) === 0 || countTerms(meaning) < 2) continue;
    return { section: 'definitions', weight: 2, term, text: meaning };
  }
  return undefined;
}

function countTerms(text: string): number {
  return new Set(contentTerms(text)).size;
}

const LONGEST_SENTENCE = 600;
/** "It could take days, so we decided to" is a decision, although "could" only considers. */
const NEW_CLAUSE = /,? so (?!that )|; /;
/** A sentence that breaks off in the middle is not worth keeping. */
const BROKEN_OFF = /(?:[,;}…–—-]|\.\.\.|\b(?:and|or|but|the|a|to|of|so))$/i;
const REASON =
  /(?:,\s*|\s)(?:because(?: of)?|since(?! (?:\d|last|then|yesterday))|so that|due to|in order to|given that)\s+(.+?)(?=[.!]*$|;|,? (?:and|so|but) (?:we|i|let's|they|it|the|then)\b|, then\b)/i;
