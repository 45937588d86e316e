import * as z from 'zod/mini';
import { usagePeriod } from '../../api/usage.js';
import { count, described } from '../../base/fields.js';
import type { Stores } from '../../store/stores.js';
import type { UsageEntry } from '../../store/usage.js';
import { titleOf } from './conversation-search.js';

/** What the tokens of a period are summed up by. */
export const COSTS_BY = ['key', 'model', 'conversation', 'day'] as const;
const sum = { requests: count, prompt: count, completion: count, tokens: count, cost: described('USD', z.number()) };
export const costResponse = z.object({
  by: z.enum(COSTS_BY),
  period: z.object({ start: z.string(), end: z.string() }),
  pricePerMillion: z.number(),
  includedTokens: z.number(),
  total: z.object(sum),
  overageCost: described('USD, as the account is billed.', z.number()),
  groups: z.array(
    z.object({
      id: described('Empty if it is not known.', z.string()),
      name: z.string(),
      ...sum,
      days: z.array(z.object({ day: z.string(), tokens: count, cost: z.number() })),
    }),
  ),
});
/** What a period cost. */
export type CostReport = z.infer<typeof costResponse>;
type CostGroup = CostReport['groups'][number];

/** Sums up the used tokens of a period. */
export function costReport(
  stores: Stores,
  now: number,
  { by = 'key', from, to }: { by?: CostReport['by'] | undefined; from?: string | undefined; to?: string | undefined },
): CostReport {
  const period = usagePeriod({ start_date: from, end_date: to }, now);
  const { includedTokens, overagePricePerMillion: pricePerMillion } = stores.account.tokens;
  const costOf = (tokens: number): number => (tokens * pricePerMillion) / 1_000_000;
  const total: CostReport['total'] = { requests: 0, prompt: 0, completion: 0, tokens: 0, cost: 0 };
  const groups = new Map<string, CostGroup>();
  for (const entry of stores.usage.entries()) {
    if (entry.day < period.start || entry.day > period.end) continue;
    const { id, name } = groupOf(entry, by, stores);
    const group = groups.get(id) ?? { id, name, requests: 0, prompt: 0, completion: 0, tokens: 0, cost: 0, days: [] };
    groups.set(id, group);
    for (const sum of [total, group]) add(sum, entry, costOf);
    const day = group.days.find((one) => one.day === entry.day);
    const tokens = (day?.tokens ?? 0) + entry.tokens;
    if (day === undefined) group.days.push({ day: entry.day, tokens, cost: costOf(tokens) });
    else Object.assign(day, { tokens, cost: costOf(tokens) });
  }
  for (const { days } of groups.values()) days.sort((a, b) => (a.day < b.day ? -1 : 1));
  const order = (a: CostGroup, b: CostGroup): number => (by === 'day' ? (a.id < b.id ? -1 : 1) : b.tokens - a.tokens);
  const overageCost = costOf(Math.max(0, total.tokens - includedTokens));
  return { by, period, pricePerMillion, includedTokens, total, overageCost, groups: [...groups.values()].sort(order) };
}

function add(
  sum: CostReport['total'],
  { requests = 0, prompt, tokens }: UsageEntry,
  costOf: (tokens: number) => number,
): void {
  sum.requests += requests;
  sum.prompt += prompt ?? 0;
  sum.completion += prompt === undefined ? 0 : tokens - prompt;
  sum.tokens += tokens;
  sum.cost = costOf(sum.tokens);
}

function groupOf({ day, model, key, conversation }: UsageEntry, by: CostReport['by'], stores: Stores) {
  if (by === 'day') return { id: day, name: day };
  if (by === 'model') return { id: model, name: model };
  if (by === 'key') return { id: key?.id ?? '', name: key?.name ?? 'unknown' };
  const id = conversation ?? '';
  return { id, name: id === '' ? 'unknown' : titleOf(stores, id) || id };
}
