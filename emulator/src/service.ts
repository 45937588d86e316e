import type { Socket } from 'node:net';
import type { Hono } from 'hono';
import { errorAnswer, type RouteEnv } from './answers.js';
import { authenticateKey, authenticateSession, namesEndpoint } from './auth.js';
import { addCorsHeaders, preflightAnswer } from './cors.js';
import { type Area, Refusal } from './errors.js';
import { Exchange, pathOf } from './exchange.js';
import { applyFault, faultBodyCut, faultGarble, isEventStream, spoilAnswer } from './fault-effects.js';
import { FAULT_HEADER, parseFault } from './fault-syntax.js';
import type { FaultResponse, Faults } from './faults.js';
import { answerOnce } from './idempotency.js';
import { inPieces } from './pieces.js';
import type { RateLimiter, RateState } from './rate-limit.js';
import { isComment, relayBody } from './relay.js';
import type { LogEntry, RequestLog } from './request-log.js';
import type { Settings } from './settings.js';
import type { Stores } from './store/stores.js';

/** Everything the request path needs. */
export interface ServiceParts {
  settings: Settings;
  stores: Stores;
  limiter: RateLimiter;
  faults: Faults;
  log: RequestLog;
  context: Hono<RouteEnv>;
  gateway: Hono<RouteEnv>;
  /** `caller` is where the request comes from, unless it came in process. */
  control: (request: Request, caller: string | undefined) => Response | Promise<Response>;
  /** Fires when the emulator is closed: nothing waits any longer. */
  closed: AbortSignal;
}

/** The way of a request: note it, apply a fault, know the caller, count it, answer, add headers. */
export class Service {
  readonly #parts: ServiceParts;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  async handle(request: Request, socket?: Socket | undefined): Promise<Response> {
    const path = pathOf(request.url);
    if (path === '/_emulator' || path.startsWith('/_emulator/')) {
      return this.#parts.control(request, socket?.remoteAddress);
    }
    const area: Area = path.startsWith('/api/') || path === '/api' ? 'context' : 'gateway';
    const preflight = preflightAnswer(request, this.#parts.settings.cors);
    if (preflight !== undefined) return preflight;
    const exchange = this.#open(request, area, socket);
    try {
      const fault = this.#faultFor(exchange);
      const response = await this.#faulted(exchange, fault);
      return this.#close(exchange, response, fault);
    } catch (error) {
      exchange.entry.outcome = request.signal.aborted ? 'aborted' : 'reset';
      exchange.entry.finishedAt = this.#parts.settings.clock.now();
      throw error;
    }
  }

