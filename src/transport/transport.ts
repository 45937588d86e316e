import { APIPromise, type WithResponse } from '../answer.js';
import {
  APIConnectionError,
  APIError,
  apiError,
  boundIssues,
  ClientClosedError,
  ContextGatewayError,
  growSent,
  RequestValidationError,
  recordCall,
} from '../errors.js';
import type { ResponseHead } from '../platform/engine.js';
import { MAX_JSON_BYTES, parseJson, readText } from './body.js';
import { Answered, type AnswerForm, type AreaRules, type Call, type OpenedStream, type Shared } from './call.js';
import { emitterOf } from './events.js';
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
import { type RefusalContext, refusalDetails, reportsError } from './refusal.js';
import { checkHeaders, type EndpointSource, prepare } from './request.js';
import { mostSent, nextWait, operationOf, type StopReason, sentBy, type Verdict } from './retry.js';
import { type Reader, Sender } from './sender.js';
import { CallTimeouts } from './timeouts.js';
import { type AnySchema, applySchema, findIssues, unexpectedAnswer } from './validation.js';

const DEFAULT_TIMEOUT = 60_000;
const DEFAULT_IDLE_TIMEOUT = 120_000;
const DEFAULT_RETRIES = 2;
const DEFAULT_MAX_RETRY_AFTER = 60_000;

