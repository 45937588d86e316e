/** The process under test: the client and 64 callers, which record how every call ended. */
import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { APIError, type ContextGatewayError, GatewayClient, type GatewayClientOptions } from 'context-gateway';
import type { Runtime } from '../../src/base/runtime.js';
import { leaksOf } from '../helpers/leaks.js';
import { seededRandom } from '../helpers/manual-runtime.js';
import { longBatch } from './batch.js';
import { failure, perform } from './call.js';
import { p } from './invariants.js';
import { BARE, type Flood, fraction, KEY, type Kind, type Outcome, PROMPT, type Report, SPEED } from './plan.js';

const [seed = 0, port, calls = 0] = process.argv.slice(2).map(Number);
const CLIENTS = 8;
const CALLERS = 8;
/** The deadline of calls with little time, in the client's ms. */
const SHORT_DEADLINE = 4_000;
const DEADLINE = 120_000;
/** Calls before memory is measured. */
const WARM_UP = 400;

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

const timers = new Set<unknown>();
/** How late timers fire in ms. This delay is the machine's, and not the client's. */
const lateness: number[] = [];
const runtimeAt = (speed: number): Runtime => ({
  now: () => performance.now() * speed,
  wallClock: () => Date.now(),
  random: seededRandom(seed),
  setTimer: (callback, ms) => {
    const due = performance.now() + ms / speed;
    const timer = setTimeout(() => {
      timers.delete(timer);
      lateness.push(performance.now() - due);
      callback();
    }, ms / speed);
    timers.add(timer);
    return timer;
  },
  clearTimer: (timer) => {
    timers.delete(timer);
    clearTimeout(timer as NodeJS.Timeout);
  },
});
/** Runs 50 times as fast. */
const runtime = runtimeAt(SPEED);

const retries: Record<string, number> = {};
const stops: Record<string, number> = {};
const printed: unknown[] = [];
const leaks = new Set<string>();
const quotes = new Set<string>();
const looked = new Set<string>();
const unhandled: string[] = [];
for (const event of ['unhandledRejection', 'uncaughtException', 'warning']) {
  process.on(event, (what: unknown) => unhandled.push(`${event}: ${String(what)}`));
}

function createClient(clock = runtime, more: GatewayClientOptions = {}): GatewayClient {
  const options = {
    baseURL: `http://127.0.0.1:${port}`,
    apiKey: KEY,
    maxRetries: 5,
    timeout: 30_000,
    streamIdleTimeout: 30_000,
    onEvent: (event: { type: string; reason?: number | string; stop?: string }) => {
      if (event.type === 'retry') retries[String(event.reason)] = (retries[String(event.reason)] ?? 0) + 1;
      if (event.type === 'failure') stops[String(event.stop)] = (stops[String(event.stop)] ?? 0) + 1;
      if (printed.length < 500) printed.push(event);
    },
    ...more,
  };
  // The third parameter is internal.
  return new (GatewayClient as new (...given: unknown[]) => GatewayClient)(options, undefined, clock);
}

const outcomes: Outcome[] = [];
const shared = new AbortController();
const memory = { start: 0, peak: 0, heapStart: 0, heapEnd: 0 };

/** One call. Its number decides its kind and its fate. */
async function call(client: GatewayClient, number: number): Promise<void> {
  const kind = kindOf(fraction(seed, `kind${number}`));
  const operation = `${kind}-${seed}-${number}`;
  const fate = fraction(seed, `fate${number}`);
  const controller = new AbortController();
  const aborts = fate < 0.05;
  const deadline = fate > 0.9 ? SHORT_DEADLINE : DEADLINE;
  const headers = { 'x-operation': operation };
  const options = { headers, deadline, signal: aborts ? controller.signal : shared.signal };
  let abortedAt = 0;
  const abortTimer = aborts
    ? setTimeout(() => {
        abortedAt = performance.now();
        controller.abort(new Error('enough'));
      }, fate * 600)
    : undefined;
  const startedAt = performance.now();
  const comparison = compareDeadline(deadline / SPEED);
  const facts = { operation, kind, deadline: deadline / SPEED };
  try {
    const { end, attempts, problem } = await perform(client, kind, operation, options, fate);
    outcomes.push({ ...facts, end, attempts, problem, duration: performance.now() - startedAt });
  } catch (error) {
    const settledAt = performance.now();
    lookForLeaks(error, kind, number);
    const abort = abortedAt > 0 ? settledAt - abortedAt : undefined;
    const isLate = settledAt - startedAt >= deadline / SPEED;
    const overrun = isLate ? Math.max(0, settledAt - comparison.endsAt) : undefined;
    outcomes.push({ ...facts, ...failure(error, operation), abort, overrun, duration: settledAt - startedAt });
  } finally {
    clearTimeout(abortTimer);
    comparison.stop();
  }
}

