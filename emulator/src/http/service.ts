import type { IncomingMessage } from 'node:http';
import { inspect } from 'node:util';
import { getPath } from 'hono/utils/url';
import type { Clock } from '../base/clock.js';
import { type Area, HttpError } from '../base/errors.js';
import type { Faults } from '../faults/faults.js';
import type { FaultResponse } from '../faults/rule.js';
import { FAULT_HEADER, parseFault } from '../faults/syntax.js';
import type { Stores } from '../store/stores.js';
import type { AreaRoutes } from './area-routes.js';
import { authenticateKey, authenticateSession, namesEndpoint } from './auth.js';
import { addCorsHeaders, type Cors, isForeignPage, originRejection, preflightResponse } from './cors.js';
import { EventBody } from './event-body.js';
import { Exchange } from './exchange.js';
import { applyRequestFault, applyResponseFault, faultBodyCut, faultGarble } from './fault-effects.js';
import { idempotentResponse } from './idempotent-response.js';
import type { LogEntry, Outcome } from './log-entry.js';
import { errorResponse, isEventStream, type PlainResponse } from './plain-response.js';
import type { RateLimiter, RateState } from './rate-limit.js';
import { ConnectionReset, inPieces, isComment, relayBody } from './relay.js';
import { LOGGED_BYTES, type RequestLog, truncate } from './request-log.js';
import { SentBody } from './sent-body.js';

/** The unit of `X-RateLimit-Reset` (A13). */
export type RateLimitReset = (typeof RATE_LIMIT_RESETS)[number];
/** All units of `X-RateLimit-Reset`. */
export const RATE_LIMIT_RESETS = ['epoch-seconds', 'epoch-milliseconds', 'delta-seconds'] as const;

/** The settings of the request path. */
export interface ServiceSettings {
  clock: Clock;
  maxFileSize: number;
  maxBodySize: number;
  publishableEndpoints: readonly string[];
  sessionHeader: { name: string; scheme: string };
  rateLimitReset: RateLimitReset;
  /** Without `origins`, any page may call; if the seed is known, only pages of this machine. */
  cors: { origins: '*' | readonly string[] | undefined; exposeHeaders: boolean } | undefined;
  latency: number;
  pace: { splitBytes: number };
}

/** The dependencies of the request path. */
export interface ServiceParts {
  settings: ServiceSettings;
  stores: Stores;
  limiter: RateLimiter;
  faults: Faults;
  log: RequestLog;
  context: AreaRoutes;
  gateway: AreaRoutes;
  /** `caller` is the remote address; undefined for an in-process request. */
  control: (request: Request, caller: string | undefined) => Response | Promise<Response>;
  /** Fires when the emulator is closed. It ends all waits. */
  closed: AbortSignal;
}

/** The path of a request: log it, apply a fault, authenticate the caller, count it, handle it, add headers. */
export class Service {
  readonly #parts: ServiceParts;
  readonly #corsOfKnownSeed: Cors;
  readonly #corsOfOwnSeed: Cors;

  constructor(parts: ServiceParts) {
    const { cors } = parts.settings;
    this.#parts = parts;
    this.#corsOfKnownSeed = cors && { ...cors, origins: cors.origins ?? 'loopback' };
    this.#corsOfOwnSeed = cors && { ...cors, origins: cors.origins ?? '*' };
  }

