import { isBrowser, readEnvironment } from '#platform';
import * as z from '#zod';
import {
  booleanOption,
  findBadOptions,
  functionOption,
  isFunction,
  isTime,
  option,
  timeOption,
  unknownOption,
} from '../../base/options.js';
import type { RateLimiter } from '../../base/rate-limiter.js';
import { LONGEST_TIMER } from '../../base/runtime.js';
import { type AnySchema, fieldsOf } from '../../base/schema-issues.js';
import { parseURL } from '../../base/url.js';
import { ConfigurationError } from '../../errors/base.js';
import { badArgument, RequestValidationError } from '../../errors/validation.js';
import type { DispatcherLike } from '../../platform/engine.js';
import type { ClientEvent } from '../events/events.js';
import type { Logger } from '../events/logger.js';
import { findIssues, isObject, type StandardSchema } from './validation.js';

/**
 * A credential, or a function that returns one. The function is called for every attempt, so that keys can be rotated
 * without a restart. After a 401 or 403 it is called again. If it returns a different credential, the request is sent
 * once more.
 */
export type Credential = string | (() => string | Promise<string>);

/** Options of both clients. All times are milliseconds. */
export interface ClientOptions {
  /**
   * The address of the service, without `/v1` or `/api`: `https://gateway.example.com`. Must be HTTPS, except for
   * localhost (see `dangerouslyAllowHTTP`).
   * @default the environment variable `CONTEXT_GATEWAY_BASE_URL`
   */
  baseURL?: string | undefined;
  /**
   * Milliseconds for one attempt: until its body is read; for a stream, until its headers; for an upload, the longest
   * time without progress.
   * @default 60_000, and 600_000 for plain completions and for executing presets and integrations
   */
  timeout?: number | undefined;
  /**
   * Milliseconds for a whole call: all waits and attempts, and the whole stream.
   * @default none
   */
  deadline?: number | undefined;
  /**
   * The longest wait for the next event of a stream, in milliseconds. Only events with data count, not keep-alive
   * comments. A stream that is never read is closed after this time; a stream that is read in part and then abandoned,
   * after five times that.
   * @default 120_000
   */
  streamIdleTimeout?: number | undefined;
  /**
   * Attempts after the first one, 0 to 5.
   * @default 2
   */
  maxRetries?: number | undefined;
  /**
   * Maximum wait for the rate limit, in milliseconds: in the queue (see `pacing`) or before a retry. A call that
   * would wait longer fails at once with a `RateLimitError`, whose `retryAfter` is the wait. 0 never waits.
   * @default 60_000
   */
  maxRetryAfter?: number | undefined;
  /**
   * Headers of every request, such as another `user-agent` (on Node `context-gateway/0.1.0 node/24`, in browsers their
   * own). You cannot set the credential, `host`, or headers that frame the body such as
   * `content-length`.
   */
  defaultHeaders?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Your own `fetch`, to send all requests. It keeps its own timeouts: Node's `fetch` ends a response after 300 s of
   * silence, regardless of `timeout` and `streamIdleTimeout`.
   */
  fetch?: typeof globalThis.fetch | undefined;
  /**
   * Node only: an undici `Dispatcher` that sends all requests, such as a `ProxyAgent` or `MockAgent`. `close()` does
   * not close it.
   */
  dispatcher?: DispatcherLike | undefined;
  /**
   * What to do with a response that does not match the documentation: `'error'` throws a `ResponseValidationError`;
   * `'report'` sends an event to `onEvent` and returns the response unchanged.
   * @default 'error'
   */
  validation?: 'error' | 'report' | undefined;
  /**
   * Whether calls wait in a queue while the rate limit is used up, for at most `maxRetryAfter`, instead of failing. The
   * wait does not count towards `timeout`, but towards `deadline`. Also takes your own `RateLimiter`.
   * @default true
   */
  pacing?: boolean | RateLimiter | undefined;
  /**
   * Called with the events of each call, from `start` to `done`: requests, responses, retries, waits. Events contain no
   * credentials, ids or message text. Errors that it throws are ignored.
   */
  onEvent?: ((event: ClientEvent) => void) | undefined;
  /**
   * Prints each event as one readable line, without credentials, ids or message text: `console`, or any object with
   * `debug` and `warn`.
   * @default none; with `CONTEXT_GATEWAY_LOG=debug` in the environment, standard error
   */
  logger?: Logger | undefined;
  /**
   * The header that carries an `idempotencyKey`.
   * @default 'Idempotency-Key'
   */
  idempotencyHeader?: string | undefined;
  /**
   * Allows a secret key in a browser, where everyone who opens the page can read it. For tests only.
   * @default false
   */
  dangerouslyAllowBrowser?: boolean | undefined;
  /**
   * Allows an `http:` base URL on another machine, such as a container in the same network (`http://emulator:4010`).
   * Anyone on the network path can read and change requests, including the credential. For trusted networks only.
   * @default false
   */
  dangerouslyAllowHTTP?: boolean | undefined;
}

