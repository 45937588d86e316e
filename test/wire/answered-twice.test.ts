import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Agent } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { GatewayClient, type GatewayClientOptions } from '../../src/index.js';

const SHARE = 5;

/** A service that sends the response to every fifth request a second time, shortly after. */
async function faultyService() {
  const connections = new Set<Socket>();
  let requests = 0;
  const server = createServer((socket) => {
    connections.add(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      for (const [, user] of String(bytes).matchAll(/^GET \S*user=(\w+)/gm)) {
        const body = JSON.stringify({ user });
        const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
        socket.write(head + body);
        requests += 1;
        if (requests % SHARE === 0) setTimeout(() => socket.write(head + body), 1);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of connections) socket.destroy();
    server.close();
  });
  return { baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections };
}

/** Ten calls of each of eight users. Returns how many got a body of another user. */
async function mixedUp(options: GatewayClientOptions): Promise<number> {
  const gateway = new GatewayClient({ apiKey: 'svc_sk_0123456789', maxRetries: 0, ...options });
  let wrong = 0;
  const callAs = async (user: string): Promise<void> => {
    for (let n = 0; n < 10; n += 1) {
      const body = await gateway.request({ method: 'GET', path: '/v1/things', query: { user } }).catch(() => undefined);
      if (body !== undefined && (body as { user: string }).user !== user) wrong += 1;
    }
  };
  await Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(callAs));
  await gateway.close();
  return wrong;
}

test('with a connection for each request, a service that answers twice mixes up no users', async () => {
  const { baseURL, connections } = await faultyService();

  expect(await mixedUp({ baseURL, dispatcher: new Agent({ pipelining: 0 }) })).toBe(0);
  expect(connections.size).toBe(80);
});
