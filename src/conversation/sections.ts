import type { ContextSection } from './prompt.js';

/** The heading of each section, in rendering order. */
export const HEADINGS: Readonly<Record<ContextSection, string>> = {
  constraints: 'Constraints',
  definitions: 'Definitions',
  preferences: 'Preferences',
  facts: 'Facts',
  goals: 'Goals',
  requirements: 'Requirements',
  decisions: 'Decisions',
  currentPlan: 'Current plan',
  openQuestions: 'Open questions',
  pinnedMemory: 'Pinned',
  importantReferences: 'References',
  recovered: 'Said earlier, and still on record',
};

// The cast is true: the record has these keys and no others.
export const SECTIONS = Object.keys(HEADINGS) as readonly ContextSection[];

/** The sections for memory items. */
export const MEMORY_SECTIONS = SECTIONS.slice(0, 4);
