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
  if (sentence.length > LONGEST || BROKEN_OFF.test(plain) || countTerms(plain) < 2) return undefined;
  if (isQuestion(plain)) return isOpenQuestion(plain) ? { section: 'openQuestions' } : undefined;
  if (/!["'”’)\]]{0,4}$/.test(plain)) return undefined;
  for (const { section, example, pattern } of PATTERNS) {
    const match = pattern.exec(plain);
    if (match === null || (example === ADVICE && role !== 'user')) continue;
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

/** Words that put a sentence into a section. */
export interface Cue {
  section: Exclude<Section, 'importantReferences'>;
  /** A regular expression without case, matched at word boundaries. A name in angle brackets stands for {@link NAMES}. */
  words: string;
  example: string;
}

/** What the names in angle brackets stand for. */
const NAMES = {
  we: `(we|the team)( have|'ve| had)?( all| just| already| also| now| finally| then)?`,
  choose:
    '(go with|use|stick with|stick to|switch to|settle on|adopt|drop|remove|replace|rename|freeze|cache|ship|host|include|keep (the|our|both|using|\\w+s)|make (it|the|this)|put (it|the|this|an?))',
  do: '(add|answer|build|call|change|check|cite|commit|delete|deploy|document|draft|encrypt|expose|fix|hardcode|ignore|implement|import|include|log|merge|mention|migrate|mock|move|open|pass|prepare|publish|push|put|read|release|remove|rename|reply|return|review|rewrite|rotate|run|send|set|share|ship|skip|store|test|throw|update|upgrade|use|validate|write)',
  keep: '(allow|avoid|be able to|comply with|encrypt|ensure|guarantee|handle|limit|log|prevent|provide|store|support|validate)',
  number: '(\\d[\\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|a hundred)',
  clause: '(?<=^|[;:] |\\b(and|so|but|then|also) )',
  // Up to six words from the beginning of a clause: with an article or the like, or in the plural.
  thing: `<clause>((the|our|its|every|each|all|any|no|both|an?) (<word> ){1,6}?|(?=[\\w-]+s )<word> |(?<=^)(<word> ){1,3}?)`,
  word: `(?!(I|my|you|your|we|they|he|his|she|her|it|this|that|these|there|people|everyone|nobody|which|who|always|some|much|more|is|are|was|were|do|does|don't|will|would|should|might|could|may|if)\\b)[\\w'&/\`.-]+`,
  // "Must have been" and "must be joking" are guesses, "should be fine" is an expectation.
  rule: '( not| never| always| only| also)? (?!(have|be (fine|\\w+ing))\\b)\\w+',
  ask: '(whether|if|which|what|who|how|why|where|when)',
} as const;

/** The cues of each section: an example, and the words in it that put it there. */
const TABLE: Record<Cue['section'], Record<string, string>> = {
  // A question mark is a cue, too: see isOpenQuestion.
  openQuestions: {
    'how do we test this on Windows':
      '^(how|what|why|which|where|when|who) (do|does|should|can|could|will|would) (we|our|the) \\w+',
    'It is unclear whether the chip fits the case.': `<clause>((it|we)( is|'s| are|'re| do)? ?)?(still )?(unclear|(not|n't) (yet )?(sure|clear|certain|know)( yet)?) <ask>`,
    "We haven't decided on the colour of the case.": `(haven't|hasn't|have not|has not) (yet )?(decided|agreed|settled|chosen|figured out)( yet)?( on)? \\w+`,
    'We still need to find out which printers they have.': `(still|need to|have to) (decide|find out|figure out|clarify) <ask>`,
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
      '^(decision|decided|agreed|resolved|approved|final answer)( ?[:,—–]| -)',
    'The team agreed to freeze the API in May.':
      '(<we>|I) (decided|agreed|opted|settled)( not)? (to|on|for|against|that (we|our|the))|the decision is (to|that)',
    'The team voted for Tailwind.':
      "(voted (<number> to <number> )?(for|to|against)|(it is|it's|it was|that is|that's) (decided|settled|agreed)( that)? \\w+|as (agreed|decided)|(the )?consensus (.+ )?is (to|that)|signed off on|won't ?fix|(pushed|postponed|deferred|moved) (back )?to (<number>|next|the next))",
    'We picked Redis.': '(<we>|I) (chose|chosen|picked|selected)(?! (up|out|on)\\b)',
    "We're moving the builds to another provider.":
      "(?<!that )(<we> are|we're)( now| also| not)? ((moving|switching|migrating) (<word> ){0,8}(to|off)|(going|sticking) with(?! (our|my|you|him|her|them)\\b)|staying (on|with)|standardi[sz]ing on|(dropping|replacing|removing|deprecating|renaming|freezing|postponing|keeping|scrapping|splitting|reverting)(?! (in|by|up)\\b))|^(going with|from now on)\\b",
    'We switched the builds to another provider.': '<we> (moved|switched|migrated) (\\w+ ){0,5}to',
    "Let's use Postgres for the job table.": "(let's|lets|let us)( not)? <choose>",
    'We no longer support the old client.':
      "we('ll| will) <choose>|we no longer \\w+|^we( are|'re) going to <choose>|we( are|'re) not going to (?!(be|have|get|know|like|make it)\\b)\\w+|we (won't|will not) (support|<choose>|<do>)|we('ll| will) .+ instead|^(rather than|instead of) .+ we('ll| will)",
    'The old page will be replaced by the new one.':
      'will( not)? be (built|written|stored|hosted|replaced|removed|renamed|dropped|kept) (with|in|on|as|by|to|from|until|at)',
  },
  requirements: {
    'The import must finish within ten minutes.': '(<thing>|<clause>it )(must|should)<rule>',
    "Exports mustn't contain deleted rows.": "<thing>(must|should)n't <word>",
    'The API has to be backwards compatible.':
      '(<thing>|<clause>it )(has|have|needs?) to( not| never| always| only| also)? \\w+',
    'You must not store card numbers.':
      '<clause>(we|you) must( not| never| always| only) \\w+|<clause>we (must|need to|have to|should)( not| never| always| only)? <keep>',
    'Invoices cannot be edited.':
      "<thing>((is|are) to be \\w+|(has|have) got to \\w+|(cannot|can't) be \\w+|(is not|isn't|are not|aren't) (allowed|permitted)|requires? (at least|both|<number>|<word> (approval|reviews?|consent|rights))|needs? (.+ )?(approval|reviews?|sign-off)( |$))|(is|are|it's) (mandatory|forbidden|prohibited|compulsory)",
    'Every change needs two reviews.': '^(every|each|all|any|both) (<word> ){1,6}needs? (an?|at least|<number>)',
    'Only owners may close an account.':
      '^only (?!by|if|when|with|then)(<word> ){1,6}(can|may|should|must|are allowed to|is allowed to)|<thing>(may|must|should) only \\w+|^no (<word> ){1,6}(is allowed|are allowed|may|without|before|unless|after|on \\w+days?)|^(nobody|no one|none) (but|except|other than) .+',
    'Uploads are limited to 25 MB.':
      "<thing>((may|must|shall|should) (not|never)(?! (be able|have))|(is|are) (not allowed|required|limited|restricted) to|(can|may) .*(at most|no more than|up to) <number>)|(cannot|can't) exceed|<clause>(we|you) (cannot|can't) \\w+ without|<clause>you are required to|cap \\w+ at <number>|at most <number>",
    'Never store card numbers in the log files.':
      "^(please )?((never|always|do not|don't) (<do>|touch|edit|let|bypass|disable|mix|paste|rely|rebase|start|write)|(make sure|ensure) \\w+)",
  },
  goals: {
    'Our goal is to ship the remote control in spring.':
      "(my|our|the) (main |overall )?(goal|aim|objective|mission|target)( (.+ )?(is|are)|( for .+)?:)|^(goal|aim|objective):|(that's|that is) the (goal|target)|working towards",
    'The idea is to let customers print their own labels.': 'the (point|idea|purpose) (of .+ )?is (to|that)',
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
  Object.entries(cues).map(([example, words]) => ({ section: section as Cue['section'], words, example })),
);

/** Words that only consider something, or report it. After them in a sentence, nothing is a decision or a requirement. */
const HEDGES =
  "(if|once|unless|until|whether|why|how|who|what|maybe|perhaps|might|could|would|probably|I guess|I suppose|I thought|(he|she|they) (said|say|says|think|thinks)|don't|doesn't|didn't)";

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