/**
 * A plain timer of the same delay, with the eight more turns of the event loop that a late deadline waits for, in which a
 * response may still be read (timeouts.ts). On this fast clock every timer counts as late.
 */
function compareDeadline(delay: number): { endsAt: number; stop(): void } {
  const comparison = { endsAt: Number.POSITIVE_INFINITY, stop: () => clearTimeout(timer) };
  let turns = 0;
  const fire = (): void => {
    turns += 1;
    if (turns <= 8) timer = setTimeout(fire, 1);
    else comparison.endsAt = performance.now();
  };
  let timer = setTimeout(fire, delay);
  return comparison;
}

function kindOf(share: number): Kind {
  if (share < 0.35) return 'safe';
  if (share < 0.5) return 'idempotent';
  if (share < 0.75) return 'effect';
  return share < 0.95 ? 'stream' : 'upload';
}

/** Checks the first error of every kind and then every hundredth, because a check takes longer than a call. */
function lookForLeaks(error: unknown, kind: Kind, number: number): void {
  const status = error instanceof APIError ? error.status : '';
  const sort = `${kind} ${(error as Error).name} ${status}`;
  if (number % 100 !== 0 && looked.has(sort)) return;
  looked.add(sort);
  for (const leak of leaksOf(error, [KEY])) leaks.add(leak);
  for (const quote of leaksOf(error, [PROMPT])) quotes.add(quote);
}

const getThings = (client: GatewayClient, operation: string) =>
  client.request({ method: 'GET', path: '/v1/things' }, { headers: { 'x-operation': operation } });

/** A service that responds to everything with 503: first attempts continue, and the retry budget runs out. */
async function outage(): Promise<Report['outage']> {
  const client = createClient();
  let sends = 0;
  let left = 1_000;
  const caller = async (): Promise<void> => {
    while (left > 0) {
      const error = await getThings(client, `outage-${left--}`).catch((failed) => failed);
      sends += (error as ContextGatewayError).attempts.length;
    }
  };
  await Promise.all(Array.from({ length: 32 }, caller));
  await client.close();
  return { calls: 1_000, sends };
}

/** Three windows' worth of calls: one first, then all others at once. */
async function limited(): Promise<Report['window']> {
  const client = createClient();
  await getThings(client, 'window-0');
  const others = Array.from({ length: 149 }, (_, at) => getThings(client, `window-${at + 1}`));
  const ends = await Promise.allSettled(others);
  await client.close();
  return { calls: 150, failed: ends.filter(({ status }) => status === 'rejected').length };
}

/** Twice as many calls as the limit allows, at a steady rate. Its 429s say nothing. Returns how many calls failed. */
async function limitedSilently(): Promise<number> {
  const clock = runtimeAt(BARE.speed);
  const client = createClient(clock);
  const calls: Promise<unknown>[] = [];
  const startedAt = clock.now();
  while (calls.length < BARE.calls) {
    const due = ((clock.now() - startedAt) / 1_000) * 2 * (BARE.limit / BARE.seconds);
    while (calls.length < Math.min(due, BARE.calls)) calls.push(getThings(client, `bare-${calls.length}`));
    await sleep(2);
  }
  const ends = await Promise.allSettled(calls);
  await client.close();
  return ends.filter(({ status }) => status === 'rejected').length;
}

