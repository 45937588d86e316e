import * as z from 'zod/mini';
import { createEngine, userAgent } from '#platform';
import type { APIPromise } from '../base/api-promise.js';
import { isObject } from '../base/objects.js';
import type { RateLimit } from '../base/response-info.js';
import { type Runtime, systemRuntime } from '../base/runtime.js';
import { ConfigurationError } from '../errors/base.js';
import { badArgument, RequestValidationError } from '../errors/validation.js';
import type { EngineKind } from '../platform/engine.js';
import { MemoryRateLimiter } from '../rate-limit/memory-rate-limiter.js';
import { baseURLReader } from '../request/base-url.js';
import type { ClientOptions } from '../request/client-options.js';
import { checkArguments, type Endpoint, type Method, type Query } from '../request/request.js';
import type { SchemaOptions } from '../request/request-options.js';
import { LiveCalls } from '../request/timeouts.js';
import type { ResponseSpec } from '../response/service-response.js';
import { mapOf } from '../validation/fields.js';
import { addHeaders, checkHeaderName } from '../validation/headers.js';
import type { ApiArea, ClientState } from './call.js';
import { Resource } from './resource.js';
import { RetryBudget } from './retry-budget.js';
import { Transport } from './transport.js';

/** A request to an endpoint that has no method yet. */
export type RawRequest = {
  method: Method;
  /**
   * The encoded path after `baseURL`, such as `/v1/models`. Events and errors contain it, so write ids as `{name}`:
   * `/v1/models/{id}`.
   */
  path: string;
  /** The values of the `{names}` in the path. Each becomes one encoded segment. */
  ids?: Readonly<Record<string, string>> | undefined;
  query?: Query | undefined;
  /** Sent as JSON. */
  body?: unknown;
};

/** Options of the connections and the limiter, which a derived client shares. */
const SHARED_OPTIONS = ['fetch', 'dispatcher', 'pacing'] as const;

/** Options of `withOptions`: all but those that both clients share. */
export type DerivedOptions<Options> = Omit<Options, 'fetch' | 'dispatcher' | 'pacing'>;
const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const RAW_RESPONSE: ResponseSpec<unknown, unknown> = {
  schema: z.unknown(),
  unwrap: (body) => body,
  undocumented: true,
};

/** The common base of both clients. */
export class ServiceClient<Options extends ClientOptions> extends Resource {
  readonly #shared: ClientState;
  readonly #options: Options;

  /** @internal A derived client gets the parts that it shares. */
  constructor(options: Options, area: ApiArea, shared: ClientState | undefined, runtime: Runtime = systemRuntime) {
    const base = baseURLReader(options);
    const headers = checkDefaultHeaders(options, area);
    const state = shared ?? createShared(options, runtime);
    super(new Transport({ area, base, headers, options, shared: state }));
    this.#shared = state;
    this.#options = options;
  }

