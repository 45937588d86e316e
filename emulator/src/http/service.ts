import type { IncomingMessage } from 'node:http';
import { inspect } from 'node:util';
import { getPath } from 'hono/utils/url';
import { type Area, HttpError } from '../base/errors.js';
import { redact } from '../base/redact.js';
import type { Faults } from '../faults/faults.js';
import type { FaultResponse } from '../faults/rule.js';
import { FAULT_HEADER, parseFault } from '../faults/syntax.js';
import type { Stores } from '../store/stores.js';
import { Admission, type AdmissionSettings } from './admission.js';
import type { AreaRoutes } from './area-routes.js';
import { addCorsHeaders, type Cors, isForeignPage, originRejection, preflightResponse } from './cors.js';
import { EventBody } from './event-body.js';
import { Exchange } from './exchange.js';
import { applyRequestFault, applyResponseFault, faultBodyCut, faultGarble } from './fault-effects.js';
import { idempotentResponse } from './idempotent-response.js';
import { credentialsOf } from './log/credentials.js';
import type { LogEntry } from './log/log-entry.js';
import { LOGGED_BYTES, type RequestLog, truncate } from './log/request-log.js';
import type { Outcome } from './log/request-record.js';
import { SentBody } from './log/sent-body.js';
import { errorCodeIn, errorCodeInEvent } from './log/subject.js';
import { errorResponse, isEventStream, type PlainResponse } from './plain-response.js';
import type { RateLimiter } from './rate-limit.js';
import { ConnectionReset, inPieces, isComment, relayBody } from './relay.js';
import { watchedEvents } from './watched-events.js';

/** The settings of the request path. */
interface ServiceSettings extends AdmissionSettings {
  maxFileSize: number;
  maxBodySize: number;
  /** Without `origins`, any page may call; if the seed is known, only pages of this machine. */
  cors?: { origins?: '*' | readonly string[] | undefined; exposeHeaders: boolean } | undefined;
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
  readonly #admission: Admission;
  readonly #corsOfKnownSeed: Cors;
  readonly #corsOfOwnSeed: Cors;

  constructor(private readonly parts: ServiceParts) {
    const { cors } = parts.settings;
    this.#admission = new Admission(parts.stores, parts.settings, parts.limiter);
    this.#corsOfKnownSeed = cors && { ...cors, origins: cors.origins ?? 'loopback' };
    this.#corsOfOwnSeed = cors && { ...cors, origins: cors.origins ?? '*' };
  }