/** How any request travels. It knows no path and no resource. `docs/request-path.md` walks through it. */
export class Transport {
  readonly #area: AreaRules;
  readonly #base: Base;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #options: ClientOptions;
  readonly #shared: Shared;
  readonly #sender: Sender;

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
    this.#sender = new Sender(area, shared);
  }

  /** Sends a request and reads one JSON value. With a caller's `schema` that checks what the method gives instead. */
  request<Body, T>(
    endpoint: EndpointSource,
    form: AnswerForm<Body, T>,
    options?: RequestOptions | SchemaOptions<T>,
  ): APIPromise<T> {
    const read: Reader<T> = async (head, call, context) => {
      const text = await readText(head, MAX_JSON_BYTES);
      const body = text === '' && form.mayBeEmpty ? { success: true } : readJson(text, head, context);
      const { schema } = call.options as Partial<SchemaOptions<T>>; // the options are checked: it is there where it may be
      // It checks what the method gives: of a list the array. It may take its time; the call does not last longer for it.
      if (schema !== undefined)
        return call.timeouts.wait(applySchema(schema, form.pick(body as Body), body, call.clean));
      this.#check(form.schema, body, call);
      return form.pick(body as Body); // checked in the line above, or wanted unchecked
    };
    return this.#call(endpoint, options, read, form.undocumented ? { takes: schemaOptionsSchema } : {});
  }

  /** Sends a request and hands the open answer over. */
  stream<T>(
    endpoint: EndpointSource,
    open: (stream: OpenedStream) => T | Promise<T>,
    options?: RequestOptions,
  ): APIPromise<T> {
    const read: Reader<T> = (head, call, context, startedAt) => this.#open(head, call, context, startedAt, open);
    return this.#call(endpoint, options, read, { streamed: true });
  }

  #open<T>(
    head: ResponseHead,
    call: Call,
    context: RefusalContext,
    startedAt: number,
    open: (stream: OpenedStream) => T | Promise<T>,
  ): T | Promise<T> {
    const { timeouts, attempts, options } = call;
    const { runtime } = this.#shared;
    return open({
      head,
      timeouts,
      runtime,
      call,
      response: new Answered(head, attempts, context),
      startedAt,
      idleTimeout: options.streamIdleTimeout ?? this.#options.streamIdleTimeout ?? DEFAULT_IDLE_TIMEOUT,
      refuse: (body) => refusalDetails(head, body, context),
      failed: ({ name }) =>
        call.emit?.({ type: 'failure', attempt: attempts.length, reason: name, stop: 'not-repeatable' }),
      check: (schema, value) => this.#check(schema, value, call),
    });
  }

  /** Checks an answer as `validation` has it. */
  #check(schema: AnySchema, body: unknown, call: Call): boolean {
    const found = findIssues(schema, body);
    if (found === undefined) return true;
    // A path can have the service's own words: the models of a breakdown.
    const cleaned = (key: string | number) => (typeof key === 'string' ? call.clean(key) : key);
    const issues = boundIssues(found.map(({ path, message }) => ({ path: path.map(cleaned), message })));
    // Of `null` there is nothing to hand on.
    if (this.#options.validation !== 'report' || body === null) throw unexpectedAnswer(issues, body);
    call.emit?.({ type: 'validation', issues });
    return false;
  }

  #call<T>(
    endpoint: EndpointSource,
    options: RequestOptions | undefined,
    read: Reader<T>,
    { takes = requestOptionsSchema, streamed = false }: { takes?: AnySchema; streamed?: boolean },
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

  #prepare(source: EndpointSource, given: RequestOptions | undefined, takes: AnySchema): Call {
    const shared = this.#shared;
    if (shared.closed) throw new ClientClosedError();
    const endpoint = ownProperties(typeof source === 'function' ? source() : source);
    const schema = endpoint.upload === undefined ? takes : uploadOptionsSchema;
    const options: RequestOptions = checkRequestOptions(given, schema, endpoint);
    const headers = { accept: endpoint.accept ?? 'application/json', ...this.#headers };
    this.#addHeaders(headers, options);
    const request = prepare(endpoint, this.#base, headers, schema);
    const deadline = options.deadline ?? this.#options.deadline;
    const timeouts = new CallTimeouts(shared.runtime, shared.live, options.signal, deadline);
    shared.calls += 1;
    const { method, path, bucket = this.#area.name } = endpoint;
    const emit = emitterOf(this.#options.onEvent, { call: shared.calls, area: this.#area.name, method, path });
    const timeout = options.timeout ?? this.#options.timeout ?? endpoint.timeout ?? DEFAULT_TIMEOUT;
    const route = `${method} ${path}`;
    return {
      endpoint,
      request,
      options,
      timeouts,
      timeout,
      maxRetryAfter: this.#options.maxRetryAfter ?? DEFAULT_MAX_RETRY_AFTER,
      attempts: [],
      sent: 'no',
      hintMissed: false,
      notQueued: undefined,
      credential: undefined,
      nextCredential: undefined,
      rotated: false,
      bucket,
      route,
      where: route,
      clean: String,
      emit,
    };
  }

  #addHeaders(headers: Record<string, string>, { headers: given, idempotencyKey: key }: RequestOptions): void {
    const { credentialHeader } = this.#area;
    if (given !== undefined) Object.assign(headers, checkHeaders(given, credentialHeader));
    const name = this.#options.idempotencyHeader ?? 'Idempotency-Key';
    if (key !== undefined) Object.assign(headers, checkHeaders({ [name]: key }, credentialHeader));
  }

  /** The one loop: attempt, decide, wait, again. */
  async #run<T>(call: Call, read: Reader<T>, streamed: boolean): Promise<WithResponse<T>> {
    const { timeouts } = call;
    let spent = 0;
    let delay: number | undefined;
    let handedOver = false;
    try {
      for (;;) {
        try {
          if (delay !== undefined) await timeouts.sleep(delay);
          const answer = await this.#sender.attempt(call, read, delay ?? 0);
          this.#shared.budget.refund(spent);
          handedOver = streamed;
          return answer;
        } catch (error) {
          const { wait, cost } = this.#decide(error, call, await this.#sender.hasNewCredential(error, call));
          call.sent = mostSent(call.sent, sentBy(error));
          spent += cost;
          delay = wait;
        }
      }
    } catch (error) {
      if (error instanceof APIConnectionError) growSent(error, mostSent(error.sent, call.sent));
      if (error instanceof ContextGatewayError) recordCall(error, call);
      throw error;
    } finally {
      call.request.upload?.cancel(); // also one that was never begun
      if (!handedOver) timeouts.end();
    }
  }

  /** What follows a failed attempt: a wait, or the error itself. */
  #decide(error: unknown, call: Call, newCredential: boolean): { wait: number; cost: number } {
    const { runtime, budget, limiter } = this.#shared;
    const { options, timeouts, attempts, request } = call;
    const reason = error instanceof APIError ? error.status : error instanceof Error ? error.name : 'unknown';
    const attempt = attempts.length;
    if (newCredential) {
      call.emit?.({ type: 'retry', attempt, reason, wait: 0 });
      return { wait: 0, cost: 0 };
    }
    const verdict: Verdict =
      error === call.notQueued
        ? { stop: 'hint-too-long' }
        : nextWait(error, {
            operation: operationOf(request.method),
            repeatable: request.upload?.repeatable !== false,
            // One more for a key that was replaced: the service did nothing for the old one.
            maxRetries: (options.maxRetries ?? this.#options.maxRetries ?? DEFAULT_RETRIES) + (call.rotated ? 1 : 0),
            maxRetryAfter: call.maxRetryAfter,
            timeLeft: timeouts.timeLeft,
            attempts,
            sent: call.sent,
            hintMissed: call.hintMissed,
            keyed: options.idempotencyKey !== undefined,
            random: runtime.random,
          });
    const cost = budget.cost(error, limiter !== undefined);
    // Own properties: somebody may have put a `wait` on Object.prototype.
    const wait = Object.hasOwn(verdict, 'wait') ? (verdict as { wait: number }).wait : undefined;
    if (wait !== undefined && budget.take(cost)) {
      call.emit?.({ type: 'retry', attempt, reason, wait });
      return { wait, cost };
    }
    call.emit?.({
      type: 'failure',
      attempt,
      reason,
      stop: wait === undefined ? (verdict as { stop: StopReason }).stop : 'budget-empty',
    });
    throw error;
  }
}

/** One JSON value, which may be an error all the same. */
function readJson(text: string, head: ResponseHead, context: RefusalContext): unknown {
  const body = parseJson(text, head.headers);
  if (reportsError(body)) throw apiError(head.status, refusalDetails(head, body, context));
  return body;
}
