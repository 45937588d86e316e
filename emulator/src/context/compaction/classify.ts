import type { Section } from '../../store/summary.js';
import { contentTerms } from '../../text/terms.js';

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
  if (plain.length < SHORTEST || sentence.length > LONGEST || BROKEN_OFF.test(plain)) return undefined;
  if (isQuestion(plain))
    return isAboutMatter(plain) && countTerms(plain) > 1 ? { section: 'openQuestions' } : undefined;
  if (/!["'”’)\]]{0,4}$/.test(plain)) return undefined;
  for (const { section, example, pattern, hasSubject } of CUES) {
    if (example === ADVICE && role !== 'user') continue;
    const isRule = section === 'decisions' || section === 'requirements';
    const match = [...plain.matchAll(pattern)].find(({ index }) => {
      const clause = plain.slice(0, index).split(NEW_CLAUSE).at(-1) ?? '';
      const subject = clause.split(PART_OF_CLAUSE).findLast((part) => part !== '') ?? '';
      return !(isRule && clause.search(HEDGED) !== -1) && (!hasSubject || SUBJECT.test(subject));
    });
    if (match === undefined || (isRule && PRIVATE.test(plain)) || countTerms(plain) < 2) continue;
    if (section === 'definitions') {
      const definition = definitionOf(match);
      if (definition !== undefined) return definition;
      continue;
    }
    return section === 'decisions' ? { section, ...withReason(sentence) } : { section };
  }
  return undefined;
}

/** In characters: with fewer, it has no two words. A message may have tens of thousands of such lines. */
const SHORTEST = 4;

/** Whether the sentence ends with a question mark, closing quotes and brackets aside. */
export function isQuestion(sentence: string): boolean {
  return /\?["'”’)\]]{0,4}$/.test(sentence);
}

/** Whether a question asks about the matter: not the other speaker, and not for the meaning of a word. */
function isAboutMatter(question: string): boolean {
  return ASKS.test(question) && !ASKS_SPEAKER.test(question) && !TAG_QUESTION.test(question);
}

function definitionOf({ groups }: RegExpExecArray): Classification | undefined {
  const term = groups?.term?.replace(/^(?:the|an?|our|by) /i, '').replace(/^["“'`]|["”'`]$/g, '') ?? '';
  const text = groups?.meaning?.replace(/(?<![.!])[.!]+$/, '').trim() ?? '';
  if (NO_TERM.test(term) || countTerms(term) === 0 || countTerms(text) < 2) return undefined;
  return { section: 'definitions', term, text };
}

/** Splits a decision from the clause that gives its reason. The reason ends where the next clause begins. */
function withReason(sentence: string): { text: string; reason: string } {
  const match = REASON.exec(sentence);
  if (match === null) return { text: sentence, reason: '' };
  const before = sentence.slice(0, match.index);
  const after = sentence.slice(match.index + match[0].length).replace(/(?<![.!])[.!]+$/, '');
  const reason = match[1]?.trim() ?? '';
  return countTerms(before) < 2 ? { text: sentence, reason } : { text: `${before}${after}.`, reason };
}

function countTerms(text: string): number {
  return new Set(contentTerms(text)).size;
}

/** The words of a cue as a regular expression. A name in angle brackets stands for one of `NAMES`. */
function patternOf(words: string): RegExp {
  const named = (source: string): string =>
    source.replace(/<(\w+)>/g, (name, key: string) => (key in NAMES ? NAMES[key as keyof typeof NAMES] : name));
  // Names may contain names.
  const source = named(named(named(words)))
    .replace(/'(?=[a-z])/g, "['’]")
    .replace(/^<thing> /, '')
    .replace('<term>', `(?<term>["“'\`]?\\w[\\w .\\-/]{0,40}?["”'\`]?)`)
    .replace('<meaning>', '(?<meaning>[^;]+)');
  return new RegExp(`(?<![\\w'’-])(?:${source})(?![\\w-])`, 'gi');
}

/** Words that put a sentence into a section. */
export interface Cue {
  section: Exclude<Section, 'importantReferences'>;
  example: string;
  /** The words, without case, at word boundaries. */
  pattern: RegExp;
  /** Whether the words before them in their clause must name a thing: see `SUBJECT`. */
  hasSubject: boolean;
}

/** What the names in angle brackets stand for. */
const NAMES = {
  we: `(we|<body>)( have|'ve| had| has)?( all| both| just| already| also| now| finally| then)?`,
  body: '(the|our|all|both) (<word> ){0,2}(team|board|committee|group|management|directors|manager|lead|owner|editors|partners|trainers|members|reviewers|jury|council of <word>|crew|club|department|sides)',
  choose:
    '(go with|use|stick with|stick to|switch to|settle on|adopt|drop|remove|replace|rename|freeze|cache|ship|host|include|keep (the|our|both|using|\\w+s)|make (it|the|this)|put (it|the|this|an?))',
  do: '(add|answer|build|call|change|check|cite|commit|delete|deploy|document|draft|encrypt|expose|fix|hardcode|ignore|implement|import|include|log|merge|mention|migrate|mock|move|open|pass|prepare|publish|push|put|read|release|remove|rename|reply|return|review|rewrite|rotate|run|send|set|share|ship|skip|store|test|throw|update|upgrade|use|validate|write)',
  keep: '(allow|avoid|be able to|comply with|encrypt|ensure|guarantee|handle|limit|log|prevent|provide|store|support|validate)',
  number:
    '(\\d[\\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|(twen|thir|for|fif|six|seven|eigh|nine)ty(-\\w+)?|a (dozen|hundred))',
  clause: '(?<=^|[;:] |\\b(and|so|but|then|also) )',
  word: `(?!(I|my|you|your|we|they|he|his|she|her|it|this|that|these|there|people|everyone|nobody|which|who|always|some|much|more|is|are|was|were|do|does|don't|will|would|should|might|could|may|if)\\b)[\\w'&/\`.-]+`,
  // "Must have been" and "must be broken" are guesses, "should be fine" is an expectation.
  rule: '( not be (?!able)\\w+|( not| never| always| only| also)? (be (?!<fault>)((\\w+ly|always|never|only|also|as|more|less) )?(\\w+(ed|en|ble)|<done>|at (least|most)|<number>)|(?!(not|never|always|only|also|be|have)\\b|<state>)\\w+|(not )?have (an?|at least|no|access|<number>)))',
  done: '(kept|sent|built|shown|set|cut|put|paid|held|made|met|sold|bound|read|read-only|returned|present|valid|unique|empty|open|closed|free|ready|complete|public|anonymous|in (UTC|writing|sync|place|order)|secure|identical|optional|ignored|backwards|consistent|short|longer|shorter|no|under|below|within|between)',
  fault:
    '(broken|tired|mistaken|confused|lost|delayed|bored|annoyed|excited|drunk|retired|disappointed|fried|haunted|indeed|terrible|horrible|possible|impossible)\\b',
  // Verbs of a state, not of an action: "must" before them is a guess.
  state:
    '(feel|look|seem|mean|know|think|love|hate|like|want|wonder|remember|come to an end|\\w+ly (like|love|hate|want)|we|I|they|the)\\b',
  ask: '(whether|if|which|what|who|how|why|where|when)',
} as const;

/** The cues of each section: an example, and the words in it that put it there. */
const TABLE: Record<Cue['section'], Record<string, string>> = {
  // A question mark is a cue, too: see `isAboutMatter`.
  openQuestions: {
    'how do we test this on Windows':
      '^(how|what|why|which|where|when|who) (do|does|should|can|could|will|would) (we|our|the) \\w+',
    'It is unclear whether the chip fits the case.': `<clause>((it|we)( is|'s| are|'re| do)? ?)?(still )?(unclear|(not|n't) (yet )?(sure|clear|certain|know)( yet)?) <ask>`,
    "We haven't decided on the colour of the case.": `(haven't|hasn't|have not|has not) (yet )?(decided|agreed|settled|chosen|figured out)( yet)?( on)? \\w+|(still|need to|have to) (decide|find out|figure out|clarify) <ask>`,
    'TBD: the colour of the case.':
      '(the|an) open (question|issue|point) (is|remains)|still (undecided|open)|TBD|to be (decided|determined|confirmed)',
  },
  definitions: {
    'By backlog we mean every issue without an owner.': '^(by|when we say) <term>,? we mean <meaning>',
    'SLA stands for service level agreement.':
      '^(in our \\w+,? )?<term> (stands for|refers to|is defined as|denotes) <meaning>',
    'Manifest means the list of files with checksums.': `^(here,? |in our \\w+,? )?<term> means:? (?!(we|I|you|they|it|nothing|that)\\b)<meaning>`,
    'A shard is a database that holds part of the tenants.':
      '^an? <term> is <meaning>(?<= (that|which|with|whose|who|where|when) .+)',
    'The janitor is the job that deletes old exports.': '^(the )?<term> is (?=the \\w+ (that|which|whose) )<meaning>',
    'We call a release stable when it ran for a week.': '^we call <term> (if|when) <meaning>',
  },
  decisions: {
    'Decision: the ledger stays in Frankfurt.':
      '^((my|our|the|final) )*(decision|call|verdict|resolution|conclusion|consensus|answer|decided|agreed|resolved|approved|outcome|voted( and done)?)( (as|in|of|on) (<word> ){0,4}<word>)?( ?[:—–]| -)',
    'The team agreed to freeze the API in May.':
      '<we> (unanimously )?(decided|agreed|opted|settled|resolved|concluded|voted)( not)? (to(?! disagree)|on|for|against|out of|that(?! .* (was|were) )|(the )?(question|matter) of|(?!(with|in|and|it|about|too)\\b)<word> (owns?|gets?|takes?|runs?|reviews?|leads?|will))',
    'The team voted for Tailwind.':
      "(voted (<number> to <number> )?(for|to|against|in)|<number> to <number> in favou?r|(everyone|all) (was|were|is|are) in favou?r|it (was|has been) (finally |unanimously )?(decided|agreed|resolved)|(it is|it's|that is|that's|all) (decided|settled|agreed|official)( ?[:,]| that)|as (agreed|decided|voted)|(our|the|final) (decision|verdict|choice|consensus|vote|plan) (<word> ){0,4}(is|was|fell) (to|that|on|made|final)|signed off on|(given|got) the (green light|go-ahead)|won't ?fix|^(?!.*\\b(what|how|as|that|than|where|which|know)\\b).{3,60} it is( for .+)?$|(said|says) yes to|(taken|took|made) the decision|made up our minds|won the vote|majority (voted|went)|our (pick|choice) (for .+ )?is|^what we (decided|agreed)|^(green light for|scrap|scratch)|(pushed|postponed|deferred|moved) (back )?to (<number>|next|the (next|first|second|third)))",
    'We picked Redis.':
      '<we> ((chose|chosen|picked|selected|went with)(?! (up|out|on|an? (good|bad|great|nice|wrong)|it)\\b)|approved|rejected|accepted|cancelled|adopted|ruled out|turned down|scrapped|upheld|awarded|postponed|dropped|replaced|ended|closed|abolished|froze)',
    'The proposal was accepted.':
      '<thing> ((has |have )?(agreed|ruled|approved|rejected) (that|the|our)|(was|were|has been|have been) (now |finally |unanimously )?(decided|agreed|approved|accepted|rejected|adopted|chosen|selected|cancelled|postponed|scrapped|dropped|frozen|ruled out|fixed at|voted)|is (now |hereby )?(dropped|approved|adopted|cancelled|scrapped|discontinued|off the table|decided|final))',
    "We're moving the builds to another provider.":
      "(?<!that )(<we> (are|is)|we're)( now| also| not)? ((moving|switching|migrating) (<word> ){0,8}(to|off)|(going|sticking) with(?! (our|my|you|him|her|them)\\b)|staying (on|with)|standardi[sz]ing on|(closing|cutting|dropping|replacing|removing|deprecating|renaming|freezing|postponing|keeping|scrapping|splitting|reverting|cancelling)(?! (in|by|up)\\b))|<we> (moved|switched|migrated) (<word> ){0,5}to|^(going with|from (now|<word>) on|going forward|as of (now|today|tomorrow|next <word>|<word>))\\b",
    "Let's use Postgres for the job table.": "(let's|lets|let us)( not)? (<choose>|call (it|the|this)|cancel|close)",
    'We no longer support the old client.':
      "we('ll| will) (<choose>|go ahead with|close|cancel)|we no longer \\w+|^we( are|'re) going to <choose>|we( are|'re) not going to (?!(be|have|get|know|like|make it)\\b)\\w+|we (won't|will not) (renew|extend|support|<choose>|<do>)|we('ll| will) .+ instead|^(rather than|instead of) .+, we (keep|use|take|do)|^we (stick to|stick with)",
    'The old page will be replaced by the new one.':
      'will( not)? be (built|written|stored|hosted|replaced|removed|renamed|dropped|kept) (with|in|on|as|by|to|from|until|at)',
  },
  requirements: {
    'The import must finish within ten minutes.':
      "<thing> ((must|shall|should|(has|have|needs?) to)<rule>|(must|should)n't <word>)",
    'It must not contain tabs.':
      '<clause>it (must|should|has to|needs to)( not| never| always| only)? (?!be|have been|<state>)\\w+',
    'You must not store card numbers.':
      '<clause>(we|you) must( not| never| always| only) \\w+|<clause>we (must|need to|have to|should)( not| never| always| only)? <keep>|<clause>you (may not|need (an?|at least|<number>) .+ (for|to) (every|each|all|any)|are required to)',
    'Invoices cannot be edited.':
      "<thing> ((is|are) (not )?to be [\\w-]+|(has|have) got to \\w+|(cannot|can't) (be \\w+|exceed)|(is not|isn't|are not|aren't) (allowed|permitted)|(is|are) (only (accepted|allowed|open|valid)|required)|requires? (at least|both|the|<number>|<word> (approval|reviews?|consent|rights|notice))|needs? (at least|<number>|the (approval|consent)|(.+ )?(approval|reviews?|sign-off)))",
    'Only owners may close an account.':
      '^(every|each|all|any|both) (<word> ){1,6}needs? (an?|at least|<number>)|^only (?!by|if|when|with|then|my)(<word> ){1,6}(can|may|should|must|are allowed to|is allowed to)|^no (<word> ){1,6}(is allowed|are allowed|may|without|before|unless|after|on \\w+days?)|^(nobody|no one|none) (but|except|other than|may) .+',
    'Uploads are limited to 25 MB.':
      '<thing> ((is|are) (rejected|refused|turned away|banned|off limits|due (by|on)|obliged|subject to|valid for (at most|up to)|not authori[sz]ed|the (maximum|minimum))|will be (turned away|rejected|refused|removed|charged)|limits? .+ to <number>|belongs? in .+ never|(must|shall|should) only \\w+|may (only|not|never)(?! (be able|have) )|may .+ only|(is|are) (not allowed|required|limited|restricted|confined) to|(can|may) .*(at most|no more than|up to) <number>|(can|may) run .* <number>|expires? (after|in|within))',
    'Helmets are mandatory.':
      "(is|are|it's) (mandatory|forbidden|prohibited|compulsory)|<clause>(we|you) (cannot|can't) (exceed|\\w+ without)|cap \\w+ at <number>|(at most|no more than) <number>|^the (maximum|minimum|limit|deadline|retention period)\\b.* (is|are)|there (must|has to) be .*(at least|each|every|all|any)|it is (essential|vital|required) that|under no circumstances",
    'Never store card numbers in the log files.':
      "^(please )?((never|always|please|do not|don't) (<do>|touch|edit|let|bypass|disable|mix|paste|rely|rebase|start|lock|block|leave|deploy)|(make sure|ensure) \\w+)",
  },
  goals: {
    'Our goal is to ship the remote control in spring.':
      "(my|our|the) (main |overall )?(goal|aim|objective|mission|target)( (.+ )?(is|are)|( for .+)?:)|^(goal|aim|objective):|(that's|that is) the (goal|target)|working towards|the (point|idea|purpose) (of .+ )?is (to|that)",
    "We're aiming for one login.":
      "(we|I)( are|'re| am|'m) (trying to|hoping to|aiming (to|for|at)|after is)|^hoping to (reach|have|get|ship|cut)|in the long run",
    'We want to halve the number of support mails.':
      "(we|I)( want to| hope to| would like to|'d like to) (be|become|build|create|cut|double|halve|have|increase|let|make|offer|reach|reduce|write) \\w+|^we want .+ to \\w+",
  },
  currentPlan: {
    'Next step: write the migration for the ledger.':
      "^next( steps?)?:|^next,? (I|we)('ll| will| am going to|'m going to)|(my|our|the) (next step|plan) is",
    'I will prepare the dry run for the small customers.': "^(I|we)('ll| will|'m going to| am going to) <do> \\w+",
  },
};

/** The example of the only cue that counts in the user's words alone: from an assistant, they are advice. */
const ADVICE = 'Never store card numbers in the log files.';

/** Read from the top: the first cue whose words a sentence contains gives its section. */
export const CUES: readonly Cue[] = Object.entries(TABLE).flatMap(([section, cues]) =>
  Object.entries(cues).map(([example, words]) => ({
    section: section as Cue['section'],
    example,
    pattern: patternOf(words),
    hasSubject: words.startsWith('<thing> '),
  })),
);

/** Words that only consider something, or report it. After them in a clause, nothing is a decision or a requirement. */
const HEDGED = patternOf(
  "(if|once|unless|until|whether|why|how|who|what|maybe|perhaps|might|could|would|probably|nearly|almost|never|I (guess|suppose|thought|think|wonder|read|hear|heard|was told)|(he|she|they|<word>) (said|say|says|think|thinks)|don't|doesn't|didn't)",
);

/** The words before a cue, if they name a thing. What a person or "it" must do is often a guess. */
const SUBJECT =
  /^(?!(?:should|do|does|is|are|can|to|no|when) )(?!.*\b(?:I|my|me|you|your|he|she|his|her|they|their|we|who|which|it|what|some\w+|everything|nothing|nobody|people|will|would|could|might|may)\b)(?!.*\b(?:the|an?|no|any|urgent|essential|real|idea|goal|aim|point|plan|to|this|that|these|those|there) $)(?:[\p{L}\p{N}'’&/`.,-]+ ){1,14}$/iu;
const PART_OF_CLAUSE = /[,;:] |\b(?:and|but|so|then|because) /;
/** Words about somebody's own day, or about people outside the project. */
const PRIVATE =
  /\b(?:dinner|lunch|breakfast|pizza|beers?|cinema|walk|bed|home|holidays?|sofa|radio|news|documentary|film|novel|city|government|parliament|minister|mayor|court|police|neighbou?rs?|landlord|kids|mum|dad|aunt|uncle|sister|brother|cousin|wife|husband|daughter|son|imagine|should .* your|association|federation)\b/i;

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
