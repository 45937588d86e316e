import { readEnvironment } from '#platform';
import { ConfigurationError, RequestValidationError, type ValidationIssue } from '../errors.js';
import type { DispatcherLike } from '../platform/engine.js';
import type { ClientEvent } from './events.js';
import type { RateLimiter } from './pacer.js';
import { LONGEST_TIMER } from './timeouts.js';
import type { StandardSchema } from './validation.js';

/** A credential, or a function that gives one. It is called for every attempt, so that keys can be rotated without a restart. */
export type Credential = string | (() => string | Promise<string>);

/** What both clients take. All times are milliseconds. */
export interface ClientOptions {
  /**
   * Where the service is, without `/v1` or `/api`: `https://gateway.example.com`. HTTPS, except on this machine.
   * @default the environment's `CONTEXT_GATEWAY_BASE_URL`
   */
  baseURL?: string | undefined;
  /**
   * Milliseconds for one attempt: until its body is read; for a stream, until its headers; for an upload, without progress.
   * @default 60_000, and 600_000 for plain completions and for executing presets and integrations
   */
  timeout?: number | undefined;
  /**
   * Milliseconds for a whole call: waiting, all attempts, a stream's last event.
   * @default none
   */
  deadline?: number | undefined;
  /**
   * Milliseconds a stream may stay silent while it is read. Only events with data count, keep-alive comments do not.
   * @default 120_000
   */
  streamIdleTimeout?: number | undefined;
  /**
   * Attempts after the first one, 0 to 5.
   * @default 2
   */
  maxRetries?: number | undefined;
  /**
   * The longest wait a service may ask for. Above it the error is thrown at once, with `retryAfter`. Later calls wait for the
   * end of the same limit (see `pacing`), unless a `deadline` ends them.
   * @default 60_000
   */
  maxRetryAfter?: number | undefined;
  /** Headers of every request. The credential, `host` and the headers that frame a body cannot be set. */
  defaultHeaders?: Readonly<Record<string, string | undefined>> | undefined;
  /** A `fetch` to send with, instead of the platform's best way. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Node only: an undici `Dispatcher` to send with (a proxy, a pool, a mock). It stays yours: `close()` leaves it open. */
  dispatcher?: DispatcherLike | undefined;
  /**
   * What happens with an answer that is not as documented: an error, or an event for `onEvent` and the answer as it is.
   * @default 'error'
   */
  validation?: 'error' | 'report' | undefined;
  /**
   * Whether calls wait while the service's rate limit is used up, 300 s at the most; `timeout` does not count that wait, a
   * `deadline` does. Or a limiter of your own.
   * @default true
   */
  pacing?: boolean | RateLimiter | undefined;
  /** Told what happens inside: requests, answers, retries, waits. Without credentials, ids and texts. What it throws is ignored. */
  onEvent?: ((event: ClientEvent) => void) | undefined;
  /**
   * The header an `idempotencyKey` is sent in.
   * @default 'Idempotency-Key'
   */
  idempotencyHeader?: string | undefined;
  /**
   * Allows a secret key in a browser, where everybody can read it. For tests.
   * @default false
   */
  dangerouslyAllowBrowser?: boolean | undefined;
}

/** Options of one call, always the last argument; they win over the client's. All times are milliseconds. */
export interface RequestOptions {
  /** Ends the call: its waits, its attempts, its stream. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for one attempt. @see ClientOptions.timeout */
  timeout?: number | undefined;
  /** Milliseconds for the whole call. @default none */
  deadline?: number | undefined;
  /** Milliseconds a stream may stay silent while it is read. @default 120_000 */
  streamIdleTimeout?: number | undefined;
  /** Attempts after the first one, 0 to 5. @default 2 */
  maxRetries?: number | undefined;
  /** Headers of this request, over the client's. */
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Sent with every attempt, so that a service which honours it does the work once. Whether it does is not documented: a request
   * with an effect is still not repeated when its answer is lost. Repeat it yourself, with the same key.
   */
  idempotencyKey?: string | undefined;
}

