import { environmentListener } from '#platform';
import { type APIPromise, apiPromise } from '../base/api-promise.js';
import { ignoreErrors } from '../base/ignore-errors.js';
import { ownProperties } from '../base/objects.js';
import { setTime } from '../base/read-memo.js';
import type { WithResponse } from '../base/response-info.js';
import type { Runtime } from '../base/runtime.js';
import { APIError } from '../errors/api.js';
import { ContextGatewayError } from '../errors/base.js';
import { addCallDetails, mostSent } from '../errors/call.js';
import { APIConnectionError, APITimeoutError, ClientClosedError } from '../errors/connection.js';
import { RequestValidationError } from '../errors/validation.js';
import type { Listener } from '../events/events.js';
import { CallReporter, completionFacts, type Ending, endingOf } from '../events/reporter.js';
import type { OutgoingStream, ResponseHead } from '../platform/engine.js';
import type { Base } from '../request/base-url.js';
import { type ClientOptions, DEFAULTS } from '../request/client-options.js';
import { type EndpointSource, prepare } from '../request/request.js';
import {
  checkRequestOptions,
  parseOptionsSchema,
  type RequestOptions,
  requestOptionsSchema,
  type SchemaOptions,
  schemaOptionsSchema,
  uploadOptionsSchema,
} from '../request/request-options.js';
import { CallTimeouts } from '../request/timeouts.js';
import { parseError, readError, readJson } from '../response/body.js';
import { check } from '../response/check.js';
import { errorIn } from '../response/error-details.js';
import { type ResponseSpec, ServiceResponse } from '../response/service-response.js';
import { addHeaders } from '../validation/headers.js';
import type { AnySchema } from '../validation/schema-issues.js';
import { applySchema } from '../validation/validate.js';
import { type ApiArea, type Call, CallAttempt, type ClientState } from './call.js';
import { acquire, firstHold, knownHold, observed } from './queue.js';
import { explainNotFound, MAX_BACKOFF, nextWait, sentBy } from './retry.js';

/** Turns a successful response into the method's return value. */
type Reader<T> = (response: ServiceResponse, options: RequestOptions) => T | Promise<T>;

/** What a client gives to its transport. */
interface ClientParts {
  readonly area: ApiArea;
  readonly base: () => Base;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: ClientOptions;
  readonly shared: ClientState;
}

/** Sends all requests. It knows no paths and no resources. `docs/internals/request-path.md` explains each step. */
export class Transport {
  readonly #client: ClientParts; // hidden also from `inspect` with `getters`, because it has the credential
  readonly #listeners: readonly Listener[];
  /** Calls of all clients: one listener may listen to several. */
  static #started = 0;

  constructor(client: ClientParts) {
    this.#client = client;
    this.#listeners = [client.options.onEvent, environmentListener()].filter((listener) => listener !== undefined);
  }

  /** Sends a request and reads one JSON value. A caller's `schema` replaces the built-in one. */
  request<Body, T>(
    endpoint: EndpointSource,
    { read: readBody = readJson, schema: documented, tidy, unwrap, undocumented, content }: ResponseSpec<Body, T>,
    options?: SchemaOptions<unknown>,
  ): APIPromise<T> {
    const read: Reader<T> = async (response, checked) => {
      const { schema } = checked as SchemaOptions<unknown>; // only some endpoints accept it
      const body = (await readBody(response)) as Body; // checked below, or wanted unchecked
      const { timeouts, redactor, call } = response.source;
      if (schema === undefined || content !== undefined)
        check(response, documented, body, tidy as (body: unknown) => void);
      ignoreErrors(() => call?.reporter?.completed(completionFacts(body)));
      const value: unknown = (schema === undefined || content === undefined ? unwrap : content)(body);
      if (content === undefined && Array.isArray(value)) response.keepRest(body, value);
      if (schema === undefined) return value as T;
      if (value === undefined && content !== undefined) return unwrap(body);
      // A caller's schema may be slow, but it does not extend the call's time limits.
      const parsed = await timeouts.wait(applySchema(schema, value, body, (text) => redactor.quote(text)));
      return content === undefined ? (parsed as T) : unwrap(body, parsed);
    };
    const mayHaveSchema = undocumented ? schemaOptionsSchema : requestOptionsSchema;
    return this.#call(endpoint, options, content === undefined ? mayHaveSchema : parseOptionsSchema, read, false);
  }