/** Options of one call, always the last argument. They override the client's options. All times are milliseconds. */
export interface RequestOptions {
  /** Aborts the call, including its waits, retries and stream. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for one attempt. @see ClientOptions.timeout */
  timeout?: number | undefined;
  /** Milliseconds for the whole call. @default none */
  deadline?: number | undefined;
  /** The longest wait for the next event of a stream, in milliseconds. @default 120_000 */
  streamIdleTimeout?: number | undefined;
  /** Attempts after the first one, 0 to 5. @default 2 */
  maxRetries?: number | undefined;
  /** Headers of this request. They override the client's `defaultHeaders`. */
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Sent with every attempt, so that a service that supports it does the work only once. It is not documented whether
   * the service does, so the client still does not retry a POST whose response was lost. To retry it yourself, use the
   * same key.
   */
  idempotencyKey?: string | undefined;
}

/**
 * For responses that the API does not document: `schema` (zod, valibot, arktype or any Standard Schema) validates and
 * types what the method returns.
 */
export interface SchemaOptions<T> extends RequestOptions {
  schema: StandardSchema<T>;
}

const MOST_RETRIES = 5;

/** An option that is checked where it is read, with a better message. */
export const checkedLater = /* @__PURE__ */ z.optional(/* @__PURE__ */ z.unknown());

const forBoth = {
  timeout: timeOption,
  deadline: timeOption,
  streamIdleTimeout: timeOption,
  maxRetries: /* @__PURE__ */ option<number>(
    (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MOST_RETRIES,
    `must be a whole number from 0 to ${MOST_RETRIES}`,
  ),
};
const signal = /* @__PURE__ */ option<AbortSignal>(isSignal, 'must be an AbortSignal, such as controller.signal');

/** Options of `readChatCompletionStream`. */
export const readStreamOptionsSchema = /* @__PURE__ */ z.strictObject({ signal, streamIdleTimeout: timeOption });

export const requestOptionsSchema = /* @__PURE__ */ z.strictObject({
  ...forBoth,
  signal,
  headers: checkedLater,
  idempotencyKey: /* @__PURE__ */ option<string>(
    (value) => typeof value === 'string' && value.trim() !== '',
    'must be a non-empty string',
  ),
});

/** Options of calls whose response is not documented. */
export const schemaOptionsSchema = /* @__PURE__ */ z.strictObject({
  schema: /* @__PURE__ */ option<StandardSchema<unknown>>(
    (value) => isFunction((value as Partial<StandardSchema<unknown>> | null)?.['~standard']?.validate),
    'must be a Standard Schema (zod, valibot, arktype)',
  ),
  ...requestOptionsSchema.shape,
});

/** Options of uploads. */
export const uploadOptionsSchema = /* @__PURE__ */ z.strictObject({
  schema: schemaOptionsSchema.shape.schema,
  onProgress: functionOption,
  ...requestOptionsSchema.shape,
});

/** Options of both clients; each adds its own. */
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
    'must be true, false or a RateLimiter (with acquire)',
  ),
  onEvent: functionOption,
  logger: /* @__PURE__ */ option<Logger>(isLogger, 'must be an object with debug and warn, such as console'),
  idempotencyHeader: checkedLater,
  dangerouslyAllowBrowser: booleanOption,
  dangerouslyAllowHTTP: booleanOption,
};

/** An option that belongs to the other client. `message` says so. */
/* @__NO_SIDE_EFFECTS__ */
export function elsewhere(message: string) {
  return z.optional(z.never({ error: message }));
}

/** Copies and checks the options of a client. @throws {ConfigurationError} that names all invalid options */
export function checkClientOptions<Options extends ClientOptions>(
  given: Options,
  schema: AnySchema,
  credential: string,
): Options {
  if (!isObject(given)) {
    throw new ConfigurationError(`Expected options such as { baseURL: 'https://…', ${credential}: '…' }.`);
  }
  const options = ownProperties(given);
  const problem = findBadOptions(schema, options, 'this client');
  if (problem !== undefined) throw new ConfigurationError(problem);
  return options;
}

/** The other arguments of a call, which callers sometimes pass among the options. */
interface TakenByCall {
  readonly accepts?: AnySchema;
  /** Passed as separate arguments, before the parameters. */
  readonly ids?: object | undefined;
}

/** The options of a call without options. Shared, because creating the object takes 1 % of a call. */
const NO_OPTIONS: object = /* @__PURE__ */ Object.freeze(/* @__PURE__ */ Object.create(null));

