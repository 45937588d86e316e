import { diffSummaries, type SummaryDiff, type SummaryEntry } from 'context-gateway/conversation';
import type { InspectedConversation } from '../../src/control/overview.js';
import type { PinCategory } from '../../src/store/conversation-records.js';
import type { RollingSummary, SummaryItem } from '../../src/store/summary.js';

/** A statement that the context no longer contains. */
export interface Loss {
  entry: SummaryEntry;
  /** Its message, if known. */
  messageId: string | undefined;
}

/** The effect of a compaction on the statements in the context. */
export interface Receipt extends Pick<SummaryDiff, 'kept' | 'reworded'> {
  lost: Loss[];
  /** Statements that were recognised in the messages. Others may be lost unseen. */
  recognised: number;
  /** Live messages, and those of them that are in the context neither in full nor by any entry of the summary. */
  messages: { live: number; gone: number };
}

/** Comparing more would block the page: the time is quadratic. */
export const MOST_STATEMENTS = 2000;

/** Decisions, requirements and definitions of live messages that the context does not contain. */
export function lossesOf(conversation: InspectedConversation): Loss[] {
  const all = summaryOf(conversation.rollingSummary, conversation.statements.slice(-MOST_STATEMENTS));
  return losses(diffSummaries(all, contextSummary(conversation)).lost, conversation, conversation);
}

/** The receipt of a compaction: compares the statements in the context before and after. */
export function receiptOf(before: InspectedConversation, after: InspectedConversation): Receipt {
  const { kept, reworded, lost } = diffSummaries(contextSummary(before), contextSummary(after));
  const found = losses(lost, before, after);
  const gone = new Set(found.map(({ entry }) => entry));
  return {
    kept: [...kept, ...lost.filter((entry) => !gone.has(entry))],
    reworded,
    lost: found,
    recognised: before.statements.length,
    messages: representation(after),
  };
}

function representation({ messages, sources }: InspectedConversation): Receipt['messages'] {
  const quoted = new Set(sources.map(({ messageId }) => messageId));
  return {
    live: messages.filter(({ status }) => status !== 'excluded').length,
    gone: messages.filter(({ id, status }) => status === 'summarized' && !quoted.has(id)).length,
  };
}

/** The category a statement is pinned under. */
export function categoryOf(section: string): PinCategory {
  if (section === 'decisions') return 'decision';
  if (section === 'requirements') return 'requirement';
  return section === 'definitions' ? 'reference' : 'other';
}

function losses(lost: readonly SummaryEntry[], before: InspectedConversation, after: InspectedConversation): Loss[] {
  // An excerpt quotes sentences verbatim, outside of their sections.
  const excerpts = after.rollingSummary.importantReferences.map(({ value }) => value).join('\n');
  return lost
    .filter(({ text }) => !excerpts.includes(text))
    .map((entry) => ({
      entry,
      messageId: [...before.statements, ...before.sources].find(({ text }) => text === entry.text)?.messageId,
    }));
}

/** All statements in the context: those of the summary, and those of messages that are in it in full. */
function contextSummary({ rollingSummary, statements, messages }: InspectedConversation): RollingSummary {
  const inFull = new Set(
    messages.filter(({ status }) => status === 'recent' || status === 'pinned').map(({ id }) => id),
  );
  return summaryOf(
    rollingSummary,
    statements.slice(-MOST_STATEMENTS).filter(({ messageId }) => inFull.has(messageId)),
  );
}

/** A summary with further statements added. */
function summaryOf(summary: RollingSummary, statements: readonly SummaryItem[]): RollingSummary {
  const texts = (section: 'goals' | 'requirements' | 'currentPlan'): string[] => [
    ...new Set([...summary[section], ...statements.filter((each) => each.section === section).map(({ text }) => text)]),
  ];
  const decisions = statements
    .filter(({ section }) => section === 'decisions')
    .map(({ id = '', text, reason = '', timestamp = '' }) => ({ id, decision: text, reason, timestamp }));
  const definitions = statements
    .filter(({ section }) => section === 'definitions')
    .map(({ term = '', text }): [string, string] => [term, text]);
  const known = new Set(summary.decisions.map(({ id }) => id));
  return {
    ...summary,
    goals: texts('goals'),
    requirements: texts('requirements'),
    currentPlan: texts('currentPlan'),
    decisions: [...summary.decisions, ...decisions.filter(({ id }) => !known.has(id))],
    definitions: { ...Object.fromEntries(definitions), ...summary.definitions },
  };
}
