import { isBrowser, readEnvironment } from '#platform';
import * as z from '#zod';
import { ConfigurationError } from '../errors/base.js';
import { badArgument, RequestValidationError } from '../errors/validation.js';
import type { DispatcherLike } from '../platform/engine.js';
import type { ClientEvent } from './events.js';
import type { RateLimiter } from './pacer.js';
import { LONGEST_TIMER } from './timeouts.js';
import {
  type AnySchema,
  didYouMean,
  fieldsOf,
  findIssues,
  isObject,
  plainName,
  type StandardSchema,
} from './validation.js';

/**
 * A credential, or a function that gives one. It is called for every attempt, so that keys can be rotated without a restart:
 * after a 401 or 403 it is called again, and where it gives another credential the request is sent once more.
 */
export type Credential = string | (() => string | Promise<string>);

/** What both clients take. All times are milliseconds. */
export interface ClientOptions {
  /**
   * Where the service is, without `/v1` or `/api`: `https://gateway.example.com`. HTTPS, except on this machine
   * (see `dangerouslyAllowHTTP`).
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
   * Milliseconds a stream may stay silent while it is read. Only events with data count, keep-alive comments do not. A stream
   * that is not read at all is given up after this time, one that was begun and dropped after five times as long.
   * @default 120_000
   */
  streamIdleTimeout?: number | undefined;
  /**
   * Attempts after the first one, 0 to 5.
   * @default 2
   */
  maxRetries?: number | undefined;
  /**
   * The longest wait for the service's rate limit, whether the service asks for it or the limit is known beforehand (see
   * `pacing`). A call that would have to wait longer fails at once with a `RateLimitError` whose `retryAfter` says how long.
   * 0: never wait.
   * @default 60_000
   */
  maxRetryAfter?: number | undefined;
  /** Headers of every request. The credential, `host` and the headers that frame a body cannot be set. */
  defaultHeaders?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * A `fetch` to send with, instead of the platform's best way. It keeps its own timeouts: Node's ends a response that is silent
   * for 300 s, whatever `timeout` and `streamIdleTimeout` say.
   */
  fetch?: typeof globalThis.fetch | undefined;
  /** Node only: an undici `Dispatcher` to send with (a proxy, a pool, a mock). It stays yours: `close()` leaves it open. */
  dispatcher?: DispatcherLike | undefined;
  /**
   * What happens with a response that is not as documented: an error, or an event for `onEvent` and the response as it is.
   * @default 'error'
   */
  validation?: 'error' | 'report' | undefined;
  /**
   * Whether calls wait, for `maxRetryAfter` at most, while the service's rate limit is used up, instead of being refused.
   * `timeout` does not count that wait, a `deadline` does. Or a limiter that you write.
   * @default true
   */
  pacing?: boolean | RateLimiter | undefined;
  /**
   * Told what happens in each call, from `start` to `done`: requests, responses, retries, waits. Without credentials, ids and texts.
   * What it throws is ignored.
   */
  onEvent?: ((event: ClientEvent) => void) | undefined;
  /**
   * The header an `idempotencyKey` is sent in.
   * @default 'Idempotency-Key'
   */
  idempotencyHeader?: string | undefined;
  /**
   * Allows a secret key in a browser, where everyone who opens the page can read it. For tests.
   * @default false
   */
  dangerouslyAllowBrowser?: boolean | undefined;
  /**
   * Allows an `http:` base URL on another machine: a container of the same network (`http://emulator:4010`), a computer
   * next to your phone. Everyone on the way can read and change what is sent, the credential included. For networks you trust.
   * @default false
   */
  dangerouslyAllowHTTP?: boolean | undefined;
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
   * with an effect is still not repeated when its response is lost. Repeat it yourself, with the same key.
   */
  idempotencyKey?: string | undefined;
}

/**
 * For answers the interface does not describe: `schema` (zod, valibot, arktype: any Standard Schema) checks what the method
 * gives, and types it.
 */
export interface SchemaOptions<T> extends RequestOptions {
  schema: StandardSchema<T>;
}

const MOST_RETRIES = 5;

/** What an option has to be, and what people are told where it is not that. */
/* @__NO_SIDE_EFFECTS__ */
function option<T>(fits: (value: unknown) => boolean, message: string) {
  return z.optional(z.custom<T>(fits, message));
}

