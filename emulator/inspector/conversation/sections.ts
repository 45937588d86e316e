import type { RollingSummary, Section } from '../../src/store/summary.js';

/** The sections of a summary, in reading order. */
export const SECTIONS: readonly { section: Section; title: string }[] = [
  { section: 'goals', title: 'Goals' },
  { section: 'decisions', title: 'Decisions' },
  { section: 'requirements', title: 'Requirements' },
  { section: 'currentPlan', title: 'Current plan' },
  { section: 'openQuestions', title: 'Open questions' },
  { section: 'definitions', title: 'Definitions' },
  { section: 'importantReferences', title: 'References' },
];

/** An entry of a summary as text. */
export interface Line {
  text: string;
  note: string;
  tag?: string;
}

/** The entries of one section. */
export function linesOf(summary: RollingSummary, section: Section): Line[] {
  switch (section) {
    case 'decisions':
      return summary.decisions.map(({ decision, reason }) => ({ text: decision, note: reason }));
    case 'definitions':
      return Object.entries(summary.definitions).map(([text, note]) => ({ text, note }));
    case 'importantReferences':
      return summary.importantReferences.map(({ type, value, label }) => ({ text: value, note: label, tag: type }));
    default:
      return summary[section].map((text) => ({ text, note: '' }));
  }
}