/** Copies and checks the options of one call. @throws {RequestValidationError} */
export function checkRequestOptions<Options extends RequestOptions>(
  given: Options | undefined,
  schema: AnySchema,
  { accepts, ids }: TakenByCall = {},
): Options {
  if (given === undefined) return NO_OPTIONS as Options; // the cast is true because every option is optional
  if (!isObject(given)) throw badArgument(['options'], 'expected an object, such as { signal }');
  const options = ownProperties(given);
  const describe = (key: string): string =>
    accepts !== undefined && fieldsOf(accepts).includes(key)
      ? `is a parameter: pass it in the ${ids ? 'second' : 'first'} argument`
      : schema !== readStreamOptionsSchema && Object.hasOwn(clientOptions, key)
        ? `is an option of the client, not of this call: use client.withOptions({ ${key} })`
        : unknownOption(key, schema, 'this call');
  const issues = findIssues(schema, options, describe);
  if (issues === undefined) return options;
  throw new RequestValidationError(issues.map(({ path, message }) => ({ path: ['options', ...path], message })));
}

/**
 * A copy without a prototype, so that a polluted `Object.prototype` sets no option. `{ __proto__: null, ...given }` is
 * much slower.
 */
export function ownProperties<Given extends object>(given: Given): Given {
  return Object.setPrototypeOf({ ...given }, null);
}

function isLogger(value: unknown): boolean {
  const logger = value as Partial<Logger> | null;
  return isFunction(logger?.debug) && isFunction(logger?.warn);
}

function isPacing(value: unknown): boolean {
  const limiter = value as Partial<RateLimiter> | null;
  return typeof value === 'boolean' || isFunction(limiter?.acquire);
}

/** A structural check, so that signals of polyfills and other realms work too. */
function isSignal(value: unknown): boolean {
  const signal = value as Partial<AbortSignal> | null;
  return (
    typeof signal?.aborted === 'boolean' &&
    isFunction(signal.addEventListener) &&
    isFunction(signal.removeEventListener)
  );
}

/** The parts of `baseURL`. */
export interface Base {
  readonly origin: string;
  /** The path before `/v1` or `/api`: empty, or with a leading and no trailing slash. */
  readonly prefix: string;
}

/**
 * Returns a function that returns the parsed `baseURL`. If there is none, the first call reads the environment again.
 * @throws {ConfigurationError} when it is wrong; when it is missing, the returned function does
 */
export function baseURLReader({ baseURL, dangerouslyAllowHTTP = false }: ClientOptions): () => Base {
  const parse = (value: unknown): Base => parseBaseURL(value, dangerouslyAllowHTTP);
  const value: unknown = baseURL ?? readEnvironment(BASE_URL);
  let base = value === undefined ? undefined : parse(value);
  return () => {
    base ??= parse(readEnvironment(BASE_URL));
    return base;
  };
}

function parseBaseURL(value: unknown, dangerouslyAllowHTTP: boolean): Base {
  if (value === undefined) {
    throw new ConfigurationError(`baseURL is missing. Pass { baseURL: 'https://…' }${orSet(BASE_URL)}.`);
  }
  const url = typeof value === 'string' ? parseURL(value) : undefined;
  const prefix = url?.pathname.replace(/\/{2,}/g, '/').replace(/\/$/, '') ?? '';
  const problem = findBadURL(url, prefix, dangerouslyAllowHTTP);
  if (url === undefined || problem !== undefined) throw new ConfigurationError(`baseURL must ${problem}.`);
  return { origin: url.origin, prefix };
}

const BASE_URL = 'CONTEXT_GATEWAY_BASE_URL';

/** Suggests the environment variable, except in a page, which has no environment. */
export function orSet(variable: string): string {
  return isBrowser() ? '' : `, or set ${variable}`;
}

function findBadURL(url: URL | undefined, prefix: string, allowsHTTP: boolean): string | undefined {
  if (url === undefined) return 'be a complete URL without quotes, such as https://gateway.example.com';
  const { protocol, username, password, search, hash, hostname } = url;
  if (protocol !== 'https:' && !(protocol === 'http:' && (allowsHTTP || isLoopback(hostname))))
    return (
      'begin with https://: over http://, anyone on the network path can read the credential. ' +
      'http:// is allowed for localhost; for another host in a trusted network, set dangerouslyAllowHTTP: true'
    );
  if (username || password || search || hash)
    return 'not contain a user name, password, query or fragment; pass the credential as apiKey or sessionToken';
  const version = /\/(v1|api)$/.exec(prefix)?.[1];
  return version && `not end in /${version}: the client adds it`;
}

/** Checks the parsed host: there `127.1` is 127.0.0.1, and `localhost.example.com` is not localhost. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