/** For answers the interface does not describe: `schema` (zod, valibot, arktype: any Standard Schema) checks the body and types the answer. */
export interface SchemaOptions<T> extends RequestOptions {
  schema: StandardSchema<T>;
}

const MOST_RETRIES = 5;
const TIMES = ['timeout', 'deadline', 'streamIdleTimeout', 'maxRetryAfter'] as const;
const FUNCTIONS = ['fetch', 'onEvent', 'decodeChunk', 'onProgress'] as const;
const OF_BOTH = ['timeout', 'deadline', 'streamIdleTimeout', 'maxRetries'];
const REQUEST_OPTIONS = [...OF_BOTH, 'signal', 'headers', 'idempotencyKey'];
const CLIENT_OPTIONS = [
  ...[...OF_BOTH, 'baseURL', 'maxRetryAfter', 'defaultHeaders', 'fetch', 'dispatcher', 'validation', 'pacing'],
  ...['onEvent', 'idempotencyHeader', 'dangerouslyAllowBrowser'],
];

/** Options of one client or of some calls only. */
type OtherOptions = { readonly [Key in 'schema' | 'decodeChunk' | 'onProgress']?: unknown };

/** The options of a client, copied, or an error that says which one cannot work. @throws {ConfigurationError} */
export function checkClientOptions<Options extends ClientOptions>(
  given: Options,
  ofThisClient: readonly string[],
): Options {
  if (typeof given !== 'object' || given === null) {
    throw new ConfigurationError(
      `The options must be an object, such as { baseURL: 'https://…', ${ofThisClient[0]}: '…' }.`,
    );
  }
  const options = ownProperties(given);
  const issue = findUnknownOption(options, CLIENT_OPTIONS, ofThisClient, 'client') ?? findBadOption(options);
  if (issue !== undefined)
    throw new ConfigurationError(`${issue.path.join('.')} ${issue.message}`.replace(/\w$/, '$&.'));
  return options;
}

/** The same for the options of one call. `also` names what this call takes besides. */
export function checkRequestOptions<Options extends RequestOptions>(
  given: Options | undefined,
  also: readonly string[] = [],
): Options {
  // An absent argument is an empty one; the cast is true because every option is optional.
  if (given === undefined) return NO_OPTIONS as Options;
  const options = ownProperties(given);
  const issue = findUnknownOption(options, REQUEST_OPTIONS, also, 'call') ?? findBadOption(options);
  if (issue !== undefined) throw new RequestValidationError([{ ...issue, path: ['options', ...issue.path] }]);
  return options;
}

function findUnknownOption(
  options: object,
  known: readonly string[],
  also: readonly string[],
  taker: string,
): ValidationIssue | undefined {
  const unknown = Object.keys(options).find((key) => !known.includes(key) && !also.includes(key));
  if (unknown === undefined) return undefined;
  const plain = (name: string): string => name.replace(/[_-]/g, '').toLowerCase();
  const meant = [...known, ...also].find((name) => plain(name) === plain(unknown));
  const mend = meant === undefined ? '' : `; did you mean ${meant}?`;
  return { path: [unknown], message: `is not an option of this ${taker}${mend}` };
}

/** A copy that inherits nothing: what somebody put on `Object.prototype` is no argument of ours. */
export function ownProperties<Given extends object>(given: Given): Given {
  return Object.assign(new (Heirless as unknown as new () => object)(), given);
}

/** Makes objects that inherit nothing and yet are quick: those of `Object.create(null)` are kept as hash tables. */
function Heirless(): void {}
Heirless.prototype = Object.freeze(Object.create(null));

const NO_OPTIONS: object = Object.freeze(Object.create(null));