  /** `incoming` is the Node message of the request; undefined for an in-process request. */
  async handle(request: Request, incoming?: IncomingMessage | undefined): Promise<PlainResponse | Response> {
    const path = getPath(request);
    if (path === '/_emulator' || path.startsWith('/_emulator/')) {
      // A closed connection has no address. It must not pass for an in-process request.
      return this.parts.control(request, incoming && (incoming.socket.remoteAddress ?? 'unknown'));
    }
    // The address that the emulator prints, opened in a browser, leads to the inspector.
    if (path === '/' && request.headers.get('accept')?.includes('text/html'))
      return new Response(null, { status: 303, headers: { location: '/_emulator' } });
    const area: Area = path.startsWith('/api/') || path === '/api' ? 'context' : 'gateway';
    const preflight = preflightResponse(request, this.#cors());
    if (preflight !== undefined) return preflight;
    const exchange = this.#open(request, area, incoming);
    try {
      const fault = this.#faultFor(exchange);
      return this.#close(exchange, await this.#respondWithFault(exchange, fault), fault);
    } catch (error) {
      const { entry } = exchange;
      const isAborted = request.signal.aborted || this.parts.closed.aborted;
      if (!isAborted && !(error instanceof ConnectionReset)) {
        return this.#close(exchange, this.#internalError(exchange, error), undefined);
      }
      entry.outcome = request.signal.aborted ? 'aborted' : 'reset';
      entry.finishedAt = this.parts.settings.clock.now();
      this.parts.log.link(entry);
      this.parts.log.changed(entry);
      throw error;
    }
  }

  #open(request: Request, area: Area, incoming: IncomingMessage | undefined): Exchange {
    const { stores, settings, log } = this.parts;
    const url = request.url;
    const entry: LogEntry = {
      requestId: stores.ids.transient('req'),
      method: request.method,
      path: url.slice(url.indexOf('/', url.indexOf('://') + 3)),
      headers: incoming?.rawHeaders ?? [...request.headers].flat(),
      sessionHeader: settings.sessionHeader.name,
      isBodyCut: false,
      receivedAt: settings.clock.now(),
      outcome: 'pending',
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
      header === null ? this.parts.faults.take(method, path, request.headers)?.respond : requestedFault(header);
    entry.faultResponse = fault;
    entry.fault = fault && ('status' in fault ? `status ${fault.status}` : fault.type);
    return fault;
  }

  async #respondWithFault(exchange: Exchange, fault: FaultResponse | undefined): Promise<PlainResponse> {
    const { settings, closed } = this.parts;
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
      exchange.entry.code = error.details.code;
      return errorResponse(exchange.area, error.status, error.message, error.details);
    }
  }

  /** Any error other than an `HttpError` is a bug in the emulator or in a reply function. The log records it. */
  #internalError(exchange: Exchange, error: unknown): PlainResponse {
    const { entry } = exchange;
    const text = error instanceof Error ? (error.stack ?? error.message) : inspect(error);
    // Before it is cut, so that no part of a key is left.
    entry.error = truncate(redact(text, credentialsOf(entry)));
    return errorResponse(exchange.area, 500);
  }

  #respond(exchange: Exchange): Promise<PlainResponse> {
    const { context, gateway, stores } = this.parts;
    const rejection = originRejection(exchange.request, exchange.socket?.localAddress, this.#cors());
    if (rejection !== undefined) throw new HttpError(403, rejection, { param: 'Origin', code: 'origin_not_allowed' });
    this.#admission.admit(exchange);
    const routes = exchange.area === 'context' ? context : gateway;
    const work = (): Promise<PlainResponse> => routes.handle(exchange);
    const key = exchange.request.headers.get('idempotency-key');
    if (key === null || exchange.method === 'GET' || exchange.method === 'HEAD') return work();
    return idempotentResponse(stores.idempotency, key, exchange, work);
  }

  #cors(): Cors {
    return this.parts.stores.seedRecord()?.isKnown ? this.#corsOfKnownSeed : this.#corsOfOwnSeed;
  }

  #close(exchange: Exchange, response: PlainResponse, fault: FaultResponse | undefined): PlainResponse {
    const { settings, log } = this.parts;
    const { entry, request } = exchange;
    const { headers } = response;
    entry.status = response.status;
    log.link(entry);
    headers['x-request-id'] = entry.requestId;
    // From the emulator's clock, as all other times in the response.
    headers.date = new Date(settings.clock.now()).toUTCString();
    this.#admission.addRateHeaders(headers, exchange);
    addCorsHeaders(headers, request.headers.get('origin'), this.#cors());
    if (response.body !== null && (fault !== undefined || isEventStream(response))) {
      return this.#watchBody(exchange, response, fault);
    }
    entry.outcome = 'answered';
    entry.finishedAt = settings.clock.now();
    // Without a fault, every body that is not an event stream is a string.
    this.#admission.spendTokens(entry);
    const whole = typeof response.body === 'string' ? response.body : '';
    const body = truncate(whole);
    if (response.status >= 400) entry.code ??= errorCodeIn(body);
    entry.response = { headers, body, isBodyCut: body.length < whole.length };
    log.changed(entry);
    return response;
  }

  /** Watches the body, because the request ends only when its body ends. */
  #watchBody(exchange: Exchange, response: PlainResponse, fault: FaultResponse | undefined): PlainResponse {
    const { settings, closed, log } = this.parts;
    const { entry, request, socket } = exchange;
    const isStream = isEventStream(response);
    if (isStream) entry.events = 0;
    const sent = new SentBody(LOGGED_BYTES, (index, at, event) => {
      entry.code ??= errorCodeInEvent(event);
      log.sent(entry, index, at, event);
    });
    entry.response = { headers: response.headers, body: sent };
    log.changed(entry);
    const finish = (outcome: Outcome): void => {
      entry.outcome = outcome;
      entry.finishedAt = settings.clock.now();
      this.#admission.spendTokens(entry);
      sent.close();
      if (response.status >= 400) entry.code ??= errorCodeIn(sent.text());
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
          this.#admission.spendTokens(entry);
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
