import * as z from '#zod';
import type { APIPromise } from '../api-promise.js';
import { badArgument } from '../errors/validation.js';
import { type RequestOptions, requestOptionsSchema } from '../transport/options.js';
import { ownFields } from '../transport/request.js';
import type { Transport } from '../transport/transport.js';
import { checkArguments, fieldsOf } from '../transport/validation.js';
import { type UsageParams, type UsageReport, usageReportSchema } from './schemas.js';

/** `/v1/usage` */
export class Usage {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Tokens used in a period, by model, and what is left of those included. `GET /v1/usage`
   *
   * Dates are `'YYYY-MM-DD'`, or a `Date`, which counts as its day in UTC. Without them the service picks the period (A25).
   *
   * @throws {RequestValidationError} when a date does not exist, or the end is before the start
   * @throws {PermissionDeniedError} with a publishable key: it has no access to billing
   */
  retrieve(params: UsageParams = {}, options?: RequestOptions): APIPromise<UsageReport> {
    return this.#transport.request(
      () => ({ method: 'GET', path: '/v1/usage', query: periodOf(params), accepts: periodSchema }),
      USAGE,
      options,
    );
  }
}

const USAGE = { schema: usageReportSchema, pick: (report: UsageReport) => report };
/** What a day is, is said below. */
const periodSchema = z.strictObject({ start_date: z.optional(z.unknown()), end_date: z.optional(z.unknown()) });

function periodOf(params: UsageParams): { start_date?: string | undefined; end_date?: string | undefined } {
  const given: UsageParams = ownFields(params, fieldsOf(periodSchema));
  checkArguments(periodSchema, given, requestOptionsSchema);
  const start_date = dayOf(given.start_date, 'start_date');
  const end_date = dayOf(given.end_date, 'end_date');
  if (start_date !== undefined && end_date !== undefined && end_date < start_date) {
    throw badArgument(['end_date'], 'must not be before start_date');
  }
  return { start_date, end_date };
}

/** A day as the interface writes it. `2026-02-30` has the form of one and is none. */
function dayOf(date: unknown, field: string): string | undefined {
  if (date === undefined) return undefined;
  const isDate = date instanceof Date;
  const time = isDate || typeof date === 'string' ? new Date(date).getTime() : Number.NaN;
  const day = Number.isNaN(time) ? '' : new Date(time).toISOString().slice(0, -14);
  // Years beyond 9999 are written with a sign, and more digits than the interface has.
  if (day.length === 10 && (isDate || date === day)) return day;
  throw badArgument([field], "expected an existing day as 'YYYY-MM-DD', or a Date");
}
