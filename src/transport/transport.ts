import { APIPromise, type Attempt, type WithResponse } from '../answer.js';
import {
  APIConnectionError,
  APIError,
  apiError,
  ClientClosedError,
  ContextGatewayError,
  RequestValidationError,
  recordAttempts,
} from '../errors.js';
import type { Exchange, ResponseHead } from '../platform/engine.js';
import { MAX_JSON_BYTES, parseJson, readErrorText, readText } from './body.js';
import { Answered, type AnswerForm, type AreaRules, type Call, type OpenedStream, type Shared } from './call.js';
import type { ClientEvent, EventBody } from './events.js';
import {
  type Base,
  type ClientOptions,
  checkRequestOptions,
  ownProperties,
  type RequestOptions,
  type SchemaOptions,
} from './options.js';
import { type Observation, Ticket } from './pacer.js';
import { parseRateLimit, untilReset } from './rate-limit.js';
import { type RefusalContext, refusal, refusalDetails, reportsError, requestIdOf } from './refusal.js';
import { type EndpointSource, mergeHeaders, prepare } from './request.js';
import { nextWait, operationOf } from './retry.js';
import { applySchema, findIssues, type Schema, unexpectedAnswer } from './schema.js';
import { CallTimeouts } from './timeouts.js';

type Reader<T> = (head: ResponseHead, call: Call, context: RefusalContext) => T | Promise<T>;

const DEFAULT_TIMEOUT = 60_000;
const DEFAULT_IDLE_TIMEOUT = 120_000;
const DEFAULT_RETRIES = 2;
const DEFAULT_MAX_RETRY_AFTER = 60_000;

/** How any request travels. It knows no path and no resource. `docs/request-path.md` walks through it. */
export class Transport {
  readonly #area: AreaRules;
  readonly #base: Base;
  readonly #options: ClientOptions;
  readonly #shared: Shared;

  constructor(area: AreaRules, base: Base, options: ClientOptions, shared: Shared) {
    this.#area = area;
    this.#base = base;
    this.#options = options;
    this.#shared = shared;
  }

  /** Sends a request and reads one JSON value. With a caller's `schema` the raw body is checked by that instead. */
  request<Body, T>(
    endpoint: EndpointSource,
    form: AnswerForm<Body, T>,
    options?: RequestOptions | SchemaOptions<T>,
  ): APIPromise<T> {
    const read: Reader<T> = async (head, call, context) => {
      const body = await this.#readJson(head, context, form.mayBeEmpty === true);
      const { schema } = call.options as Partial<SchemaOptions<T>>; // the options are checked: it is there where it may be
      // The caller's schema may take its time; the call does not last longer for it.
      if (schema !== undefined) return call.timeouts.wait(applySchema(schema, body));
      this.#check(form.schema, body, call);
      return form.pick(body as Body); // checked in the line above, or wanted unchecked
    };
    return this.#call(endpoint, options, read, { takes: form.undocumented ? ['schema'] : [] });
  }

