import type { Section } from '../../store/summary.js';

/** A sentence pattern of one section. The first construction that matches decides. */
export interface Construction {
  section: Exclude<Section, 'importantReferences' | 'definitions'>;
  /** 3 states outright what the sentence is, 2 is an ordinary cue. */
  weight: number;
  pattern: RegExp;
  /** Words before the match, in the same clause, that give it another meaning. */
  unless?: RegExp;
  /** Only the user's words count: from an assistant, they are advice. */
  isOfUser?: true;
}

const WE = String.raw`\b(?:we|i|the (?:team|group|board|committee))(?:['’]ve| have| had| has)?(?: (?:all|just|already|also|now|finally|then|both))*`;
/** "We went with you", "let's use an example": nothing is chosen. */
const CHOICE = String.raw`(?! (?:you|him|her|them|me|us|it|that|my|our|your|his|friends|family|an? (?:example|walk)|the flow)\b) \S`;
/** Words that only consider a choice, or report that there is none. */
const UNDECIDED =
  /\b(?:believe|feel|hope|wish|if|once|when|unless|until|before|whether|why|how|who|what|which|suppose|maybe|perhaps|might|could|would|should|can|may|i['’]d|we['’]d|never|not|\w+n['’]t|need to|have to|thought|thinking|to be|(?:the|an?) \w+ that)\b/i;

const decision = (pattern: string): Construction => ({
  section: 'decisions',
  weight: 3,
  pattern: new RegExp(pattern, 'i'),
  unless: UNDECIDED,
});

const DECISIONS: readonly Construction[] = [
  decision(
    String.raw`${WE} (?:decided|agreed|opted|settled)(?: not)? (?:to (?!leave|go (?:home|out|for)|call|ask|stop|start|wait|take an?|see)|on|for|against|that (?:we|our|i|the)\b)`,
  ),
  decision(
    String.raw`${WE} (?:chose|chosen|picked|selected)(?! (?:up|out|it|him|her|them|you|me|that|if|some|a few)\b) (?:to \w|[\w.-]+ (?:over|instead|because|as|for)\b|the|an?|our|\d|[\w.-]+$)`,
  ),
  decision(
    String.raw`^(?:decision|decided|agreed|final answer|for the record)\s*[:—–-]\s|\b(?:the|our) decision is (?:to|that)\b`,
  ),
  decision(
    String.raw`(?:\bwe(?:['’]re| are)(?: (?:definitely|now|just|also|then))* |^)(?:going (?:with|in for)|sticking with|switching to|dropping)${CHOICE}`,
  ),
  decision(
    String.raw`\b(?:let['’]?s|(?:we|i)(?:['’]ll| will)) (?:go with|use|stick with|switch to|adopt|drop)${CHOICE}|\blet['’]?s (?!start|look|talk|see|do that|discuss|try)\w+ .{3,80} instead\b`,
  ),
  decision(
    String.raw`\bwe (?:won['’]t|will not|are not going to|no longer) (?:use|support|include|ship|sell|add|send)\b`,
  ),
];

/** What a requirement binds: not a speaker, and not the people and powers that politics speaks of. */
const NO_PERSON = String.raw`(?!(?:who|which|that|it|this|i|you|we|he|she|they|people|person|one|there|\w+n['’]t|everyone|members?|minister|governments?|police|part(?:y|ies)|authorit\w+|focus|countr\w+|parliament|society|children|young|famil\w+|workers?|things?|issues?|problems?|questions?|action|public|nation\w*|federal|world|is|are|was)\b)`;
const START = String.raw`(?:^|[,;:] |\b(?:and|so|but|that|then|also|think) )`;
const THING = String.raw`(?:(?:the|our|its|every|each|all|any|no|both|these|those|an?) (?:${NO_PERSON}[\w'’/&-]+,? ){1,6}?|${NO_PERSON}[a-z][\w-]+s )`;
const NAMED = String.raw`(?:${START}${THING}|^(?:${NO_PERSON}[\w-]+ ){1,4}?)`;
/** What a thing must be, not a judgement of the moment ("that should be fine", "it has to be fun"). */
const STATE = String.raw`(?: (?:not|never|always|only|also|all))? (?:be|have|fit|stay|look|feel|support|include|contain|show|accept)\b(?! (?:(?:fine|ok|okay|enough|good|nice|great|able|possible|there|here|somewhere|ready|done|aware|noted|said|like|about|over|clear|important|interesting|fun|fixed|addressed|solved|resolved|discussed|checked|calibrated|revised|hard|difficult|careful|been|had|similar|equal|the same|\w+ing)\b|in (?:the|your) top))`;
/** "That must be hard", "the tests must have failed": a guess, not a rule. */
const RULE = String.raw`(?:n['’]t)?(?: (?:not|never|always|only|also|all))?(?! (?:be (?:so |very |really |quite |such )*(?:\w+ing|because|why|how|where|what|something|someone|somebody|nice|great|good|hard|tough|difficult|tired|surprised|excited|pleased|proud|happy|glad|sad|fun|wonderful|amazing|beautiful|delicious|lovely|exhausted|worried|mad|crazy|wrong|right|mistaken|true|an?|the|my|your|his|her|their|our)\b|have (?:\w+(?:ed|en)|been|had|said|done|gone|got|come|made)|feel|say|admit|confess)\b) \w+`;
/** Words that turn a rule into a thought. */
const HEDGED =
  /\b(?:if|maybe|perhaps|might|could|would|whether|i guess|i suppose|probably|nothing|you['’]d think|who|don['’]t|doesn['’]t|didn['’]t)\b/i;

const requirement = (pattern: string): Construction => ({
  section: 'requirements',
  weight: 3,
  pattern: new RegExp(pattern, 'i'),
  unless: HEDGED,
});

const REQUIREMENTS: readonly Construction[] = [
  requirement(`${NAMED}must${RULE}`),
  requirement(
    String.raw`\b(?:we|you) must(?:(?:n['’]t| not| never) (?!be |have |do\b|forget|let |leave|lose|give up)\w|(?: always| only)? (?:finish|deliver|ship|release|use|store|encrypt|log|build|design|include|comply|send|share|commit|push|delete|expose|support) \S)`,
  ),
  requirement(`${START}${THING}(?:has|have|needs?) to${STATE}`),
  requirement(`${START}${THING}should${STATE}`),
  requirement(
    String.raw`^no (?:more|less|fewer|later|longer) than \S|\b(?:cannot|can['’]t|may not|must not) exceed \S|\b(?:is|are) limited to (?:\w+ )?\d`,
  ),
  requirement(
    String.raw`^(?:(?:the|our|my) )?(?:\w+ )?(?:budget|deadline)(?: for [\w ]{2,30})?(?: is|['’]s)(?: \w+){0,2} (?:\d|the)`,
  ),
  {
    ...requirement(
      String.raw`^(?:please )?(?:never|always|don['’]t|do not) (?:use|push|commit|store|log|send|share|add|include|write|delete|mention|return|change|answer|reply|put|cite) \S`,
    ),
    isOfUser: true,
  },
];

const OPEN_QUESTION: Construction = {
  section: 'openQuestions',
  weight: 3,
  pattern:
    /\bopen (?:question|issue|point)\b|\b(?:haven['’]t|hasn['’]t|have not|has not) (?:yet |really |quite )?(?:decided|agreed|settled|chosen|figured out)(?: yet)? (?:on|which|what|whether|how|who|where|when|if)\b|\b(?:unclear|not (?:yet )?(?:sure|clear|certain)) (?:whether|if|how|which|what|who|when)\b|\b(?:still|need to|have to) (?:need to |have to )?(?:decide|find out|figure out|clarify) (?:if|whether|how|what|which|who|when|where)\b|\bstill (?:undecided|unclear|open)\b|\btbd\b|\bto be (?:decided|determined|confirmed)\b/i,
};

const GOALS_AND_PLANS: readonly Construction[] = [
  {
    section: 'goals',
    weight: 3,
    pattern:
      /\b(?:my|our|the|main|overall) (?:main |overall |first |real )*(?:goal|aim|objective|target|mission|idea|purpose)s?(?: (?:of|for|with|behind) [\w' -]{1,40})?,? (?:is|are|was|will be) (?:to|that|an?)\b|\b(?:we|i)(?:['’]re| are|['’]m| am) (?:aiming|hoping) (?:to|for|that)|\baiming for an?\b|\bwhat (?:we|i) want(?: [\w ]{1,20})? is\b|\bpreferences? (?:would be|is|are) to\b/i,
    unless: /\bidea (?:came|of (?:the|a) joke)/i,
  },
  {
    section: 'goals',
    weight: 2,
    pattern:
      /\bwe (?:really |all )?(?:want|would like|['’]d like) to (?:reach|cut|halve|double|reduce|increase|become|offer|sell)\b/i,
  },
  {
    section: 'currentPlan',
    weight: 2,
    pattern:
      /\b(?:my|our|the) next steps?(?: is| are| will be|:)|^next steps?:|^(?:i|we)(?:['’]ll| will) (?:prepare|write|draft|send|fix|add|test|implement|build|update|migrate|deploy) (?:the|an?|my|our|all) |^next,? (?:i|we)(?:['’]ll| will|['’]m going to|['’]re going to)|\b(?:the|our|my) plan(?: for [\w' ]{1,30})?(?:,? (?:is|was) to|:)/i,
  },
];

/** The first match wins, so open questions come before decisions. */
export const CONSTRUCTIONS: readonly Construction[] = [
  OPEN_QUESTION,
  ...DECISIONS,
  ...REQUIREMENTS,
  ...GOALS_AND_PLANS,
];

/** Questions that the speakers must decide or find out. A question that an encyclopedia answers is not open. */
export const QUESTION_OPEN =
  /\bopen (?:question|issue|point)\b|^(?:(?:so|and|but|then|or|also|well),? )*(?:should (?:the|we|it|this|that|they|our|every|i)\b|shall (?:the|it)\b|do (?:we|they|the|our)\b|does (?:the|it|our|this|any)\b|did we\b|(?:would|could|can|will) (?:the|it|we|this|our|they)\b|are (?:we|they|the|there)\b|is (?:it|the|there|this|our)\b|who (?:will|should|is|owns|pays|takes|has|can|do)\b|which\b|when (?:will|do|should|shall|does|can|is|are)\b|where (?:do|should|will|does|can|is|are)\b|how (?:should|will|shall|would|much|many|long|often|big|large)\b|how (?:do|can|does) (?:we|they|the|it|our)\b|what (?:happens|if|about|should|shall|will|do we|does the|kind of|are the|is our|exactly|else)\b|what's (?:our|the (?:difference|deadline|budget|price|cost|plan))\b|what is (?:our|the (?:deadline|budget|price|cost|plan))\b)|\b(?:or do we|which .{3,40} (?:should|do|will|shall) we|do we need|should we|or would it|what's the difference between)\b/i;

/** Words that only say that something is open, not what. */
export const OPENNESS =
  /\b(?:open|questions?|issues?|points?|decided?|undecided|determined|confirmed|keep|leave|find|figure|check|clear|unclear|whether|wonder\w*|remains?|agreed?|chosen?|settled?|idea)\b/gi;

const TERM = /(?<term>["“'`]?\w[\w .\-/]{0,40}?["”'`]?)/.source;

export const DEFINITIONS: readonly RegExp[] = [
  new RegExp(`^(?:so |and |note that )?(?:by|when (?:we|i) say) ${TERM},? (?:we|i) mean:? (?<meaning>[^;]+)`, 'i'),
  new RegExp(`^(?:so |and )?${TERM} (?:stands for|refers to|is defined as|denotes) (?<meaning>[^;]+)`, 'i'),
  // "Rubber means we cannot use solar cells" defines nothing: a meaning starts as a noun phrase, or with a verb form.
  new RegExp(
    String.raw`^(?:so |and )?(?:in (?:our|this|my) \w+,? )?${TERM} means:? (?<meaning>(?:an?|the|any|every|each|all|that \w+ing|to|not|\w+ing|\w+ed)\b[^;]+)`,
    'i',
  ),
];

export const NO_TERM =
  /^(?:it|this|that|these|those|which|what|he|she|we|they|you|i|everything|something|nothing|one|here|there)\b/i;