  /**
   * Returns a client with other options. It shares connections, limits and `close()` with this one. Of a subclass, it has the
   * methods and public fields; the subclass's constructor is not called.
   *
   * @example
   * ```ts
   * const patient = gateway.withOptions({ timeout: 120_000, maxRetries: 5 });
   * console.log((await patient.presets.list()).length, 'presets');
   * ```
   */
  withOptions(options: DerivedOptions<Options>): this {
    // A subclass may have a constructor of its own, which would take these for something else.
    let own: object = this;
    while (Object.getPrototypeOf(own) !== ServiceClient.prototype) own = Object.getPrototypeOf(own);
    const given = [deriveOptions(this.#options, options), this.#shared];
    const client: this = Reflect.construct(
      own.constructor as new () => this,
      given,
      this.constructor as new () => this,
    );
    return Object.assign(client, { ...this, ...client });
  }

  /** @internal A method, because `inspect` with `getters: true` prints what getters return, such as a key. */
  ownParts(): { options: Options; shared: ClientState } {
    return { options: this.#options, shared: this.#shared };
  }

  /**
   * The last known rate limit of each bucket: `gateway`, `context`, `compact`. A bucket appears with its first
   * response.
   */
  get rateLimit(): { readonly [bucket in 'gateway' | 'context' | 'compact']?: RateLimit } {
    return Object.fromEntries(this.#shared.rateLimits);
  }

  /**
   * What the next request goes through: our pool of undici connections, a `dispatcher` (the option, or one set for the
   * whole app), or `fetch`. On Node, `'fetch'` without an own `fetch` means that undici was not found beside a bundle.
   */
  get engine(): EngineKind {
    return this.#shared.engine.kind;
  }

  /**
   * Call any endpoint, such as one that this version does not know. The credential, retries, limits and errors are
   * those of the other methods. Returns the parsed body unchanged; pass a `schema` to validate and type it.
   *
   * @throws {RequestValidationError} when `path` is not a plain path
   * @throws {APIError} when the service responds with an error
   *
   * @example
   * ```ts
   * import { z } from 'zod';
   * const schema = z.object({ data: z.array(z.object({ id: z.string() })) });
   * const { data } = await gateway.request({ method: 'GET', path: '/v1/presets' }, { schema });
   * console.log(data.length, 'presets');
   * ```
   */
  request<T = unknown>(request: RawRequest, options?: SchemaOptions<T>): APIPromise<T> {
    // The body is of the type of the caller's schema, or unknown.
    return this.transport.request(() => checkRawRequest(request), RAW_RESPONSE as ResponseSpec<unknown, T>, options);
  }

  /**
   * Closes all connections. Calls in flight and later calls fail with a `ClientClosedError`.
   *
   * @example
   * ```ts
   * await gateway.close(); // or `await using gateway = new GatewayClient()`
   * ```
   */
  async close(): Promise<void> {
    this.#shared.live.closeAll();
    await this.#shared.engine.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

const rawRequestSchema = /* @__PURE__ */ z.strictObject({
  method: z.custom<Method>((value) => METHODS.includes(value as Method), `expected ${METHODS.join(', ')}`),
  path: z.string(),
  ids: z.optional(mapOf(z.string())),
  query: z.optional(mapOf(z.custom<Query[string]>(isQueryValue, 'expected a string, a number or a boolean'))),
  body: z.optional(z.unknown()),
});

function isQueryValue(value: unknown): boolean {
  return value === undefined || Number.isFinite(value) || typeof value === 'string' || typeof value === 'boolean';
}

function checkRawRequest(given: RawRequest): Endpoint {
  const request = checkArguments(rawRequestSchema, given);
  if (request.method !== 'GET' || request.body === undefined) return request;
  throw badArgument(['body'], 'a GET request has no body; pass query instead');
}

/** The options of a derived client. ClientState options cannot be changed. @throws {ConfigurationError} */
function deriveOptions<Options extends object>(own: Options, changes: DerivedOptions<Options>): Options {
  if (!isObject(changes)) throw new ConfigurationError('withOptions takes an object, such as { timeout: 30_000 }.');
  const shared = SHARED_OPTIONS.find((key) => Object.hasOwn(changes, key));
  if (shared === undefined) return { ...own, ...changes };
  throw new ConfigurationError(`${shared} cannot be changed, because both clients share it. Create a new client.`);
}

function createShared(options: ClientOptions, runtime: Runtime): ClientState {
  const { fetch, dispatcher, pacing = true } = options;
  if (fetch !== undefined && dispatcher !== undefined) {
    throw new ConfigurationError('fetch and dispatcher cannot be combined: pass only one of them.');
  }
  return {
    engine: createEngine({ fetch, dispatcher }),
    limiter: pacing === true ? new MemoryRateLimiter(runtime) : pacing === false ? undefined : pacing,
    retryBudget: new RetryBudget(),
    runtime,
    // In browsers, the service would have to allow the header that carries it.
    tag: userAgent() && Math.floor(runtime.random() * 36 ** 8).toString(36),
    live: new LiveCalls(),
    rateLimits: new Map(),
    times: { changes: new Map() },
  };
}

function checkDefaultHeaders(
  { defaultHeaders, idempotencyHeader }: ClientOptions,
  { credentialHeader }: ApiArea,
): Record<string, string> {
  if (idempotencyHeader !== undefined && checkHeaderName(idempotencyHeader, 'idempotencyHeader') === credentialHeader)
    throw new ConfigurationError('idempotencyHeader must not be the header that carries the credential.');
  try {
    const agent = userAgent();
    const headers: Record<string, string> = agent === undefined ? {} : { 'user-agent': agent };
    addHeaders(headers, defaultHeaders, credentialHeader);
    return headers;
  } catch (error) {
    if (!(error instanceof RequestValidationError)) throw error;
    const issue = error.issues[0];
    throw new ConfigurationError(`${['defaultHeaders', ...(issue?.path.slice(1) ?? [])].join('.')} ${issue?.message}.`);
  }
}
