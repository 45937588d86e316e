import * as z from 'zod/mini';
import { LIST_FORMS, type ListForm } from './api/lists.js';
import { type Clock, manualClock, systemClock } from './base/clock.js';
import { RATE_LIMIT_RESETS, type RateLimitReset } from './http/admission.js';
import { type Plan, type PlanName, type RateLimit, resolvePlan } from './store/account.js';
import { SUMMARIZERS, type SummarizerName } from './store/conversation-records.js';
import type { Storage } from './store/storage.js';
import type { UpstreamOptions } from './upstream/model-source.js';

/** How a stream is paced. */
export interface StreamPace {
  /** Milliseconds until the first content chunk. @default 0 */
  ttft?: number | undefined;
  /** @default no limit */
  tokensPerSecond?: number | undefined;
  /** The content of one chunk. @default 'token' */
  chunkBy?: 'token' | 'word' | 'char' | undefined;
  /** The most bytes per write. Small values split characters and line ends. @default whole events */
  splitBytes?: number | undefined;
  /** How lines end. @default 'lf' */
  lineEnd?: 'lf' | 'crlf' | 'cr' | undefined;
  /** Milliseconds of silence after which a comment line is sent. @default none */
  heartbeat?: number | undefined;
}

/** Settings of the emulated service. All are optional. */
export interface ServiceOptions {
  /** Generates the same ids, keys and tokens on every run. @default random */
  seed?: string | number | undefined;
  /** The clock. @default the system's clock */
  clock?: Clock | undefined;
  /** Sets a clock that stands still at this time until it is advanced. */
  now?: Date | string | number | undefined;
  /** The account's plan: a name, or your own plan. @default 'agency' */
  plan?: PlanName | Plan | undefined;
  /**
   * Rate limits, in fixed windows. A number is requests per minute.
   * @default those of the plan: gateway 1000, context 300, compact 20 (A12)
   */
  limits?:
    | {
        gateway?: RateLimit | number | undefined;
        context?: RateLimit | number | undefined;
        compact?: RateLimit | number | undefined;
        /** Tokens of completions: prompt and answer. @default no limit */
        tokens?: RateLimit | number | undefined;
      }
    | undefined;
  /** The most bytes of an uploaded file (A14). @default 32 MiB */
  maxFileSize?: number | undefined;
  /** The most bytes of a JSON body. @default 8 MiB */
  maxBodySize?: number | undefined;
  /** The most tokens of a reply, if the request sets no `max_tokens` (A14). @default 4096 */
  maxTokens?: number | undefined;
  /** The included tokens per month, and the price of a million more (A25). @default those of the plan: 10 million, 2 */
  usage?: { includedTokens?: number | undefined; overagePricePerMillion?: number | undefined } | undefined;
  /**
   * The endpoints that a publishable key may call (A9), as `METHOD /path`.
   * @default `GET /v1/presets`, `GET /v1/integrations` and `POST /v1/chat/completions`
   */
  publishableEndpoints?: readonly string[] | undefined;
  /**
   * The header of the session token (A8). With an empty scheme, it contains only the token.
   * @default Authorization, Bearer
   */
  sessionHeader?: { name?: string | undefined; scheme?: string | undefined } | undefined;
  /** The unit of `X-RateLimit-Reset` (A13). @default 'epoch-seconds' */
  rateLimitReset?: RateLimitReset | undefined;
  /**
   * CORS: which origins may call, and whether they may read our headers. `false` turns CORS off.
   * @default any origin, or with a seed only pages of this machine, because the keys are not secret; headers exposed
   */
  cors?: { origins?: '*' | readonly string[] | undefined; exposeHeaders?: boolean | undefined } | false | undefined;
  /**
   * Opens the control plane and the inspector to other machines. Then only requests that send this token as
   * `Authorization: Bearer` may use them.
   * @default none: only this machine may use them
   */
  controlToken?: string | undefined;
  /** Milliseconds before every response of both APIs. @default 0 */
  latency?: number | undefined;
  /** How streams are paced. @default no delay, a chunk per token */
  pace?: StreamPace | undefined;
  /**
   * How lists are wrapped (A3): `{ data }`, a bare array, `{ presets }`/`{ integrations }`, or `{ items }`.
   * @default 'data'
   */
  listForm?: ListForm | undefined;
  /** The default and the largest `limit` of the presets list (A14). @default 50, 100 */
  presetsLimit?: { default?: number | undefined; max?: number | undefined } | undefined;
  /** A directory in which to store everything, in one file. @default in memory */
  data?: string | undefined;
  /** Your own store of records, instead of `data`. */
  storage?: Storage | undefined;
  /** Rejects undocumented body fields with a 400. @default false */
  strict?: boolean | undefined;
  /** An OpenAI-compatible server that generates completions. @default none; no connection is opened */
  upstream?: UpstreamOptions | undefined;
  /** Records upstream responses in a directory, or replays them without a connection. */
  cassettes?: { directory: string; mode: 'record' | 'replay' } | undefined;
  /** What writes summaries. `'upstream'` is a model; if it fails, the extractive engine does. @default 'extractive' */
  summarizer?: SummarizerName | undefined;
}

