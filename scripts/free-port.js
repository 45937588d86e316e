import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port for a server that starts later. It is below those that systems choose, so that no other server gets it meanwhile. */
export async function freePort() {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false, // the port is in use
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
