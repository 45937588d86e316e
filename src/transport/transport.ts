import { APIPromise } from '../base/api-promise.js';
import { ignoreErrors } from '../base/ignore-errors.js';
import type { Attempt, WithResponse } from '../base/response-info.js';
import type { AnySchema } from '../base/schema-issues.js';
import { APIError, apiError } from '../errors/api.js';
import { ContextGatewayError } from '../errors/base.js';
import { endCallWith, mostSent } from '../errors/call.js';
import { APIConnectionError, ClientClosedError } from '../errors/connection.js';
import { RequestValidationError } from '../errors/validation.js';
import type { OutgoingStream, ResponseHead } from '../platform/engine.js';
import { parseError } from './body.js';
import type { AreaRules, Call, Shared } from './call.js';
import { readErrorBody } from './error-details.js';
import type { Listener } from './events.js';
import {
  type Base,
  type ClientOptions,
  checkRequestOptions,
  ownProperties,
  type RequestOptions,
  requestOptionsSchema,
  type SchemaOptions,
  schemaOptionsSchema,
  uploadOptionsSchema,
} from './options.js';
import { acquire, type CallPermit } from './rate-limit/acquire.js';
import { ServerClock } from './rate-limit/headers.js';
import { endingOf, openReporter } from './reporter.js';
import { checkHeaders, type EndpointSource, prepare } from './request.js';
import { LONGEST_BACKOFF, nextWait, operationOf, sentBy } from './retry.js';
import { hasNewCredential, readCredential } from './rotation.js';
import { quoted, withoutSecrets } from './secrets.js';
import { type ResponseForm, ServiceResponse } from './service-response.js';
import { CallTimeouts } from './timeouts.js';
import { applySchema } from './validation.js';

const DEFAULT_TIMEOUT = 60_000;
const DEFAULT_IDLE_TIMEOUT = 120_000;
const DEFAULT_RETRIES = 2;
export const DEFAULT_MAX_RETRY_AFTER = 60_000;
/** Turns a successful response into the method's return value. */
type Reader<T> = (response: ServiceResponse, options: RequestOptions) => T | Promise<T>;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Sends all requests. It knows no paths and no resources. `docs/request-path.md` explains each step. */
export class Transport {
  readonly #area: AreaRules;
  readonly #base: Base;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #options: ClientOptions;
  readonly #shared: Shared;
  readonly #clock = new ServerClock();

  constructor(
    area: AreaRules,
    base: Base,
    headers: Readonly<Record<string, string>>,
    options: ClientOptions,
    shared: Shared,
  ) {
    this.#area = area;
    this.#base = base;
    this.#headers = headers;
    this.#options = options;
    this.#shared = shared;
  }

  /** Sends a request and reads one JSON value. A caller's `schema` replaces the built-in one. */
  request<Body, T>(
    endpoint: EndpointSource,
    { schema: documented, pick, mayBeEmpty, undocumented, facts }: ResponseForm<Body, T>,
    options?: RequestOptions | SchemaOptions<T>,
  ): APIPromise<T> {
    const read: Reader<T> = async (response, checked) => {
      const { schema } = checked as Partial<SchemaOptions<T>>; // only undocumented endpoints accept it
      const body = (await response.json(mayBeEmpty)) as Body; // checked below, or wanted unchecked
      const { timeouts, reporter } = response.call;
      // A caller's schema may be slow, but it does not extend the call's time limits.
      if (schema !== undefined)
        return timeouts.wait(applySchema(schema, pick(body), body, (text) => quoted(text, response.call)));
      response.check(documented, body);
      if (reporter !== undefined) ignoreErrors(() => Object.assign(reporter, { completion: facts?.(body) }));
      return pick(body);
    };
    return this.#call(endpoint, options, undocumented ? schemaOptionsSchema : requestOptionsSchema, read, false);
  }

  /** Sends a request and returns the open response. Its reader ends the call. */
  stream<T>(endpoint: EndpointSource, open: Reader<T>, options?: RequestOptions): APIPromise<T> {
    return this.#call(endpoint, options, requestOptionsSchema, open, true);
  }

  /** For a method of two requests: the options of the second, with what is left of the deadline of both. */
  optionsAfter(options: RequestOptions | undefined): () => RequestOptions {
    const { runtime } = this.#shared;
    const given = { ...options };
    const deadline = given.deadline ?? this.#options.deadline;
    if (deadline === undefined) return () => given;
    const endsAt = runtime.now() + deadline;
    // Too little time ends the second request with the error of a deadline.
    return () => ({ ...given, deadline: Math.max(1, endsAt - runtime.now()) });
  }

