import * as z from 'zod/mini';
import { checked } from '../base/checked.js';
import { gatewayError } from '../base/errors.js';
import { count, described, label, marked, maskedAs, named } from '../base/fields.js';

/** Statuses whose responses have no body. */
export const BODILESS_STATUSES: ReadonlySet<number> = new Set([204, 205, 304]);

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that delimit the response. The server sets them; to end a body early, there are separate faults. */
const FRAMING = /^(?:content-length|transfer-encoding|connection|keep-alive|upgrade|trailer|te)$/i;

const positive = z.int().check(z.gte(1));
const headerName = z.string().check(z.regex(HEADER_NAME, 'not a valid header name'));
const headerValue = z.string().check(z.regex(HEADER_VALUE, 'not a valid header value'));
const responseHeader = headerName.check(
  z.refine((name) => !FRAMING.test(name), 'this header is set by the server; to end a body early, use cutBody'),
);
/** Anything that can be serialized to JSON: no cycles, and not thousands of levels deep. */
const isSerializable = z.refine(isJson, 'cannot be converted to JSON');
const responseBody = marked('json', z.unknown().check(isSerializable));
const errorBody = maskedAs(gatewayError.shape.error, z.record(z.string(), z.unknown()).check(isSerializable));
const contentType = marked('media', headerValue);
const milliseconds = z.number().check(z.gte(0));

export const respondSchema = named(
  'FaultResponse',
  z.discriminatedUnion('type', [
    /** A response with this status. Without `body`, it has the error body of the API. `retryAfter` is in seconds. */
    z
      .object({
        type: z.optional(z.literal('status')),
        status: z.int().check(z.gte(200), z.lte(599)),
        body: z.optional(responseBody),
        headers: z.optional(marked('headers', z.record(responseHeader, headerValue))),
        retryAfter: z.optional(z.number().check(z.gte(0))),
        message: z.optional(z.string()),
      })
      .check(
        z.refine(({ status, body }) => body === undefined || !BODILESS_STATUSES.has(status), {
          path: ['body'],
          error: 'a response with this status has no body',
        }),
      ),
    /** The connection is reset without a response, before the work is done or after it. */
    z.object({ type: z.literal('reset'), when: z.optional(z.enum(['before', 'after'])) }),
    /** No response, until the client disconnects. */
    z.object({ type: z.literal('stall') }),
    /** The real response, delayed. */
    z.object({ type: z.literal('slow'), delay: milliseconds }),
    /** A 200 with an unrelated body. */
    z.object({ type: z.literal('garbage'), body: z.optional(z.string()), contentType: z.optional(contentType) }),
    /** The real response with another content type. */
    z.object({ type: z.literal('contentType'), contentType: contentType.check(z.minLength(1)) }),
    /** The real status and headers, but only half of the JSON. For a stream, half of its second event, then the rest. */
    z.object({ type: z.literal('malformed') }),
    /** The real response in pieces of this many bytes, with a pause before each. */
    z.object({ type: z.literal('drip'), bytes: positive, every: milliseconds }),
    /** The real response, cut off after this many bytes. */
    z.object({ type: z.literal('cutBody'), afterBytes: count }),
    /** The real stream, which ends, is reset or goes silent after this many events, or before `[DONE]`. */
    z.object({
      type: z.literal('cutStream'),
      afterEvents: z.optional(count),
      how: z.optional(z.enum(['end', 'reset', 'stall'])),
    }),
    /** The real stream, but the event after this many is not valid JSON. */
    z.object({ type: z.literal('garbleStream'), afterEvents: count }),
    /** The real stream, but after this many events it sends an error event and ends. */
    z.object({ type: z.literal('streamError'), afterEvents: count, error: z.optional(errorBody) }),
  ]),
);
/** What a fault does. */
export type FaultResponse = z.infer<typeof respondSchema>;

const matchForm = <Path extends z.ZodMiniType>(path: Path) =>
  z.object({
    method: z.optional(label),
    /** An exact path, a path that ends in `*`, or (in process) a regular expression. */
    path: z.optional(path),
    /** Headers with these values; `'*'` matches any value. */
    header: z.optional(marked('headers', z.record(headerName, z.string()))),
    /** Fires from the n-th matching request on. @default 1 */
    nth: z.optional(positive),
    /** Fires with this probability, from 0 to 1, derived from the emulator's seed. @default 1 */
    probability: z.optional(z.number().check(z.gte(0), z.lte(1))),
  });
const ruleForm = <Path extends z.ZodMiniType, Times extends z.ZodMiniType>(path: Path, times: Times) =>
  z.object({
    /** @default every request to both APIs */
    match: z.optional(matchForm(path)),
    /** How many requests it applies to. `Infinity`, or `null` in JSON: to all. @default 1 */
    times: z.optional(times),
    respond: respondSchema,
  });
const anyPath = z.union([z.string(), z.instanceof(RegExp)]);
const pathInJson = marked('path', z.string());
const ruleSchema = ruleForm(anyPath, z.union([z.nullable(positive), z.literal(Number.POSITIVE_INFINITY)]));
/** A fault, and the requests it applies to. */
export type FaultRule = z.infer<typeof ruleSchema>;
/** The requests that a fault applies to. All given fields must match. */
export type FaultMatch = NonNullable<FaultRule['match']>;

/** A rule in JSON. */
export const ruleInJson = named('FaultRule', ruleForm(pathInJson, z.nullable(positive)));
/** An active rule in JSON. */
export const activeFault = z.object({
  id: label,
  match: matchForm(pathInJson),
  remaining: described('How many more times it fires; null if without limit.', z.nullable(positive)),
  respond: respondSchema,
});

/** Checks a rule. Throws a 400 that names the first invalid field. */
export function checkedRule(value: unknown): FaultRule {
  return checked(ruleSchema, value, true);
}

/** Checks the `respond` of a rule. Throws a 400 that names the first invalid field. */
export function checkedFault(value: unknown): FaultResponse {
  return checked(respondSchema, value, true);
}

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}
