import * as z from 'zod/mini';
import { LIST_FORMS, type ListForm } from './api/lists.js';
import { type Clock, manualClock, systemClock } from './base/clock.js';
import { unknownName } from './base/closest.js';
import { flag, toNumber, toPairs } from './base/flag.js';
import { RATE_LIMIT_RESETS, type RateLimitReset } from './http/admission.js';
import { PLAN_NAMES, type Plan, type PlanName, type RateLimit, resolvePlan } from './store/account.js';
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
   * The header of the session token (A8), as in the options of `ContextClient`: without a scheme, it is the token alone.
   * @default { name: 'Authorization', scheme: 'Bearer' }
   */
  sessionHeader?: { name: string; scheme?: string | undefined } | undefined;
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

const text = z.string('expected a text');
const yesOrNo = z.boolean('expected true or false');
const atLeastZero = z.custom<number>((n) => typeof n === 'number' && n >= 0, 'expected a number of at least 0');
const positive = z.custom<number>((n) => typeof n === 'number' && n > 0, 'expected a number above 0');
const time = z.custom<Date | string | number>(isTime, 'not a time from 1970 to 9999, such as 2026-01-15T10:00:00Z');
const headerName = text.check(
  z.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'expected the name of a header'),
  z.toLowerCase(),
);
const scheme = text.check(z.regex(/^[\w-]+$/, "expected one word, such as 'Bearer', or none for the token alone"));
const upstream = z
  .custom<UpstreamOptions>((given) => isObject(given) && 'url' in given, 'expected a url in an object')
  .check(
    z.refine(({ url }) => isHttp(url), 'must be an http or https URL such as http://127.0.0.1:8080/v1'),
    z.refine(({ url }) => !isHttp(url) || !/[?#]/.test(url), 'must be a URL without a query'),
    z.refine(
      ({ url }) => !isHttp(url) || `${new URL(url).username}${new URL(url).password}` === '',
      'must be a URL without a user and a password; give the API key as key, or with --upstream-key',
    ),
  );
const ownPlan = fields({
  id: text,
  gatewayAccess: yesOrNo,
  pricePerMonth: atLeastZero,
  includedTokens: atLeastZero,
  overagePricePerMillion: atLeastZero,
  limits: fields({ gateway: atLeastZero, context: atLeastZero, compact: atLeastZero }),
});
const plan = z.pipe(z.union([z.enum(PLAN_NAMES), ownPlan]), z.transform(resolvePlan));
const rateLimit = z.optional(
  z.pipe(
    z.union([atLeastZero, fields({ requests: atLeastZero, windowMs: positive })]),
    z.transform((limit): RateLimit => (typeof limit === 'number' ? { requests: limit, windowMs: 60_000 } : limit)),
  ),
);
const limits = fields({ gateway: rateLimit, context: rateLimit, compact: rateLimit, tokens: rateLimit });
const origins = z.custom<'*' | readonly string[]>(
  (given) =>
    given === '*' || (Array.isArray(given) && given.every((one) => /^[a-z][\w+.-]*:\/\/[^/?#\s]+$/i.test(one))),
  'expected * or origins such as https://app.example.com',
);
const cors = z.pipe(
  z.union([fields({ origins: z.optional(origins), exposeHeaders: z._default(yesOrNo, true) }), z.literal(false)]),
  z.transform((given) => given || undefined),
);
const pace = fields({
  ttft: z._default(atLeastZero, 0),
  tokensPerSecond: z._default(positive, Number.POSITIVE_INFINITY),
  chunkBy: z._default(z.enum(['token', 'word', 'char']), 'token'),
  splitBytes: z._default(positive, Number.POSITIVE_INFINITY),
  lineEnd: z._default(z.enum(['lf', 'crlf', 'cr']), 'lf'),
  heartbeat: z._default(positive, Number.POSITIVE_INFINITY),
});

/** The table of these options: checks and defaults. One with a flag is an option of the command as well. */
export const SERVICE_OPTIONS = z.object({
  controlToken: flag('server', z.optional(text), {
    value: 'TEXT',
    about: 'token that opens the control plane and the inspector to other machines',
    byDefault: 'this machine only',
    isSecret: true,
  }),
  data: flag('server', z.optional(text), {
    value: 'DIR',
    about: 'store everything in one file in this directory',
    byDefault: 'in memory',
  }),
  storage: z.optional(z.custom<Storage>()),
  seed: flag('server', z.optional(z.union([text, z.number()])), {
    value: 'TEXT',
    about: 'generate the same keys and ids on every start; data that --data has keeps its own',
    byDefault: 'random',
  }),
  clock: z.optional(z.custom<Clock>()),
  now: flag('server', z.optional(time), {
    value: 'TIME',
    about: 'fix the clock at this time; POST /_emulator/clock advances it',
    byDefault: 'system time',
  }),
  plan: flag('service', z.prefault(plan, 'agency'), {
    value: 'NAME',
    about: 'plan of the account: starter (no Gateway access), agency, enterprise',
  }),
  limits: flag('service', z.prefault(limits, {}), {
    value: 'LIST',
    about: 'rate limits, in requests (or tokens) per minute',
    byDefault: 'gateway=1000,context=300,compact=20',
    read: toPairs(toNumber),
  }),
  usage: z.prefault(
    fields({ includedTokens: z.optional(atLeastZero), overagePricePerMillion: z.optional(atLeastZero) }),
    {},
  ),
  maxFileSize: z._default(positive, 32 * 1024 * 1024),
  maxBodySize: z._default(positive, 8 * 1024 * 1024),
  maxTokens: z._default(positive, 4096),
  latency: flag('service', z._default(atLeastZero, 0), {
    value: 'MS',
    about: 'delay before every response',
    read: toNumber,
  }),
  pace: flag('service', z.prefault(pace, {}), {
    value: 'NUMBER[:MS]',
    about: 'tokens per second in streams, and the delay before the first token',
    byDefault: 'no delay',
    read: (given) => {
      const [tokensPerSecond, ttft] = given.split(':').map(toNumber);
      return { tokensPerSecond, ttft };
    },
  }),
  strict: flag('service', z._default(yesOrNo, false), { about: 'reject undocumented body fields' }),
  cors: flag('service', z.prefault(cors, {}), {
    value: 'LIST',
    about: 'origins that browsers may call from, separated by commas, or *, or none',
    byDefault: '*; with a seed, pages from this machine',
    read: (given) =>
      given !== 'none' && { origins: given === '*' ? '*' : given.split(',').map((origin) => origin.trim()) },
  }),
  publishableEndpoints: z._default(z.readonly(z.array(text, 'expected a list of endpoints')), [
    'GET /v1/presets',
    'GET /v1/integrations',
    'POST /v1/chat/completions',
  ]),
  sessionHeader: z.prefault(fields({ name: headerName, scheme: z._default(scheme, '') }), {
    name: 'authorization',
    scheme: 'Bearer',
  }),
  rateLimitReset: z._default(z.enum(RATE_LIMIT_RESETS), 'epoch-seconds'),
  listForm: z._default(z.enum(LIST_FORMS), 'data'),
  presetsLimit: z.prefault(fields({ default: z._default(positive, 50), max: z._default(positive, 100) }), {}),
  upstream: flag('completions', z.optional(upstream), {
    value: 'URL',
    about: 'OpenAI-compatible server that generates completions; the URL includes /v1',
    isSecret: true,
    read: (url) => ({ url }),
  }),
  cassettes: z.optional(fields({ directory: text, mode: z.enum(['record', 'replay']) })),
  summarizer: flag('completions', z._default(z.enum(SUMMARIZERS), 'extractive'), {
    value: 'NAME',
    about: 'what writes summaries: extractive, or upstream (a model)',
  }),
});

/** Options that contain a key or a token: an error does not repeat them. */
const SECRETS: unknown[] = ['controlToken', 'upstream'];

/** Checks the options, and fills in the defaults. Throws a RangeError that names an invalid option. */
export function resolveSettings(options: ServiceOptions) {
  // The compiler compares the table with the interface, which has the documentation that editors show.
  const given: z.input<typeof SERVICE_OPTIONS> = options;
  const { data, error } = z.safeParse(SERVICE_OPTIONS, given, { reportInput: true });
  if (error !== undefined) {
    const { path, message, keys, input } = problemOf(error);
    const isShown = !keys && !SECRETS.includes(path[0]);
    const got = typeof input === 'bigint' ? input : JSON.stringify(input);
    throw new RangeError(`${path.join('.')}: ${message}${isShown ? `, got ${got}` : ''}`);
  }
  const { usage, clock, now, ...settings } = data;
  return { ...settings, ...usage, clock: clock ?? (now === undefined ? systemClock() : manualClock(now)) };
}

/** What is wrong with an option, and where in it. */
export function problemOf({ issues }: z.core.$ZodError): Problem {
  const problem = innermost(issues[0] as Problem);
  const { path, message, values, keys = [] } = problem;
  const expected = values === undefined ? message : `expected one of ${values.join(', ')}`;
  return { ...problem, path: [...path, ...keys.slice(0, 1)], message: expected };
}

interface Problem {
  path: PropertyKey[];
  message: string;
  input?: unknown;
  values?: readonly unknown[];
  /** The unknown fields of an object. */
  keys?: string[];
  errors?: Problem[][];
}

/** An option may have several forms, each with its own problem: the one that is closest to the value. */
function innermost(problem: Problem): Problem {
  const [closest] = (problem.errors ?? []).flat().sort((a, b) => b.path.length - a.path.length);
  return closest === undefined ? problem : innermost({ ...closest, path: [...problem.path, ...closest.path] });
}

/** An object. Other fields are refused, because they are misspelt. */
function fields<Shape extends z.core.$ZodShape>(shape: Shape) {
  const names = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? unknownName(String(issue.keys[0]), names)
        : `expected values for ${names.join(', ')}`,
  });
}

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

function isObject(given: unknown): given is object {
  return typeof given === 'object' && given !== null;
}

function isTime(given: unknown): boolean {
  try {
    manualClock(given as string);
    return given !== null;
  } catch {
    return false;
  }
}
