import * as z from 'zod/mini';
import { badRequest } from '../base/errors.js';
import { count, described, label, namedObject } from '../base/fields.js';
import { type AreaRoutes, queryOf } from '../http/area-routes.js';
import { json } from '../http/plain-response.js';
import type { Usage } from '../store/usage.js';
import type { GatewayApiState } from './state.js';

const usageQuery = z.object({
  start_date: z.optional(described('YYYY-MM-DD', z.string())),
  end_date: z.optional(described('YYYY-MM-DD, inclusive.', z.string())),
});
const usageResponse = namedObject('UsageReport', {
  period: z.object({ start: label, end: label }),
  tokens_used: count,
  tokens_included: count,
  tokens_remaining: count,
  overage_tokens: count,
  estimated_overage_cost: z.number(),
  breakdown_by_model: z.record(label, count),
});
type UsageReport = z.infer<typeof usageResponse>;

/** `/v1/usage` */
export function usageRoutes(area: AreaRoutes, { settings, stores }: GatewayApiState): void {
  area.add('GET /v1/usage', {
    id: 'getUsage',
    summary: 'Get the tokens used in a period',
    query: usageQuery,
    responses: { 200: usageResponse },
    handle: (c) => {
      const { start_date, end_date } = queryOf(c);
      return json(usageReport(stores.usage, { start_date, end_date }, settings.clock.now(), stores.account.tokens));
    },
  });
}

/** A25: both dates are UTC days, and inclusive. Without dates, the period is the current month. */
function usageReport(
  usage: Usage,
  dates: { start_date?: string | undefined; end_date?: string | undefined },
  now: number,
  account: { includedTokens: number; overagePricePerMillion: number },
): UsageReport {
  const { start, end } = usagePeriod(dates, now);
  const byModel = usage.byModel(start, end);
  const used = [...byModel.values()].reduce((sum, tokens) => sum + tokens, 0);
  const overage = Math.max(0, used - account.includedTokens);
  return {
    period: { start, end },
    tokens_used: used,
    tokens_included: account.includedTokens,
    tokens_remaining: Math.max(0, account.includedTokens - used),
    overage_tokens: overage,
    estimated_overage_cost: (overage * account.overagePricePerMillion) / 1_000_000,
    breakdown_by_model: Object.fromEntries(byModel),
  };
}

/** The days of a report, both inclusive. */
export function usagePeriod(
  dates: { start_date?: string | undefined; end_date?: string | undefined },
  now: number,
): UsageReport['period'] {
  const today = new Date(now);
  const month = { start: firstOfMonth(today), end: lastOfMonth(today) };
  const start =
    calendarDay('start_date', dates.start_date) ??
    (dates.end_date === undefined ? month.start : `${dates.end_date.slice(0, 7)}-01`);
  const end = calendarDay('end_date', dates.end_date) ?? (start > month.end ? start : month.end);
  if (start > end) throw badRequest('start_date', 'start_date is after end_date');
  return { start, end };
}

function calendarDay(param: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const time = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(`${value}T00:00:00.000Z`) : Number.NaN;
  // Date.parse accepts February 30 as March 2.
  if (Number.isNaN(time) || dayOf(new Date(time)) !== value)
    throw badRequest(param, `${param} must be a date such as 2026-01-31`);
  return value;
}

function firstOfMonth(date: Date): string {
  return dayOf(new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)));
}

function lastOfMonth(date: Date): string {
  return dayOf(new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)));
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}
