import type { Attempt, HeaderSource, WithResponse } from '../answer.js';
import { APIConnectionError, APIError, ConfigurationError, ContextGatewayError, RateLimitError } from '../errors.js';
import type { Exchange, OutgoingRequest, OutgoingStream, ResponseHead } from '../platform/engine.js';
import { readErrorText, readHintText } from './body.js';
import { Answered, type AreaRules, type Call, type Shared } from './call.js';
import { type Admission, type Observation, Ticket } from './pacer.js';
import { quietly } from './quietly.js';
import { parseRateLimit, ServerClock, untilReset } from './rate-limit.js';
import { type RefusalContext, refusal, requestIdOf } from './refusal.js';
import type { Endpoint, PreparedRequest } from './request.js';
import { LONGEST_BACKOFF } from './retry.js';
import { harmlessFor, withoutSecrets } from './secrets.js';
import { LONGEST_TIMER } from './timeouts.js';

/** Turns a successful answer into what the method returns. */
export type Reader<T> = (head: ResponseHead, call: Call, context: RefusalContext, startedAt: number) => T | Promise<T>;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Sends one attempt of a call: credential, leave, bytes, answer. Whether another one follows is the transport's to decide. */
export class Sender {
  readonly #area: AreaRules;
  readonly #shared: Shared;
  readonly #clock = new ServerClock();

  constructor(area: AreaRules, shared: Shared) {
    this.#area = area;
    this.#shared = shared;
  }

  /** One attempt, from the credential to the answer. */
  async attempt<T>(call: Call, read: Reader<T>, waited: number): Promise<WithResponse<T>> {
    const { timeouts, attempts } = call;
    const { runtime } = this.#shared;
    call.where = call.route;
    timeouts.check();
    // Before the queue: what a 429 says while the key is read holds this call as well.
    const given = call.nextCredential ?? this.#area.authorize();
    call.nextCredential = undefined;
    const credential = typeof given === 'string' ? given : await this.#awaitCredential(given, call);
    call.credential = credential;
    call.hintMissed = false;
    const queue = this.#queueFor(call.bucket);
    const delay = queue === undefined ? waited : waited + (await this.#awaitTurn(queue, call));
    const startedAt = runtime.now();
    const record: Mutable<Attempt> = { delay, duration: 0 };
    const ticket = new Ticket(this.#shared.limiter, call.bucket);
    let upload: OutgoingStream | undefined;
    try {
      timeouts.startAttempt(call.timeout, startedAt);
      attempts.push(record);
      call.emit?.({ type: 'request', attempt: attempts.length });
      timeouts.check(); // the listener may have ended it
      upload = call.request.upload?.body((times) => timeouts.progressed(times));
      const head = await this.#send(call, credential, upload).head;
      const context = this.#observe(call, head, credential, startedAt);
      record.status = head.status;
      if (head.status < 200 || head.status > 299) throw await this.#refuse(head, context, ticket, call);
      ticket.release(observation(context));
      const data = await read(head, call, context, startedAt);
      record.duration = runtime.now() - startedAt;
      return { data, response: new Answered(head, attempts, context) };
    } catch (error) {
      timeouts.stopWatching();
      ticket.release({});
      record.duration = runtime.now() - startedAt;
      if (!(error instanceof APIError) && error instanceof Error) record.error = error.name;
      throw error;
    } finally {
      upload?.cancel(); // also where the service has answered before it had all of it
    }
  }

  /**
   * Reads the credential again after the service has refused it, once a call: a key that was replaced while the request was
   * on its way. Whether there is another one to try.
   */
  async hasNewCredential(error: unknown, call: Call): Promise<boolean> {
    const refused = error instanceof APIError && (error.status === 401 || error.status === 403);
    if (!refused || call.rotated || call.request.upload?.repeatable === false) return false;
    call.rotated = true;
    const given = this.#area.authorize();
    if (typeof given === 'string') return false;
    try {
      call.nextCredential = await this.#awaitCredential(given, call);
    } catch {
      call.timeouts.check(); // the call is over
      return false; // the refusal says more than a key that cannot be read
    }
    return call.nextCredential !== call.credential;
  }

  /** The credential, where a function gives it: it runs under the attempt's clock. */
  async #awaitCredential(credential: Promise<string>, { timeouts, timeout }: Call): Promise<string> {
    quietly(() => credential); // should it fail when nobody waits for it any more
    try {
      timeouts.startAttempt(timeout, this.#shared.runtime.now());
      return await timeouts.wait(credential);
    } finally {
      timeouts.stopWatching();
    }
  }

  #queueFor(bucket: string): Admission | undefined {
    try {
      return this.#shared.limiter?.admit(bucket);
    } catch (cause) {
      throw limiterFailure(cause);
    }
  }

  /** Waits in the bucket's queue, for `maxRetryAfter` at most. Gives the milliseconds waited. */
  async #awaitTurn(admission: Admission, call: Call): Promise<number> {
    const { timeouts, bucket, emit, maxRetryAfter } = call;
    const { runtime } = this.#shared;
    const { expected } = admission;
    const since = runtime.now();
    let timer: unknown;
    const tooLong = new Promise<never>((_, reject) => {
      const refuse = () => reject(this.#notQueued(call, expected));
      if (maxRetryAfter === 0 || (expected ?? 0) > maxRetryAfter) refuse();
      else timer = runtime.setTimer(refuse, Math.min(maxRetryAfter, LONGEST_TIMER));
    });
    timeouts.queuedFor = bucket;
    emit?.({ type: 'queued', bucket });
    try {
      await timeouts.wait(Promise.race([tooLong, admission.ready]));
    } catch (cause) {
      quietly(() => admission.cancel());
      throw limiterFailure(cause);
    } finally {
      runtime.clearTimer(timer);
      timeouts.queuedFor = undefined;
    }
    const waited = runtime.now() - since;
    emit?.({ type: 'paced', bucket, waited });
    return waited;
  }

  /** The service would refuse the request: it is not sent, and does not wait either. */
  #notQueued(call: Call, expected: number | undefined): RateLimitError {
    const { bucket, maxRetryAfter, attempts } = call;
    const again = attempts.length === 0 ? '' : ' again';
    const longer = expected === undefined || expected < maxRetryAfter ? '' : ` of ${Math.ceil(expected / 1_000)} s`;
    call.notQueued = new RateLimitError(429, {
      message: `The rate limit of ${bucket} is used up, as earlier answers said, so the request was not sent${again}. Its wait${longer} is longer than maxRetryAfter (${maxRetryAfter} ms) allows.`,
      area: this.#area.name,
      retryAfter: expected,
      rateLimit: this.#shared.rateLimits.get(bucket),
      headers: NO_HEADERS,
      body: undefined,
    });
    return call.notQueued as RateLimitError; // made in the line above
  }