  /** Sends a request and returns the open response. Its reader ends the call. */
  stream<T>(
    endpoint: EndpointSource,
    open: (response: ServiceResponse) => T | Promise<T>,
    options?: RequestOptions,
  ): APIPromise<T> {
    return this.#call(endpoint, options, requestOptionsSchema, open, true);
  }

  /** Where requests go. @throws {ClientClosedError} @throws {ConfigurationError} without a `baseURL` */
  get base(): Base {
    if (this.#client.shared.live.closed) throw new ClientClosedError();
    return this.#client.base();
  }

  /** The client's own deadline of a call, and its clock, for a method of two requests. */
  get timing(): { readonly deadline: number | undefined; readonly runtime: Runtime } {
    return { deadline: this.#client.options.deadline, runtime: this.#client.shared.runtime };
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
      return apiPromise<T>(Promise.reject(error));
    }
    return apiPromise(this.#run(call, read, streamed));
  }

  #prepare(source: EndpointSource, given: RequestOptions | undefined, taken: AnySchema, streamed: boolean): Call {
    const shared = this.#client.shared;
    if (shared.live.closed) throw new ClientClosedError();
    const endpoint = ownProperties(typeof source === 'function' ? source() : source);
    const schema = endpoint.upload === undefined ? taken : uploadOptionsSchema;
    const options: RequestOptions = checkRequestOptions(given, schema);
    const headers = { accept: endpoint.accept ?? 'application/json', ...this.#client.headers };
    this.#addHeaders(headers, options);
    const request = prepare(endpoint, this.#client.base(), headers);
    const { method, path, bucket = this.#client.area.name } = endpoint;
    const { runtime, live } = shared;
    const own = this.#client.options;
    const id = ++Transport.#started;
    const facts = { call: id, area: this.#client.area.name, method, path };
    const route = `${method} ${path}`;
    const idle = options.streamIdleTimeout ?? own.streamIdleTimeout ?? DEFAULTS.streamIdleTimeout;
    const listeners = this.#listeners;
    const reporter = listeners.length === 0 ? undefined : new CallReporter(listeners, facts, runtime);
    reporter?.started(request.asked, streamed);
    return {
      area: this.#client.area,
      request,
      options,
      bucket,
      route,
      conversationId: endpoint.ids?.conversationId,
      id: shared.tag && `${shared.tag}-${id}`,
      timeouts: new CallTimeouts(runtime, live, options.signal, idle, options.deadline ?? own.deadline),
      timeout: options.timeout ?? own.timeout ?? endpoint.timeout ?? DEFAULTS.timeout,
      maxRetries: options.maxRetries ?? own.maxRetries ?? DEFAULTS.maxRetries,
      maxRetryAfter: own.maxRetryAfter ?? DEFAULTS.maxRetryAfter,
      reportsInvalid: own.validation === 'report',
      reporter,
      attempts: [],
      attempt: undefined,
      spent: 0,
      sent: 'no',
    };
  }

  #addHeaders(headers: Record<string, string>, { headers: given, idempotencyKey: key }: RequestOptions): void {
    const { credentialHeader } = this.#client.area;
    if (given !== undefined) addHeaders(headers, given, credentialHeader);
    const name = this.#client.options.idempotencyHeader ?? DEFAULTS.idempotencyHeader;
    if (key !== undefined) addHeaders(headers, { [name]: key }, credentialHeader);
  }

  async #run<T>(call: Call, read: Reader<T>, streamed: boolean): Promise<WithResponse<T>> {
    try {
      const response = await this.#repeat(call, read);
      this.#client.shared.retryBudget.refund(call.spent);
      if (!streamed) this.#end(call, { outcome: 'success', error: undefined }); // a stream ends its call itself
      return response;
    } catch (error) {
      if (error instanceof ContextGatewayError && call.attempt !== undefined) addCallDetails(error, call.attempt);
      this.#end(call, endingOf(error));
      throw error;
    }
  }

  /** The only loop: attempt, decide, wait, repeat. */
  async #repeat<T>(call: Call, read: Reader<T>): Promise<WithResponse<T>> {
    for (let delay: number | undefined; ; ) {
      try {
        if (delay !== undefined) await call.timeouts.sleep(delay);
        call.attempt = new CallAttempt(call, delay);
        return await this.#attempt(call.attempt, read);
      } catch (error) {
        delay = this.#decide(error, call);
      }
    }
  }

  #end({ reporter, request, timeouts, conversationId = '' }: Call, ending: Ending): void {
    const { times, runtime } = this.#client.shared;
    if (request.method !== 'GET') setTime(times.changes, conversationId, runtime.wallClock()); // a request that failed may have changed it, too
    reporter?.done(ending, runtime.now());
    request.upload?.cancel(); // even if it was never started
    timeouts.end();
  }

  /** One attempt, from the credential to the response. */
  async #attempt<T>(attempt: CallAttempt, read: Reader<T>): Promise<WithResponse<T>> {
    const { call, timeouts, record } = attempt;
    const { attempts, bucket, reporter, request } = call;
    const { limiter, rateLimits, runtime } = this.#client.shared;
    timeouts.check();
    // Before the queue, so that a 429 that arrives while the key is read also holds this call.
    const credential = this.#client.area.authorize();
    attempt.credential = typeof credential === 'string' ? credential : await readInTime(credential, call);
    attempt.permit = await acquire(attempt, limiter, rateLimits.get(bucket));
    attempt.startedAt = runtime.now();
    let upload: OutgoingStream | undefined;
    let wasSent = true;
    try {
      timeouts.startAttempt(call.timeout, attempt.startedAt);
      attempts.push(record);
      const added = reporter?.announce(attempts.length, request.headers, this.#client.area.credentialHeader);
      timeouts.check(); // the listener may have ended it
      upload = request.upload?.body((times) => timeouts.progressed(times));
      const head = await this.#send(attempt, added, upload);
      const response = this.#observe(attempt, head);
      record.status = head.status;
      if (head.status < 200 || head.status > 299) throw await this.#readError(attempt, response);
      attempt.release(observed(response, false));
      const data = await read(response, call.options);
      record.duration = attempt.duration;
      return { data, response: response.info };
    } catch (error) {
      timeouts.stopWatching();
      attempt.release();
      record.duration = attempt.duration;
      wasSent = !(error instanceof APIConnectionError && error.sent === 'no');
      if (!(error instanceof APIError) && error instanceof Error) record.error = error.name;
      throw error;
    } finally {
      upload?.cancel(); // even if the service responded before the upload was complete
      reporter?.sent(upload?.bytesSent ?? (wasSent ? request.body : undefined));
    }
  }

  #send(
    { call, credential, timeouts }: CallAttempt,
    added: object | undefined,
    upload: OutgoingStream | undefined,
  ): Promise<ResponseHead> {
    const { method, origin, target, headers, body } = call.request;
    const { id, attempts } = call;
    const isRetry = id !== undefined && attempts.length > 1;
    const retry = isRetry && { 'x-call-attempt': `${id}.${attempts.length}` };
    const exchange = this.#client.shared.engine.send({
      method,
      origin,
      target,
      headers: { ...retry, ...headers, ...added, [this.#client.area.credentialHeader]: credential },
      body: upload ?? body,
    });
    timeouts.follow(exchange);
    return exchange.head;
  }

