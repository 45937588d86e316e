import type { Sliced } from '../base/slices.js';
import { type CompactionReceipt, STATEMENT_SECTIONS, type Statement } from '../store/conversation-records.js';
import type { SummaryItem } from '../store/summary.js';
import { missingFrom } from '../text/same-words.js';

/** What a context contains: the summary, and the messages that are in it in full. */
export interface ContextContents {
  summary: readonly SummaryItem[];
  /** The statements of live messages that no later message revokes. */
  statements: readonly SummaryItem[];
  /** Whether a message is in the context in full. */
  isInFull: (messageId: string) => boolean;
}

/** Decisions, requirements and definitions of live messages that the context does not contain. */
export function* lostFrom(context: ContextContents): Sliced<Statement[]> {
  const all = statementsOf(context.summary, context.statements.slice(-MOST_STATEMENTS));
  return (yield* compared(all, context, context.statements)).lost;
}

/** Which statements of the context before are in the context after. */
export function* keptAndLost(
  before: ContextContents,
  after: ContextContents,
): Sliced<Pick<CompactionReceipt, 'kept' | 'lost'>> {
  return yield* compared(inContext(before), after, [...before.statements, ...before.summary]);
}

function* compared(
  earlier: readonly Statement[],
  after: ContextContents,
  sources: readonly SummaryItem[],
): Sliced<Pick<CompactionReceipt, 'kept' | 'lost'>> {
  const wordsIn = ({ term, text }: Statement): string => (term === undefined ? text : `${term} ${text}`);
  const missing = yield* missingFrom(earlier, inContext(after), wordsIn);
  // An excerpt quotes sentences verbatim, outside of their sections.
  const excerpts = after.summary.filter(({ section }) => section === 'importantReferences').map(({ text }) => text);
  const quoted = excerpts.join('\n');
  const messages = new Map<string, string>();
  for (const { text, messageId } of sources) if (!messages.has(text)) messages.set(text, messageId);
  const withMessage = (statement: Statement): Statement => {
    return { ...statement, messageId: messages.get(statement.text) };
  };
  // Goals and plans are valid only for a time, so they are not lost.
  const isLost = (one: Statement): boolean =>
    missing.has(one) && BINDING.includes(one.section) && !quoted.includes(one.text);
  const isKept = (one: Statement): boolean =>
    !missing.has(one) || (BINDING.includes(one.section) && quoted.includes(one.text));
  return { kept: earlier.filter(isKept).map(withMessage), lost: earlier.filter(isLost).map(withMessage) };
}

/** Comparing more would take long: the time is quadratic. */
const MOST_STATEMENTS = 2000;
const BINDING: readonly string[] = ['decisions', 'requirements', 'definitions'];

/** All statements in the context: those of the summary, and those of messages that are in it in full. */
function inContext({ summary, statements, isInFull }: ContextContents): Statement[] {
  return statementsOf(
    summary,
    statements.slice(-MOST_STATEMENTS).filter(({ messageId }) => isInFull(messageId)),
  );
}

/** The statements of a summary and further ones, each once. */
function statementsOf(summary: readonly SummaryItem[], more: readonly SummaryItem[]): Statement[] {
  const found = new Map<string, Statement>();
  for (const item of [...summary, ...more]) {
    const { text, term } = item;
    const section = STATEMENT_SECTIONS.find((name) => name === item.section);
    if (section === undefined || text.trim() === '') continue;
    const key = `${section} ${section === 'definitions' ? term : section === 'decisions' ? (item.id ?? text) : text}`;
    if (!found.has(key)) found.set(key, { section, text, ...(term !== undefined && { term }) });
  }
  return STATEMENT_SECTIONS.flatMap((name) => [...found.values()].filter(({ section }) => section === name));
}
