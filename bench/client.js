/** Runs one contestant in its own process, with its own heap and compiled code. `measure.js` sends the jobs. */
import { profile } from './profile.js';

const [, , name, origin] = process.argv;
const contestant = (await import(`./contestants/${name}.js`)).create(origin);
process.on('disconnect', () => process.exit());
const nextMessage = () => new Promise((resolve) => process.once('message', resolve));

const JOBS = { warm, turn, firstChunk, profile: takeProfile };

for (;;) {
  const { job, ...task } = await nextMessage();
  process.send(await JOBS[job](task));
}

/** Makes calls for `ms`, so that the code gets compiled. Returns the ms per call in the second half. */
async function warm({ ms, ...task }) {
  const since = performance.now();
  let calls = 0;
  let half = { at: 0, calls: 0 };
  const call = callOf(task);
  const count = async () => {
    while (performance.now() - since < ms) {
      await call();
      calls += 1;
      if (half.calls === 0 && performance.now() - since > ms / 2) half = { at: performance.now() - since, calls };
    }
  };
  await Promise.all(Array.from({ length: task.inFlight }, count));
  const took = performance.now() - since;
  return half.calls < calls ? (took - half.at) / (calls - half.calls) : took / calls;
}

/** CPU time (user and system, all threads) and wall time, in µs per call. */
async function turn({ times, inFlight, ...task }) {
  const call = callOf(task);
  await reconnect(inFlight);
  // A warm-up: other processes used the CPU and its caches in the meantime.
  if (times > inFlight || inFlight === 1) await repeat(call, Math.max(inFlight, times / 2), inFlight);
  const before = process.cpuUsage();
  const since = process.hrtime.bigint();
  await repeat(call, times, inFlight);
  const wall = Number(process.hrtime.bigint() - since) / 1000;
  return { cpu: cpuSince(before) / times, wall: wall / times };
}

async function repeat(call, times, inFlight) {
  let left = times;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

/** The same times, from the call to the first chunk of a stream, one stream at a time. */
async function firstChunk({ times, model }) {
  await reconnect(1);
  let cpu = 0;
  let wall = 0;
  for (let at = 1 - Math.ceil(times / 2); at <= times; at += 1) {
    if (at === 1) cpu = wall = 0; // the warm-up is over
    let waits = true;
    const before = process.cpuUsage();
    const since = process.hrtime.bigint();
    await contestant.stream(model, () => {
      if (!waits) return;
      waits = false;
      cpu += cpuSince(before);
      wall += Number(process.hrtime.bigint() - since) / 1000;
    });
  }
  return { cpu: cpu / times, wall: wall / times };
}

async function takeProfile({ ms, file, ...task }) {
  await warm({ ...task, ms: ms / 2 });
  return profile(() => warm({ ...task, ms }), file);
}

function callOf({ method, model }) {
  if (method === 'plain') return () => contestant.plain(model);
  return async () => {
    let characters = 0;
    await contestant.stream(model, (content) => {
      characters += content?.length ?? 0;
    });
    if (characters === 0) throw new Error('a stream without content');
  };
}

/**
 * Reopens connections that were closed since the last turn. Does not force a garbage collection: V8 would also discard
 * the compiled code of functions without a live object, and a short turn would then measure their compilation.
 */
async function reconnect(inFlight) {
  await Promise.all(Array.from({ length: inFlight }, () => contestant.plain('json-1000')));
}

function cpuSince(before) {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
