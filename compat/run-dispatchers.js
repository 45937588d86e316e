/** Runs the suite through dispatchers of the user's own undici: `run-dispatchers.js <package> <server>`. */
import { createServer } from 'node:http';
import { connect } from 'node:net';
import * as sdk from 'context-gateway';
import { runSuite } from './suite.js';

const [, , name, server] = process.argv;
const { Agent, ProxyAgent, RetryAgent, interceptors } = await import(name);
const { decompress, dns, retry } = interceptors;

/** An HTTP proxy that accepts any CONNECT. */
const proxy = createServer().on('connect', ({ url }, socket) => {
  const { hostname, port } = new URL(`http://${url}`);
  const upstream = connect(Number(port), hostname, () => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    upstream.pipe(socket).pipe(upstream);
  });
  upstream.on('error', () => socket.destroy());
  socket.on('error', () => upstream.destroy());
});
await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));

const TRIES = { minTimeout: 10, maxRetries: 1, statusCodes: [] }; // the SDK itself retries a 429
const DISPATCHERS = {
  Agent: new Agent(),
  ProxyAgent: new ProxyAgent({ uri: `http://127.0.0.1:${proxy.address().port}`, proxyTunnel: true }),
  RetryAgent: new RetryAgent(new Agent(), TRIES),
  interceptors: new Agent().compose(retry(TRIES), dns(), decompress()),
};

const results = [];
for (const [kind, dispatcher] of Object.entries(DISPATCHERS)) {
  class GatewayClient extends sdk.GatewayClient {
    constructor(options) {
      super({ ...options, dispatcher });
    }
  }
  for (const [at, { name, problem }] of (await runSuite({ ...sdk, GatewayClient }, server)).entries()) {
    results[at] ??= { name };
    if (problem !== undefined) results[at].problem ??= `${kind}: ${problem}`;
  }
  await dispatcher.destroy();
}
proxy.close();
console.log(JSON.stringify(results));
