import type { Section } from '../../store/summary.js';

/** Sentence patterns of one section. The first construction that matches decides. */
export interface Construction {
  section: Exclude<Section, 'importantReferences' | 'definitions'>;
  weight: number;
  patterns: readonly RegExp[];
  /** Other uses of the same words, which do not count. */
  unless?: RegExp;
}

const WE = String.raw`(?:we|i|they|the (?:team|group|board|committee|others)|our team|(?:my|our) \w+ and i|everyone)`;
const HAVE = `(?:(?:'ve|'s| have| has| had)? ?(?:all |just |already |also |now |finally |then |both )*)`;
const FOR_GOOD = `(?:(?:definitely|certainly|then|now|just|all|only|simply|also|therefore) )*`;
/** Verbs that state a choice when followed by a `THING`. */
const CHOOSE = `(?:go(?:ing)? (?:with|for|in for)|us(?:e|ing)|stick(?:ing)? (?:with|to)|stay(?:ing)? with|switch(?:ing)? (?:to|over to)|mov(?:e|ing) to|adopt(?:ing)?|drop(?:ping)?|keep(?:ing)?|choos(?:e|ing)|pick(?:ing)?|settl(?:e|ing) on|tak(?:e|ing)|host(?:ing)?|stor(?:e|ing)|deploy(?:ing)?|replac(?:e|ing)|remov(?:e|ing)|skip(?:ping)?|leav(?:e|ing) out)`;
/** Excludes "keep going", "use an example", "take a look": these choose nothing. */
const THING = String.raw`(?! (?:\w+ing\b|(?:an? |this |that |the following )?(?:example|analogy|look|break|moment|minute|step|guess|closer|deep|quick|few|note|notes|turns|care|time|it (?:from|slow|easy|step)|in mind|track|an eye|at it|that in mind)\b|to\b|(?:it|this|that|them|things) (?:up|going|coming|rolling|moving|open|in mind)\b|you\b|up\b|on\b|through\b|off\b|over\b))`;
/** Wording that only considers a choice. */
const SUPPOSED =
  /\b(?:(?:if|once|when|whenever|unless|until|before|whether|suppose|supposing|say|maybe|perhaps|might|could|would|wouldn't|i'd|we'd|you'd|i guess|i suppose|i think i|should (?:we|i)|shall we|i thought|we thought|thought we|supposed to|want to|wanted to|haven't|hasn't|hadn't|have not|has not|not yet|didn't|did not|never|need to|have to|must|can|can't|about to|to be)\b)/i;
const UNDECIDED =
  /\b(?:if|once|when|whenever|unless|until|before|whether|why|how|suppose|haven't|hasn't|hadn't|have not|has not|not yet|didn't|did not|never|need to|have to|needs to|must|should|can't|cannot|can|could|would|will|to be) (?:\w+ ){0,2}(?:decided?|agreed?|chosen?|choose|settled?|pick(?:ed)?)\b|\bundecided\b|\bopen (?:question|issue|point)\b|\bas (?:we )?(?:decided|agreed)\b.{0,20}$/i;

const DECISIONS: readonly Construction[] = [
  {
    section: 'decisions',
    weight: 3,
    patterns: [
      new RegExp(
        String.raw`\b${WE}${HAVE}(?:decided|opted|resolved|concluded|agreed|settled|chose|chosen|picked|went|signed off) (?:to|that|on|upon|for|against|not|with|the|an?|our)\b`,
        'i',
      ),
    ],
    unless: new RegExp(
      `${UNDECIDED.source}|\\bagreed? (?:with|that (?:it|this|the \\w+|that) (?:was|is|were|are))\\b|\\bwent (?:to|on|the)\\b|\\bdecide(?:d)? (?:to (?:leave|go|call|ask|stop|start|wait)|later)\\b`,
      'i',
    ),
  },
  {
    section: 'decisions',
    weight: 3,
    patterns: [
      /^(?:decision|decided|agreed|approved|resolved|final answer|for the record)\s*[:—–-]\s/i,
      /\b(?:the|our|final|my) decision (?:is|was|stands)(?: final)?(?: to| that|:| for| against)/i,
      /\bit(?:'s| is| was) (?:decided|agreed|settled) (?:to|that|then)\b/i,
      /\bdecision was (?:made|taken) to\b/i,
    ],
  },
  {
    section: 'decisions',
    weight: 2,
    patterns: [
      new RegExp(
        String.raw`\blet(?:'|’)?s (?:then |just |all |please )*(?:not (?!forget|worry|get|go there|be|say)\w+|${CHOOSE}${THING}|make (?:it|the|that|this|our)(?! (?:sure|work|happen|clear|right|go|look))\b|do (?:an?|the|\w+day|\w+ (?:salad|and|for|at|on|instead))\b.{3,}|(?!start|look|talk|see|do that|discuss|try)\w+ .{3,80} instead\b)`,
        'i',
      ),
    ],
    unless: /\b(?:if|say|suppose|maybe|perhaps|open question)\b/i,
  },
  {
    section: 'decisions',
    weight: 2,
    patterns: [
      new RegExp(
        String.raw`\b(?:we|i)(?:'ll|’ll| will| are going to|'re going to|'re gonna|'m going to) ${FOR_GOOD}(?:${CHOOSE}${THING}|concentrate on|make it (?:an?|the|with|in)|have (?:an?|the|only|both|no)\b(?!.{0,30}\b(?:minutes?|meeting|look|time|chat|talk|lunch|break|evaluation|discussion|presentation|session|summary|problem|question)\b))`,
        'i',
      ),
    ],
    unless: SUPPOSED,
  },
  {
    section: 'decisions',
    weight: 2,
    patterns: [
      new RegExp(
        String.raw`\b(?:we|i)(?:'re|’re| are|'m| am) ${FOR_GOOD}(?:${CHOOSE}|(?:doing|making)(?=.{3,40} instead\b))(?! (?:it (?:to|for|at)|this (?:to|for)|that\b|well|fine|good|great|okay|progress|sure))${THING} (?:an?|the|our|this|that|\w+s|[A-Z]\w*|\w+ (?:with|for|as|instead|on|in)\b)`,
        'i',
      ),
      new RegExp(
        String.raw`\bwe (?:won't|will not|are not going to|aren't going to) ${FOR_GOOD}(?:use|support|have (?!to\b|run|been|\w+ed\b|any\b)|include|ship|sell|add|need|offer|build|allow|send|accept|buy)\b`,
        'i',
      ),
      /\bwe no longer \w+/i,
      /^(?:so |and |then |alright |right )*going with (?:an?|the|\w+s)\b/i,
      /^scrap (?:that|the|this|it)\b/i,
      /^scratch that\b/i,
      /^instead of .{3,60}, we(?:'ll| will|'re| are)\b/i,
      /^(?:so,? )?no (?!worries|problem|idea|doubt|need|one|way|matter|wonder|more|less|later|fewer|longer|thanks|but|it|that|i|you|we|he|she|they|there|then)[\w-]+.{3,60}(?:, then\b|\bthen[.!]?$|;)/i,
      /^[\w -]{3,40} it is[.!]?$/i,
    ],
    unless: SUPPOSED,
  },
];

/** An instruction to a person is not a requirement on the product. */
const NO_PERSON = String.raw`(?<!\b(?:i|you|he|she|there|somebody|someone|we|who|i just|we just|you just|you also|you then|you don't|don't|didn't|doesn't|not|never|i also|we also|we still|i still|really) )`;
const NO_SPEAKER = String.raw`(?<!\b(?:i|you|he|she|there|somebody|someone|who|i just|you just|you also|you then|don't|didn't|doesn't|i really|i also) )`;
/** Verbs for what people do in a meeting or a chat. */
const TALK = `(?:say|admit|confess|go|leave|see|look|talk|discuss|decide|think|know|find|figure|check|come|get|start|finish|prepare|complete|work|ask|wait|remember to|consider|try|do|wrap|hurry|run|continue|stop|agree|choose|pick|define|determine|evaluate|present|fill|write|draw|make (?:a|the|some|our) (?:decision|choice|list)|take (?:a|the|into|care)|be (?:honest|careful|fair|going|done with|able to (?:see|hear|get)|made by)|have (?:a (?:look|meeting|break|think|chat)|missed|been))`;

const REQUIREMENTS: readonly Construction[] = [
  {
    section: 'requirements',
    weight: 3,
    patterns: [
      new RegExp(
        String.raw`${NO_SPEAKER}\bmust(?:n't| not| never| always| only| also| still| all| at least)*(?! (?:be (?:joking|kidding|wrong|right|nice|hard|tired|fun|happy|mad|crazy|so|mistaken|why|how|because|where|what|frustrating|exciting|difficult|great)|have (?:\w+(?:ed|en|t)|been|had|said|done|gone|got|come|made|seen|gotten)|${TALK})\b) \w+`,
        'i',
      ),
    ],
    unless:
      /\b(?:there must|must(?:n't| not)? (?:i|we|you|he|she)|i must|a must\b|if .{0,30}must|must be (?:something|someone|an? (?:bug|mistake|typo|error|misunderstanding)))\b/i,
  },
  {
    section: 'requirements',
    weight: 3,
    patterns: [
      new RegExp(
        String.raw`${NO_PERSON}\b(?:has|have|needs?) (?:only |always |also |all |at least |still )*to (?!(?:say|admit|confess|do (?:\w+ )?with|wait|go)\b)\w+`,
        'i',
      ),
    ],
    unless:
      /\b(?:(?:i|you|he|she|who|people|users|somebody|someone|everybody|everyone|what|nothing|something|anything|one thing|don't|doesn't|didn't|not) (?:\w+ ){0,2}(?:has|have|needs?|had) (?:\w+ )?to|(?:has|have|had) to (?:do with|say)|no need to|(?:will|'ll|might|may|would|could|supposed|i guess|i dunno|don't know) .{0,30}(?:has|have|needs?) to)\b|^if\b/i,
  },
  {
    section: 'requirements',
    weight: 3,
    patterns: [
      /\b(?:is|are) (?:not |only |strictly )?(?:allowed|permitted|forbidden|prohibited|required|mandatory|compulsory)(?: to\b|[.,!]?$| (?:in|on|for|at|by|before)\b)/i,
      /\b(?:we|they) need (?:the|an?|every|all|our|both|some|at least|no more than) .{3,80} (?:to (?!\w+ (?:about|with))|in |by |before |for |on |under |below |at )/i,
      /\bwe (?:do )?need to (?:have|support|include|provide|avoid|keep|meet|fit|stay) (?!a (?:look|meeting|break|talk|chat)\b)\w+/i,
      /\b(?:guests|users|customers|visitors|members|employees|students|children|pets|dogs|tenants) (?:cannot|can't|can not|may not|must not) \w+/i,
      /\bit (?:only )?(?:needs|wants|has) to (?:be|look|feel|have)\b/i,
      /\b^(?:(?:and|so|but|the|a) )?(?:requirements?|constraints?|deadline|budget|limit|must-haves?)\b.{0,40}(?::| is\b| are\b|'s\b)/i,
      /\b\b(?:the|our|my|their) (?:\w+ )?(?:budget|deadline|limit|maximum|minimum)(?: (?:for|of|on) [\w ]{2,30})?(?:'s| is| are) (?:\w+ ){0,3}(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|a hundred|the)/i,
      /\b(?:is|are) limited to (?:\w+ ){0,2}(?:\d|one|two|three|four|five|ten|twenty)/i,
      /\b(?:of|be|is|at) (?:a )?(?:maximum|minimum|at most|at least|no more than|no less than|not more than) (?:of )?(?:\w+ ){0,2}(?:\d|one|two|three|four|five|ten|twelve|twenty)/i,
      /\b(?:cannot|can't|can not|may not|must not|should not|shouldn't) exceed/i,
    ],
    unless: /\b(?:my (?:french|english|german|patience|time)|(?:i|you)'(?:m|re) limited|some \w+ required)\b/i,
  },
  {
    section: 'requirements',
    weight: 2,
    patterns: [
      /\b(?:(?:the|every|each|all|any|its?|our|these|those|this|no|both) (?:[\w-]+ ){0,5}?|[\w-]+s )(?:may|shall|should|shouldn't|must)(?: not)? (?:not |never |only |always |also |all |still |actually |really |at least |definitely )*(?:be|have|has|work|use|stay|fit|run|contain|include|support|look|feel|show|cost|last|start|end|come (?:with|in|from)|carry|take (?:no|less|at most)|appear|exceed|return|accept|remain|match|sound|handle|keep|store|send|open|close|load|never)\b/i,
    ],
    unless:
      /\b(?:i|you|he|she|we|they|people|there|someone|somebody|that|this)(?:'ve|'d)? (?:\w+ )?should|\b(?:may|should|shall) (?:be (?:able|fine|okay|ok|enough|good|easy|easier|possible|there|somewhere|here|in (?:the|your) (?:top|left|right|drawer|folder)|safe|ready|done|aware|careful|sure|noted|interesting|a (?:problem|good))|have (?:been|seen|had|said|done|gone|known|\w+ed\b))|\bmay (?:be|have|look|take|work|use|run|include|start|cost|last|feel|show|contain)\b|\bif\b|\bi (?:guess|dunno|suppose)\b|\bshould (?:look|feel|show|see) (?:like )?(?:a |the )?(?:green|this|that|similar)/i,
  },
  {
    section: 'requirements',
    weight: 2,
    patterns: [
      /^(?:but |and |so )*it should(?: not|n't)? (?:not |never |only |always |also |actually |really |definitely )*(?:be (?!able|fine|okay|ok|enough|good|easy|possible|there\b|somewhere|here|in (?:the|your)|safe|ready|done|noted|said|like|about|over|clear|obvious)\w+|have|work (?:with|without|on|in|for)|run (?:on|without|in)|fit|contain|include|support|look|feel|cost|last)\b/i,
      /^(?:but |and |also )*(?:please )?(?:never|always) (?!mind|again|have|been|was|the|a|i|you|in|on|wanted|thought|knew|heard|seen|good|nice|remember|fun|happy)\w+ \w+/i,
      /^(?:but |and |also )*(?:please )?(?:don't|do not) (?!worry|forget|think|mind|get|let|hesitate|know|be|panic|expect|feel|you|we|they|i|want|have|see|need|believe|remember|like|really|even|just|ask|ever|tell|say|give up|take (?:it|my|this))\w+ \w+/i,
      /^(?:please )?(?:make sure|ensure) (?:that )?(?:the|all|every|each|no|it|they|these|our)\b/i,
      /^no (?:more|less|fewer|later|earlier|longer) than \S+/i,
      /^at (?:least|most) (?:\d+|one|two|three|four|five|six|ten) .{2,30} (?:per|each|in every|for every)\b/i,
      /\b(?:it's|it is|that is|that's) (?:very |really |also )?(?:essential|crucial|critical|vital|mandatory|important) (?:that|for) (?:the|it|they|every|all|each|no|our)\b/i,
      /\bare to be (?:shown|used|kept|stored|sent|delivered|written|made)\b/i,
      /\bis to be (?:shown|used|kept|stored|sent|delivered|written|made)\b/i,
    ],
  },
];

const OTHERS: readonly Construction[] = [
  {
    section: 'openQuestions',
    weight: 3,
    patterns: [
      /\bopen (?:question|issue|point)/i,
      /\b(?:haven't|hasn't|have not|has not|not) (?:yet |really |quite )?(?:decided|agreed|settled|chosen|figured out|picked)(?: yet)?(?: (?:on|which|what|whether|how|who|where|when|if|for|about)\b)/i,
      /\b(?:i'm|we're|i am|we are) (?:still )?not (?:yet )?(?:sure|clear|certain) (?:whether|if|how|which|what|who|when|about)/i,
      /\bstill (?:need|needs|have|has) to (?:decide|find out|figure|choose|clarify|know|be (?:decided|clarified|agreed))/i,
      /\b(?:need|have) to find out (?:if|whether|how|what|which|who|when|where)/i,
      /\b(?:is|are|it's|remains?) (?:still )?(?:undecided|unclear|open)\b/i,
      /\b\btbd\b/i,
      /\b(?:still |yet )to be (?:decided|determined|confirmed|agreed)/i,
      /\bremains to be/i,
      /\bundecided/i,
    ],
    unless: /\bopen (?:question|issue|point)s? .{0,20}\b(?:solved|closed|answered)\b/i,
  },
  {
    section: 'openQuestions',
    weight: 2,
    patterns: [
      /\b(?:i|we) (?:still )?(?:wonder|don't know|do not know|have no idea|don't have (?:any|an) idea)(?: about)? (?:whether|if|how (?:much|many|long|we|the|it)|what (?:the|each|one|we|special|it|kind|sort|happens)|which|who|when|where)\b/i,
    ],
    unless: /\b(?:if you|what (?:it was|the hell)|if it was|if i)\b/i,
  },
  {
    section: 'goals',
    weight: 3,
    patterns: [
      /\b(?:my|our|the|main|overall) (?:main |overall |first |real |big |ultimate )*(?:goals?|aims?|objectives?|targets?|mission|idea)(?: (?:of|for|with|behind) [\w' -]{1,40})?(?:,? (?:is|are|was|will be)(?: (?:to|that|an?|for|still)\b| [\w-]+ing\b)|:)/i,
      /\b(?:main|our|whole) purpose (?:of [\w ]{1,30} )?is (?:to|that)/i,
      /\b^(?:goals?|objectives?|aim)\s*[:—–-]/i,
      /\b(?:we|i)(?:'re| are|'m| am) (?:aiming|hoping) (?:to|for|at|that)/i,
      /\baiming (?:to|for) (?:an?|the|have|get|be)/i,
      /\bwhat (?:we|i) want(?: [\w ]{1,20})? is\b/i,
      /\bpreferences? (?:would be|is|are) to\b/i,
    ],
    unless: /\b(?:idea (?:came|of (?:the|a) (?:joke|game))|scored|last minute|objective function)\b/i,
  },
  {
    section: 'goals',
    weight: 2,
    patterns: [
      /\b(?:(?:we|i)(?:'re| are|'m| am) (?:trying|looking) to (?:get|reach|make|bring|cut|reduce|build|keep|become|find a|move)|we (?:really |all |do )?(?:want|would like|'d like) to (?:reach|have|make|get|cut|halve|double|reduce|increase|become|be|build|give|offer|keep|sell|move)|(?:we|i) (?:want|would like|'d like) (?:it|the|our|this|every|all) (?:[\w-]+ ){0,4}to (?:be|look|feel|have|work|sound|reach|appeal))\b/i,
    ],
    unless: /\b(?:if|if we|want to (?:have a look|be (?:honest|sure|clear)|make (?:sure|a))|do we|whether)\b/i,
  },
  {
    section: 'currentPlan',
    weight: 2,
    patterns: [
      /\b(?:my|our|the) next steps?(?: is| are| will be|:)/i,
      /\b^next steps?\s*[:—–-]/i,
      /\b^next,? (?:i|we)(?:'ll| will|'m going to|'re going to)/i,
      /\baction items?(?: is| are|:)/i,
      /\b^to-?do\s*:/i,
      /\b(?:the|our|my) plan(?: for [\w' ]{1,30})?(?:,? (?:is|was)\b(?: (?:to|that|firstly|first|still))?|:)/i,
      /\b(?:we|i)(?:'re| are|'m| am) planning (?:to|on)/i,
    ],
    unless: /\b(?:plan (?:failed|sounds|is (?:good|great|fine|solid|ready)))\b/i,
  },
  {
    section: 'currentPlan',
    weight: 2,
    patterns: [
      /\b(?:we|i|[A-Z]\w+(?:'s| is))(?:'ll| will|'m going to|'re going to| are going to| am going to|'re gonna| going to| have to| just have to) (?!see\b|be (?:honest|able)|know\b|need\b|want\b|say\b|try to explain|let you|show you).{0,80}\b(?:as soon as|tonight|tomorrow|today|this (?:afternoon|morning|evening|week|weekend)|next (?:week|month|sprint|meeting)|(?:by|on|before|until|till) (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|noon|lunch|the end of)|after (?:that|lunch|the meeting|work))\b/i,
      /^(?:tonight|tomorrow|this (?:afternoon|morning|week)|next (?:week|month|sprint)|(?:after|before) (?:lunch|that|the meeting|work)|on (?:monday|tuesday|wednesday|thursday|friday)|then)\b,? (?:we|i)(?:'ll| will|'m going to|'re going to| are going to| have to| just have to) (?!see\b|be\b|know\b|need\b)\w+/i,
      /^(?:i|we)(?:'ll| will) (?:prepare|write|rewrite|draft|send|fix|add|test|order|book|call|ask|implement|build|design|present|record|measure|update|migrate|deploy|clean|collect|contact) (?:the|an?|my|our|it|them|him|her|all|two|three|each|[A-Z])/i,
      /\bthen \w+(?:'s| is) going to \w+/i,
      /\byou(?:'re| are) going to work\b/i,
    ],
    unless: /\b(?:if|could|would|might|maybe)\b/i,
  },
];

/** The first match wins, so open questions come before decisions. */
export const CONSTRUCTIONS: readonly Construction[] = [
  ...OTHERS.filter(({ section }) => section === 'openQuestions'),
  ...DECISIONS,
  ...REQUIREMENTS,
  ...OTHERS.filter(({ section }) => section !== 'openQuestions'),
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
