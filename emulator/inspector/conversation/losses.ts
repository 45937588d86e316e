import { diffSummaries, type SummaryDiff, type SummaryEntry } from 'context-gateway/conversation';
import type { InspectedConversation } from '../../src/control/overview.js';
import type { PinCategory } from '../../src/store/conversation-records.js';
import type { RollingSummary, SummaryItem } from '../../src/store/summary.js';

/** Something that was said and that the context no longer tells. */
export interface Loss {
  entry: SummaryEntry;
  /** The message that said it, where it is known. */
  messageId: string | undefined;
}

/** What one compaction did to what the context tells. */
export interface Receipt extends Pick<SummaryDiff, 'kept' | 'reworded'> {
  lost: Loss[];
}

/** To compare more of them would hold the page up: the time grows with their square. */
export const MOST_STATEMENTS = 2000;

/** Decisions, requirements and definitions of live messages that the context does not contain. */
export function lossesOf(conversation: InspectedConversation): Loss[] {
  const all = summaryOf(conversation.rollingSummary, conversation.statements.slice(-MOST_STATEMENTS));
  return losses(diffSummaries(all, toldBy(conversation)).lost, conversation, conversation);
}

/** The receipt of a compaction: what the context told before it, held against what it tells now. */
export function receiptOf(before: InspectedConversation, after: InspectedConversation): Receipt {
  const { kept, reworded, lost } = diffSummaries(toldBy(before), toldBy(after));
  const found = losses(lost, before, after);
  const gone = new Set(found.map(({ entry }) => entry));
  return { kept: [...kept, ...lost.filter((entry) => !gone.has(entry))], reworded, lost: found };
}

/** The category a statement is pinned under. */
export function categoryOf(section: string): PinCategory {
  if (section === 'decisions') return 'decision';
  if (section === 'requirements') return 'requirement';
  return section === 'definitions' ? 'reference' : 'other';
}

function losses(lost: readonly SummaryEntry[], before: InspectedConversation, after: InspectedConversation): Loss[] {
  // An excerpt keeps sentences word for word, in no section.
  const excerpts = after.rollingSummary.importantReferences.map(({ value }) => value).join('\n');
  return lost
    .filter(({ text }) => !excerpts.includes(text))
    .map((entry) => ({
      entry,
      messageId: [...before.statements, ...before.sources].find(({ text }) => text === entry.text)?.messageId,
    }));
}

/** Everything the context tells: its summary, and what is stated in the messages that stand in it as they were said. */
function toldBy({ rollingSummary, statements, messages }: InspectedConversation): RollingSummary {
  const asSaid = new Set(
    messages.filter(({ standing }) => standing === 'recent' || standing === 'pinned').map(({ id }) => id),
  );
  return summaryOf(
    rollingSummary,
    statements.slice(-MOST_STATEMENTS).filter(({ messageId }) => asSaid.has(messageId)),
  );
}

/** The statements in the form of a summary, beside what it has already. */
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