  /** Records the rate limit, date and request id of a response, for every status. */
  #observe(attempt: CallAttempt, head: ResponseHead): ServiceResponse {
    const { reporter, bucket } = attempt.call;
    const counted = reporter === undefined ? head : { ...head, body: reporter.counted(head.body) };
    const response = new ServiceResponse(counted, attempt);
    attempt.requestId = response.requestId;
    if (response.rateLimit !== undefined) this.#client.shared.rateLimits.set(bucket, response.rateLimit);
    const { requestId, rateLimit } = response;
    reporter?.responded({ status: head.status, requestId, rateLimit, redactor: attempt.redactor }, attempt.duration);
    return response;
  }

  /** Reads the body of an error response, up to a limit. */
  async #readError(attempt: CallAttempt, response: ServiceResponse): Promise<ContextGatewayError> {
    const { status, body } = response.head;
    if (status > 599 || status < 200) {
      body.cancel(new Error('not an HTTP status'));
      const details = { phase: 'headers', sent: 'yes', retryable: false } as const;
      return new APIConnectionError(`No usable response: ${status} is not an HTTP status.`, details);
    }
    const rejected = status === 429;
    // The wait may be in the body, so nothing else is sent before it is read.
    const { call } = attempt;
    if (rejected) ignoreErrors(() => attempt.permit?.hold?.(firstHold(response.retryAfter(), call)));
    const mayBeRetried = call.attempts.length <= call.maxRetries && (response.retryAfter() ?? 0) <= call.maxRetryAfter;
    const mayHaveWait = (rejected || status === 503) && mayBeRetried;
    const { text, isCut } = await readError(body, this.#client.shared.runtime, mayHaveWait);
    const error = errorIn(response, parseError(text), mayHaveWait && isCut ? MAX_BACKOFF : undefined);
    attempt.release(observed(response, rejected, rejected ? knownHold(error.retryAfter, call) : undefined));
    attempt.timeouts.check(); // if the call was ended meanwhile, that error takes precedence over the status
    return error;
  }

  /** Decides what follows a failed attempt: returns the wait before the next one, or throws the error. */
  #decide(error: unknown, call: Call): number {
    const { retryBudget, limiter, runtime } = this.#client.shared;
    const { attempts, reporter } = call;
    const reason = error instanceof APIError ? error.status : error instanceof Error ? error.name : 'unknown';
    const event = { attempt: attempts.length, reason };
    const decision = nextWait(error, call);
    // Not by `wait`, which a polluted prototype may add.
    const isOver = decision.stop !== undefined;
    const cost = isOver ? undefined : retryBudget.take(error, limiter !== undefined, runtime.now());
    if (isOver || cost === undefined) {
      explainNotFound(error, call);
      reporter?.emit({ type: 'failure', ...event, stop: decision.stop ?? 'retry-budget-exhausted' });
      throw error;
    }
    const { wait } = decision;
    call.sent = mostSent(call.sent, sentBy(error));
    call.spent += cost;
    reporter?.emit({ type: 'retry', ...event, wait });
    return wait;
  }
}

/** Waits for a credential function, at most as long as an attempt may take. */
async function readInTime(credential: Promise<string>, { area, timeout, timeouts }: Call): Promise<string> {
  ignoreErrors(() => credential); // it may fail after the call has stopped waiting for it
  try {
    timeouts.startAttempt(timeout, timeouts.runtime.now());
    return await timeouts.wait(credential);
  } catch (error) {
    if (!(error instanceof APITimeoutError) || error.kind !== 'attempt') throw error;
    const option = area.name === 'gateway' ? 'apiKey' : 'sessionToken';
    const message = `The ${option} function did not return within ${timeout} ms, the timeout of an attempt.`;
    throw new APITimeoutError(message, { kind: 'attempt', phase: 'connect', sent: 'no', retryable: false });
  } finally {
    timeouts.stopWatching();
  }
}
