/**
 * Runs a bundle of a React Native app without a device: `run-react-native.js <bundle> <address> <key>`. Its JavaScript is
 * React Native's, on the language's own names alone; the native modules that it calls are played here.
 */
import { readFileSync } from 'node:fs';
import { createContext, Script } from 'node:vm';

const [, , bundle, baseURL, apiKey] = process.argv;
/** What React Native's JavaScript lets the native side call. */
const callable = new Map();
const emit = (event, ...args) => callable.get('RCTDeviceEventEmitter')().emit(event, args);
const requests = new Map();

const NATIVE_MODULES = {
  ExceptionsManager: { reportException: ({ message }) => failed(message) },
  NativeMicrotasksCxx: { queueMicrotask },
  NativePerformanceCxx: { now: () => performance.now() },
  NativeReactNativeFeatureFlagsCxx: new Proxy({}, { get: () => () => false }),
  Networking: {
    sendRequest({ method, url, headers, data, responseType }, callback) {
      const id = requests.size + 1;
      const left = new AbortController();
      requests.set(id, left);
      callback(id);
      load(id, responseType, url, { method, headers, body: data.string, signal: left.signal })
        .then(() => null, String)
        .then((problem) => emit('didCompleteNetworkResponse', id, problem, false));
    },
    abortRequest: (id) => requests.get(id)?.abort(),
  },
};

/** In one piece, as React Native's `fetch` asks for it. */
async function load(id, responseType, url, init) {
  const response = await fetch(url, init);
  emit('didReceiveNetworkResponse', id, response.status, Object.fromEntries(response.headers), url);
  const body = Buffer.from(await response.arrayBuffer());
  emit('didReceiveNetworkData', id, body.toString(responseType === 'text' ? 'utf8' : 'base64'));
}

function failed(error) {
  console.error(error?.stack ?? error);
  process.exit(1);
}

function done(result) {
  console.log(JSON.stringify(result));
  process.exit(0);
}

const app = createContext({
  RN$Bridgeless: true, // the new architecture
  RN$registerCallableModule: (name, create) => callable.set(name, create),
  __turboModuleProxy: (name) => NATIVE_MODULES[name] ?? null,
  nativeModuleProxy: {},
  nativeLoggingHook: (text) => console.error(text),
  ...{ setTimeout, clearTimeout, setInterval, clearInterval },
  ...{ TextEncoder, TextDecoder }, // of Hermes, or a polyfill
  host: { baseURL, apiKey, done, failed },
});
new Script(readFileSync(bundle, 'utf8'), { filename: bundle }).runInContext(app);
