import type { RollingSummary } from '../../index.js';
import type { SummaryEntry } from '../model.js';

/** Lists the statements of a summary. Ignores fields that are missing or damaged. */
export function entriesOf(summary: RollingSummary): SummaryEntry[] {
  const entries: SummaryEntry[] = [
    ...textsOf(summary.goals).map((text) => ({ section: 'goals' as const, text })),
    ...textsOf(summary.requirements).map((text) => ({ section: 'requirements' as const, text })),
    ...listOf(summary.decisions).map(({ id, decision, reason, timestamp }) => ({
      section: 'decisions' as const,
      text: decision,
      id,
      timestamp,
      ...(reason && { reason }),
    })),
    ...textsOf(summary.currentPlan).map((text) => ({ section: 'currentPlan' as const, text })),
    ...Object.entries(summary.definitions ?? {})
      .sort(([a], [b]) => compare(a, b))
      .map(([term, text]) => ({ section: 'definitions' as const, text, term })),
  ];
  return entries.filter(({ text }) => typeof text === 'string' && text.trim() !== '');
}

/** The objects of a list that may be missing or damaged: with `validation: 'report'` the service may send anything. */
export function listOf<T extends object>(list: readonly T[] | undefined): readonly T[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'object' && item !== null) : [];
}

/** The texts of such a list. */
export function textsOf(list: readonly string[] | undefined): readonly string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}

/** Compares by code units, so that the order does not depend on the locale. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
