import type { Socket } from 'node:net';
import { errorAnswer } from './answers.js';
import type { Clock } from './clock.js';
import { defaultMessage } from './errors.js';
import type { Exchange } from './exchange.js';
import type { FaultResponse } from './faults.js';
import { type BodyCut, connectionReset, untilAborted } from './relay.js';

/** What a fault does before there is an answer: gives one of its own, waits, breaks the connection, or does nothing. */
export async function applyFault(
  fault: FaultResponse,
  exchange: Exchange,
  { clock, closed }: { clock: Clock; closed: AbortSignal },
): Promise<Response | undefined> {
  if (fault.type === 'reset') return breakOff(exchange.socket);
  if (fault.type === 'stall') {
    await untilAborted(AbortSignal.any([exchange.request.signal, closed]));
    return breakOff(exchange.socket);
  }
  if (fault.type === 'slow') {
    await clock.sleep(fault.delay, AbortSignal.any([exchange.request.signal, closed]));
    return undefined;
  }
  if (fault.type === 'garbage') {
    return new Response(fault.body ?? '<html><body>upstream <b>oops', {
      headers: { 'content-type': fault.contentType ?? 'application/json' },
    });
  }
  return 'status' in fault ? statusAnswer(fault, exchange) : undefined;
}

/** How a fault spoils the body of the real answer, if it does. */
export function faultBodyCut(fault: FaultResponse): BodyCut | undefined {
  if (fault.type === 'cutBody') return { afterBytes: fault.afterBytes, how: 'reset' };
  if (fault.type === 'cutStream') return { afterChunks: fault.afterEvents, how: fault.how ?? 'end' };
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

function statusAnswer(fault: Extract<FaultResponse, { status: number }>, { area }: Exchange): Response {
  const { status, body, headers, retryAfter, message } = fault;
  const response =
    body === undefined
      ? errorAnswer(area, status, message, { retryAfter })
      : new Response(typeof body === 'string' ? body : JSON.stringify(body), {
          status,
          headers: { 'content-type': 'application/json' },
        });
  for (const [name, value] of Object.entries(headers ?? {})) response.headers.set(name, value);
  return response;
}

/** In process a fetch that rejects; over a socket a connection that is reset, with an answer nobody will get. */
function breakOff(socket: Socket | undefined): Response {
  if (socket === undefined) throw connectionReset();
  socket.resetAndDestroy();
  throw connectionReset();
}
