import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener, RequestError } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { quote } from '../base/mention.js';
import { clearImmediate, setImmediate } from '../base/real-timers.js';
import { EventBody } from './event-body.js';
import { errorResponse, type PlainResponse, toResponse } from './plain-response.js';

/** An emulator that listens on a port. */
export interface Listening {
  url: string;
  port: number;
  /** Stops listening, and closes all open connections. */
  close(): Promise<void>;
}

/** Serves requests on a port of this machine. */
export async function listenOn(
  handle: (request: Request, incoming: IncomingMessage) => Promise<PlainResponse | Response>,
  { port, host }: { port: number; host: string },
): Promise<Listening> {
  const listener = getRequestListener(
    async (request, { incoming, outgoing }) => {
      // Only HTTP/1 is served, so the incoming message is always one of node:http.
      const message = incoming as IncomingMessage;
      try {
        const response = await handle(request, message);
        if (response instanceof Response) return response;
        if (response.body instanceof ReadableStream) return toResponse(response);
        if (response.body instanceof EventBody) {
          await writeEvents(response, response.body, outgoing as ServerResponse);
          return RESPONSE_ALREADY_SENT;
        }
        writeWhole(response, response.body, outgoing as ServerResponse);
        return RESPONSE_ALREADY_SENT;
      } catch (error) {
        // A fault broke the connection, or the client disconnected: no response can be sent.
        if (!message.socket.destroyed) message.socket.destroy();
        throw error;
      }
    },
    {
      // The host process keeps its own Request and Response.
      overrideGlobalObjects: false,
      // HTTP/1.0 requests need no Host header.
      hostname: 'localhost',
      errorHandler: (error) =>
        error instanceof RequestError
          ? toResponse(
              errorResponse('gateway', 400, `The request cannot be read: ${quote(error.message)}`, {
                param: 'request',
              }),
            )
          : undefined,
    },
  );
  // Not cached any more: if the app's own Hono server has replaced `Response`, this one would be sent as well.
  void RESPONSE_ALREADY_SENT.body;
  const server = createServer(listener);
  // Longer than any client's. If both ends close an idle connection at once, a request is lost.
  server.keepAliveTimeout = 75_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  // A TCP server always has an AddressInfo.
  const address = server.address() as AddressInfo;
  return {
    url: `http://${reachableHost(host)}:${address.port}`,
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Writes headers and body at once. A `Response` would go through a stream. */
function writeWhole({ status, headers }: PlainResponse, body: string | null, outgoing: ServerResponse): void {
  if (body !== null) headers['content-length'] = String(Buffer.byteLength(body));
  outgoing.writeHead(status, headers);
  outgoing.end(body ?? undefined);
}

/**
 * Writes events as they come. Events that are there at once are written at once: each write alone would take longer than
 * creating the event.
 */
async function writeEvents(
  { status, headers }: PlainResponse,
  body: EventBody,
  outgoing: ServerResponse,
): Promise<void> {
  let pending = '';
  const flush = (): void => {
    if (pending === '') return;
    outgoing.write(pending);
    pending = '';
  };
  let timer: NodeJS.Immediate | undefined;
  const left = (): void => void body.cancel(new Error('the client disconnected'));
  outgoing.once('close', left);
  outgoing.writeHead(status, headers);
  outgoing.flushHeaders();
  try {
    for (;;) {
      const { done, value } = await body.next();
      if (done) break;
      pending += value;
      if (pending.length > MOST_PENDING) {
        flush();
        if (outgoing.writableNeedDrain) await drained(outgoing);
      }
      timer ??= setImmediate(() => {
        timer = undefined;
        flush();
      });
    }
    outgoing.off('close', left);
    outgoing.end(pending);
    pending = '';
  } catch (error) {
    outgoing.off('close', left);
    outgoing.destroy();
    throw error;
  } finally {
    clearImmediate(timer);
  }
}

/** Resolves when more can be written, or no more can. */
function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done).off('close', done);
      resolve();
    };
    if (outgoing.destroyed) resolve();
    else outgoing.once('drain', done).once('close', done);
  });
}

const MOST_PENDING = 16 * 1024;

function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
