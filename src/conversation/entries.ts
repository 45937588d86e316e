import type { RollingSummary } from '../index.js';

/** The section of a summary that contains an entry. */
export type EntrySection = 'goals' | 'requirements' | 'decisions' | 'currentPlan' | 'definitions';

/** One statement of a summary. */
export interface SummaryEntry {
  section: EntrySection;
  text: string;
  /** For decisions: the service's id. */
  id?: string | undefined;
  /** For decisions: the reason. */
  reason?: string | undefined;
  /** For decisions: the time, in ISO 8601. */
  timestamp?: string | undefined;
  /** For definitions: the term that `text` explains. */
  term?: string | undefined;
}

/** Lists the statements of a summary. */
export function entriesOf(summary: RollingSummary): SummaryEntry[] {
  const texts = (section: 'goals' | 'requirements' | 'currentPlan'): SummaryEntry[] =>
    summary[section].map((text) => ({ section, text }));
  return [
    ...texts('goals'),
    ...texts('requirements'),
    ...summary.decisions.map(
      ({ id, decision, reason, timestamp }): SummaryEntry => ({
        section: 'decisions',
        text: decision,
        id,
        timestamp,
        ...(reason !== '' && { reason }),
      }),
    ),
    ...texts('currentPlan'),
    ...Object.entries(summary.definitions)
      .sort(([a], [b]) => compare(a, b))
      .map(([term, text]): SummaryEntry => ({ section: 'definitions', text, term })),
  ];
}

/** Whether an entry is valid until it is revoked. Goals and plans are not. */
export function isBinding({ section }: SummaryEntry): boolean {
  return section === 'decisions' || section === 'requirements' || section === 'definitions';
}

/** Compares by code units, so that the order does not depend on the locale. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
