import { contentTerms } from '../terms.js';
import { isQuestion } from './sentences.js';
import type { Section } from './summary.js';

/** What a sentence says by its wording. */
export interface Cue {
  section: Exclude<Section, 'importantReferences'>;
  /** 1 for a plain cue, more for an outspoken one. */
  weight: number;
  reason?: string;
  term?: string;
  /** Definitions: the meaning alone; decisions: without the reason. */
  text?: string;
}

/** The section a sentence belongs to, if its wording gives one away and it has substance. */
export function classify(sentence: string): Cue | undefined {
  const words = sentence.split(' ').length;
  const substance = new Set(contentTerms(sentence)).size;
  if (words < 3 || substance < 2 || sentence.length > LONGEST_SENTENCE || BROKEN_OFF.test(sentence)) return undefined;
  if (isQuestion(sentence)) return questionCue(sentence, substance);
  const definition = definitionIn(sentence);
  if (definition !== undefined) return definition;
  for (const { section, weight, pattern, leastTerms } of CUES) {
    if (substance < leastTerms || !pattern.test(sentence)) continue;
    if (section === 'decisions' && weight < 3 && SUPPOSED.test(sentence)) continue;
    const isOpen = section === 'openQuestions' || (section === 'decisions' && UNDECIDED.test(sentence));
    if (isOpen && !namesMatter(sentence)) return undefined;
    if (section !== 'decisions') return { section, weight };
    if (isOpen) return { section: 'openQuestions', weight: 3 };
    return { section, weight, ...withReason(sentence) };
  }
  return undefined;
}

/** "That is still to be decided" is true, and worth nothing without what "that" is. */
function namesMatter(sentence: string): boolean {
  return new Set(contentTerms(sentence.replace(OPENNESS, ' '))).size >= 2;
}

/** Does the sentence take an earlier decision back? */
export function revises(sentence: string): boolean {
  return /\b(actually|instead|no longer|scratch that|changed (?:my|our) minds?|rather than|not .{3,40} (?:anymore|any more)|revert(?:ed|ing)?|drop(?:ped|ping)? the)\b/i.test(
    sentence,
  );
}

/** A decision without the clause that gives its reason, and that clause without its conjunction. */
function withReason(sentence: string): { text: string; reason: string } {
  const match = REASON.exec(sentence);
  const reason = match?.[1]?.trim() ?? '';
  const decision = sentence.slice(0, match?.index).trim();
  if (match === null || new Set(contentTerms(decision)).size < 2) return { text: sentence, reason };
  return { text: `${decision.replace(/,$/, '')}.`, reason };
}

function questionCue(sentence: string, substance: number): Cue | undefined {
  if (substance < 3 || SMALL_TALK.test(sentence)) return undefined;
  return { section: 'openQuestions', weight: OUTRIGHT.test(sentence) ? 3 : OPEN.test(sentence) ? 2 : 1 };
}

