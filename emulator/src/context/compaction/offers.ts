import type { Sliced } from '../../base/slices.js';
import { startOf } from '../../base/start-of.js';
import { hashText } from '../../store/random.js';
import type { SummaryItem } from '../../store/summary.js';
import type { Language } from '../../text/language.js';
import { parts } from '../../text/parts.js';
import { contentTerms } from '../../text/terms.js';
import { isQuestion, plainWords, statementIn } from './cues.js';

/** A possible entry of the summary. */
export interface Candidate {
  item: SummaryItem;
  /** Its words that carry meaning as numbers, each once, in order. */
  terms: readonly number[];
  /** For a sentence of an excerpt, its number in the message. Its text begins with the gap before it. */
  sentence?: number | undefined;
}

/** What a message offers to a summary. It depends on the message alone, so it may be cached. */
export interface Offers {
  candidates: readonly Candidate[];
  /** What the message is to a question before it: `nothing` if it only asks. */
  reply: 'answer' | 'unknown' | 'nothing';
}

/** Reads what a message offers to a summary. */
export function* offersOf(
  message: Pick<SummaryItem, 'messageId'> & { role: string; content: string; createdAt: string },
  language: Pick<Language, 'sentences' | 'countTokens'>,
): Sliced<Offers> {
  const { messageId, role, content, createdAt } = message;
  const candidates: Candidate[] = [];
  let reply: Offers['reply'] = 'nothing';
  const add = (item: Omit<SummaryItem, 'messageId' | 'tokens'>, terms: string[], sentence?: number): void => {
    const tokens = language.countTokens(itemWords(item)) + (sentence === undefined ? TOKENS_PER_ITEM : 1);
    candidates.push({ item: { ...item, messageId, tokens }, terms: [...new Set(terms.map(numberOf))], sentence });
  };
  let at = 0;
  for (const { text, isCode } of sentencesOf(content, language)) {
    yield;
    const sentence = text.replace(LIST_MARK, '').trim();
    const terms = contentTerms(sentence);
    const found = isCode ? undefined : statementIn(sentence);
    const asks = isQuestion(sentence);
    if (!asks && reply === 'nothing' && /\p{L}/u.test(sentence)) reply = UNKNOWN.test(sentence) ? 'unknown' : 'answer';
    if (terms.length === 0) continue;
    if (found?.section === 'decisions')
      add({ ...found, id: `dec_${hashText(plainWords(found.text))}`, timestamp: createdAt }, terms);
    else if (found !== undefined) add(found, terms);
    // A question is listed only while it is open, and quoted in any case: its answer may need it. One word says nothing.
    if ((found === undefined || asks) && (isCode || /[\s\d]|\p{Script=Han}/u.test(sentence)))
      add({ section: 'importantReferences', type: EXCERPT, text, label: role }, terms, at);
    at += 1;
  }
  for (const reference of referencesIn(content)) {
    yield;
    add({ section: 'importantReferences', ...reference }, [reference.text.toLowerCase()]);
  }
  return { candidates, reply };
}

function numberOf(term: string): number {
  let number = 0;
  for (let i = 0; i < term.length; i += 1) number = (Math.imul(number, 31) + term.charCodeAt(i)) | 0;
  return number;
}

/** The text of an entry whose tokens are counted. */
export function itemWords({ term, text, reason, label, type }: Omit<SummaryItem, 'messageId' | 'tokens'>): string {
  return [term, text, reason, type === EXCERPT ? '' : label].filter(Boolean).join(' ');
}

/** Tokens for the list mark and the line end of an entry. A sentence of an excerpt has one. */
export const TOKENS_PER_ITEM = 2;
/** A2: the type of a reference that quotes part of a message verbatim. */
export const EXCERPT = 'excerpt';

/** The sentences of a message, and the lines of its fenced code, each with the gap before it. */
function* sentencesOf(
  content: string,
  { sentences }: Pick<Language, 'sentences'>,
): Generator<{ text: string; isCode: boolean }> {
  let isCode = false;
  for (const line of content.split(/\r?\n/)) {
    const isFence = /^ {0,3}(?:`{3}|~{3})/.test(line);
    if (isFence) isCode = !isCode;
    let gap = '\n';
    for (const part of isFence ? [] : parts(isCode ? line.trimEnd() : line.replace(SOUNDS, ''), LONGEST_PART))
      for (const sentence of isCode ? [part] : sentences(part))
        for (const text of parts(sentence, LONGEST_SENTENCE)) {
          yield { text: gap + text, isCode };
          gap = ' ';
        }
  }
}

/** Links, paths, commands and issues. The text between back-ticks counts as a word. */
function* referencesIn(content: string): Generator<Pick<SummaryItem, 'text' | 'type' | 'label'>> {
  const seen = new Set<string>();
  for (const line of startOf(content, MOST_CHARACTERS).split('\n')) {
    const words = (line.match(WORDS) ?? []).map((word) => word.replace(/[.,:;!?]{1,9}$/, ''));
    for (const [i, word] of words.entries()) {
      const type = Object.entries(REFERENCES).find(([, pattern]) => pattern.test(word))?.[0];
      const text = word.replaceAll('`', '');
      if (type === undefined || text.length > LONGEST_REFERENCE || seen.has(text)) continue;
      seen.add(text);
      // A few words before it, or else after it.
      const label = (i > 0 ? words.slice(Math.max(0, i - 4), i) : words.slice(1, 4)).join(' ').replaceAll('`', '');
      yield { type, text, label: startOf(label, LONGEST_LABEL) };
      if (seen.size === MOST_REFERENCES) return;
    }
  }
}

const LIST_MARK = /^\s*(?:(?:[-*•>]|\d{1,3}[.)]|#{1,6})\s+)+(?:\[[ xX]\]\s+)?/;
/** "um", and the marks with which transcripts note sounds and gaps. */
const SOUNDS =
  /[{[](?:vocalsound|disfmarker|gap|pause|noise|cough|laugh(?:ter)?|inaudible)[}\]] ?|(?<![\w'-])(?:u[hm]|e[rh]m|mm|hmm|mm-hmm|uh-huh)(?![\w'-]),? ?/gi;
const UNKNOWN = /\b(?:(?:don['’]t|do not) know|no idea|not sure|undecided|unclear|to be decided)\b/i;
const WORDS = /`[^`\n]{2,200}`|[^\s`()[\]<>{}"',;!?]+[^\s`()[\]<>{}"']*/g;
const REFERENCES = {
  url: /^https?:\/\/./i,
  issue: /^(?:[\w.-]+\/[\w.-]+)?#\d{1,6}$|^[A-Z][A-Z0-9]{1,9}-\d{1,6}$/,
  file: /^`?[\w@.~\-/\\:]*(?:[\w@-]\.(?:[cm]?[jt]sx?|json|ya?ml|toml|md|txt|py|rb|go|rs|java|sh|sql|css|html|xml|csv|pdf|png|jpe?g|svg)|\/[\w@.-]+\/[\w@.-]+)`?$/i,
  command: /^`.*[\s/.:=()_\-$@]/,
} as const;
/** In characters. */
const LONGEST_PART = 2000;
const LONGEST_SENTENCE = 600;
const MOST_CHARACTERS = 100_000;
const LONGEST_REFERENCE = 300;
const LONGEST_LABEL = 80;
const MOST_REFERENCES = 500;
