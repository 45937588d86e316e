import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';

/** A socket that answers. */
export interface Listening {
  url: string;
  port: number;
  /** Stop listening and break the connections that are still open. */
  close(): Promise<void>;
}

/** Answer on a port of this machine. */
export async function listenOn(
  handle: (request: Request, socket: Socket) => Promise<Response>,
  { port, host }: { port: number; host: string },
): Promise<Listening> {
  const listener = getRequestListener(
    // Only HTTP/1 is served, so the incoming message is always one of node:http.
    (request, { incoming }) => handle(request, (incoming as IncomingMessage).socket),
    {
      // The host process keeps its own Request and Response.
      overrideGlobalObjects: false,
      // A handler throws only when it has broken the connection or the caller has gone.
      errorHandler: () => undefined,
    },
  );
  const server = createServer(listener);
  // Longer than any client's: a connection that both ends close at once costs a request.
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

function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
