/** A CPU profile of some work, with the functions that took most of the time by themselves. */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

/** Runs the work, writes a .cpuprofile for the developer tools, gives the 25 dearest functions: `{ name, place, share }`. */
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
  return dearest(taken).slice(0, 25);
}

/** Functions by self time, as shares of the time the process was not idle. */
function dearest({ nodes, samples, timeDeltas }) {
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

/** Starting and stopping the profiler takes a while, and is no work of the contestant's. */
function isProfiler(name, url) {
  return url === 'node:inspector' || (name === 'dispatch' && url === '');
}

/** From the package on; our own files from their folder on. */
function shorten(url) {
  return url.replace(/^.*\/node_modules\/|^file:.*\/(?=(dist|bench)\/)/, '');
}
