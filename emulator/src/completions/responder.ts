import type { Language } from '../text/language.js';
import type { ChatMessage } from '../upstream/model-source.js';

type Reading = Pick<Language, 'sentences' | 'terms'>;

/**
 * Answers without a model. To a question, it quotes one to three sentences of the messages: they contain the rarest
 * word of the question, and each number and name in it. To results of tools, it replies with the text of all since that message. To anything
 * else, it says what it is. The same request always gets the same answer.
 */
export function extractiveReply(messages: readonly ChatMessage[], language: Reading): string {
  const last = messages.findLastIndex((message) => message.role === 'user');
  const results = messages.slice(last + 1).filter(({ role }) => role === 'tool');
  if (messages.at(-1)?.role === 'tool') return results.map(({ content }) => content).join('\n');

  const own = last === -1 ? [] : sentencesOf(messages[last], language);
  const questionAt = own.findLastIndex(isQuestion);
  const question = own[questionAt];
  if (question === undefined) return WHO_SPEAKS;

  const statements = messages.flatMap((message, i) => {
    const sentences = i === last ? own.filter((_, j) => j !== questionAt) : sentencesOf(message, language);
    return sentences.filter(isStatement).map((sentence) => sentence.replace(LIST_MARK, '').trim());
  });
  const found = answers(question, [...new Set(statements)], language);
  return found.length === 0 ? NOT_CONTAINED : found.join(' ');
}

const NOT_CONTAINED = 'The context does not contain that: no sentence has the rarest word of the question.';
const WHO_SPEAKS =
  'This is the built-in model of the emulator: it only quotes sentences that answer a question. ' +
  'For real replies, connect a model with --upstream.';

/** The sentences of a message, without the headings, tags and speakers that structure a context or a document. */
function sentencesOf(message: ChatMessage | undefined, language: Reading): readonly string[] {
  const content = (message?.content ?? '').replaceAll(NOT_CONTAINED, '').replaceAll(WHO_SPEAKS, '');
  return language.sentences(content.replace(STRUCTURE, '').replace(SPEAKER, '$1'));
}

/** The statements with what the question must find, that share most of its words; at most the last three. */
function answers(question: string, statements: readonly string[], language: Reading): string[] {
  const asked = [...new Set(language.terms(question.replace(FRAME, ' ')))];
  const documents = statements.map((statement) => new Set(language.terms(statement)));
  const frequency = new Map(asked.map((term) => [term, documents.filter((terms) => terms.has(term)).length]));
  const lowest = Math.min(...frequency.values());
  const names = new Set(language.terms((question.match(NAMES) ?? []).join(' ')));
  const needed = asked.filter((term) => frequency.get(term) === lowest || names.has(term) || /\d/.test(term));
  const shared = documents.map((terms) =>
    needed.length > 0 && needed.every((term) => terms.has(term)) ? asked.filter((term) => terms.has(term)).length : 0,
  );
  const most = Math.max(1, ...shared);
  return statements.filter((_, i) => shared[i] === most).slice(-3);
}

function isQuestion(sentence: string): boolean {
  return QUESTION_MARK.test(sentence) || /^(?:who|what|when|where|which|why|how)(?:['’]s)?\b/i.test(sentence);
}

function isStatement(sentence: string): boolean {
  return !QUESTION_MARK.test(sentence) && /[\p{L}\p{N}]/u.test(sentence);
}

const QUESTION_MARK = /[?？]["'”’)\]]*\s*$/;
/** Words that ask for an amount or a time. An answer has the amount itself. */
const FRAME = /\b(?:how (?:long|many|much|often|far|big|large|old)|(?:what|which) (?:time|day|date|month|year)s?)\b/i;
/** Words with a capital letter, except the first. */
const NAMES = /(?<=\S\s+)\p{Lu}[\p{L}\p{N}]+/gu; // linear: each run of spaces is read once, for the capital after it
/** Lines that are a tag, a Markdown heading, or a heading right above a list. */
// linear: after a heading, the rest of the line always matches
const STRUCTURE = /^[ \t]*(?:<\/?[\w-]+>|#{1,6} .*|[^-*\n.!?]{1,60}(?=\n[-*] ))[ \t]*$/gm;
/** `[3 May 2026, user]` or `[Ana]`, with which a recalled message begins. */
const SPEAKER = /^([ \t]*(?:[-*] )?)\[(?:\d{1,2} \p{L}+ \d{4}, )?\p{L}[^\]\n]{1,40}\] /gmu;
const LIST_MARK = /^\s*(?:[-*•]|\d+[.)]|#{1,6})\s+/;
