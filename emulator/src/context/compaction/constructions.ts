import type { Section } from '../../store/summary.js';

/** A sentence pattern of one section. The first construction that matches decides. */
export interface Construction {
  section: Exclude<Section, 'importantReferences' | 'definitions'>;
  /** 3 states outright what the sentence is, 2 is an ordinary cue. */
  weight: number;
  pattern: RegExp;
  /** Words before the match that make something else of it. */
  unless?: RegExp;
}

const WE = String.raw`\b(?:we|i|they|the (?:team|group|board|committee|others)|(?:my|our) \w+ and i|everyone)(?:['’]ve| have| had| has)?(?: (?:all|just|already|also|now|finally|then|both))*`;
/** What people take, drop and keep in talk without choosing anything. */
const NO_CHOICE = String.raw`(?! (?:(?:an? |the |this |that )?(?:example|analogy|time|opportunity|moment|idea|subject|topic|next|last|first|same|flow)\b|you\b|him\b|her\b|them\b|me\b|us\b|my (?!\w+ (?:as|for)\b)|our (?:kids|children|friends|family|parents|dog)\b|your\b|his\b|friends|family|it\b|that\b|this[.!]|going\b|\w+ in mind\b))`;
/** Verbs that state a choice. */
const CHOOSE = String.raw`(?:go with|use|stick (?:with|to)|stay with|switch (?:over )?to|adopt|drop)${NO_CHOICE} \S`;
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
    String.raw`${WE} (?:decided|opted|resolved|settled|agreed)(?: not)? (?:to (?!leave|go (?:home|out|for)|call|ask|stop|start|wait|take an?|see)|on|upon|for|against|that (?:we|our|i|the \w+ (?:will|stays?|gets?|is|are|must|should))\b)`,
  ),
  decision(
    String.raw`${WE} (?:chose|chosen|picked|selected)(?! (?:up|out|it|him|her|them|you|me|to|that|if|some|a few)\b) (?:[\w.-]+ (?:over|instead|because|as|for)\b|the|an?|our|\d|[\w.-]+$)`,
  ),
  decision(String.raw`${WE} went with${NO_CHOICE} \S`),
  decision(String.raw`^(?:decision|decided|agreed|approved|resolved|final answer|for the record)\s*[:—–-]\s`),
  decision(String.raw`\b(?:the|our|final|my) decision (?:is|was|stands)(?: final)?(?: to| that|:| for| against)`),
  decision(String.raw`\bit(?:['’]s| is| was| has been) (?:decided|agreed|settled) (?:to|that)\b`),
  decision(
    String.raw`(?:\bwe(?:['’]re| are)(?: (?:definitely|now|just|also|then))* |^)going (?:with|in for)${NO_CHOICE} \S`,
  ),
  decision(
    String.raw`\b(?:let['’]?s|(?:we|i)(?:['’]ll| will)|we(?:['’]re| are) (?:going to|gonna))(?: (?:then|just|definitely|now|only|also))* ${CHOOSE}`,
  ),
  decision(String.raw`\blet['’]?s (?!start|look|talk|see|do that|discuss|try)\w+ .{3,80} instead\b`),
  decision(
    String.raw`\bwe(?:['’]re| are)(?: (?:now|also))* (?:sticking with|switching to|dropping|adopting|replacing)${NO_CHOICE} \S`,
  ),
  decision(
    String.raw`\bwe (?:won['’]t|will not|are not going to|aren['’]t going to|no longer) (?:use|support|include|ship|sell|add|send)\b`,
  ),
];

