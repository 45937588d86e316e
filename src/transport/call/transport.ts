import { APIPromise } from '../../base/api-promise.js';
import { ignoreErrors } from '../../base/ignore-errors.js';
import { ownProperties } from '../../base/objects.js';
import type { WithResponse } from '../../base/response-info.js';
import type { AnySchema } from '../../base/schema-issues.js';
import { APIError } from '../../errors/api.js';
import { ContextGatewayError } from '../../errors/base.js';
import { addCallDetails, mostSent } from '../../errors/call.js';
import { APIConnectionError, APITimeoutError, ClientClosedError } from '../../errors/connection.js';
import { RequestValidationError } from '../../errors/validation.js';
import type { OutgoingStream, ResponseHead } from '../../platform/engine.js';
import type { Base } from '../arguments/base-url.js';
import { type ClientOptions, DEFAULTS } from '../arguments/client-options.js';
import { checkHeaders, type EndpointSource, prepare } from '../arguments/request.js';
import {
  checkRequestOptions,
  type RequestOptions,
  requestOptionsSchema,
  type SchemaOptions,
  schemaOptionsSchema,
  uploadOptionsSchema,
} from '../arguments/request-options.js';
import { applySchema } from '../arguments/validation.js';
import type { Listener } from '../events/events.js';
import { logListener } from '../events/logger.js';
import { CallReporter, completionFacts, endingOf } from '../events/reporter.js';
import { acquire } from '../rate-limit/acquire.js';
import { ServerClock } from '../rate-limit/headers.js';
import { parseError, readError, readJson } from '../response/body.js';
import { errorIn } from '../response/error-details.js';
import { type ResponseSpec, ServiceResponse } from '../response/service-response.js';
import type { ApiArea, Call, Shared } from './call.js';
import { CallAttempt } from './call.js';
import { leastWait, nextWait, sentBy } from './retry.js';
import { CallTimeouts } from './timeouts.js';

/** Turns a successful response into the method's return value. */
type Reader<T> = (response: ServiceResponse, options: RequestOptions) => T | Promise<T>;

/** Sends all requests. It knows no paths and no resources. `docs/internals/request-path.md` explains each step. */
export class Transport {
  readonly #area: ApiArea;
  readonly #base: () => Base;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #options: ClientOptions;
  readonly #shared: Shared;
  /** The client's own listeners. */
  readonly #own: readonly Listener[];
  readonly #clock = new ServerClock();

  constructor(
    area: ApiArea,
    base: () => Base,
    headers: Readonly<Record<string, string>>,
    options: ClientOptions,
    shared: Shared,
  ) {
    this.#area = area;
    this.#base = base;
    this.#headers = headers;
    this.#options = options;
    this.#shared = shared;
    this.#own = [options.onEvent, logListener(options.logger)].filter((listener) => listener !== undefined);
  }

