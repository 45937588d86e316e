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
  if (fault.type === 'reset' && fault.when !== 'after') return breakOff(exchange.socket);
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

/** What a fault does to the real answer once it is there: breaks the connection, changes it, or does nothing. */
export async function spoilAnswer(fault: FaultResponse, response: Response, exchange: Exchange): Promise<Response> {
  if (fault.type === 'reset' && fault.when === 'after') {
    await response.body?.cancel();
    return breakOff(exchange.socket);
  }
  if (fault.type === 'contentType') response.headers.set('content-type', fault.contentType);
  if (fault.type !== 'malformed' || isEventStream(response)) return response;
  const text = await response.text();
  return new Response(text.slice(0, Math.max(1, Math.floor(text.length / 2))), response);
}

/** How a fault spoils the body of the real answer, if it does. */
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

/** Which event of the real stream a fault garbles, if it does. */
export function faultGarble(fault: FaultResponse): number | undefined {
  if (fault.type === 'malformed') return 1;
  return fault.type === 'garbleStream' ? fault.afterEvents : undefined;
}

/** Does the answer come as events? */
export function isEventStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
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
function breakOff(socket: Socket | undefined): never {
  if (socket === undefined) throw connectionReset();
  socket.resetAndDestroy();
  throw connectionReset();
}