/** What a requirement binds: not a speaker, and not the people and powers that politics speaks of. */
const NO_PERSON = String.raw`(?!(?:who|which|that|it|this|i|you|we|he|she|they|people|person|one|there|\w+n['’]t|everyone|members?|minister|government|governments|countr\w+|parliament|society|children|young|famil\w+|workers?|things?|issues?|problems?|questions?|action|public|nation\w*|federal|world|is|are|was)\b)`;
const START = String.raw`(?:^|[,;:] |\b(?:and|so|but|that|then|also|think) )`;
const THING = String.raw`(?:(?:the|our|its|every|each|all|any|no|both|these|those|an?) (?:${NO_PERSON}[\w'’/&-]+,? ){1,6}?|${NO_PERSON}[a-z][\w-]+s )`;
const ADVERB = '(?: (?:not|never|always|only|also|still|all|at least|definitely|really|actually))*';
/** What a thing is or does, and no judgement of the moment ("that should be fine", "it has to be fun"). */
const STATE = String.raw` (?:be|have|fit|work|run|stay|look|feel|last|cost|start|end|support|include|contain|show|carry|accept|return|match|remain|appear|cite|take (?:dogs|pets))\b(?! (?:(?:fine|ok|okay|enough|good|nice|great|able to (?:see|hear)|possible|there|here|somewhere|ready|done|aware|noted|said|like|about|over|clear|important|interesting|fun|fixed|addressed|solved|resolved|discussed|checked|calibrated|revised|hard|difficult|careful|been|had|\w+ing)\b|in (?:the|your) top))`;
/** "That must be hard", "the tests must have failed": a guess, not a rule. */
const NO_GUESS = String.raw`(?! (?:be (?:so |very |really |quite |such )*(?:\w+ing|because|why|how|where|what|something|someone|somebody|nice|great|good|hard|tough|difficult|tired|surprised|excited|pleased|proud|happy|glad|sad|fun|wonderful|amazing|beautiful|delicious|lovely|exhausted|worried|mad|crazy|wrong|right|mistaken|true|an?|the|my|your|his|her|their|our)\b|have (?:\w+(?:ed|en)|been|had|said|done|gone|got|come|made)|feel|say|admit|confess)\b)`;
/** What only a rule says of "it": "it must be kept", "it must be under 2 MB". */
const RULED = String.raw` (?:be (?:(?!(?:tired|surprised|excited|pleased|exhausted|worried|mistaken|bored|scared|confused|disappointed|thrilled|stressed|frustrated|inspired)\b)\w+ed|written|sent|kept|shown|stored|built|set|paid|read|able to|easy to|in|on|under|below|above|within|at (?:least|most)|less|more|no|\d\S*)|(?!be|have|feel|look|hurt|mean|take|cost|seem|sound|come)\w+)\b`;
const DO =
  '(?:finish|deliver|ship|release|use|store|encrypt|log|build|design|include|comply|send|share|commit|push|delete|expose|stay (?:within|under|below)|lose (?:any|an?)|support)';
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
  requirement(String.raw`${START}${THING}must(?:n['’]t)?${ADVERB}${NO_GUESS} \w+`),
  requirement(String.raw`^(?:${NO_PERSON}[\w-]+ ){1,4}?must(?:n['’]t)?${ADVERB}${NO_GUESS} \w+`),
  requirement(`${START}it must(?:n['’]t)?${ADVERB}${RULED}`),
  requirement(String.raw`\b(?:we|you) must(?:n['’]t)?${ADVERB} ${DO} \S`),
  requirement(`${START}(?:${THING}|it )(?:has|have|needs?)${ADVERB} to${ADVERB}${STATE}`),
  requirement(`${START}(?:${THING}|it )should${ADVERB}${STATE}`),
  requirement(
    String.raw`\b(?:is|are) (?:not |only |strictly )?(?:allowed|permitted|forbidden|prohibited|required|mandatory)(?: to\b| (?:in|on|for|at|by|before)\b|[.!]?$)`,
  ),
  requirement(
    String.raw`\b(?:guests|users|customers|visitors|employees|tenants) (?:cannot|may not) \w+|^\w+s may not \w+`,
  ),
  requirement(
    String.raw`\b(?:we|it|they) (?:cannot|can['’]t|may not|must not) exceed|\b(?:is|are) limited to (?:\w+ )?\d`,
  ),
  requirement(
    String.raw`^(?:(?:the|our|my) )?(?:\w+ )?(?:budget|deadline)(?: for [\w ]{2,30})?(?: is|['’]s)(?: \w+){0,2} (?:\d|the)`,
  ),
  requirement(String.raw`^no (?:more|less|fewer|later|earlier|longer) than \S+`),
  requirement(String.raw`\bwe need (?:${THING})to${STATE}`),
  requirement(
    String.raw`^(?:please )?(?:never|always|don['’]t|do not) (?:use|push|commit|store|log|send|share|add|include|write|delete|mention|return|change|answer|reply|put|cite) \S`,
  ),
  requirement(String.raw`^(?:please )?make sure (?:that )?(?:the|all|every|each|no|our) (?!\w+ is (?:ok|okay|right))`),
];

