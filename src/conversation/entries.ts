import type { RollingSummary } from '../index.js';

/** Where an entry stands in the summary. */
export type EntrySection = 'goals' | 'requirements' | 'decisions' | 'currentPlan' | 'definitions';

/** One statement of a summary. */
export interface SummaryEntry {
  section: EntrySection;
  text: string;
  /** Decisions: the service's id. */
  id?: string | undefined;
  /** Decisions: why. */
  reason?: string | undefined;
  /** Decisions: ISO 8601. */
  timestamp?: string | undefined;
  /** Definitions: the term that `text` explains. */
  term?: string | undefined;
}

/** The statements of a summary, one by one. */
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

/** What holds until it is revoked, unlike goals and plans. */
export function isBinding({ section }: SummaryEntry): boolean {
  return section === 'decisions' || section === 'requirements' || section === 'definitions';
}

/** By code units: the same order everywhere. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