  /** `incoming` is the Node message of the request; undefined for an in-process request. */
  async handle(request: Request, incoming?: IncomingMessage | undefined): Promise<PlainResponse | Response> {
    const path = getPath(request);
    if (path === '/_emulator' || path.startsWith('/_emulator/')) {
      // A closed connection has no address. It must not pass for an in-process request.
      return this.#parts.control(request, incoming && (incoming.socket.remoteAddress ?? 'unknown'));
    }
    const area: Area = path.startsWith('/api/') || path === '/api' ? 'context' : 'gateway';
    const preflight = preflightResponse(request, this.#cors());
    if (preflight !== undefined) return preflight;
    const exchange = this.#open(request, area, incoming);
    try {
      const fault = this.#faultFor(exchange);
      return this.#close(exchange, await this.#respondWithFault(exchange, fault), fault);
    } catch (error) {
      const { entry } = exchange;
      const isAborted = request.signal.aborted || this.#parts.closed.aborted;
      if (!isAborted && !(error instanceof ConnectionReset)) {
        return this.#close(exchange, this.#internalError(exchange, error), undefined);
      }
      entry.outcome = request.signal.aborted ? 'aborted' : 'reset';
      entry.finishedAt = this.#parts.settings.clock.now();
      this.#parts.log.link(entry);
      this.#parts.log.changed(entry);
      throw error;
    }
  }

  #open(request: Request, area: Area, incoming: IncomingMessage | undefined): Exchange {
    const { stores, settings, log } = this.#parts;
    const url = request.url;
    const entry: LogEntry = {
      requestId: stores.ids.transient('req'),
      method: request.method,
      path: url.slice(url.indexOf('/', url.indexOf('://') + 3)),
      headers: incoming?.rawHeaders ?? [...request.headers].flat(),
      body: undefined,
      isBodyCut: false,
      receivedAt: settings.clock.now(),
      finishedAt: undefined,
      status: undefined,
      outcome: 'pending',
      events: undefined,
      tokens: undefined,
      fault: undefined,
      error: undefined,
      response: undefined,
      limit: undefined,
      attempt: undefined,
      isForeign: isForeignPage(request, incoming?.socket.localAddress),
    };
    log.add(entry);
    return new Exchange(request, area, entry, incoming?.socket, settings);
  }

