/** Runs the suite through dispatchers of the user's own undici: `run-dispatchers.js <package> <server>`. */
import * as sdk from 'context-gateway';
import { startProxy } from './connect-proxy.js';
import { runSuite } from './suite.js';

const [, , name, server] = process.argv;
const { Agent, ProxyAgent, RetryAgent, interceptors } = await import(name);
const { decompress, dns, retry } = interceptors;

const proxy = await startProxy();

const TRIES = { minTimeout: 10, maxRetries: 1, statusCodes: [] }; // the SDK itself retries a 429
const DISPATCHERS = {
  Agent: new Agent(),
  ProxyAgent: new ProxyAgent({ uri: proxy.url, proxyTunnel: true }),
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
proxy.stop();
console.log(JSON.stringify(results));