  #open(request: Request, area: Area, socket: Socket | undefined): Exchange {
    const { stores, settings, log } = this.#parts;
    const url = request.url;
    const entry: LogEntry = {
      requestId: stores.ids.next('req'),
      method: request.method,
      path: url.slice(url.indexOf('/', url.indexOf('://') + 3)),
      headers: request.headers,
      body: undefined,
      receivedAt: settings.clock.now(),
      finishedAt: undefined,
      status: undefined,
      outcome: 'pending',
      events: undefined,
      fault: undefined,
      error: undefined,
    };
    log.add(entry);
    return new Exchange(request, area, entry, socket, settings);
  }

  /** The fault the request asks for itself, else the first rule it meets. */
  #faultFor(exchange: Exchange): FaultResponse | undefined {
    const { method, path, request, entry } = exchange;
    const asked = request.headers.get(FAULT_HEADER);
    const fault = asked === null ? this.#parts.faults.take(method, path, request.headers)?.respond : askedFault(asked);
    entry.fault = fault && ('status' in fault ? `status ${fault.status}` : fault.type);
    return fault;
  }

  async #faulted(exchange: Exchange, fault: FaultResponse | undefined): Promise<Response> {
    const { settings, closed } = this.#parts;
    const { request } = exchange;
    if (fault !== undefined) {
      const spoiled = await applyFault(fault, exchange, { clock: settings.clock, closed });
      if (spoiled !== undefined) return spoiled;
    }
    if (settings.latency > 0) await settings.clock.sleep(settings.latency, AbortSignal.any([request.signal, closed]));
    const response = await this.#answerOrRefusal(exchange);
    return fault === undefined ? response : spoilAnswer(fault, response, exchange);
  }

  async #answerOrRefusal(exchange: Exchange): Promise<Response> {
    try {
      return await this.#answer(exchange);
    } catch (error) {
      if (error instanceof Refusal) return errorAnswer(exchange.area, error.status, error.message, error.details);
      return this.#brokenAnswer(exchange, error);
    }
  }

  /** Anything else than a refusal is a defect of ours, or of a reply function; it stays visible in the log. */
  #brokenAnswer(exchange: Exchange, error: unknown): Response {
    exchange.entry.error = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return errorAnswer(exchange.area, 500);
  }

  #answer(exchange: Exchange): Promise<Response> | Response {
    const { context, gateway, stores } = this.#parts;
    if (exchange.area === 'context') this.#admitToContext(exchange);
    else this.#admitToGateway(exchange);
    const app = exchange.area === 'context' ? context : gateway;
    const work = (): Promise<Response> | Response => app.fetch(exchange.request, { exchange });
    const key = exchange.request.headers.get('idempotency-key');
    if (key === null || exchange.method === 'GET' || exchange.method === 'HEAD') return work();
    return answerOnce(stores.idempotency, key, exchange, work);
  }

  #admitToContext(exchange: Exchange): void {
    const { stores, settings, limiter } = this.#parts;
    const { name, scheme } = settings.sessionHeader;
    exchange.userId = authenticateSession(stores.sessions, exchange.request.headers.get(name), scheme);
    const kind = exchange.path === '/api/context/compact' ? 'compact' : 'context';
    const state = limiter.take(`${kind} ${exchange.userId}`, stores.account.limit(kind));
    if (!state.allowed) throw this.#rateLimited(state);
  }

  #admitToGateway(exchange: Exchange): void {
    const { stores, settings, limiter } = this.#parts;
    const rule = stores.account.limit('gateway');
    try {
      exchange.keyKind = authenticateKey(stores.apiKeys, exchange.request.headers.get('authorization'));
    } catch (refusal) {
      // Whoever has no valid key does not use up the account's limit.
      exchange.rate = limiter.take('gateway without key', rule);
      throw exchange.rate.allowed ? refusal : this.#rateLimited(exchange.rate);
    }
    exchange.rate = limiter.take('gateway', rule);
    if (!exchange.rate.allowed) throw this.#rateLimited(exchange.rate);
    if (!stores.account.gatewayAccess) {
      const message = `The ${stores.account.plan.id} plan has no Gateway access; it comes with the Agency plan`;
      throw new Refusal(403, message, { param: 'Authorization', code: 'plan_without_gateway' });
    }
    if (
      exchange.keyKind === 'publishable' &&
      !namesEndpoint(settings.publishableEndpoints, exchange.method, exchange.path)
    ) {
      throw new Refusal(403, 'This endpoint needs a secret key', {
        param: 'Authorization',
        code: 'insufficient_permissions',
      });
    }
  }

  #rateLimited(state: RateState): Refusal {
    return new Refusal(429, 'Rate limit exceeded', { retryAfter: this.#parts.limiter.retryAfter(state) });
  }

  #close(exchange: Exchange, response: Response, fault: FaultResponse | undefined): Response {
    const { settings, stores, limiter } = this.#parts;
    const { entry, request } = exchange;
    const { headers } = response;
    entry.status = response.status;
    headers.set('x-request-id', entry.requestId);
    // The time all other times in the answer are told by, also when the clock is not the system's.
    headers.set('date', new Date(settings.clock.now()).toUTCString());
    if (exchange.area === 'gateway') {
      const rate = exchange.rate ?? limiter.peek('gateway', stores.account.limit('gateway'));
      headers.set('x-ratelimit-limit', String(rate.limit));
      headers.set('x-ratelimit-remaining', String(rate.remaining));
      headers.set('x-ratelimit-reset', String(this.#resetValue(rate)));
    }
    addCorsHeaders(headers, request.headers.get('origin'), settings.cors);
    if (response.body === null || (!isEventStream(response) && fault === undefined)) {
      entry.outcome = 'answered';
      entry.finishedAt = settings.clock.now();
      return response;
    }
    return this.#watched(exchange, response, fault);
  }

  /** A stream is over when its body is; until then it is watched. */
  #watched(exchange: Exchange, response: Response, fault: FaultResponse | undefined): Response {
    const { settings, closed } = this.#parts;
    const { entry, request, socket } = exchange;
    const isStream = isEventStream(response);
    if (isStream) entry.events = 0;
    const body = relayBody(response.body as ReadableStream<Uint8Array>, {
      signals: [request.signal, closed],
      cut: fault && faultBodyCut(fault),
      garbleChunk: isStream ? fault && faultGarble(fault) : undefined,
      breakConnection: socket && (() => void socket.resetAndDestroy()),
      onChunk: (chunk) => {
        if (entry.events !== undefined && !isComment(chunk)) entry.events += 1;
      },
      onEnd: (outcome) => {
        entry.outcome = outcome;
        entry.finishedAt = settings.clock.now();
      },
    });
    if (fault?.type === 'drip') {
      const signal = AbortSignal.any([request.signal, closed]);
      const pause = (): Promise<void> => settings.clock.sleep(fault.every, signal);
      return new Response(inPieces(body, { bytes: fault.bytes, pause }), response);
    }
    const { splitBytes } = settings.pace;
    const whole = !isStream || splitBytes === Number.POSITIVE_INFINITY;
    return new Response(whole ? body : inPieces(body, { bytes: splitBytes }), response);
  }

  #resetValue(rate: RateState): number {
    const { rateLimitReset, clock } = this.#parts.settings;
    if (rateLimitReset === 'epoch-milliseconds') return rate.resetAt;
    if (rateLimitReset === 'delta-seconds') return Math.max(0, Math.ceil((rate.resetAt - clock.now()) / 1000));
    return Math.ceil(rate.resetAt / 1000);
  }
}

/** A fault that cannot be read is itself answered with a 400. */
function askedFault(text: string): FaultResponse {
  try {
    return parseFault(text);
  } catch (error) {
    if (error instanceof Refusal) return { status: error.status, message: error.message };
    throw error;
  }
}
