import * as z from 'zod/mini';
import { checked, parseJson } from './body.js';
import { badRequest } from './errors.js';
import type { FaultResponse, FaultRule } from './faults.js';

/** A request that carries this header gets the fault it names. */
export const FAULT_HEADER = 'x-emulator-fault';

/**
 * The fault a header names: the JSON of a `respond`, or a short form such as `503`, `429=7`, `reset`, `reset-after`,
 * `stall`, `delay=500`, `malformed`, `content-type=text/html`, `cut`, `cut=3`, `cut=3:reset`, `garble=2`, `error=2`,
 * `drip=10:100`.
 */
export function parseFault(text: string): FaultResponse {
  const given = text.trim();
  if (given.startsWith('{')) return checkedFault(parseJson(given));
  const [name = '', value = ''] = splitOnce(given, '=');
  const [first = '', second = ''] = splitOnce(value, ':');
  if (/^[2-5]\d\d$/.test(name)) {
    return checkedFault({ status: Number(name), ...(value === '' ? {} : { retryAfter: Number(value) }) });
  }
  const short = SHORT_FORMS[name];
  if (short === undefined) throw badRequest(FAULT_HEADER, `${FAULT_HEADER}: not a fault: ${given.slice(0, 80)}`);
  return checkedFault(short(value, first, second));
}

/** A rule as JSON gives it; a 400 where it cannot be. */
export function checkedRule(value: unknown): FaultRule {
  const rule = checked(ruleSchema, value);
  return { ...rule, respond: rule.respond as FaultResponse };
}

function checkedFault(value: unknown): FaultResponse {
  // The schema has checked each form; the union type tells them apart by the same fields.
  return checked(respondSchema, value) as FaultResponse;
}

const SHORT_FORMS: Readonly<Record<string, (value: string, first: string, second: string) => object>> = {
  reset: () => ({ type: 'reset' }),
  'reset-after': () => ({ type: 'reset', when: 'after' }),
  stall: () => ({ type: 'stall' }),
  delay: (value) => ({ type: 'slow', delay: Number(value) }),
  garbage: () => ({ type: 'garbage' }),
  malformed: () => ({ type: 'malformed' }),
  'content-type': (value) => ({ type: 'contentType', contentType: value }),
  drip: (_, bytes, every) => ({ type: 'drip', bytes: Number(bytes), every: Number(every) }),
  'cut-body': (value) => ({ type: 'cutBody', afterBytes: Number(value) }),
  cut: (_, events, how) => ({
    type: 'cutStream',
    ...(events === '' ? {} : { afterEvents: Number(events) }),
    ...(how === '' ? {} : { how }),
  }),
  garble: (value) => ({ type: 'garbleStream', afterEvents: Number(value) }),
  error: (value) => ({ type: 'streamError', afterEvents: Number(value) }),
};

function splitOnce(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}

const count = z.int().check(z.gte(0));
const positive = z.int().check(z.gte(1));
const respondSchema = z.union([
  z.object({
    type: z.optional(z.literal('status')),
    status: z.int().check(z.gte(200), z.lte(599)),
    body: z.optional(z.unknown()),
    headers: z.optional(z.record(z.string(), z.string())),
    retryAfter: z.optional(z.number()),
    message: z.optional(z.string()),
  }),
  z.object({ type: z.enum(['stall', 'malformed']) }),
  z.object({ type: z.literal('reset'), when: z.optional(z.enum(['before', 'after'])) }),
  z.object({ type: z.literal('slow'), delay: z.number().check(z.gte(0)) }),
  z.object({ type: z.literal('garbage'), body: z.optional(z.string()), contentType: z.optional(z.string()) }),
  z.object({ type: z.literal('contentType'), contentType: z.string().check(z.minLength(1)) }),
  z.object({ type: z.literal('drip'), bytes: positive, every: z.number().check(z.gte(0)) }),
  z.object({ type: z.literal('cutBody'), afterBytes: count }),
  z.object({
    type: z.literal('cutStream'),
    afterEvents: z.optional(count),
    how: z.optional(z.enum(['end', 'reset', 'stall'])),
  }),
  z.object({ type: z.literal('garbleStream'), afterEvents: count }),
  z.object({
    type: z.literal('streamError'),
    afterEvents: count,
    error: z.optional(z.record(z.string(), z.unknown())),
  }),
]);

const ruleSchema = z.object({
  match: z.optional(
    z.object({
      method: z.optional(z.string()),
      path: z.optional(z.string()),
      header: z.optional(z.record(z.string(), z.string())),
      nth: z.optional(positive),
      probability: z.optional(z.number().check(z.gte(0), z.lte(1))),
    }),
  ),
  times: z.optional(positive),
  respond: respondSchema,
});
