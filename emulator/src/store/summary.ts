/** The sections of the rolling summary that items go to. */
export type Section = (typeof SECTIONS)[number];
/** Every one there is. */
export const SECTIONS = [
  'goals',
  'decisions',
  'requirements',
  'currentPlan',
  'openQuestions',
  'definitions',
  'importantReferences',
] as const;

/** One entry of the summary, taken from one sentence of one message. */
export interface SummaryItem {
  section: Section;
  text: string;
  /** The message it comes from. */
  messageId: string;
  /** Tokens it costs in the summary. */
  tokens: number;
  /** Decisions: stable id, reason, time of the message. */
  id?: string;
  reason?: string;
  timestamp?: string;
  /** Definitions: the term that `text` explains. */
  term?: string;
  /** References: kind and label. */
  type?: string;
  label?: string;
}

/** The rolling summary in the form of the interface. */
export interface RollingSummary {
  goals: string[];
  decisions: { id: string; decision: string; reason: string; timestamp: string }[];
  requirements: string[];
  currentPlan: string[];
  openQuestions: string[];
  definitions: Record<string, string>;
  importantReferences: { type: string; value: string; label: string }[];
  stylePreferences: Record<string, unknown>;
  lastUpdated: string;
  version: number;
}

/** The items sorted into their sections. */
export function renderSummary(
  items: readonly SummaryItem[],
  state: { stylePreferences: Record<string, unknown>; lastUpdated: string; version: number },
): RollingSummary {
  const texts = (section: Section): string[] =>
    items.filter((item) => item.section === section).map((item) => item.text);
  const of = (section: Section): SummaryItem[] => items.filter((item) => item.section === section);
  return {
    goals: texts('goals'),
    decisions: of('decisions').map((item) => ({
      id: item.id ?? '',
      decision: item.text,
      reason: item.reason ?? '',
      timestamp: item.timestamp ?? '',
    })),
    requirements: texts('requirements'),
    currentPlan: texts('currentPlan'),
    openQuestions: texts('openQuestions'),
    // fromEntries makes own properties of any name, `__proto__` too.
    definitions: Object.fromEntries(of('definitions').map((item) => [item.term ?? '', item.text])),
    importantReferences: of('importantReferences').map((item) => ({
      type: item.type ?? 'value',
      value: item.text,
      label: item.label ?? '',
    })),
    stylePreferences: state.stylePreferences,
    lastUpdated: state.lastUpdated,
    version: state.version,
  };
}

/** Tokens of a whole summary; an empty one costs nothing. */
export function summaryTokens(items: readonly SummaryItem[]): number {
  return items.reduce((sum, item) => sum + item.tokens, 0);
}
