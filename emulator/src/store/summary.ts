import * as z from 'zod/mini';
import { count, described, exact, id, label, namedObject, time } from '../base/fields.js';

/** The sections of the rolling summary that items go to. */
export type Section = (typeof SECTIONS)[number];
/** All sections that items go to. */
const SECTIONS = [
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
  id?: string | undefined;
  reason?: string | undefined;
  timestamp?: string | undefined;
  /** Definitions: the term that `text` explains. */
  term?: string | undefined;
  /** References: kind and label. */
  type?: string | undefined;
  label?: string | undefined;
}

export const summaryItem = exact<SummaryItem>()(
  z.object({
    section: z.enum(SECTIONS),
    text: z.string(),
    messageId: id,
    tokens: z.number().check(z.gte(0)),
    id: z.optional(label),
    reason: z.optional(z.string()),
    timestamp: z.optional(label),
    term: z.optional(z.string()),
    type: z.optional(label),
    label: z.optional(z.string()),
  }),
);

/** Set by the program, such as `{ tone: 'short' }` (A1). */
export const stylePreferences = z.record(label, z.unknown());
const texts = z.array(z.string());

/** The rolling summary, as the API returns it. */
export interface RollingSummary {
  goals: string[];
  decisions: { id: string; decision: string; reason: string; timestamp: string }[];
  requirements: string[];
  currentPlan: string[];
  openQuestions: string[];
  /** Maps each term to its meaning. */
  definitions: Record<string, string>;
  importantReferences: { type: string; value: string; label: string }[];
  stylePreferences: Record<string, unknown>;
  lastUpdated: string;
  /** Increases by one whenever the summary changes. */
  version: number;
}

export const rollingSummary = exact<RollingSummary>()(
  namedObject('RollingSummary', {
    goals: texts,
    decisions: z.array(z.object({ id: label, decision: z.string(), reason: z.string(), timestamp: label })),
    requirements: texts,
    currentPlan: texts,
    openQuestions: texts,
    definitions: described('Maps each term to its meaning.', z.record(z.string(), z.string())),
    importantReferences: z.array(z.object({ type: label, value: z.string(), label: z.string() })),
    stylePreferences,
    lastUpdated: time,
    version: described('Increases by one whenever the summary changes.', count),
  }),
);

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