const isFunction = (value: unknown): boolean => typeof value === 'function';
const isTime = (value: unknown): boolean => typeof value === 'number' && value > 0 && value <= LONGEST_TIMER;

const time = /* @__PURE__ */ option<number>(
  isTime,
  `must be a number of milliseconds above 0 and at most ${LONGEST_TIMER}`,
);
export const functionOption = /* @__PURE__ */ option<never>(isFunction, 'must be a function');
const yesOrNo = /* @__PURE__ */ option<boolean>((value) => typeof value === 'boolean', 'must be true or false');
/** Where it is read there is more to say about it. */
export const checkedLater = /* @__PURE__ */ z.optional(/* @__PURE__ */ z.unknown());

const forBoth = {
  timeout: time,
  deadline: time,
  streamIdleTimeout: time,
  maxRetries: /* @__PURE__ */ option<number>(
    (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MOST_RETRIES,
    `must be a whole number from 0 to ${MOST_RETRIES}`,
  ),
};
const signal = /* @__PURE__ */ option<AbortSignal>(isSignal, 'must be an AbortSignal, such as controller.signal');

/** Of a stream that was asked for elsewhere. */
export const readStreamOptionsSchema = /* @__PURE__ */ z.strictObject({ signal, streamIdleTimeout: time });

export const requestOptionsSchema = /* @__PURE__ */ z.strictObject({
  ...forBoth,
  signal,
  headers: checkedLater,
  idempotencyKey: /* @__PURE__ */ option<string>(
    (value) => typeof value === 'string' && value.trim() !== '',
    'must be a string, and not empty',
  ),
});

/** Of calls whose response is not documented. */
export const schemaOptionsSchema = /* @__PURE__ */ z.strictObject({
  schema: /* @__PURE__ */ option<StandardSchema<unknown>>(
    (value) => isFunction((value as Partial<StandardSchema<unknown>> | null)?.['~standard']?.validate),
    'must be a Standard Schema (zod, valibot, arktype)',
  ),
  ...requestOptionsSchema.shape,
});

/** Of uploads. */
export const uploadOptionsSchema = /* @__PURE__ */ z.strictObject({
  schema: schemaOptionsSchema.shape.schema,
  onProgress: functionOption,
  ...requestOptionsSchema.shape,
});

/** What both clients take; each adds its own. */
export const clientOptions = {
  ...forBoth,
  baseURL: checkedLater,
  maxRetryAfter: /* @__PURE__ */ option<number>(
    (value) => value === 0 || isTime(value),
    `must be a number of milliseconds from 0 (never wait) to ${LONGEST_TIMER}`,
  ),
  defaultHeaders: checkedLater,
  fetch: functionOption,
  dispatcher: checkedLater,
  validation: /* @__PURE__ */ option<'error' | 'report'>(
    (value) => value === 'error' || value === 'report',
    "must be 'error' or 'report'",
  ),
  pacing: /* @__PURE__ */ option<boolean | RateLimiter>(
    isPacing,
    'must be true, false or a RateLimiter (with admit and release)',
  ),
  onEvent: functionOption,
  idempotencyHeader: checkedLater,
  dangerouslyAllowBrowser: yesOrNo,
  dangerouslyAllowHTTP: yesOrNo,
};

/** Of an option that belongs to the other client. */
/* @__NO_SIDE_EFFECTS__ */
export function elsewhere(message: string) {
  return z.optional(z.never({ error: message }));
}

/** The options of a client, copied, or an error that says which ones cannot work. @throws {ConfigurationError} */
export function checkClientOptions<Options extends ClientOptions>(
  given: Options,
  schema: AnySchema,
  credential: string,
): Options {
  if (!isObject(given)) {
    throw new ConfigurationError(`Expected options such as { baseURL: 'https://…', ${credential}: '…' }.`);
  }
  const options = ownProperties(given);
  const issues = findIssues(schema, options, (key) => unknownOption(key, schema, 'client'));
  if (issues === undefined) return options;
  const message = issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ');
  throw new ConfigurationError(message.replace(/[^?]$/, '$&.'));
}

/** What a call takes besides its options, which is easily put among them. */
interface TakenByCall {
  readonly accepts?: AnySchema;
  /** Given as arguments of their own, before the parameters. */
  readonly ids?: object | undefined;
}

/** The same for the options of one call. @throws {RequestValidationError} */
export function checkRequestOptions<Options extends RequestOptions>(
  given: Options | undefined,
  schema: AnySchema,
  { accepts, ids }: TakenByCall = {},
): Options {
  // An absent argument is an empty one; the cast is true because every option is optional.
  if (given === undefined) return ownProperties({}) as Options;
  if (!isObject(given)) throw badArgument(['options'], 'expected an object, such as { signal }');
  const options = ownProperties(given);
  const describe = (key: string): string =>
    accepts !== undefined && fieldsOf(accepts).includes(key)
      ? `is a parameter: pass it in the ${ids ? 'second' : 'first'} argument`
      : schema !== readStreamOptionsSchema && Object.hasOwn(clientOptions, key)
        ? `is not an option of this call but of the client: call client.withOptions({ ${key} })`
        : unknownOption(key, schema, 'call');
  const issues = findIssues(schema, options, describe);
  if (issues === undefined) return options;
  throw new RequestValidationError(issues.map(({ path, message }) => ({ path: ['options', ...path], message })));
}

function unknownOption(key: string, schema: AnySchema, taker: string): string {
  const given = plainName(key);
  // `timeoutMs`, `retries`, `headers`: what other clients call it.
  const alike = (name: string): boolean =>
    given.startsWith(plainName(name)) || (given.length > 2 && plainName(name).endsWith(given));
  const names = fieldsOf(schema);
  const meant = names.filter(alike).slice(0, 1);
  return `is not an option of this ${taker}${didYouMean(meant) || ` (it takes ${names.join(', ')})`}`;
}

/** A copy that inherits nothing: a polluted `Object.prototype` sets no option. `{ __proto__: null, ...given }` is much slower. */
export function ownProperties<Given extends object>(given: Given): Given {
  return Object.setPrototypeOf({ ...given }, null);
}

function isPacing(value: unknown): boolean {
  const limiter = value as Partial<RateLimiter> | null;
  return typeof value === 'boolean' || (isFunction(limiter?.admit) && isFunction(limiter?.release));
}

/** Structural: signals of polyfills and of other realms work as well. */
function isSignal(value: unknown): boolean {
  const signal = value as Partial<AbortSignal> | null;
  return (
    typeof signal?.aborted === 'boolean' &&
    isFunction(signal.addEventListener) &&
    isFunction(signal.removeEventListener)
  );
}

/** Where the service is. */
export interface Base {
  readonly origin: string;
  /** Between the origin and `/v1` or `/api`; empty, or beginning with a slash and not ending with one. */
  readonly prefix: string;
}

/** Reads `baseURL`, or says how to give one. */
export function parseBaseURL({ baseURL, dangerouslyAllowHTTP = false }: ClientOptions): Base {
  const value = baseURL ?? readEnvironment(BASE_URL);
  if (value === undefined) {
    throw new ConfigurationError(`baseURL is missing. Pass { baseURL: 'https://…' }${orSet(BASE_URL)}.`);
  }
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  const prefix = url?.pathname.replace(/\/{2,}/g, '/').replace(/\/$/, '') ?? '';
  const problem = findBadURL(url, prefix, dangerouslyAllowHTTP);
  if (url === undefined || problem !== undefined) throw new ConfigurationError(`baseURL must ${problem}.`);
  return { origin: url.origin, prefix };
}

const BASE_URL = 'CONTEXT_GATEWAY_BASE_URL';

/** The other way to give an option, where there is one: a page has no environment. */
export function orSet(variable: string): string {
  return isBrowser() ? '' : `, or set ${variable}`;
}

function findBadURL(url: URL | undefined, prefix: string, allowsHTTP: boolean): string | undefined {
  if (url === undefined) return "be a whole URL, such as 'https://gateway.example.com'";
  const { protocol, username, password, search, hash, hostname } = url;
  if (protocol !== 'https:' && !(protocol === 'http:' && (allowsHTTP || isLoopback(hostname))))
    return (
      'begin with https://: over http:// everyone on the way can read the credential. ' +
      'http:// is for localhost; elsewhere in a network you trust, set dangerouslyAllowHTTP: true'
    );
  if (username || password || search || hash)
    return 'have no user name, password, query or fragment; pass the credential as apiKey or sessionToken';
  const version = /\/(v1|api)$/.exec(prefix)?.[1];
  return version && `not end in /${version}: the client adds it`;
}

/** By the parsed host: `127.1` is 127.0.0.1 there, and `localhost.example.com` is not localhost. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
