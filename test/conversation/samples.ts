import type {
  CompactionResult,
  ContextMetadata,
  Decision,
  PinnedMemoryItem,
  RollingSummary,
  UserMemoryItem,
} from 'context-gateway';

const TIME = '2026-01-15T10:00:00.000Z';

export function summary(parts: Partial<RollingSummary> = {}): RollingSummary {
  return {
    goals: [],
    decisions: [],
    requirements: [],
    currentPlan: [],
    openQuestions: [],
    definitions: {},
    importantReferences: [],
    stylePreferences: {},
    lastUpdated: TIME,
    version: 1,
    ...parts,
  };
}

export function decision(text: string, more: Partial<Decision> = {}): Decision {
  return { id: `dec_${text.length}_${text.slice(0, 9)}`, decision: text, reason: '', timestamp: TIME, ...more };
}

export function pin(content: string, messageId = 'm1'): PinnedMemoryItem {
  return { id: `pin_${messageId}`, messageId, content, category: 'other', pinnedAt: TIME };
}

export function memory(type: string, key: string, content: string, more: Partial<UserMemoryItem> = {}): UserMemoryItem {
  return { id: `mem_${key}`, type, key, content, ...more };
}

export function metadata(figures: Partial<ContextMetadata> = {}): ContextMetadata {
  return { totalTokens: 1000, compressedTokens: 1000, preservationRatio: 1, recentMessageCount: 10, ...figures };
}

/** The service's response to a compaction that left so many tokens. */
export function compacted(previousTokenCount: number, newTokenCount: number, summaryUpdated = true): Response {
  const tokensRemoved = previousTokenCount - newTokenCount;
  const result: CompactionResult = { success: true, previousTokenCount, newTokenCount, tokensRemoved, summaryUpdated };
  return Response.json({ success: true, result });
}

/** A context with every kind of part. */
export function everything() {
  return {
    summary: summary({
      goals: ['Ship before summer.'],
      requirements: ['No data is lost.'],
      decisions: [decision('We use Postgres.', { reason: 'it has constraints' })],
      currentPlan: ['Write the schema.'],
      openQuestions: ['Who runs it?'],
      definitions: { quota: 'spaces of one terminal', berth: 'where a boat lies' },
      importantReferences: [{ type: 'file', value: 'schema.sql', label: 'the schema' }],
    }),
    pins: [pin('Pinned word for word.')],
    memory: [
      memory('constraint', 'privacy', 'Number plates are deleted.'),
      memory('preference', 'style', 'Short answers.'),
      memory('fact', 'city', 'Oslo'),
      memory('definition', 'deck', 'where cars stand'),
    ],
  };
}
