/**
 * Runs the suite in an app whose requests all go through a proxy: `run-proxied.js <server>` where Node itself does this
 * (NODE_USE_ENV_PROXY), `run-proxied.js <package> <server>` with `setGlobalDispatcher` of this undici.
 * The name of the server is known only to the proxy, so a request that goes around it fails.
 */
import * as sdk from 'context-gateway';
import { runSuite } from './suite.js';

const [name, server] = process.argv.slice(-2);
if (process.argv.length === 4) {
  const { ProxyAgent, setGlobalDispatcher } = await import(name);
  setGlobalDispatcher(new ProxyAgent({ uri: process.env.HTTP_PROXY, proxyTunnel: true }));
}

class GatewayClient extends sdk.GatewayClient {
  constructor(options) {
    super({ ...options, dangerouslyAllowHTTP: true });
  }
}

console.log(JSON.stringify(await runSuite({ ...sdk, GatewayClient }, server)));
