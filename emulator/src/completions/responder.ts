import type { Language } from '../text/language.js';
import type { ChatMessage } from '../upstream/model-source.js';

type Reading = Pick<Language, 'sentences' | 'terms'>;

/**
 * Answers a question from the request itself, without a model: it ranks the sentences of the messages against the last
 * question (BM25), and quotes one to three of them. To results of tools, it replies with their text. The same request
 * always gets the same answer.
 */
export function extractiveReply(messages: readonly ChatMessage[], language: Reading): string {
  const results = messages.slice(messages.findLastIndex(({ role }) => role !== 'tool') + 1);
  if (results.length > 0) return results.map(({ content }) => content).join('\n');

  const last = messages.findLastIndex((message) => message.role === 'user');
  const own = last === -1 ? [] : sentencesOf(messages[last], language);
  const questionAt = questionIndex(own);
  const question = own[questionAt];
  if (question === undefined) return 'There is no question in this request.';

  const statements: string[] = [];
  messages.forEach((message, i) => {
    const sentences = i === last ? own.filter((_, j) => j !== questionAt) : sentencesOf(message, language);
    for (const sentence of sentences) if (isStatement(sentence)) statements.push(withoutMark(sentence));
  });
  const found = bestSentences(question, statements, language);
  if (found.length > 0) return found.join(' ');

  // An instruction about a text ("give the main points") shares no word with it. It gets the most central sentences.
  const given = own.filter((sentence, j) => j !== questionAt && isStatement(sentence)).map(withoutMark);
  if (given.length >= 2) return centralSentences(given, language).join(' ');
  return own.some((sentence) => ASKS.test(sentence)) ? NOTHING_FOUND : NOTED;
}

// Neither repeats any content: as a message of the conversation, a later summary would include it.
const NOTHING_FOUND = 'Nothing in this conversation answers that.';
const NOTED = 'Noted.';

/** The sentences of a message, without the headings, tags and speakers that structure a context or a document. */
function sentencesOf(message: ChatMessage | undefined, language: Reading): readonly string[] {
  return language.sentences((message?.content ?? '').replace(STRUCTURE, '').replace(SPEAKER, '$1'));
}

/** The index of the last question, or of the first sentence if there is no question. */
function questionIndex(sentences: readonly string[]): number {
  const asked = sentences.findLastIndex((sentence) => ASKS.test(sentence));
  return asked === -1 ? 0 : asked;
}

function bestSentences(question: string, statements: readonly string[], language: Reading): string[] {
  const asked = [...new Set(language.terms(question))];
  const documents = statements.map((statement) => language.terms(statement));
  const frequency = documentFrequency(documents);
  const weight = (term: string): number => {
    const df = frequency.get(term) ?? 0;
    return Math.log(1 + (documents.length - df + 0.5) / (df + 0.5));
  };
  const askedWeight = asked.reduce((sum, term) => sum + weight(term), 0);
  const averageLength = documents.reduce((sum, terms) => sum + terms.length, 0) / Math.max(1, documents.length);

  const hits: { index: number; score: number }[] = [];
  documents.forEach((terms, index) => {
    let score = 0;
    let covered = 0;
    for (const term of asked) {
      const count = terms.reduce((sum, candidate) => sum + (candidate === term ? 1 : 0), 0);
      if (count === 0) continue;
      covered += weight(term);
      score += (weight(term) * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * terms.length) / averageLength));
    }
    // Of two equally good sentences, the later one is more likely still valid.
    if (covered >= askedWeight * LEAST_COVERAGE)
      hits.push({ index, score: score * (1 + (0.1 * index) / documents.length) });
  });
  const best = Math.max(0, ...hits.map((hit) => hit.score));
  return inOrder(
    hits.filter((hit) => hit.score > 0 && hit.score >= best * CLOSE_TO_BEST),
    statements,
  );
}

/** The least share of the question's words, weighted by rarity, that a sentence must contain. */
const LEAST_COVERAGE = 0.3;
/** Further sentences need at least this fraction of the best score. */
const CLOSE_TO_BEST = 0.6;

function centralSentences(statements: readonly string[], language: Reading): string[] {
  const documents = statements.map((statement) => new Set(language.terms(statement)));
  const frequency = documentFrequency(documents.map((terms) => [...terms]));
  const scored = documents.map((terms, index) => {
    let shared = 0;
    for (const term of terms) shared += (frequency.get(term) ?? 0) - 1;
    return { index, score: (1 + shared) / Math.sqrt(4 + terms.size) };
  });
  return inOrder(scored, statements);
}

function inOrder(hits: readonly { index: number; score: number }[], statements: readonly string[]): string[] {
  const chosen = [...hits].sort((a, b) => b.score - a.score || b.index - a.index).slice(0, 3);
  const sentences = chosen.sort((a, b) => a.index - b.index).map((hit) => statements[hit.index] ?? '');
  return [...new Set(sentences)];
}

function documentFrequency(documents: readonly (readonly string[])[]): Map<string, number> {
  const frequency = new Map<string, number>();
  for (const terms of documents) for (const term of new Set(terms)) frequency.set(term, (frequency.get(term) ?? 0) + 1);
  return frequency;
}

/** Excludes questions, and earlier replies of this responder without content. */
function isStatement(sentence: string): boolean {
  return ![NOTHING_FOUND, NOTED].includes(sentence) && !ASKS.test(sentence) && /[\p{L}\p{N}]/u.test(sentence);
}

function withoutMark(sentence: string): string {
  return sentence.replace(LIST_MARK, '').trim();
}

const ASKS = /[?？]["'”’)\]]*\s*$/;
/** Lines that are a tag, a Markdown heading, or a heading right above a list. */
const STRUCTURE = /^[ \t]*(?:<\/?[\w-]+>|#{1,6} .*|[^-*\n.!?]{1,60}(?=\n[-*] ))[ \t]*$/gm;
/** `[3 May 2026, user]` or `[Ana]`, with which a recalled message begins. */
const SPEAKER = /^([ \t]*(?:[-*] )?)\[(?:\d{1,2} \p{L}+ \d{4}, )?\p{L}[^\]\n]{1,40}\] /gmu;
const LIST_MARK = /^\s*(?:[-*•]|\d+[.)]|#{1,6})\s+/;
