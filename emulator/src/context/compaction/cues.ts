import type { Section, SummaryItem } from '../../store/summary.js';
import { contentTerms } from '../../text/terms.js';

/** What a sentence states, as an entry of the summary. */
type Statement = Pick<SummaryItem, 'section' | 'text' | 'term' | 'reason'>;

/** The words of each section, read from the top: the first that a sentence contains decides. `^` is its beginning. */
export const CUES = {
  openQuestions: ['unclear', 'to be decided'],
  decisions: [
    ...['decision', 'decided', 'agreed', 'settled', 'approved', 'chose', 'picked', "let's use", "let's go with"],
    ...['we will use', 'we no longer', 'we are moving', 'we are dropping', 'instead of'],
  ],
  requirements: [
    ...['must', 'has to', 'needs', 'at least', 'at most', 'no more than', 'limited to', 'required', 'allowed'],
    ...['may not', 'may only', '^ never', '^ always'],
  ],
  goals: ['goal', 'aim', 'we want'],
  currentPlan: ['^ next', '^ i will'],
  definitions: ['means', 'stands for', 'we mean', 'is a'],
} as const satisfies Partial<Record<Section, readonly string[]>>;

/** What the sentence states. What is stated in other words is missed: a section is rather empty than wrong. */
export function statementIn(sentence: string): Statement | undefined {
  if (sentence.length > LONGEST || sentence.endsWith('!') || new Set(contentTerms(sentence)).size < 2) return undefined;
  if (isQuestion(sentence)) return { section: 'openQuestions', text: sentence };
  const words = ` ^ ${plainWords(sentence)} `;
  const section = SECTIONS.find((name) => {
    const isRule = name === 'decisions' || name === 'requirements';
    return CUES[name].some((cue) => {
      const at = words.indexOf(` ${cue} `);
      return at !== -1 && !(isRule && DOUBTS.test(words.slice(0, at + 1)));
    });
  });
  if (section === 'definitions') {
    const [, term, text = ''] = DEFINITION.exec(sentence) ?? [];
    return term === undefined ? undefined : { section, term, text };
  }
  const [, decision, reason = ''] = (section === 'decisions' && REASON.exec(sentence)) || [];
  if (decision !== undefined) return { section: 'decisions', text: `${decision}.`, reason };
  return section && { section, text: sentence };
}

export function isQuestion(sentence: string): boolean {
  return /[?？]["'”’)\]]{0,4}$/.test(sentence);
}

/** The words of a text in lower case, without punctuation and short forms. */
export function plainWords(text: string): string {
  const words =
    text
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'._-]*/gu) ?? [];
  const plain = SHORT_FORMS.reduce((all, [short, long]) => all.replaceAll(short, long), words.join(' '));
  return plain.replace(/(?<![.'_-])[.'_-]+(?= |$)/g, '');
}

/** In characters. A longer sentence is a speech, or a part of one. */
const LONGEST = 300;
const SECTIONS = Object.keys(CUES) as (keyof typeof CUES)[];
/** Before a cue, they say that something is only considered, or is about a person. It is no decision or requirement then. */
const DOUBTS = / (?:if|whether|why|how|who|my|maybe|perhaps|might|could|would|i|you|he|she|they|it|that|there|this) /;
const SHORT_FORMS = [
  ["n't", ' not'],
  ["'ll", ' will'],
  ["'re", ' are'],
  ["'ve", ' have'],
] as const;
const DEFINITION =
  /^(?:by |an? |the )?(?!(?:it|this|that|which|what|he|she|we|they|you|i|there|here) )(\S{1,40}(?: \S{1,40}){0,3}?)(?: means|,? we mean| stands for| is(?= an? .* (?:that|which|whose|with))):? ([^.]+)/i;
/** Not if more follows it, which may be another decision. */
const REASON = /^([^,;]+?),? (?:because|so that|due to) ([^,;]+?)\.?$/i;
