/** The sections of the rolling summary that items go to. */
export type Section = (typeof SECTIONS)[number];
/** All sections that items go to. */
export const SECTIONS = [
  'goals',
  'decisions',
  'requirements',
  'currentPlan',
  'openQuestions',
  'definitions',
  'importantReferences',
] as const;

/** One entry of the summary, taken from one message. */
export interface SummaryItem {
  section: Section;
  text: string;
  /** The message it comes from. */
  messageId: string;
  /** Its tokens in the summary. */
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

/** The rolling summary, as the API returns it. */
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

/** Sorts the items into their sections. */
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
    // fromEntries creates own properties, even for the name `__proto__`.
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

/** Tokens of a whole summary. An empty summary has none. */
export function summaryTokens(items: readonly SummaryItem[]): number {
  return items.reduce((sum, item) => sum + item.tokens, 0);
}
