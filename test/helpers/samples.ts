/** Documented responses, for tests that change one detail. Each call returns a fresh copy that a test may change. */

export const rollingSummary = () => ({
  goals: ['Ship the export'],
  decisions: [
    { id: 'd1', decision: 'Use Parquet', reason: 'It loads directly', timestamp: '2026-01-05T09:00:00.000Z' },
  ],
  requirements: ['Done by six'],
  currentPlan: ['Dry run'],
  openQuestions: ['Who goes first?'],
  definitions: { manifest: 'list of files' } as Record<string, unknown>,
  importantReferences: [{ type: 'file', value: 'jobs/export.py', label: 'export job' }],
  stylePreferences: {},
  lastUpdated: '2026-01-05T09:30:00.000Z',
  version: 3,
});

export const pinnedItem = () => ({
  id: 'pin1',
  messageId: 'm1',
  content: 'Use Parquet.',
  category: 'decision',
  pinnedAt: '2026-01-05T09:00:00.000Z',
});

export const metadata = () => ({
  totalTokens: 1_000,
  compressedTokens: 200,
  preservationRatio: 0.2,
  lastCompactionAt: '2026-01-05T09:30:00.000Z' as unknown,
  recentMessageCount: 10,
});

export const contextAnswer = () => ({
  success: true,
  context: { rollingSummary: rollingSummary(), pinnedMemory: [pinnedItem()], metadata: metadata() },
});

export const compactAnswer = () => ({
  success: true,
  result: { success: true, previousTokenCount: 900, newTokenCount: 300, tokensRemoved: 600, summaryUpdated: true },
});

export const memoryItem = () => ({ id: 'mem1', type: 'fact', key: 'editor', content: 'Uses vim.' });

export const completion = () => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_767_600_000,
  model: 'atlas-small',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Rhine.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
});

export const usageReport = () => ({
  period: { start: '2026-01-01', end: '2026-01-31' },
  tokens_used: 12,
  tokens_included: 100,
  tokens_remaining: 88,
  overage_tokens: 0,
  estimated_overage_cost: 0,
  breakdown_by_model: { 'atlas-small': 12 } as Record<string, unknown>,
});

/** The required parameters of a completion. */
export const chatParams = { model: 'atlas-small', messages: [{ role: 'user' as const, content: 'Name a river.' }] };

type Path = readonly (string | number)[];

/** The value at a path, such as `['choices', 0, 'index']`. */
export const valueAt = (value: object, path: Path): unknown =>
  path.reduce<unknown>((at, key) => (at as Record<string | number, unknown>)[key], value);

/** A copy with the value at a path replaced. `undefined` removes the field. */
export function changed<T extends object>(value: T, path: Path, replacement: unknown): T {
  const copy = structuredClone(value);
  const parent = valueAt(copy, path.slice(0, -1)) as Record<string | number, unknown>;
  const last = path.at(-1) ?? '';
  if (replacement === undefined) delete parent[last];
  else parent[last] = replacement;
  return copy;
}
