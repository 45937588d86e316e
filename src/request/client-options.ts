import * as z from 'zod/mini';
import { isObject, ownProperties } from '../base/objects.js';
import { MAX_TIMER } from '../base/runtime.js';
import { ConfigurationError } from '../errors/base.js';
import type { ClientEvent } from '../events/events.js';
import type { DispatcherLike, Fetch } from '../platform/engine.js';
import type { RateLimiter } from '../rate-limit/rate-limiter.js';
import {
  booleanOption,
  findBadOptions,
  functionOption,
  isFunction,
  isTime,
  option,
  timeOption,
} from '../validation/options.js';
import type { AnySchema } from '../validation/schema-issues.js';

/**
 * A credential, or a function that returns one. The function is called for every attempt, so that keys can be rotated
 * without a restart.
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
   * own); `null` leaves a header out. You cannot set the credential, `host`, headers that frame the body such as
   * `content-length`, or in a browser what it forbids to pages.
   */
  defaultHeaders?: Headers | Readonly<Record<string, string | null | undefined>> | undefined;
  /**
   * Your own `fetch`, to send all requests. It keeps its own timeouts: Node's `fetch` ends a response after 300 s of
   * silence, regardless of `timeout` and `streamIdleTimeout`.
   */
  fetch?: Fetch | undefined;
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
   * credentials, ids or message text. Errors that it throws are ignored. `logTo(console)` prints them, and `observeCalls()`
   * of `context-gateway/otel` makes spans and metrics of them. One function may listen to several clients.
   */
  onEvent?: ((event: ClientEvent) => void) | undefined;
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

/** The defaults. `workTimeout` is the timeout of completions, and of executing presets and integrations. */
export const DEFAULTS = {
  timeout: 60_000,
  workTimeout: 600_000,
  streamIdleTimeout: 120_000,
  maxRetries: 2,
  maxRetryAfter: 60_000,
  idempotencyHeader: 'Idempotency-Key',
};

const MAX_RETRIES = 5;

/** An option that is checked where it is read, with a better message. */
export const checkedElsewhere = /* @__PURE__ */ z.optional(/* @__PURE__ */ z.unknown());

/** Options of a client and of a call. */
export const commonOptions = {
  timeout: timeOption,
  deadline: timeOption,
  streamIdleTimeout: timeOption,
  maxRetries: /* @__PURE__ */ option<number>(
    (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_RETRIES,
    `must be a whole number from 0 to ${MAX_RETRIES}; see also maxRetryAfter`,
  ),
};

/** Options of both clients; each adds its own. */
export const clientOptions = {
  ...commonOptions,
  baseURL: checkedElsewhere,
  maxRetryAfter: /* @__PURE__ */ option<number>(
    (value) => value === 0 || isTime(value),
    `must be a number of milliseconds from 0 (never wait) to ${MAX_TIMER}`,
  ),
  defaultHeaders: checkedElsewhere,
  fetch: functionOption,
  dispatcher: checkedElsewhere,
  validation: /* @__PURE__ */ option<'error' | 'report'>(
    (value) => value === 'error' || value === 'report',
    "must be 'error' or 'report'",
  ),
  pacing: /* @__PURE__ */ option<boolean | RateLimiter>(
    isPacing,
    'must be true, false or a RateLimiter (with acquire)',
  ),
  onEvent: functionOption,
  idempotencyHeader: checkedElsewhere,
  dangerouslyAllowBrowser: booleanOption,
  dangerouslyAllowHTTP: booleanOption,
};

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
  const problem = findBadOptions(schema, options);
  if (problem !== undefined) throw new ConfigurationError(problem);
  return options;
}

function isPacing(value: unknown): boolean {
  const limiter = value as Partial<RateLimiter> | null;
  return typeof value === 'boolean' || isFunction(limiter?.acquire);
}
