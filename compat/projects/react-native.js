/** What React Native and Expo define before an app runs, from the packages that they use, for Hermes's bare VM. */

// The VM's own setTimeout ignores the delay.
const soon = globalThis.setTimeout;
const timers = new Map();
let last = 0;
let isTurning = false;
function turn() {
  isTurning = false;
  for (const [id, { at, run }] of [...timers]) if (at <= Date.now() && timers.delete(id)) run();
  if (timers.size > 0) turnSoon();
}
function turnSoon() {
  if (isTurning) return;
  isTurning = true;
  soon(turn);
}
globalThis.setTimeout = (run, ms = 0) => {
  last += 1;
  timers.set(last, { at: Date.now() + ms, run });
  turnSoon();
  return last;
};
globalThis.clearTimeout = (id) => void timers.delete(id);

Symbol.asyncIterator = Symbol.asyncIterator || Symbol('Symbol.asyncIterator');
globalThis.self = globalThis;
globalThis.window = globalThis;
globalThis.navigator = { product: 'ReactNative' };
globalThis.console = { log: print, warn: print, error: print };
globalThis.performance = { now: () => Date.now() };
globalThis.queueMicrotask = (run) => void Promise.resolve().then(run);
globalThis.Buffer = require('buffer/').Buffer; // for the URL below
Object.assign(globalThis, require('text-encoding'));
Object.assign(globalThis, require('abort-controller/dist/abort-controller'));
globalThis.ReadableStream = require('web-streams-polyfill/ponyfill').ReadableStream;
globalThis.URL = require('whatwg-url-without-unicode').URL;
const { Headers, Response } = require('whatwg-fetch');
Object.assign(globalThis, { Headers, Response });