  #call<T>(
    endpoint: EndpointSource,
    options: RequestOptions | undefined,
    schema: AnySchema,
    read: Reader<T>,
    streamed: boolean,
  ): APIPromise<T> {
    // Checks and serialises the arguments synchronously. Errors reject; they are never thrown.
    let call: Call;
    try {
      call = this.#prepare(endpoint, options, schema, streamed);
    } catch (cause) {
      const unreadable = [{ path: [], message: 'an argument could not be read' }];
      const error = cause instanceof ContextGatewayError ? cause : new RequestValidationError(unreadable, { cause });
      return new APIPromise<T>(Promise.reject(error));
    }
    return new APIPromise(this.#run(call, read, streamed));
  }

  #prepare(source: EndpointSource, given: RequestOptions | undefined, taken: AnySchema, streamed: boolean): Call {
    const shared = this.#shared;
    if (shared.closed) throw new ClientClosedError();
    const endpoint = ownProperties(typeof source === 'function' ? source() : source);
    const schema = endpoint.upload === undefined ? taken : uploadOptionsSchema;
    const options: RequestOptions = checkRequestOptions(given, schema, endpoint);
    const headers = { accept: endpoint.accept ?? 'application/json', ...this.#headers };
    this.#addHeaders(headers, options);
    const request = prepare(endpoint, this.#base, headers, schema);
    const { method, path, bucket = this.#area.name, model } = endpoint;
    const { runtime, live } = shared;
    const own = this.#options;
    shared.calls += 1;
    const facts = { call: shared.calls, area: this.#area.name, method, path };
    const route = `${method} ${path}`;
    return {
      area: this.#area,
      request,
      options,
      bucket,
      route,
      where: route,
      runtime,
      timeouts: new CallTimeouts(runtime, live, options.signal, options.deadline ?? own.deadline),
      timeout: options.timeout ?? own.timeout ?? endpoint.timeout ?? DEFAULT_TIMEOUT,
      idleTimeout: options.streamIdleTimeout ?? own.streamIdleTimeout ?? DEFAULT_IDLE_TIMEOUT,
      maxRetries: options.maxRetries ?? own.maxRetries ?? DEFAULT_RETRIES,
      maxRetryAfter: own.maxRetryAfter ?? DEFAULT_MAX_RETRY_AFTER,
      reports: own.validation === 'report',
      reporter: openReporter(this.#listeners(), facts, { model, streamed, startedAt: runtime.now() }),
      attempts: [],
      startedAt: 0,
      sent: 'no',
      credential: '',
      clean: String,
      hintMissed: false,
      nextCredential: undefined,
      rotated: false,
    };
  }

  #listeners(): Listener[] {
    const { onEvent } = this.#options;
    return onEvent === undefined ? [...this.#shared.listeners] : [onEvent, ...this.#shared.listeners];
  }

  #addHeaders(headers: Record<string, string>, { headers: given, idempotencyKey: key }: RequestOptions): void {
    const { credentialHeader } = this.#area;
    if (given !== undefined) Object.assign(headers, checkHeaders(given, credentialHeader));
    const name = this.#options.idempotencyHeader ?? 'Idempotency-Key';
    if (key !== undefined) Object.assign(headers, checkHeaders({ [name]: key }, credentialHeader));
  }

  /** The only loop: attempt, decide, wait, repeat. */
  async #run<T>(call: Call, read: Reader<T>, streamed: boolean): Promise<WithResponse<T>> {
    const { timeouts } = call;
    let spent = 0;
    let delay: number | undefined;
    let handedOver = false;
    try {
      for (;;) {
        try {
          if (delay !== undefined) await timeouts.sleep(delay);
          const response = await this.#attempt(call, read, delay ?? 0);
          this.#shared.budget.refund(spent);
          handedOver = streamed;
          if (!streamed) call.reporter?.done({ outcome: 'success', error: undefined }, call.runtime.now());
          return response;
        } catch (error) {
          const { wait, cost } = this.#decide(error, call, await hasNewCredential(error, call));
          call.sent = mostSent(call.sent, sentBy(error));
          spent += cost;
          delay = wait;
        }
      }
    } catch (error) {
      call.reporter?.done(endingOf(error), call.runtime.now());
      if (error instanceof ContextGatewayError) endCallWith(error, call);
      throw error;
    } finally {
      call.request.upload?.cancel(); // even if it was never started
      if (!handedOver) timeouts.end();
    }
  }

  /** One attempt, from the credential to the response. */
  async #attempt<T>(call: Call, read: Reader<T>, waited: number): Promise<WithResponse<T>> {
    const { timeouts, attempts, runtime, bucket } = call;
    const { limiter, rateLimits } = this.#shared;
    call.where = call.route;
    call.hintMissed = false;
    timeouts.check();
    // Before the queue, so that a 429 that arrives while the key is read also holds this call.
    const credential = readCredential(call);
    call.credential = typeof credential === 'string' ? credential : await credential;
    const permit = await acquire(call, limiter, rateLimits.get(bucket));
    call.startedAt = runtime.now();
    const record: Mutable<Attempt> = { delay: waited + permit.waited, duration: 0 };
    let upload: OutgoingStream | undefined;
    let hasLeft = true;
    try {
      timeouts.startAttempt(call.timeout, call.startedAt);
      attempts.push(record);
      const added = call.reporter?.announce(attempts.length, call.request.headers, this.#area.credentialHeader);
      timeouts.check(); // the listener may have ended it
      upload = call.request.upload?.body((times) => timeouts.progressed(times));
      const head = await this.#send(call, added, upload);
      const response = this.#observe(call, head);
      record.status = head.status;
      if (head.status < 200 || head.status > 299) throw await this.#readError(call, response, permit);
      permit.release(response.observation);
      const data = await read(response, call.options);
      record.duration = runtime.now() - call.startedAt;
      return { data, response: response.info };
    } catch (error) {
      timeouts.stopWatching();
      permit.release();
      record.duration = runtime.now() - call.startedAt;
      hasLeft = !(error instanceof APIConnectionError && error.sent === 'no');
      if (!(error instanceof APIError) && error instanceof Error) record.error = error.name;
      throw error;
    } finally {
      upload?.cancel(); // even if the service responded before the upload was complete
      call.reporter?.sent(upload?.sent ?? (hasLeft ? call.request.body : undefined));
    }
  }

  #send(call: Call, added: object | undefined, upload: OutgoingStream | undefined): Promise<ResponseHead> {
    const { request, credential, timeouts } = call;
    const { method, origin, path, headers, body } = request;
    const exchange = this.#shared.engine.send({
      method,
      origin,
      path,
      headers: { ...headers, ...added, [this.#area.credentialHeader]: credential },
      body: upload ?? body,
      clean: (text) => withoutSecrets(text, credential),
    });
    timeouts.follow(exchange);
    return exchange.head;
  }

  /** Records the rate limit, date and request id of a response, for every status. */
  #observe(call: Call, head: ResponseHead): ServiceResponse {
    const { reporter } = call;
    const read = reporter === undefined ? head : { ...head, body: reporter.counted(head.body) };
    const response = new ServiceResponse(read, call, this.#clock);
    const { requestId, rateLimit } = response;
    call.clean = (text) => withoutSecrets(text, call.credential);
    if (requestId !== undefined) call.where = `${call.route}, request ${requestId}`;
    if (rateLimit !== undefined) this.#shared.rateLimits.set(call.bucket, rateLimit);
    if (reporter !== undefined) {
      const { status } = head;
      Object.assign(reporter, { status, requestId, rateLimit, clean: call.clean });
      const duration = call.runtime.now() - call.startedAt;
      reporter.emit({ type: 'response', attempt: call.attempts.length, status, duration, requestId });
    }
    return response;
  }

  /** Reads the body of an error response, up to a limit. */
  async #readError(call: Call, response: ServiceResponse, permit: CallPermit): Promise<ContextGatewayError> {
    const { status, body } = response.head;
    if (status > 599 || status < 200) {
      body.cancel(new Error('not an HTTP status'));
      const details = { phase: 'headers', sent: 'yes', retryable: false } as const;
      return new APIConnectionError(`No usable response: ${status} is not an HTTP status.`, details);
    }
    const rejected = status === 429;
    // The wait may be in the body, so nothing else is sent before it is read.
    if (rejected) permit.hold();
    const { text, whole } = await readErrorBody(call, response);
    const error = apiError(status, response.errorDetails(parseError(text)));
    call.hintMissed = !whole;
    const retryAfter = whole ? error.retryAfter : Math.max(error.retryAfter ?? 0, LONGEST_BACKOFF);
    permit.release({ ...response.observation, rejected, ...(rejected && { retryAfter }) });
    call.timeouts.check(); // if the call was ended meanwhile, that error takes precedence over the status
    return error;
  }

  /** Decides what follows a failed attempt: waits, or throws the error. */
  #decide(error: unknown, call: Call, newCredential: boolean): { wait: number; cost: number } {
    const { runtime, budget, limiter } = this.#shared;
    const { options, timeouts, attempts, request, reporter } = call;
    const reason = error instanceof APIError ? error.status : error instanceof Error ? error.name : 'unknown';
    const attempt = attempts.length;
    if (newCredential) {
      reporter?.emit({ type: 'retry', attempt, reason, wait: 0 });
      return { wait: 0, cost: 0 };
    }
    const facts = {
      operation: operationOf(request.method),
      repeatable: request.upload?.repeatable !== false,
      maxRetries: call.maxRetries,
      maxRetryAfter: call.maxRetryAfter,
      timeLeft: timeouts.timeLeft,
      attempts,
      sent: call.sent,
      hintMissed: call.hintMissed,
      keyed: options.idempotencyKey !== undefined,
      random: runtime.random,
    };
    const verdict = nextWait(error, facts);
    const cost = budget.cost(error, limiter !== undefined);
    if (verdict.stop === undefined && budget.take(cost)) {
      reporter?.emit({ type: 'retry', attempt, reason, wait: verdict.wait });
      return { wait: verdict.wait, cost };
    }
    reporter?.emit({ type: 'failure', attempt, reason, stop: verdict.stop ?? 'retry-budget-exhausted' });
    throw error;
  }
}