  /** Sends a request and reads one JSON value. A caller's `schema` replaces the built-in one. */
  request<Body, T>(
    endpoint: EndpointSource,
    { schema: documented, unwrap, allowEmpty, undocumented, content }: ResponseSpec<Body, T>,
    options?: SchemaOptions<T>,
  ): APIPromise<T> {
    const read: Reader<T> = async (response, checked) => {
      const { schema } = checked as SchemaOptions<T>; // only some endpoints accept it
      const body = (await readJson(response, allowEmpty)) as Body; // checked below, or wanted unchecked
      const { timeouts, redactor, call } = response.context;
      if (schema === undefined || content !== undefined) response.check(documented, body);
      ignoreErrors(() => call?.reporter?.completed(completionFacts(body)));
      if (schema === undefined) return unwrap(body);
      const value = content === undefined ? unwrap(body) : content(body);
      // A caller's schema may be slow, but it does not extend the call's time limits.
      return timeouts.wait(applySchema(schema, value, body, (text) => redactor.quote(text)));
    };
    const takesSchema = undocumented || content !== undefined;
    return this.#call(endpoint, options, takesSchema ? schemaOptionsSchema : requestOptionsSchema, read, false);
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
    if (shared.live.closed) throw new ClientClosedError();
    const endpoint = ownProperties(typeof source === 'function' ? source() : source);
    const schema = endpoint.upload === undefined ? taken : uploadOptionsSchema;
    const options: RequestOptions = checkRequestOptions(given, schema);
    const headers = { accept: endpoint.accept ?? 'application/json', ...this.#headers };
    this.#addHeaders(headers, options);
    const request = prepare(endpoint, this.#base(), headers);
    const { method, path, bucket = this.#area.name } = endpoint;
    const { runtime, live } = shared;
    const own = this.#options;
    live.count += 1;
    const facts = { call: live.count, area: this.#area.name, method, path };
    const route = `${method} ${path}`;
    const idle = options.streamIdleTimeout ?? own.streamIdleTimeout ?? DEFAULTS.streamIdleTimeout;
    const listeners = [...this.#own, ...shared.listeners];
    const reporter = listeners.length === 0 ? undefined : new CallReporter(listeners, facts, runtime);
    reporter?.started(request.model, streamed);
    return {
      area: this.#area,
      request,
      options,
      bucket,
      route,
      timeouts: new CallTimeouts(runtime, live, options.signal, idle, options.deadline ?? own.deadline),
      timeout: options.timeout ?? own.timeout ?? endpoint.timeout ?? DEFAULTS.timeout,
      maxRetries: options.maxRetries ?? own.maxRetries ?? DEFAULTS.maxRetries,
      maxRetryAfter: own.maxRetryAfter ?? DEFAULTS.maxRetryAfter,
      reportsInvalid: own.validation === 'report',
      reporter,
      attempts: [],
      sent: 'no',
    };
  }

  #addHeaders(headers: Record<string, string>, { headers: given, idempotencyKey: key }: RequestOptions): void {
    const { credentialHeader } = this.#area;
    if (given !== undefined) Object.assign(headers, checkHeaders(given, credentialHeader));
    const name = this.#options.idempotencyHeader ?? DEFAULTS.idempotencyHeader;
    if (key !== undefined) Object.assign(headers, checkHeaders({ [name]: key }, credentialHeader));
  }

  /** The only loop: attempt, decide, wait, repeat. */
  async #run<T>(call: Call, read: Reader<T>, streamed: boolean): Promise<WithResponse<T>> {
    const { timeouts, reporter } = call;
    const { runtime, budget } = this.#shared;
    let attempt = new CallAttempt(call, 0);
    let spent = 0;
    let delay: number | undefined;
    let handedOver = false;
    try {
      for (;;) {
        try {
          if (delay !== undefined) {
            await timeouts.sleep(delay);
            attempt = new CallAttempt(call, delay);
          }
          const response = await this.#attempt(attempt, read);
          budget.refund(spent);
          handedOver = streamed;
          if (!streamed) reporter?.done({ outcome: 'success', error: undefined }, runtime.now());
          return response;
        } catch (error) {
          const { wait, cost } = this.#decide(error, attempt);
          call.sent = mostSent(call.sent, sentBy(error));
          spent += cost;
          delay = wait;
        }
      }
    } catch (error) {
      reporter?.done(endingOf(error), runtime.now());
      if (error instanceof ContextGatewayError) addCallDetails(error, attempt);
      throw error;
    } finally {
      call.request.upload?.cancel(); // even if it was never started
      if (!handedOver) timeouts.end();
    }
  }

  /** One attempt, from the credential to the response. */
  async #attempt<T>(attempt: CallAttempt, read: Reader<T>): Promise<WithResponse<T>> {
    const { call, timeouts, record } = attempt;
    const { attempts, bucket, reporter, request } = call;
    const { limiter, rateLimits, runtime } = this.#shared;
    timeouts.check();
    // Before the queue, so that a 429 that arrives while the key is read also holds this call.
    const credential = this.#area.authorize();
    attempt.credential = typeof credential === 'string' ? credential : await readInTime(credential, call);
    attempt.permit = await acquire(attempt, limiter, rateLimits.get(bucket));
    attempt.startedAt = runtime.now();
    let upload: OutgoingStream | undefined;
    let wasSent = true;
    try {
      timeouts.startAttempt(call.timeout, attempt.startedAt);
      attempts.push(record);
      const added = reporter?.announce(attempts.length, request.headers, this.#area.credentialHeader);
      timeouts.check(); // the listener may have ended it
      upload = request.upload?.body((times) => timeouts.progressed(times));
      const head = await this.#send(attempt, added, upload);
      const response = this.#observe(attempt, head);
      record.status = head.status;
      if (head.status < 200 || head.status > 299) throw await this.#readError(attempt, response);
      attempt.release(response.observation);
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
      reporter?.sent(upload?.sent ?? (wasSent ? request.body : undefined));
    }
  }

  #send(
    { call, credential, timeouts }: CallAttempt,
    added: object | undefined,
    upload: OutgoingStream | undefined,
  ): Promise<ResponseHead> {
    const { method, origin, path, headers, body } = call.request;
    const exchange = this.#shared.engine.send({
      method,
      origin,
      path,
      headers: { ...headers, ...added, [this.#area.credentialHeader]: credential },
      body: upload ?? body,
    });
    timeouts.follow(exchange);
    return exchange.head;
  }

  /** Records the rate limit, date and request id of a response, for every status. */
  #observe(attempt: CallAttempt, head: ResponseHead): ServiceResponse {
    const { reporter, bucket } = attempt.call;
    const counted = reporter === undefined ? head : { ...head, body: reporter.counted(head.body) };
    const response = new ServiceResponse(counted, attempt, this.#clock);
    attempt.requestId = response.requestId;
    if (response.rateLimit !== undefined) this.#shared.rateLimits.set(bucket, response.rateLimit);
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
    if (rejected) ignoreErrors(() => attempt.permit?.hold?.());
    const { call } = attempt;
    const mayBeRetried = call.attempts.length <= call.maxRetries && (response.retryAfter ?? 0) <= call.maxRetryAfter;
    const mayHaveWait = (rejected || status === 503) && mayBeRetried;
    const { text, isCut } = await readError(body, this.#shared.runtime, mayHaveWait);
    const error = errorIn(response, parseError(text));
    attempt.missedRetryAfter = mayHaveWait && isCut;
    const retryAfter = leastWait(error.retryAfter, attempt.missedRetryAfter);
    attempt.release({ ...response.observation, rejected, ...(rejected && { retryAfter }) });
    attempt.timeouts.check(); // if the call was ended meanwhile, that error takes precedence over the status
    return error;
  }

  /** Decides what follows a failed attempt: waits, or throws the error. */
  #decide(error: unknown, attempt: CallAttempt): { wait: number; cost: number } {
    const { budget, limiter } = this.#shared;
    const { attempts, reporter } = attempt.call;
    const reason = error instanceof APIError ? error.status : error instanceof Error ? error.name : 'unknown';
    const event = { attempt: attempts.length, reason };
    const decision = nextWait(error, attempt);
    const cost = budget.cost(error, limiter !== undefined);
    if (decision.stop === undefined && budget.take(cost)) {
      reporter?.emit({ type: 'retry', ...event, wait: decision.wait });
      return { wait: decision.wait, cost };
    }
    reporter?.emit({ type: 'failure', ...event, stop: decision.stop ?? 'retry-budget-exhausted' });
    throw error;
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