  /** The fault in the request's own header, else that of the first matching rule. */
  #faultFor(exchange: Exchange): FaultResponse | undefined {
    const { method, path, request, entry } = exchange;
    const header = request.headers.get(FAULT_HEADER);
    const fault =
      header === null ? this.#parts.faults.take(method, path, request.headers)?.respond : requestedFault(header);
    entry.fault = fault && ('status' in fault ? `status ${fault.status}` : fault.type);
    return fault;
  }

  async #respondWithFault(exchange: Exchange, fault: FaultResponse | undefined): Promise<PlainResponse> {
    const { settings, closed } = this.#parts;
    const { request } = exchange;
    if (fault !== undefined) {
      // The others go on to read it.
      if (fault.type !== 'slow') await exchange.logBody();
      const replacement = await applyRequestFault(fault, exchange, { clock: settings.clock, closed });
      if (replacement !== undefined) return replacement;
    }
    if (settings.latency > 0) await settings.clock.sleep(settings.latency, AbortSignal.any([request.signal, closed]));
    const response = await this.#responseOrError(exchange);
    return fault === undefined ? response : applyResponseFault(fault, response, exchange);
  }

  async #responseOrError(exchange: Exchange): Promise<PlainResponse> {
    try {
      const response = await this.#respond(exchange);
      await exchange.logBody();
      return response;
    } catch (error) {
      if (!(error instanceof HttpError)) return this.#internalError(exchange, error);
      await exchange.logBody();
      return errorResponse(exchange.area, error.status, error.message, error.details);
    }
  }

  /** Any error other than an `HttpError` is a bug in the emulator or in a reply function. The log records it. */
  #internalError(exchange: Exchange, error: unknown): PlainResponse {
    exchange.entry.error = truncate(error instanceof Error ? (error.stack ?? error.message) : inspect(error));
    return errorResponse(exchange.area, 500);
  }

  #respond(exchange: Exchange): Promise<PlainResponse> {
    const { context, gateway, stores } = this.#parts;
    const rejection = originRejection(exchange.request, exchange.socket?.localAddress, this.#cors());
    if (rejection !== undefined) throw new HttpError(403, rejection, { param: 'Origin', code: 'origin_not_allowed' });
    if (exchange.area === 'context') this.#admitToContext(exchange);
    else this.#admitToGateway(exchange);
    const routes = exchange.area === 'context' ? context : gateway;
    const work = (): Promise<PlainResponse> => routes.handle(exchange);
    const key = exchange.request.headers.get('idempotency-key');
    if (key === null || exchange.method === 'GET' || exchange.method === 'HEAD') return work();
    return idempotentResponse(stores.idempotency, key, exchange, work);
  }

  #admitToContext(exchange: Exchange): void {
    const { stores, settings, limiter } = this.#parts;
    const { name, scheme } = settings.sessionHeader;
    exchange.userId = authenticateSession(stores.sessions, exchange.request.headers.get(name), scheme);
    const kind = exchange.path === '/api/context/compact' ? 'compact' : 'context';
    const bucket = `${kind} ${exchange.userId}`;
    const state = limiter.take(bucket, stores.account.limit(kind));
    if (!state.allowed) throw this.#rateLimited(exchange, bucket, state);
  }

  #admitToGateway(exchange: Exchange): void {
    const { stores, settings, limiter } = this.#parts;
    const rule = stores.account.limit('gateway');
    try {
      exchange.keyKind = authenticateKey(stores.apiKeys, exchange.request.headers.get('authorization'));
    } catch (error) {
      // Requests without a valid key do not count towards the account's limit.
      exchange.rate = limiter.take('gateway without key', rule);
      throw exchange.rate.allowed ? error : this.#rateLimited(exchange, 'gateway without key', exchange.rate);
    }
    exchange.rate = limiter.take('gateway', rule);
    if (!exchange.rate.allowed) throw this.#rateLimited(exchange, 'gateway', exchange.rate);
    if (!stores.account.gatewayAccess) {
      const message = `The ${stores.account.plan.id} plan has no Gateway access; it comes with the Agency plan`;
      throw new HttpError(403, message, { param: 'Authorization', code: 'plan_without_gateway' });
    }
    if (
      exchange.keyKind === 'publishable' &&
      !namesEndpoint(settings.publishableEndpoints, exchange.method, exchange.path)
    ) {
      throw new HttpError(403, 'This endpoint needs a secret key', {
        param: 'Authorization',
        code: 'insufficient_permissions',
      });
    }
    this.#admitTokens(exchange);
  }

  /** Refuses a completion once the tokens of the window are used. The last one may exceed them: its size is not known before. */
  #admitTokens(exchange: Exchange): void {
    const { stores, limiter } = this.#parts;
    const rule = stores.account.tokenLimit;
    if (rule === undefined || !namesEndpoint(COMPLETING, exchange.method, exchange.path)) return;
    const state = limiter.peek('tokens', rule);
    if (!state.allowed) throw this.#rateLimited(exchange, 'tokens', state);
  }

  #spendTokens({ tokens }: LogEntry): void {
    const { stores, limiter } = this.#parts;
    const rule = stores.account.tokenLimit;
    if (rule !== undefined && tokens !== undefined) limiter.spend('tokens', rule, tokens.prompt + tokens.completion);
  }

  #cors(): Cors {
    return this.#parts.stores.seedRecord()?.isKnown ? this.#corsOfKnownSeed : this.#corsOfOwnSeed;
  }

  #rateLimited({ entry }: Exchange, name: string, state: RateState): HttpError {
    const { limit: allowed, asked, windowMs, resetAt } = state;
    const unit = name === 'tokens' ? 'tokens' : 'requests';
    entry.limit = { name, unit, allowed, asked, windowMs, endsAt: new Date(resetAt).toISOString() };
    return new HttpError(429, 'Rate limit exceeded', { retryAfter: this.#parts.limiter.retryAfter(state) });
  }

  #close(exchange: Exchange, response: PlainResponse, fault: FaultResponse | undefined): PlainResponse {
    const { settings, stores, limiter, log } = this.#parts;
    const { entry, request } = exchange;
    const { headers } = response;
    entry.status = response.status;
    log.link(entry);
    headers['x-request-id'] = entry.requestId;
    // From the emulator's clock, as all other times in the response.
    headers.date = new Date(settings.clock.now()).toUTCString();
    if (exchange.area === 'gateway') {
      const rate = exchange.rate ?? limiter.peek('gateway', stores.account.limit('gateway'));
      headers['x-ratelimit-limit'] = String(rate.limit);
      headers['x-ratelimit-remaining'] = String(rate.remaining);
      headers['x-ratelimit-reset'] = String(this.#resetValue(rate));
    }
    addCorsHeaders(headers, request.headers.get('origin'), this.#cors());
    if (response.body !== null && (fault !== undefined || isEventStream(response))) {
      return this.#watchBody(exchange, response, fault);
    }
    entry.outcome = 'answered';
    entry.finishedAt = settings.clock.now();
    // Without a fault, every body that is not an event stream is a string.
    this.#spendTokens(entry);
    const whole = typeof response.body === 'string' ? response.body : '';
    const body = truncate(whole);
    entry.response = { headers, body, isBodyCut: body.length < whole.length };
    log.changed(entry);
    return response;
  }

  /** Watches the body, because the request ends only when its body ends. */
  #watchBody(exchange: Exchange, response: PlainResponse, fault: FaultResponse | undefined): PlainResponse {
    const { settings, closed, log } = this.#parts;
    const { entry, request, socket } = exchange;
    const isStream = isEventStream(response);
    if (isStream) entry.events = 0;
    const sent = new SentBody(LOGGED_BYTES);
    entry.response = { headers: response.headers, body: sent };
    log.changed(entry);
    const finish = (outcome: Outcome): void => {
      entry.outcome = outcome;
      entry.finishedAt = settings.clock.now();
      this.#spendTokens(entry);
      sent.close();
      log.changed(entry);
    };
    const { splitBytes } = settings.pace;
    const isSplit = isStream && splitBytes !== Number.POSITIVE_INFINITY;
    // Without a socket, only the signal of the request tells that the reader has left: `relayBody` listens to it.
    if (response.body instanceof EventBody && fault === undefined && !isSplit && socket !== undefined)
      return { ...response, body: watchedEvents(response.body, sent, exchange, { clock: settings.clock, finish }) };
    const given = response.body instanceof EventBody ? response.body.stream() : response.body;
    const source = given instanceof ReadableStream ? given : new Blob([given ?? '']).stream();
    const body = relayBody(source, {
      signals: [request.signal, closed],
      cut: fault && faultBodyCut(fault),
      garbleChunk: isStream ? fault && faultGarble(fault) : undefined,
      breakConnection: socket && (() => void socket.resetAndDestroy()),
      onChunk: (chunk) => {
        if (entry.events !== undefined && !isComment(chunk)) entry.events += 1;
        sent.add(chunk, settings.clock.now());
      },
      // If the client disconnected, the tokens are known only when the source has ended.
      onEnd: (outcome, sourceEnded) => {
        if (sourceEnded === undefined) return finish(outcome);
        entry.outcome = outcome;
        entry.finishedAt = settings.clock.now();
        sent.close();
        void sourceEnded.then(() => {
          this.#spendTokens(entry);
          log.changed(entry);
        });
      },
    });
    if (fault?.type === 'drip') {
      const signal = AbortSignal.any([request.signal, closed]);
      const pause = (): Promise<void> => settings.clock.sleep(fault.every, signal);
      return { ...response, body: inPieces(body, { bytes: fault.bytes, pause }) };
    }
    return { ...response, body: isSplit ? inPieces(body, { bytes: splitBytes }) : body };
  }

  #resetValue(rate: RateState): number {
    const { rateLimitReset, clock } = this.#parts.settings;
    if (rateLimitReset === 'epoch-milliseconds') return rate.resetAt;
    if (rateLimitReset === 'delta-seconds') return Math.max(0, Math.ceil((rate.resetAt - clock.now()) / 1000));
    return Math.ceil(rate.resetAt / 1000);
  }
}