/** Checks the options, and fills in the defaults. Throws a RangeError that names an invalid option. */
export function resolveSettings({ now, clock, ...options }: ServiceOptions) {
  // The compiler compares the schema with the interface.
  const given: z.input<typeof SETTINGS> = options;
  const { usage, ...settings } = checkedSettings(given);
  return { ...settings, ...usage, clock: clock ?? (now === undefined ? systemClock() : manualClock(now)) };
}

function checkedSettings(given: z.input<typeof SETTINGS>): z.output<typeof SETTINGS> {
  const { data, error } = z.safeParse(SETTINGS, given, { reportInput: true });
  if (data !== undefined) return data;
  const { path, input, message, values } = innermost(error.issues[0] as Problem);
  const expected = values === undefined ? message : `expected one of ${values.join(', ')}`;
  throw new RangeError(`${path.join('.')}: ${expected}, got ${JSON.stringify(input)}`);
}

type Problem = Pick<z.core.$ZodIssue, 'path' | 'input' | 'message'> & {
  values?: readonly unknown[];
  errors?: Problem[][];
};

/** Of a problem with every form that an option may have, the one that is closest to the value. */
function innermost(problem: Problem): Problem {
  const [closest] = (problem.errors ?? []).flat().sort((a, b) => b.path.length - a.path.length);
  return closest === undefined ? problem : innermost({ ...closest, path: [...problem.path, ...closest.path] });
}

const atLeastZero = z.custom<number>((n) => typeof n === 'number' && n >= 0, 'expected a number of at least 0');
const positive = z.custom<number>((n) => typeof n === 'number' && n > 0, 'expected a number above 0');
const headerName = z
  .string()
  .check(z.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'expected the name of a header'), z.toLowerCase());
const rateLimit = z.optional(
  z.pipe(
    z.union([atLeastZero, z.object({ requests: atLeastZero, windowMs: positive })]),
    z.transform((limit): RateLimit => (typeof limit === 'number' ? { requests: limit, windowMs: 60_000 } : limit)),
  ),
);
const origins = z.custom<'*' | readonly string[]>(
  (given) => given === '*' || (Array.isArray(given) && given.every((one) => ORIGIN.test(one))),
  'expected * or origins such as https://app.example.com',
);
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+$/i;

/** What each option of the service may be, and what it is by default. */
const SETTINGS = z.object({
  plan: z.pipe(z._default(z.custom<PlanName | Plan>(), 'agency'), z.transform(resolvePlan)),
  limits: z.prefault(z.object({ gateway: rateLimit, context: rateLimit, compact: rateLimit, tokens: rateLimit }), {}),
  usage: z.prefault(
    z.object({ includedTokens: z.optional(atLeastZero), overagePricePerMillion: z.optional(atLeastZero) }),
    {},
  ),
  maxFileSize: z._default(positive, 32 * 1024 * 1024),
  maxBodySize: z._default(positive, 8 * 1024 * 1024),
  maxTokens: z._default(positive, 4096),
  // A9
  publishableEndpoints: z._default(z.readonly(z.array(z.string())), [
    'GET /v1/presets',
    'GET /v1/integrations',
    'POST /v1/chat/completions',
  ]),
  sessionHeader: z.prefault(
    z.object({ name: z._default(headerName, 'authorization'), scheme: z._default(z.string(), 'Bearer') }),
    {},
  ),
  rateLimitReset: z._default(z.enum(RATE_LIMIT_RESETS), 'epoch-seconds'),
  cors: z.pipe(
    z.prefault(
      z.union([
        z.literal(false),
        z.object({ origins: z.optional(origins), exposeHeaders: z._default(z.boolean(), true) }),
      ]),
      {},
    ),
    z.transform((cors) => cors || undefined),
  ),
  controlToken: z.optional(z.string()),
  latency: z._default(atLeastZero, 0),
  pace: z.prefault(
    z.object({
      ttft: z._default(atLeastZero, 0),
      tokensPerSecond: z._default(positive, Number.POSITIVE_INFINITY),
      chunkBy: z._default(z.enum(['token', 'word', 'char']), 'token'),
      splitBytes: z._default(positive, Number.POSITIVE_INFINITY),
      lineEnd: z._default(z.enum(['lf', 'crlf', 'cr']), 'lf'),
      heartbeat: z._default(positive, Number.POSITIVE_INFINITY),
    }),
    {},
  ),
  strict: z._default(z.boolean(), false),
  summarizer: z._default(z.enum(SUMMARIZERS), 'extractive'),
  listForm: z._default(z.enum(LIST_FORMS), 'data'),
  presetsLimit: z.prefault(z.object({ default: z._default(positive, 50), max: z._default(positive, 100) }), {}),
});
