/**
 * Measures how much of the evidence for questions about recorded meetings survives a compaction, beside the newest messages with
 * the same number of tokens.
 * Run: npx tsx emulator/scripts/compaction-quality.ts FOLDER [NAME…]
 * A file of the folder has `turns` (`content`) and `questions` (`answer`, and `spans`: the first and last turn of its evidence).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runSync } from '../src/base/slices.js';
import { compact, contextTokens, totalTokens } from '../src/context/compaction/compact.js';
import { itemWords, offersOf } from '../src/context/compaction/offers.js';
import { COMPACTION_LEVELS } from '../src/store/conversation-records.js';
import { LanguageLoader, TOKENS_PER_MESSAGE } from '../src/text/language.js';
import { contentTerms } from '../src/text/terms.js';

interface Meeting {
  turns: { speaker: string; content: string }[];
  questions: { answer: string; spans: [string, string][] }[];
}

const [folder = '', ...names] = process.argv.slice(2);
const language = new LanguageLoader().load();
const meetings = readdirSync(folder)
  .filter((file) => file.endsWith('.json') && (names.length === 0 || names.includes(file.replace('.json', ''))))
  .map((file): Meeting => JSON.parse(readFileSync(join(folder, file), 'utf8')));

for (const level of COMPACTION_LEVELS) {
  const sum = { evidence: 0, kept: 0, newest: 0, tokens: 0, total: 0 };
  for (const meeting of meetings) {
    const evidence = evidenceIn(meeting);
    const messages = messagesOf(meeting);
    const { items, folded } = runSync(compact(messages, level, { folded: 0, items: [] }));
    const tokens = contextTokens(
      messages.map((message, i) => ({ ...message, summarized: i < folded })),
      items,
    );
    const contents = meeting.turns.map(({ content }) => content);
    sum.evidence += evidence.length;
    sum.kept += alive(evidence, [...items.map(itemWords), ...contents.slice(folded)]);
    sum.newest += alive(evidence, contents.slice(firstThatFits(messages, tokens)));
    sum.tokens += tokens;
    sum.total += totalTokens(messages);
  }
  const percent = (part: number, whole: number): string => `${((part / whole) * 100).toFixed(1)} %`;
  const { evidence, kept, newest, tokens, total } = sum;
  const line = `${percent(kept, evidence)} of ${evidence}, newest messages ${percent(newest, evidence)}`;
  process.stdout.write(`${level}: ${percent(tokens, total)} of the tokens left; evidence that survives: ${line}\n`);
}

/** For each turn of evidence, the words that it shares with the answer. With fewer than two, it may be by chance. */
function evidenceIn({ turns, questions }: Meeting): Set<string>[] {
  return questions.flatMap(({ answer, spans }) => {
    const words = new Set(contentTerms(answer));
    const places = new Set(spans.flatMap(([from, to]) => [...turns.keys()].slice(Number(from), Number(to) + 1)));
    return [...places]
      .map((at) => new Set(contentTerms(turns[at]?.content ?? '').filter((word) => words.has(word))))
      .filter(({ size }) => size > 1);
  });
}

/** How many turns of evidence have 60 % of their words in one kept text. */
function alive(evidence: readonly Set<string>[], texts: readonly string[]): number {
  const kept = texts.map((text) => new Set(contentTerms(text)));
  const has = (one: Set<string>, words: Set<string>): boolean =>
    [...words].filter((word) => one.has(word)).length >= 0.6 * words.size;
  return evidence.filter((words) => kept.some((one) => has(one, words))).length;
}

/** A change of the speaker is a change of the side. */
function messagesOf({ turns }: Meeting): Parameters<typeof compact>[0] {
  let changes = 0;
  return turns.map(({ speaker, content }, i) => {
    if (i > 0 && speaker !== turns[i - 1]?.speaker) changes += 1;
    const role = changes % 2 === 0 ? 'user' : 'assistant';
    const offers = runSync(offersOf({ messageId: `${i}`, role, content, createdAt: '' }, language));
    const tokens = language.countTokens(content) + TOKENS_PER_MESSAGE;
    return { role, tokens, live: true, pinned: false, summarized: false, offers: () => offers };
  });
}

function firstThatFits(messages: readonly { tokens: number }[], limit: number): number {
  let left = limit;
  const isTooMuch = ({ tokens }: { tokens: number }): boolean => {
    left -= tokens;
    return left < 0;
  };
  return messages.findLastIndex(isTooMuch) + 1;
}
