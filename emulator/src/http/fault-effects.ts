import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.js';
import { defaultMessage } from '../base/errors.js';
import { BODILESS_STATUSES, type FaultResponse } from '../faults/rule.js';
import type { Exchange } from './exchange.js';
import { errorResponse, type PlainResponse, textResponse } from './plain-response.js';
import { type BodyCut, ConnectionReset, untilAborted } from './relay.js';

/**
 * Applies a fault before the request is handled: responds in its place, waits, resets the connection, or does nothing.
 */
export async function applyRequestFault(
  fault: FaultResponse,
  exchange: Exchange,
  { clock, closed }: { clock: Clock; closed: AbortSignal },
): Promise<PlainResponse | undefined> {
  if (fault.type === 'reset' && fault.when !== 'after') return resetConnection(exchange.socket);
  if (fault.type === 'stall') {
    await untilAborted(AbortSignal.any([exchange.request.signal, closed]));
    return resetConnection(exchange.socket);
  }
  if (fault.type === 'slow') {
    await clock.sleep(fault.delay, AbortSignal.any([exchange.request.signal, closed]));
    return undefined;
  }
  if (fault.type === 'garbage') {
    return textResponse(fault.body ?? '<html><body>upstream <b>oops', 200, fault.contentType);
  }
  return 'status' in fault ? statusResponse(fault, exchange) : undefined;
}

/** Applies a fault to the real response: resets the connection, changes the response, or does nothing. */
export async function applyResponseFault(
  fault: FaultResponse,
  response: PlainResponse,
  exchange: Exchange,
): Promise<PlainResponse> {
  const { body } = response;
  if (fault.type === 'reset' && fault.when === 'after') {
    if (body !== null && typeof body !== 'string') await body.cancel();
    return resetConnection(exchange.socket);
  }
  if (fault.type === 'contentType') response.headers['content-type'] = fault.contentType;
  if (fault.type !== 'malformed' || typeof body !== 'string') return response;
  return { ...response, body: body.slice(0, Math.max(1, Math.floor(body.length / 2))) };
}

/** How a fault cuts the body of the real response; undefined if it does not. */
export function faultBodyCut(fault: FaultResponse): BodyCut | undefined {
  if (fault.type === 'cutBody') return { afterBytes: fault.afterBytes, how: 'reset' };
  if (fault.type === 'cutStream') {
    const { afterEvents, how = 'end' } = fault;
    return afterEvents === undefined ? { beforeDone: true, how } : { afterChunks: afterEvents, how };
  }
  if (fault.type !== 'streamError') return undefined;
  const error = fault.error ?? {
    message: defaultMessage(503),
    type: 'service_unavailable',
    param: '',
    code: 'service_unavailable',
  };
  const lastChunk = new TextEncoder().encode(`data: ${JSON.stringify({ error })}\n\n`);
  return { afterChunks: fault.afterEvents, how: 'error', lastChunk };
}

/** The index of the stream event that a fault garbles; undefined if none. */
export function faultGarble(fault: FaultResponse): number | undefined {
  if (fault.type === 'malformed') return 1;
  return fault.type === 'garbleStream' ? fault.afterEvents : undefined;
}

function statusResponse(fault: Extract<FaultResponse, { status: number }>, { area }: Exchange): PlainResponse {
  const { status, body, headers = {}, retryAfter, message } = fault;
  let response: PlainResponse;
  if (BODILESS_STATUSES.has(status)) response = { status, headers: {}, body: null };
  else if (body === undefined) response = errorResponse(area, status, message, { retryAfter });
  else response = textResponse(typeof body === 'string' ? body : JSON.stringify(body), status);
  for (const [name, value] of Object.entries(headers)) response.headers[name.toLowerCase()] = value;
  return response;
}

/** In process, `fetch` rejects. Over a socket, the connection is reset and the response is discarded. */
function resetConnection(socket: Socket | undefined): never {
  if (socket === undefined) throw new ConnectionReset();
  socket.resetAndDestroy();
  throw new ConnectionReset();
}
