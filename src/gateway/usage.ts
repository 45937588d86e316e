import * as z from 'zod/mini';
import type { APIPromise } from '../base/api-promise.js';
import { Resource } from '../call/resource.js';
import { badArgument } from '../errors/validation.js';
import type { RequestOptions } from '../request/request-options.js';
import { count, exact, integer, mapOf, wireObject } from '../validation/fields.js';

/** Token usage in a period. */
export interface UsageReport {
  /** Dates, the end day included. */
  period: { start: string; end: string };
  tokens_used: number;
  tokens_included: number;
  tokens_remaining: number;
  overage_tokens: number;
  estimated_overage_cost: number;
  /** Model id to tokens. */
  breakdown_by_model: Record<string, number>;
}

export const usageReportSchema = exact<UsageReport>()(
  wireObject({
    period: wireObject({ start: z.string(), end: z.string() }),
    tokens_used: count,
    tokens_included: count,
    tokens_remaining: integer,
    overage_tokens: count,
    estimated_overage_cost: z.number(),
    breakdown_by_model: mapOf(count),
  }),
);

/** Arguments of `usage.retrieve`. A `Date` stands for its day in UTC. */
export type UsageParams = {
  /** The first day: `'2026-01-31'` or a `Date`. */
  start_date?: string | Date | undefined;
  /** The last day, included. */
  end_date?: string | Date | undefined;
};

const USAGE = { schema: usageReportSchema, unwrap: (report: UsageReport) => report };

/** `/v1/usage` */
export class Usage extends Resource {
  /**
   * Get the tokens used in a period, by model, and how many included tokens are left. `GET /v1/usage`
   *
   * A date is a `'YYYY-MM-DD'` string, or a `Date`, which stands for its day in UTC. Without dates the service picks
   * the period.
   *
   * @throws {RequestValidationError} when a date does not exist, or the end is before the start
   * @throws {PermissionDeniedError} if the key may not read usage, such as a publishable key
   *
   * @example
   * ```ts
   * const march = await gateway.usage.retrieve({ start_date: '2026-03-01', end_date: '2026-03-31' });
   * console.log(`${march.tokens_used} of ${march.tokens_included} tokens used`);
   * ```
   */
  retrieve(params?: UsageParams, options?: RequestOptions): APIPromise<UsageReport> {
    return this.transport.request(
      { method: 'GET', path: '/v1/usage', query: params, accepts: periodSchema, shape: periodOf },
      USAGE,
      options,
    );
  }
}

/** `dayOf` checks the dates. */
const periodSchema = z.strictObject({ start_date: z.optional(z.unknown()), end_date: z.optional(z.unknown()) });

function periodOf(given: UsageParams): { start_date?: string | undefined; end_date?: string | undefined } {
  const start_date = dayOf(given.start_date, 'start_date');
  const end_date = dayOf(given.end_date, 'end_date');
  if (start_date !== undefined && end_date !== undefined && end_date < start_date) {
    throw badArgument(['end_date'], 'must not be before start_date');
  }
  return { start_date, end_date };
}

/** Formats a day as `YYYY-MM-DD`. Rejects days that do not exist, such as `2026-02-30`. */
function dayOf(date: unknown, field: string): string | undefined {
  if (date === undefined) return undefined;
  const isDate = date instanceof Date;
  const time = isDate || typeof date === 'string' ? new Date(date).getTime() : Number.NaN;
  const day = Number.isNaN(time) ? '' : new Date(time).toISOString().slice(0, -14);
  // ISO strings of years beyond 9999 have a sign and more digits, which the API does not accept.
  if (day.length === 10 && (isDate || date === day)) return day;
  throw badArgument([field], "expected an existing day as 'YYYY-MM-DD', or a Date");
}
