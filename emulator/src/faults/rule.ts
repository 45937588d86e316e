import * as z from 'zod/mini';
import { checked } from '../base/checked.js';
import { gatewayError } from '../base/errors.js';
import { count, described, exact, label, marked, maskedAs, named } from '../base/fields.js';

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

/** What a fault does. */
export type FaultResponse =
  /** A response with this status. Without `body`, it has the error body of the API. `retryAfter` is in seconds. */
  | {
      type?: 'status' | undefined;
      status: number;
      body?: unknown;
      headers?: Record<string, string> | undefined;
      retryAfter?: number | undefined;
      message?: string | undefined;
    }
  /** The connection is reset without a response, before the work is done or after it. */
  | { type: 'reset'; when?: 'before' | 'after' | undefined }
  /** No response, until the client disconnects. */
  | { type: 'stall' }
  /** The real response, delayed by this many milliseconds. */
  | { type: 'slow'; delay: number }
  /** A 200 with an unrelated body. */
  | { type: 'garbage'; body?: string | undefined; contentType?: string | undefined }
  /** The real response with another content type. */
  | { type: 'contentType'; contentType: string }
  /** The real status and headers, but only half of the JSON. For a stream, half of its second event, then the rest. */
  | { type: 'malformed' }
  /** The real response in pieces of this many bytes, with a pause of this many milliseconds before each. */
  | { type: 'drip'; bytes: number; every: number }
  /** The real response, cut off after this many bytes. */
  | { type: 'cutBody'; afterBytes: number }
  /** The real stream, which ends, is reset or goes silent after this many events, or before `[DONE]`. */
  | { type: 'cutStream'; afterEvents?: number | undefined; how?: 'end' | 'reset' | 'stall' | undefined }
  /** The real stream, but the event after this many is not valid JSON. */
  | { type: 'garbleStream'; afterEvents: number }
  /** The real stream, but after this many events it sends an error event and ends. */
  | { type: 'streamError'; afterEvents: number; error?: Record<string, unknown> | undefined };

export const respondSchema = exact<FaultResponse>()(
  named(
    'FaultResponse',
    z.discriminatedUnion('type', [
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
      z.object({ type: z.literal('reset'), when: z.optional(z.enum(['before', 'after'])) }),
      z.object({ type: z.literal('stall') }),
      z.object({ type: z.literal('slow'), delay: milliseconds }),
      z.object({ type: z.literal('garbage'), body: z.optional(z.string()), contentType: z.optional(contentType) }),
      z.object({ type: z.literal('contentType'), contentType: contentType.check(z.minLength(1)) }),
      z.object({ type: z.literal('malformed') }),
      z.object({ type: z.literal('drip'), bytes: positive, every: milliseconds }),
      z.object({ type: z.literal('cutBody'), afterBytes: count }),
      z.object({
        type: z.literal('cutStream'),
        afterEvents: z.optional(count),
        how: z.optional(z.enum(['end', 'reset', 'stall'])),
      }),
      z.object({ type: z.literal('garbleStream'), afterEvents: count }),
      z.object({ type: z.literal('streamError'), afterEvents: count, error: z.optional(errorBody) }),
    ]),
  ),
);

/** The requests that a fault applies to. All given fields must match. */
export interface FaultMatch {
  method?: string | undefined;
  /** An exact path, a path that ends in `*`, or (in process) a regular expression. */
  path?: string | RegExp | undefined;
  /** Headers with these values; `'*'` matches any value. */
  header?: Record<string, string> | undefined;
  /** Fires from the n-th matching request on. @default 1 */
  nth?: number | undefined;
  /** Fires with this probability, from 0 to 1, derived from the emulator's seed. @default 1 */
  probability?: number | undefined;
}

/** A fault, and the requests it applies to. */
export interface FaultRule {
  /** @default every request to both APIs */
  match?: FaultMatch | undefined;
  /** How many requests it applies to. `Infinity`, or `null` in JSON: to all. @default 1 */
  times?: number | null | undefined;
  respond: FaultResponse;
}

const matchForm = <Path extends z.ZodMiniType>(path: Path) =>
  z.object({
    method: z.optional(label),
    path: z.optional(path),
    header: z.optional(marked('headers', z.record(headerName, z.string()))),
    nth: z.optional(positive),
    probability: z.optional(z.number().check(z.gte(0), z.lte(1))),
  });
const ruleForm = <Path extends z.ZodMiniType, Times extends z.ZodMiniType>(path: Path, times: Times) =>
  z.object({ match: z.optional(matchForm(path)), times: z.optional(times), respond: respondSchema });
const anyPath = z.union([z.string(), z.instanceof(RegExp)]);
const pathInJson = marked('path', z.string());
const ruleSchema = exact<FaultRule>()(
  ruleForm(anyPath, z.union([z.nullable(positive), z.literal(Number.POSITIVE_INFINITY)])),
);

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