/** Gets a completion with 200,000 mistakes twice: as an error, and where mistakes are only reported. */
async function flood(): Promise<Flood> {
  const params = { model: 'm', messages: [{ role: 'user' as const, content: PROMPT }] };
  const get = async (options?: GatewayClientOptions) => {
    const client = createClient(runtimeAt(1), options);
    const response = client.chat.completions.create(params, { headers: { 'x-operation': 'flood' } });
    const result = await response.catch((error: unknown) => error as Error); // checked by name
    await client.close();
    return result;
  };
  const before = process.cpuUsage();
  const error = await get();
  const { user, system } = process.cpuUsage(before);
  const returned = await get({ validation: 'report' });
  lookForLeaks(error, 'safe', 0);
  return {
    error: error instanceof Error ? error.name : 'none',
    printed: `${inspect(error)}${JSON.stringify(error)}`.length,
    took: (user + system) / 1_000,
    returned: 'choices' in returned ? returned.choices.length : 0,
  };
}

/** How long the work of this process blocked the event loop, in ms. Other load on the machine does not count. */
function watchLoop(): { stop(): number[] } {
  const held: number[] = [];
  let at = performance.now();
  let cpu = process.cpuUsage();
  const timer = setInterval(() => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    held.push(Math.max(0, Math.min(now - at, (user + system) / 1_000) - 10));
    cpu = process.cpuUsage();
    at = now;
  }, 10);
  const stop = (): number[] => {
    clearInterval(timer);
    return held;
  };
  return { stop };
}

function ask(question: string): Promise<{ open: number }> {
  return new Promise((resolve) => {
    process.once('message', resolve);
    process.send?.({ ask: question });
  });
}

/** How many connections of a kind the server still has after up to 500 ms. */
async function connections(kind: 'open' | 'hanging'): Promise<number> {
  let { open } = await ask(kind);
  for (let tries = 0; open > 0 && tries < 20; tries += 1) {
    await sleep(25);
    open = (await ask(kind)).open;
  }
  return open;
}

const clients = Array.from({ length: CLIENTS }, () => createClient());
const startedAt = performance.now();
let number = 0;

async function caller(client: GatewayClient, last: number): Promise<void> {
  while (number < last) await call(client, number++);
}

await Promise.all(clients.map((client) => caller(client, WARM_UP)));
collect();
memory.start = process.memoryUsage.rss();
memory.heapStart = process.memoryUsage().heapUsed;
// Measures only memory that is still referenced, since bodies of 33 MB pass through here.
const watch = setInterval(() => {
  if (process.memoryUsage.rss() - memory.start > 100 * 1024 * 1024) collect();
  memory.peak = Math.max(memory.peak, process.memoryUsage.rss());
}, 50);
const loop = watchLoop();
const disposing = setInterval(async () => {
  const disposable = createClient();
  const calls = [call(disposable, number++), call(disposable, number++)];
  await sleep(10);
  await disposable.close();
  await Promise.all(calls);
}, 500);
await Promise.all(clients.flatMap((client) => Array.from({ length: CALLERS }, () => caller(client, calls))));
clearInterval(disposing);
clearInterval(watch);
const heldUp = loop.stop();
const seconds = (performance.now() - startedAt) / 1_000;
const outageFigures = await outage();
const windowFigures = await limited();
const bareFailed = await limitedSilently();
const flooded = await flood();
const batch = await longBatch(collect);
await sleep(100);

const hanging = await connections('hanging');
const pending = timers.size;
const listeners = getEventListeners(shared.signal, 'abort').length;
await Promise.all(clients.map((client) => client.close()));
const connectionsClosed = await connections('open');
for (const leak of leaksOf(printed, [KEY])) leaks.add(`event: ${leak}`);
for (const quote of leaksOf(printed, [PROMPT])) quotes.add(`event: ${quote}`);
for (const leak of leaksOf(clients, [KEY])) leaks.add(`client: ${leak}`);
printed.length = 0;
const kept = outcomes.splice(0);
const text = JSON.stringify(kept); // the records are not a leak of the client
kept.length = 0;
collect();
await sleep(50);
collect();
memory.heapEnd = process.memoryUsage().heapUsed - text.length;

const report: Report = {
  outcomes: JSON.parse(text),
  outage: outageFigures,
  window: windowFigures,
  bareFailed,
  retries,
  stops,
  leaks: [...leaks],
  quotes: [...quotes],
  unhandled,
  timers: pending,
  listeners,
  hanging,
  connectionsClosed,
  memory,
  lateness: p(lateness, 99),
  heldUp: p(heldUp, 99),
  flood: flooded,
  batch,
  seconds,
};
process.send?.({ report }, () => process.disconnect());