/** The endpoints that use tokens. */
const COMPLETING = ['POST /v1/chat/completions', 'POST /v1/presets/:presetId/execute'];

/** Passes events on, and records each with its time. */
function watchedEvents(
  source: EventBody,
  sent: SentBody,
  { entry, request }: Exchange,
  { clock, finish }: { clock: Clock; finish: (outcome: Outcome) => void },
): EventBody {
  const stop = new AbortController();
  let isOver = false;
  const events = (async function* () {
    try {
      for (;;) {
        const { done, value } = await source.next();
        if (done) break;
        if (!value.startsWith(':')) entry.events = (entry.events ?? 0) + 1;
        sent.addText(value, clock.now());
        yield value;
      }
      isOver = true;
      finish('answered');
    } catch (error) {
      isOver = true;
      finish(stop.signal.aborted || request.signal.aborted ? 'aborted' : 'cut');
      throw error;
    } finally {
      // The reader left between two events.
      if (!isOver) {
        await source.cancel();
        finish('aborted');
      }
    }
  })();
  // While the source waits, only this ends it.
  stop.signal.addEventListener('abort', () => void source.cancel(stop.signal.reason), { once: true });
  return new EventBody(events, stop);
}

/** Parses the fault header. An invalid one becomes a fault that responds with 400. */
function requestedFault(text: string): FaultResponse {
  try {
    return parseFault(text);
  } catch (error) {
    if (error instanceof HttpError) return { status: error.status, message: error.message };
    throw error;
  }
}
