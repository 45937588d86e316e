/** A CPU profile, with the functions that have the most self time. */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

/** Runs `work`, writes a .cpuprofile, and returns the 25 most expensive functions as `{ name, place, share }`. */
export async function profile(work, file) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 200 });
  await session.post('Profiler.start');
  await work();
  const { profile: taken } = await session.post('Profiler.stop');
  session.disconnect();
  writeFileSync(file, JSON.stringify(taken));
  return mostExpensive(taken).slice(0, 25);
}

/** Functions by self time, as a share of the time the process was not idle. */
function mostExpensive({ nodes, samples, timeDeltas }) {
  const nodeOf = new Map(nodes.map((node) => [node.id, node]));
  const functions = new Map();
  let busy = 0;
  samples.forEach((id, at) => {
    const { functionName, url, lineNumber } = nodeOf.get(id).callFrame;
    if (functionName === '(idle)' || isProfiler(functionName, url)) return;
    busy += timeDeltas[at];
    const name = functionName || '(anonymous)';
    const place = url === '' ? '' : `${shorten(url)}:${lineNumber + 1}`;
    const one = functions.get(`${name} ${place}`) ?? { name, place, share: 0 };
    one.share += timeDeltas[at];
    functions.set(`${name} ${place}`, one);
  });
  const all = [...functions.values()].sort((a, b) => b.share - a.share);
  return all.map((one) => ({ ...one, share: one.share / busy }));
}

/** Starting and stopping the profiler takes time that does not belong to the contestant. */
function isProfiler(name, url) {
  return url === 'node:inspector' || (name === 'dispatch' && url === '');
}

/** The URL from the package name on; for our own files, from `dist` or `bench` on. */
function shorten(url) {
  return url.replace(/^.*\/node_modules\/|^file:.*\/(?=(dist|bench)\/)/, '');
}
