import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';

/** A server on a free local port. */
export async function listen(answer: RequestListener): Promise<{ url: string; close: () => void }> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

/** A server that answers with web responses. */
export const listenWith = (answer: (request: Request) => Response | Promise<Response>) =>
  listen(getRequestListener(answer, { overrideGlobalObjects: false }));