  /** Sends a request and hands the open answer over. */
  stream<T>(
    endpoint: EndpointSource,
    open: (stream: OpenedStream) => T | Promise<T>,
    options?: RequestOptions,
  ): APIPromise<T> {
    return this.#call(endpoint, options, (head, call, context) => this.#open(head, call, context, open), {
      streamed: true,
    });
  }

  #open<T>(head: ResponseHead, call: Call, context: RefusalContext, open: (stream: OpenedStream) => T): T {
    const { timeouts, attempts, options } = call;
    const { runtime } = this.#shared;
    return open({
      head,
      timeouts,
      runtime,
      response: new Answered(head, attempts, context),
      startedAt: runtime.now() - (attempts.at(-1)?.duration ?? 0),
      idleTimeout: options.streamIdleTimeout ?? this.#options.streamIdleTimeout ?? DEFAULT_IDLE_TIMEOUT,
      refuse: (body) => refusalDetails(head, body, context),
      check: (schema, value) => this.#check(schema, value, call),
    });
  }

  /** Checks an answer as `validation` has it. */
  #check(schema: Schema<unknown>, body: unknown, call: Call): boolean {
    const issues = findIssues(schema, body);
    if (issues === undefined) return true;
    // Of `null` there is nothing to hand on.
    if (this.#options.validation !== 'report' || body === null) throw unexpectedAnswer(issues, body);
    this.#emit(call, { type: 'validation', issues });
    return false;
  }

  #call<T>(
    endpoint: EndpointSource,
    options: RequestOptions | undefined,
    read: Reader<T>,
    { takes = [], streamed = false }: { takes?: readonly string[]; streamed?: boolean },
  ): APIPromise<T> {
    // Checked and written down now, in the caller's own turn; what is wrong rejects, it never throws.
    let call: Call;
    try {
      call = this.#prepare(endpoint, options, takes);
    } catch (cause) {
      const unreadable = [{ path: [], message: 'an argument could not be read' }];
      const error = cause instanceof ContextGatewayError ? cause : new RequestValidationError(unreadable, { cause });
      return new APIPromise<T>(Promise.reject(error));
    }
    return new APIPromise(this.#run(call, read, streamed));
  }

  #prepare(source: EndpointSource, given: RequestOptions | undefined, takes: readonly string[]): Call {
    const shared = this.#shared;
    if (shared.closed) throw new ClientClosedError();
    const endpoint = ownProperties(typeof source === 'function' ? source() : source);
    const options = checkRequestOptions(given, endpoint.upload === undefined ? takes : [...takes, 'onProgress']);
    const key = options.idempotencyKey;
    const headers = mergeHeaders(
      [
        { accept: endpoint.accept ?? 'application/json' },
        this.#options.defaultHeaders,
        options.headers,
        key === undefined ? undefined : { [this.#options.idempotencyHeader ?? 'Idempotency-Key']: key },
      ],
      this.#area.credentialHeader,
    );
    const request = prepare(endpoint, this.#base, headers);
    const deadline = options.deadline ?? this.#options.deadline;
    const timeouts = new CallTimeouts(shared.runtime, shared.live, options.signal, deadline);
    shared.calls += 1;
    const bucket = endpoint.bucket ?? this.#area.name;
    return { id: shared.calls, endpoint, request, options, timeouts, attempts: [], bucket };
  }

  /** The one loop: attempt, decide, wait, again. */
  async #run<T>(call: Call, read: Reader<T>, streamed: boolean): Promise<WithResponse<T>> {
    const { timeouts } = call;
    let spent = 0;
    let delay = 0;
    let handedOver = false;
    try {
      for (;;) {
        try {
          const answer = await this.#attempt(call, read, delay);
          this.#shared.budget.refund(spent);
          handedOver = streamed;
          return answer;
        } catch (error) {
          const { wait, cost } = this.#decide(error, call);
          spent += cost;
          delay = wait;
          await timeouts.sleep(wait);
        }
      }
    } catch (error) {
      if (error instanceof ContextGatewayError) recordAttempts(error, call.attempts);
      throw error;
    } finally {
      if (!handedOver) timeouts.end();
    }
  }

  /** One attempt, from the queue to the answer. */
  async #attempt<T>(call: Call, read: Reader<T>, waited: number): Promise<WithResponse<T>> {
    const { timeouts, attempts } = call;
    const { runtime } = this.#shared;
    const delay = waited + (await this.#admit(call));
    const startedAt = runtime.now();
    const record: Mutable<Attempt> = { delay, duration: 0 };
    const ticket = new Ticket(this.#shared.limiter, call.bucket);
    try {
      timeouts.startAttempt(this.#timeoutOf(call));
      attempts.push(record);
      const credential = await this.#authorize(timeouts);
      this.#emit(call, { type: 'request', attempt: attempts.length });
      const head = await this.#send(call, credential).head;
      const context = this.#observe(call, head, credential, record, startedAt);
      if (head.status < 200 || head.status > 299) throw await this.#refuse(head, context, ticket, timeouts);
      ticket.release(observation(head, context));
      const data = await read(head, call, context);
      record.duration = runtime.now() - startedAt;
      return { data, response: new Answered(head, attempts, context) };
    } catch (error) {
      timeouts.stopWatching();
      ticket.release({});
      record.duration = runtime.now() - startedAt;
      if (!(error instanceof APIError) && error instanceof Error) record.error = error.name;
      throw error;
    }
  }

  /** Waits in the bucket's queue, if there is one. Gives the milliseconds waited. */
  async #admit(call: Call): Promise<number> {
    const { limiter, runtime } = this.#shared;
    const admission = limiter?.admit(call.bucket);
    if (admission === undefined) return 0;
    const since = runtime.now();
    call.timeouts.queuedFor = call.bucket;
    await call.timeouts.wait(admission.ready, () => admission.cancel());
    call.timeouts.queuedFor = undefined;
    const waited = runtime.now() - since;
    this.#emit(call, { type: 'paced', bucket: call.bucket, waited });
    return waited;
  }

  #timeoutOf({ options, endpoint }: Call): number {
    return options.timeout ?? this.#options.timeout ?? endpoint.timeout ?? DEFAULT_TIMEOUT;
  }

  /** The credential as it is now; a function that gives it runs under the attempt's clock. */
  async #authorize(timeouts: CallTimeouts): Promise<string> {
    const credential = this.#area.authorize();
    return typeof credential === 'string' ? credential : timeouts.wait(credential);
  }

  #send({ request, timeouts }: Call, credential: string): Exchange {
    timeouts.check(); // it may have ended while the credential was read
    const { method, origin, path, upload } = request;
    const headers = { ...request.headers, [this.#area.credentialHeader]: credential };
    const body = upload?.body((times) => timeouts.progressed(times)) ?? request.body;
    const exchange = this.#shared.engine.send({ method, origin, path, headers, body });
    timeouts.follow(exchange);
    return exchange;
  }

  /** Notes what every answer says, whatever its status. */
  #observe(
    call: Call,
    head: ResponseHead,
    credential: string,
    record: Mutable<Attempt>,
    startedAt: number,
  ): RefusalContext {
    const { runtime, rateLimits } = this.#shared;
    const { status, headers } = head;
    const wallClock = runtime.wallClock();
    const rateLimit = parseRateLimit(headers, wallClock);
    const requestId = requestIdOf(head, credential);
    if (rateLimit !== undefined) rateLimits.set(call.bucket, rateLimit);
    record.status = status;
    record.duration = runtime.now() - startedAt;
    const { duration } = record;
    this.#emit(call, { type: 'response', attempt: call.attempts.length, status, duration, requestId });
    const { explain, name: area } = this.#area;
    const route = `${call.request.method} ${call.endpoint.path}`;
    return { area, route, credential, requestId, rateLimit, wallClock, explain };
  }

  /** Reads an error's body, as far as it is worth it. */
  async #refuse(
    head: ResponseHead,
    context: RefusalContext,
    ticket: Ticket,
    timeouts: CallTimeouts,
  ): Promise<ContextGatewayError> {
    if (head.status > 599 || head.status < 200) {
      head.body.cancel(new Error('not an HTTP status'));
      const details = { phase: 'headers', sent: 'yes', retryable: false } as const;
      return new APIConnectionError(`No usable answer: ${head.status} is not an HTTP status.`, details);
    }
    const error = refusal(head, await readErrorText(head.body, this.#shared.runtime), context);
    const blockedFor = head.status === 429 ? error.retryAfter : undefined;
    ticket.release({ ...observation(head, context), blockedFor });
    timeouts.check(); // a call that is over ends with what ended it, also where its status is known
    return error;
  }

  async #readJson(head: ResponseHead, context: RefusalContext, mayBeEmpty: boolean): Promise<unknown> {
    const text = await readText(head, MAX_JSON_BYTES);
    if (mayBeEmpty && text === '') return { success: true };
    const body = parseJson(text, head.headers.get('content-type'));
    if (reportsError(body)) throw apiError(head.status, refusalDetails(head, body, context));
    return body;
  }

  /** What follows a failed attempt: a wait, or the error itself. */
  #decide(error: unknown, call: Call): { wait: number; cost: number } {
    const { runtime, budget, limiter } = this.#shared;
    const { options, timeouts, attempts, request } = call;
    const verdict = nextWait(error, {
      operation: operationOf(request.method),
      repeatable: request.upload?.repeatable !== false,
      maxRetries: options.maxRetries ?? this.#options.maxRetries ?? DEFAULT_RETRIES,
      maxRetryAfter: this.#options.maxRetryAfter ?? DEFAULT_MAX_RETRY_AFTER,
      timeLeft: timeouts.timeLeft,
      attempts,
      keyed: options.idempotencyKey !== undefined,
      random: runtime.random,
    });
    const cost = budget.cost(error, limiter !== undefined);
    const reason = error instanceof APIError ? error.status : error instanceof Error ? error.name : 'unknown';
    const attempt = attempts.length;
    if ('wait' in verdict && budget.take(cost)) {
      this.#emit(call, { type: 'retry', attempt, reason, wait: verdict.wait });
      return { wait: verdict.wait, cost };
    }
    this.#emit(call, { type: 'failure', attempt, reason, stop: 'stop' in verdict ? verdict.stop : 'budget-empty' });
    throw error;
  }

  #emit({ id, endpoint, request }: Call, event: EventBody): void {
    const { onEvent } = this.#options;
    if (onEvent === undefined) return;
    // The cast is true by construction: every event is its own part and the facts of its call.
    const whole = {
      call: id,
      area: this.#area.name,
      method: request.method,
      path: endpoint.path,
      ...event,
    } as ClientEvent;
    try {
      // A listener may be an async function in spite of its type: what it rejects with is its own affair as well.
      const result: unknown = onEvent(whole);
      if (result instanceof Promise) result.catch(() => {});
    } catch {
      // A listener's mistake does not cost the call.
    }
  }
}

function observation({ headers }: ResponseHead, { rateLimit, wallClock }: RefusalContext): Observation {
  if (rateLimit === undefined) return {};
  const { limit, remaining } = rateLimit;
  return { limit, remaining, untilReset: untilReset(rateLimit, headers, wallClock) };
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
