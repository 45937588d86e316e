import { type Reply, repliesTo } from './answers.js';
import type { Candidate } from './candidates.js';
import { withoutAnswered, withoutRepeated, withoutRevoked } from './overruled.js';
import { selectItems } from './select.js';
import type { SummaryItem } from './summary.js';

/** What a summary is made from, and how large it may be. */
interface SummarySource {
  /** All live messages, oldest first. Those not taken stand in the context beside the summary, as they were said. */
  messages: readonly SourceEntry[];
  /** Tokens the summary should have. */
  budget: number;
  /** Tokens it may have, whatever the budget says. */
  most: number;
}

/** A message as a source of the summary. */
export interface SourceEntry {
  role: string;
  content: string;
  /** Goes into the summary. The others are there for what they take back, answer or repeat. */
  taken: boolean;
  candidates: () => readonly Candidate[];
}

/** Makes a summary. It must be pure: what it says for the same source decides whether a compaction changed anything. */
export type Summarize = (source: SummarySource) => SummaryItem[];

/** A summary of extracts: each item is a sentence, a clause or a short passage of one message. */
export const extractiveSummary: Summarize = ({ messages, budget, most }) => {
  const replies = repliesTo(messages);
  const taken = new Set<Candidate>();
  const offers = messages.flatMap((message, i) => {
    const candidates = message.candidates().flatMap((candidate) => stillOpen(candidate, replies[i] ?? 'nothing'));
    if (message.taken) for (const candidate of candidates) taken.add(candidate);
    return candidates;
  });
  const standing = withoutAnswered(withoutRevoked(withoutRepeated(offers)));
  return selectItems(
    standing.filter((candidate) => taken.has(candidate)),
    budget,
    most,
  );
};

/** A question that was answered in the next breath goes, one that nobody could answer counts for more. */
function stillOpen(candidate: Candidate, reply: Reply): Candidate[] {
  const { item, weight } = candidate;
  if (item.section !== 'openQuestions' || weight >= OUTRIGHT || reply === 'nothing') return [candidate];
  return reply === 'answer' ? [] : [{ ...candidate, weight: OUTRIGHT }];
}

/** The weight of a question that is called open in so many words. */
const OUTRIGHT = 3;