  #send({ endpoint, request, timeouts }: Call, credential: string, upload: OutgoingStream | undefined): Exchange {
    const { method, origin, path } = request;
    const headers = { ...request.headers, [this.#area.credentialHeader]: credential };
    let harmless: OutgoingRequest['harmless'] | undefined; // made for a failure, and for none
    const outgoing: OutgoingRequest = {
      method,
      origin,
      path,
      headers,
      body: upload ?? request.body,
      harmless: (words) => {
        harmless ??= harmlessFor(credential, heldBy(endpoint, request));
        return harmless(words);
      },
    };
    const exchange = this.#shared.engine.send(outgoing);
    timeouts.follow(exchange);
    return exchange;
  }

  /** Notes what every answer says, whatever its status. */
  #observe(call: Call, head: ResponseHead, credential: string, startedAt: number): RefusalContext {
    const { runtime, rateLimits } = this.#shared;
    const { status, headers } = head;
    const serverTime = this.#clock.read(headers, runtime.wallClock());
    call.clean = (text) => withoutSecrets(text, credential);
    const rateLimit = parseRateLimit(headers, serverTime, call.clean);
    const requestId = requestIdOf(head, credential);
    if (rateLimit !== undefined) rateLimits.set(call.bucket, rateLimit);
    if (call.emit !== undefined) {
      const duration = runtime.now() - startedAt;
      call.emit({ type: 'response', attempt: call.attempts.length, status, duration, requestId });
    }
    const { explain, name: area } = this.#area;
    if (requestId !== undefined) call.where = `${call.route}, request ${requestId}`;
    const { method, address } = call.request;
    return { area, credential, requestId, rateLimit, serverTime, explain, method, address };
  }

  /** Reads an error's body, as far as it is worth it. */
  async #refuse(head: ResponseHead, context: RefusalContext, ticket: Ticket, call: Call): Promise<ContextGatewayError> {
    if (head.status > 599 || head.status < 200) {
      head.body.cancel(new Error('not an HTTP status'));
      const details = { phase: 'headers', sent: 'yes', retryable: false } as const;
      return new APIConnectionError(`No usable answer: ${head.status} is not an HTTP status.`, details);
    }
    const limited = head.status === 429;
    const { text, whole } =
      limited || head.status === 503
        ? await readHintText(head.body)
        : { text: await readErrorText(head.body, this.#shared.runtime), whole: true };
    const error = refusal(head, text, context);
    call.hintMissed = !whole;
    const blockedFor = whole ? error.retryAfter : Math.max(error.retryAfter ?? 0, LONGEST_BACKOFF);
    ticket.release({ ...observation(context), refused: limited, ...(limited && { blockedFor }) });
    call.timeouts.check(); // a call that is over ends with what ended it, also where its status is known
    return error;
  }
}

/** What the caller has put into a request: nobody else may read it in an error. */
function heldBy({ ids, query }: Endpoint, { headers, body }: PreparedRequest): unknown[] {
  const { accept: _, 'content-type': __, ...own } = headers;
  const values = Object.values(own).filter(({ length }) => length > 11); // `production` is a word
  return [body, ...Object.values(ids ?? {}), ...Object.values(query ?? {}), ...values];
}

const NO_HEADERS: HeaderSource = { get: () => undefined, toHeaders: () => new Headers() };

function limiterFailure(cause: unknown): ContextGatewayError {
  if (cause instanceof ContextGatewayError) return cause;
  return new ConfigurationError('The RateLimiter given as pacing failed. Its error is the cause.', { cause });
}

function observation({ rateLimit, serverTime }: RefusalContext): Observation {
  if (rateLimit === undefined) return { refused: false };
  const { limit, remaining } = rateLimit;
  return { limit, remaining, untilReset: untilReset(rateLimit, serverTime), refused: false };
}