const OPEN_QUESTIONS: readonly Construction[] = [
  {
    section: 'openQuestions',
    weight: 3,
    pattern:
      /\bopen (?:question|issue|point)\b|\b(?:haven['’]t|hasn['’]t|have not|has not) (?:yet |really |quite )?(?:decided|agreed|settled|chosen|figured out)(?: yet)? (?:on|which|what|whether|how|who|where|when|if)\b|\b(?:unclear|not (?:yet )?(?:sure|clear|certain)) (?:whether|if|how|which|what|who|when)\b|\b(?:still|need to|have to) (?:need to |have to )?(?:decide|find out|figure out|clarify) (?:if|whether|how|what|which|who|when|where)\b|\bstill (?:undecided|unclear|open)\b|\btbd\b|\bto be (?:decided|determined|confirmed)\b/i,
  },
  {
    section: 'openQuestions',
    weight: 2,
    pattern:
      /\b(?:i|we) (?:still )?(?:wonder|don['’]t know|do not know|have no idea) (?:whether|how (?:much|many|long|we|the|it)|what (?:the|each|one|we|special|kind|sort|happens)|which|who|when|where)\b/i,
  },
];

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
      /\b(?:(?:we|i)(?:['’]re| are|['’]m| am) trying to (?:get|reach|bring|cut|reduce|build|keep|become)|we (?:really |all |do )?(?:want|would like|['’]d like) to (?:reach|cut|halve|double|reduce|increase|become|offer|sell))\b/i,
  },
  {
    section: 'currentPlan',
    weight: 2,
    pattern:
      /\b(?:my|our|the) next steps?(?: is| are| will be|:)|^next steps?:|^(?:i|we)(?:['’]ll| will) (?:prepare|write|draft|send|fix|add|test|implement|build|update|migrate|deploy) (?:the|an?|my|our|all) |^next,? (?:i|we)(?:['’]ll| will|['’]m going to|['’]re going to)|\b(?:the|our|my) plan(?: for [\w' ]{1,30})?(?:,? (?:is|was) to|:)|\b(?:we|i)(?:['’]re| are|['’]m| am) planning (?:to|on)/i,
  },
  {
    section: 'currentPlan',
    weight: 2,
    pattern:
      /\b(?:we|i|[A-Z]\w+(?:['’]s| is))(?:['’]ll| will|['’]m going to|['’]re going to| are going to| am going to| going to) (?!see\b|be\b|know\b|need\b|want\b|say\b).{0,80}\b(?:as soon as|tonight|tomorrow|this (?:afternoon|morning|evening|week|weekend)|next (?:week|month|sprint|meeting)|(?:by|on|before|until) (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|noon|lunch)|after (?:that|lunch|work))\b|^(?:tonight|tomorrow|this (?:afternoon|morning|week)|next (?:week|month|sprint)|(?:after|before) (?:lunch|that|work)|on (?:monday|tuesday|wednesday|thursday|friday)|then)\b,? (?:we|i)(?:['’]ll| will|['’]m going to|['’]re going to| have to| just have to) (?!see\b|be\b|know\b|need\b)\w+/i,
    unless: /\b(?:if|could|would|might|maybe)\b/i,
  },
];

/** The first match wins, so open questions come before decisions. */
export const CONSTRUCTIONS: readonly Construction[] = [
  ...OPEN_QUESTIONS,
  ...DECISIONS,
  ...REQUIREMENTS,
  ...GOALS_AND_PLANS,
];

/** Questions that the speakers must decide or find out. A question that an encyclopedia answers is not open. */
export const QUESTION_OPEN =
  /\bopen (?:question|issue|point)\b|^(?:(?:so|and|but|then|or|also|well),? )*(?:should (?:the|we|it|this|that|they|our|every|i)\b|shall (?:the|it)\b|do (?:we|they|the|our)\b|does (?:the|it|our|this|any)\b|did we\b|(?:would|could|can|will) (?:the|it|we|this|our|they)\b|are (?:we|they|the|there)\b|is (?:it|the|there|this|our)\b|who (?:will|should|is|owns|pays|takes|has|can|do)\b|which\b|when (?:will|do|should|shall|does|can|is|are)\b|where (?:do|should|will|does|can|is|are)\b|how (?:should|will|shall|would|much|many|long|often|big|large)\b|how (?:do|can|does) (?:we|they|the|it|our)\b|what (?:happens|if|about|should|shall|will|do we|does the|kind of|are the|is our|exactly|else)\b|what's (?:our|the (?:difference|deadline|budget|price|cost|plan))\b|what is (?:our|the (?:deadline|budget|price|cost|plan))\b)|\b(?:or do we|which .{3,40} (?:should|do|will|shall) we|do we need|should we|or would it|what's the difference between)\b/i;
export const QUESTION_SMALL_TALK =
  /^(?:(?:so|and|but|well|okay|ok|yeah|oh|alright)[, ]+)*(?:can you (?:hear|see)|how are you|shall we (?:start|begin|go)|should we (?:start|begin|go|move)|are (?:you|we) (?:ready|done|finished|okay|all)|any (?:other )?questions|do you know what i|you know what i|isn't it|right|is (?:it|that|this) (?:ok|okay|right|fine|working|me|you)|does (?:that|it|this) (?:make|work for you|sound|help|look)|what about you|how about you|which means|where are (?:you|we))\b|\b(?:right|okay|ok|yeah|you know|no|huh|(?:is|are|do|does|did|could|can|would|was|were|have|has)n't (?:it|he|she|we|you|they)|(?:do|did|is|are|could|can|would|does|doesn't) (?:you|we|it|they)|is that (?:right|ok|okay))\?$/i;

/** Words that only say that something is open, not what. */
export const OPENNESS =
  /\b(?:open|questions?|issues?|points?|decided?|undecided|determined|confirmed|keep|leave|find|figure|check|clear|unclear|whether|wonder\w*|remains?|agreed?|chosen?|settled?|idea)\b/gi;

const TERM = /(?<term>["“'`]?\w[\w .\-/]{0,40}?["”'`]?)/.source;

export const DEFINITIONS: readonly RegExp[] = [
  new RegExp(`^(?:so |and |note that )?by ${TERM},? (?:we|i) mean:? (?<meaning>[^;]+)`, 'i'),
  new RegExp(`^(?:so |and )?when (?:we|i) say ${TERM},? (?:we|i) mean:? (?<meaning>[^;]+)`, 'i'),
  new RegExp(`^(?:so |and )?${TERM} (?:stands for|refers to|is defined as|denotes) (?<meaning>[^;]+)`, 'i'),
  // "Rubber means we cannot use solar cells" defines nothing: a meaning starts as a noun phrase, or with a verb form.
  new RegExp(
    String.raw`^(?:so |and )?(?:in (?:our|this|my) \w+,? )?${TERM} means:? (?<meaning>(?:an?|the|any|every|each|all|that \w+ing|to|not|\w+ing|\w+ed)\b[^;]+)`,
    'i',
  ),
  new RegExp(
    String.raw`^an? ${TERM} is (?<meaning>(?:an?|the|any) [\w -]{2,40}? (?:that|which|who|whose|of|with|between)\b[^;]+)`,
    'i',
  ),
];

export const NO_TERM =
  /^(?:it|this|that|these|those|there|whether|how|why|where|who|your|my|he|she|we|they|you|i|what|which|everything|something|anything|nothing|one|here|now|thing|problem|question|idea|point|other|rest|first|second|next|last|same|only|so|and|but|because|if|when|all|some|most|good|bad|big|bit|lot|little)\b/i;
