import type { Socket } from 'node:net';
import type { Hono } from 'hono';
import { errorAnswer, type RouteEnv } from './answers.js';
import { type ApiKeys, authenticateKey, authenticateSession, namesEndpoint, type Sessions } from './auth.js';
import { addCorsHeaders, preflightAnswer } from './cors.js';
import { type Area, Refusal } from './errors.js';
import { Exchange, pathOf } from './exchange.js';
import { applyFault, faultBodyCut } from './fault-effects.js';
import type { ActiveFault, Faults } from './faults.js';
import { answerOnce, type IdempotencyMemory } from './idempotency.js';
import type { Settings } from './options.js';
import type { IdSource } from './random.js';
import type { RateLimiter, RateState } from './rate-limit.js';
import { type BodyCut, relayBody } from './relay.js';
import type { LogEntry, RequestLog } from './request-log.js';

/** Everything the request path needs. */
export interface ServiceParts {
  settings: Settings;
  ids: IdSource;
  keys: ApiKeys;
  sessions: Sessions;
  limiter: RateLimiter;
  faults: Faults;
  idempotency: IdempotencyMemory;
  log: RequestLog;
  context: Hono<RouteEnv>;
  gateway: Hono<RouteEnv>;
  control: (request: Request, path: string) => Response | Promise<Response>;
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
    if (path === '/_emulator' || path.startsWith('/_emulator/')) return this.#parts.control(request, path);
    const area: Area = path.startsWith('/api/') || path === '/api' ? 'context' : 'gateway';
    const preflight = preflightAnswer(request, this.#parts.settings.cors);
    if (preflight !== undefined) return preflight;
    const exchange = this.#open(request, area, socket);
    const fault = this.#parts.faults.take(exchange.method, exchange.path, request.headers);
    exchange.entry.fault =
      fault && (fault.respond.type ?? `status ${'status' in fault.respond ? fault.respond.status : ''}`);
    try {
      const response = await this.#faulted(exchange, fault);
      return this.#close(exchange, response, fault && faultBodyCut(fault.respond));
    } catch (error) {
      exchange.entry.outcome = request.signal.aborted ? 'aborted' : 'reset';
      exchange.entry.finishedAt = this.#parts.settings.clock.now();
      throw error;
    }
  }

  #open(request: Request, area: Area, socket: Socket | undefined): Exchange {
    const { ids, settings, log } = this.#parts;
    const url = request.url;
    const entry: LogEntry = {
      requestId: ids.next('req'),
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

  async #faulted(exchange: Exchange, fault: ActiveFault | undefined): Promise<Response> {
    const { settings, closed } = this.#parts;
    const { request } = exchange;
    if (fault !== undefined) {
      const spoiled = await applyFault(fault.respond, exchange, { clock: settings.clock, closed });
      if (spoiled !== undefined) return spoiled;
    }
    if (settings.latency > 0) await settings.clock.sleep(settings.latency, AbortSignal.any([request.signal, closed]));
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
    const { context, gateway, idempotency } = this.#parts;
    if (exchange.area === 'context') this.#admitToContext(exchange);
    else this.#admitToGateway(exchange);
    const app = exchange.area === 'context' ? context : gateway;
    const work = (): Promise<Response> | Response => app.fetch(exchange.request, { exchange });
    const key = exchange.request.headers.get('idempotency-key');
    if (key === null || exchange.method === 'GET' || exchange.method === 'HEAD') return work();
    return answerOnce(idempotency, key, exchange, work);
  }

  #admitToContext(exchange: Exchange): void {
    const { sessions, settings, limiter } = this.#parts;
    const { name, scheme } = settings.sessionHeader;
    exchange.userId = authenticateSession(sessions, exchange.request.headers.get(name), scheme);
    const kind = exchange.path === '/api/context/compact' ? 'compact' : 'context';
    const state = limiter.take(`${kind} ${exchange.userId}`, settings.limits[kind]);
    if (!state.allowed) throw this.#rateLimited(state);
  }

  #admitToGateway(exchange: Exchange): void {
    const { keys, settings, limiter } = this.#parts;
    const rule = settings.limits.gateway;
    try {
      exchange.keyKind = authenticateKey(keys, exchange.request.headers.get('authorization'));
    } catch (refusal) {
      // Whoever has no valid key does not use up the account's limit.
      exchange.rate = limiter.take('gateway without key', rule);
      throw exchange.rate.allowed ? refusal : this.#rateLimited(exchange.rate);
    }
    exchange.rate = limiter.take('gateway', rule);
    if (!exchange.rate.allowed) throw this.#rateLimited(exchange.rate);
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

  #close(exchange: Exchange, response: Response, cut: BodyCut | undefined): Response {
    const { settings, limiter } = this.#parts;
    const { entry, request } = exchange;
    const { headers } = response;
    entry.status = response.status;
    headers.set('x-request-id', entry.requestId);
    // The time all other times in the answer are told by, also when the clock is not the system's.
    headers.set('date', new Date(settings.clock.now()).toUTCString());
    if (exchange.area === 'gateway') {
      const rate = exchange.rate ?? limiter.peek('gateway', settings.limits.gateway);
      headers.set('x-ratelimit-limit', String(rate.limit));
      headers.set('x-ratelimit-remaining', String(rate.remaining));
      headers.set('x-ratelimit-reset', String(this.#resetValue(rate)));
    }
    addCorsHeaders(headers, request.headers.get('origin'), settings.cors);
    const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    if (response.body === null || (!isStream && cut === undefined)) {
      entry.outcome = 'answered';
      entry.finishedAt = settings.clock.now();
      return response;
    }
    return this.#watched(exchange, response, isStream, cut);
  }

  /** A stream is over when its body is; until then it is watched. */
  #watched(exchange: Exchange, response: Response, isStream: boolean, cut: BodyCut | undefined): Response {
    const { entry, request, socket } = exchange;
    if (isStream) entry.events = 0;
    const body = relayBody(response.body as ReadableStream<Uint8Array>, {
      signals: [request.signal, this.#parts.closed],
      cut,
      breakConnection: socket && (() => void socket.resetAndDestroy()),
      onChunk: () => {
        if (entry.events !== undefined) entry.events += 1;
      },
      onEnd: (outcome) => {
        entry.outcome = outcome;
        entry.finishedAt = this.#parts.settings.clock.now();
      },
    });
    return new Response(body, response);
  }

  #resetValue(rate: RateState): number {
    const { rateLimitReset, clock } = this.#parts.settings;
    if (rateLimitReset === 'epoch-milliseconds') return rate.resetAt;
    if (rateLimitReset === 'delta-seconds') return Math.max(0, Math.ceil((rate.resetAt - clock.now()) / 1000));
    return Math.ceil(rate.resetAt / 1000);
  }
}