function definitionIn(sentence: string): Cue | undefined {
  for (const { pattern, weight } of DEFINITIONS) {
    const match = pattern.exec(sentence);
    const term = match?.groups?.term
      ?.replace(/^(?:the|an?|our|by)\s+/i, '')
      .replace(/^["“'`]|["”'`]$/g, '')
      .trim();
    const meaning = match?.groups?.meaning?.replace(/[.!]+$/, '').trim();
    if (term === undefined || meaning === undefined || term.split(' ').length > 4) continue;
    if (VAGUE_TERM.test(term) || new Set(contentTerms(term)).size === 0) continue;
    if (new Set(contentTerms(meaning)).size < 2) continue;
    return { section: 'definitions', weight, term, text: meaning };
  }
  return undefined;
}

const LONGEST_SENTENCE = 600;
/** Speech that stops in the middle says nothing that could be kept. */
const BROKEN_OFF = /(?:[,;}…–—-]|\.\.\.|\b(?:and|or|but|the|a|to|of|so))$/i;
const REASON =
  /(?:,\s*|\s)(?:because(?: of)?|since(?! (?:\d|last|then|yesterday))|so that|due to|in order to|given that)\s+(.+?)[.!]*$/i;
const SMALL_TALK =
  /^(?:(?:so|and|but|well|okay|ok|yeah|oh|alright)[, ]+)*(?:can you (?:hear|see)|how are you|shall we (?:start|begin|go)|are (?:you|we) (?:ready|done|finished)|any (?:other )?questions|do you know what i|you know what i|isn't it|right)\b|\b(?:right|okay|ok|yeah|you know|no|huh|(?:is|are|do|does|did|could|can|would|was|were)n't (?:it|he|she|we|you|they)|(?:do|did|is|are|could|can|would) (?:you|we|it|they)|is that (?:right|ok|okay))\?$/i;
/** Speaks of a choice without making it. */
const SUPPOSED = /\b(?:if (?:we|i|you|they)(?:'re)?|(?:i|we) thought|shall we|suppose|supposing)\b/i;
/** Called open in so many words, so that no answer that follows closes it. */
const OUTRIGHT = /\bopen (?:question|issue|point)\b/i;
const OPENNESS =
  /\b(?:open|questions?|issues?|points?|decided?|undecided|determined|confirmed|keep|leave|find|figure|check|clear|unclear|whether|wonder\w*|remains?|agreed?|chosen?|settled?)\b/gi;
const OPEN =
  /\b(?:decide|which|does any(?:body|one) know|should we|do we need|who (?:will|is going to)|when (?:will|do|should)|how (?:do|should|will|can) we)\b/i;
const UNDECIDED =
  /\b(?:haven't|have not|hasn't|not yet|didn't|did not|need to|have to|must|should|can't|before we|when we|if we|until we|to be) (?:\w+ )?(?:decided?|agreed?|chosen?|settled?|pick(?:ed)?)\b|\bundecided\b|\bopen (?:question|issue|point)\b|\b(?:an?|the) (?:open )?(?:eye|look) (?:on|at)\b/i;
const VAGUE_TERM =
  /^(?:it|this|that|these|those|there|whether|how|why|where|who|your|my|he|she|we|they|you|i|what|which|who|everything|something|anything|nothing|one|here|now|thing|problem|question|idea|point|other|rest|first|second|next|last|same|only|so|and|but|because|if|when|all|some|most)\b/i;

// Asked in this order; the first that fits decides.
const CUES: readonly {
  section: Exclude<Section, 'importantReferences' | 'definitions'>;
  weight: number;
  leastTerms: number;
  pattern: RegExp;
}[] = [
  {
    section: 'decisions',
    weight: 3,
    leastTerms: 2,
    pattern:
      /\b(?:(?:we|i|they|you|team|everyone|group|have|has|been|is|was|are)(?:'ve|'s)? (?:all |just |already |also |now |finally )*(?:decided|agreed|settled|chosen|opted|concluded)\b|(?:we|i|team) (?:picked|chose|settled|went with|signed off)\b|(?:the |our |final |my )decision (?:is|was|:)|^(?:decision|decided|agreed|approved|resolved)\s*[:—-]|decided (?:to|that|on|against|not)\b|agreed (?:to|that|on|upon)\b|it(?:'s| is| was) (?:decided|agreed|settled|final)\b)/i,
  },
  {
    section: 'decisions',
    weight: 2,
    leastTerms: 2,
    pattern:
      /\b(?:let'?s (?:(?!start|look|talk|see|do that|discuss).{3,80} instead\b|go with|host|store|deploy|move to|use|stick (?:with|to)|keep|choose|pick|adopt|drop|switch|settle on|stay with)|(?:we|i)(?:'ll| will| are going to|'re going to|'re gonna) (?:go (?:with|for)|use|stick (?:with|to)|adopt|switch to|keep|drop)\b|we(?:'re| are) (?:going (?:with|for)|using|sticking (?:with|to)|switching to|keeping|dropping|not going to)\b|going with\b|no longer (?:use|using|need)|instead of .{3,60} we(?:'ll| will)|scratch that)/i,
  },
  {
    section: 'requirements',
    weight: 3,
    leastTerms: 2,
    pattern:
      /\b(?:must(?:n't| not)?(?! have \w+(?:ed|en)\b)|(?<!i )shall(?! we)|require[sd]?|requirements?|mandatory|(?:has|have|had|needs?) to be|is (?:not )?allowed|not allowed|no more than|no (?:later|less|fewer) than|at (?:least|most)|deadline|cannot exceed|may not)\b/i,
  },
  {
    section: 'openQuestions',
    weight: 3,
    leastTerms: 2,
    pattern:
      /\b(?:open (?:question|issue|point)|not (?:yet )?(?:decided|sure (?:whether|if|how|which|what|about))|still (?:need|have) to (?:decide|find out|figure|choose|clarify)|undecided|unclear|tbd|to be (?:decided|determined|confirmed)|remains to be|wonder(?:ing)? (?:whether|if|how))\b/i,
  },
  {
    section: 'goals',
    weight: 3,
    leastTerms: 2,
    pattern:
      /\b(?:(?:goals?|aims?|objectives?|purpose|mission|target)(?: (?:of|for|with|here)\b[\w ]{0,40})?(?::| (?:is|are|was|will be)\b)|^(?:goals?|objectives?|aim)\s*[:—-]|(?:we|i|they)(?:'re| are|'m| am) (?:aiming|trying|hoping|looking) (?:to|for|at)|aiming to|in order to achieve|what we want is)\b/i,
  },
  {
    section: 'requirements',
    weight: 1,
    leastTerms: 4,
    pattern:
      /\b(?:(?<!\bi )(?:need(?:s|ed)? to|ha(?:ve|s) to)(?! (?:say|admit|see|go|start|think|know)\b)|should(?:n't| not)? (?:be|have|not|support|work|use|run|include|only|always|never)|make sure|important (?:that|to)|limit(?:ed)? (?:to|of)|has got to be)\b|^(?:never|always|do not|don't) \w+/i,
  },
  {
    section: 'currentPlan',
    weight: 2,
    leastTerms: 2,
    pattern:
      /\b(?:next steps?|action items?|todo|to-do|the plan(?: is|:)|(?:we|i)(?:'re| are|'m| am)? plan(?:ning)? (?:to|on)|(?:by|before|until|on|next) (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|tonight|week|month|sprint|meeting)|milestone|roadmap|then we(?:'ll| will))\b/i,
  },
  {
    section: 'goals',
    weight: 1,
    leastTerms: 4,
    pattern:
      /\b(?:we|i|they|users?|customers?|people|client)(?:'d)? (?:really |just |all )?(?:wants?|would like|wish(?:es)?|hope|aim) (?:to|it|a|an|the|something|more)\b/i,
  },
  {
    section: 'currentPlan',
    weight: 1,
    leastTerms: 4,
    pattern:
      /\b(?:(?:we|i|he|she|they|you)(?:'ll| will) (?!see\b|be able|know\b|have to|probably|need|want|like|just|say|get\b)\w{3,}|(?:we|i)(?:'re| are|'m| am) (?:going to|gonna) (?!be\b|have\b|say|need)\w{3,}|will (?:be (?:done|delivered|working|released|deployed)|start|begin|continue|present|prepare|deliver|implement))\b/i,
  },
];

const DEFINITIONS: readonly { pattern: RegExp; weight: number }[] = [
  {
    weight: 2,
    pattern:
      /^(?:so |and |note that )?by (?<term>["“'`]?[\w][\w .\-/]{0,40}?["”'`]?),? (?:we|i) mean:? (?<meaning>[^;]+)/i,
  },
  {
    weight: 2,
    pattern:
      /^(?:so |and )?(?<term>["“'`]?[\w][\w .\-/]{0,40}?["”'`]?) (?:means|stands for|refers to|is defined as|denotes) (?<meaning>[^;]+)/i,
  },
];