function findBadOption(options: ClientOptions & RequestOptions & OtherOptions): ValidationIssue | undefined {
  for (const key of TIMES) {
    const value: unknown = options[key];
    if (value === undefined || (typeof value === 'number' && value > 0 && value <= LONGEST_TIMER)) continue;
    return { path: [key], message: `must be a number of milliseconds above 0 and at most ${LONGEST_TIMER}` };
  }
  const { maxRetries, signal, validation, idempotencyKey, schema } = options;
  if (maxRetries !== undefined && !(Number.isInteger(maxRetries) && maxRetries >= 0 && maxRetries <= MOST_RETRIES)) {
    return { path: ['maxRetries'], message: `must be a whole number from 0 to ${MOST_RETRIES}` };
  }
  if (signal !== undefined && !isSignal(signal)) return { path: ['signal'], message: 'must be an AbortSignal' };
  if (validation !== undefined && validation !== 'error' && validation !== 'report') {
    return { path: ['validation'], message: "must be 'error' or 'report'" };
  }
  if (idempotencyKey !== undefined && (typeof idempotencyKey !== 'string' || idempotencyKey.trim() === '')) {
    return { path: ['idempotencyKey'], message: 'must be a string that is not empty' };
  }
  if (
    schema !== undefined &&
    typeof (schema as Partial<StandardSchema<unknown>> | null)?.['~standard']?.validate !== 'function'
  ) {
    return { path: ['schema'], message: 'must be a Standard Schema, such as one of zod, valibot or arktype' };
  }
  for (const key of FUNCTIONS) {
    if (options[key] !== undefined && typeof options[key] !== 'function') {
      return { path: [key], message: 'must be a function' };
    }
  }
  return findBadLimiter(options.pacing);
}

function findBadLimiter(pacing: unknown): ValidationIssue | undefined {
  if (pacing === undefined || typeof pacing === 'boolean') return undefined;
  const limiter = pacing as Partial<RateLimiter> | null;
  if (typeof limiter?.admit === 'function' && typeof limiter.release === 'function') return undefined;
  return { path: ['pacing'], message: 'must be true, false or a RateLimiter (with admit and release)' };
}

/** Structural: signals of polyfills and of other realms work as well. */
function isSignal(value: unknown): value is AbortSignal {
  const signal = value as Partial<AbortSignal> | null;
  if (typeof signal?.aborted !== 'boolean') return false;
  return typeof signal.addEventListener === 'function' && typeof signal.removeEventListener === 'function';
}

/** Where the service is. */
export interface Base {
  readonly origin: string;
  /** Between the origin and `/v1` or `/api`; empty, or beginning with a slash and not ending with one. */
  readonly prefix: string;
}

/** Reads `baseURL`, or says how to give one. */
export function parseBaseURL(given: string | undefined): Base {
  const value = given ?? readEnvironment('CONTEXT_GATEWAY_BASE_URL');
  if (value === undefined) {
    throw new ConfigurationError("baseURL is missing. Pass { baseURL: 'https://…' }, or set CONTEXT_GATEWAY_BASE_URL.");
  }
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined)
    throw new ConfigurationError("baseURL must be a whole URL, such as 'https://gateway.example.com'.");
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new ConfigurationError('baseURL must begin with https:// (or with http:// for a service on this machine).');
  if (url.username !== '' || url.password !== '') {
    throw new ConfigurationError(
      'baseURL must not hold a user name or password. Pass the credential as an option of its own.',
    );
  }
  if (url.search !== '' || url.hash !== '')
    throw new ConfigurationError('baseURL must not have a query or a fragment.');
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new ConfigurationError(
      `baseURL must use HTTPS: ${url.origin} would send the credential readable to everybody on the way. ` +
        'http: is for this machine only (localhost, 127.0.0.1, [::1]).',
    );
  }
  const prefix = url.pathname.replace(/\/{2,}/g, '/').replace(/\/$/, '');
  const version = /\/(v1|api)$/.exec(prefix)?.[1];
  if (version !== undefined)
    throw new ConfigurationError(`baseURL must be given without /${version}: the client adds it.`);
  return { origin: url.origin, prefix };
}

/** By the parsed host: `127.1` is 127.0.0.1 there, and `localhost.example.com` is not localhost. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
