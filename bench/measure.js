import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The server in a process of its own. */
export async function startServer() {
  const child = fork(fileURLToPath(new URL('server.js', import.meta.url)));
  const { port } = await new Promise((resolve) => child.once('message', resolve));
  return { origin: `http://127.0.0.1:${port}`, stop: () => child.disconnect() };
}

/** Runs `work` `times` times, `concurrency` at a time. */
async function repeat(work, times, concurrency) {
  let left = times;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

/** CPU time (user and system) and wall time of each contestant, in µs per unit, interleaved round by round; medians. */
export async function compare(contestants, { work, times, concurrency = 1, unitsPerTime = 1, rounds = 7 }) {
  const samples = new Map(contestants.map(({ name }) => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const contestant of contestants) {
      globalThis.gc?.();
      const before = process.cpuUsage();
      const since = process.hrtime.bigint();
      await repeat(() => work(contestant), times, concurrency);
      const { user, system } = process.cpuUsage(before);
      const wall = Number(process.hrtime.bigint() - since) / 1000;
      if (round >= 0)
        samples
          .get(contestant.name)
          .push({ cpu: (user + system) / (times * unitsPerTime), wall: wall / (times * unitsPerTime) });
    }
  }
  return contestants.map(({ name }) => ({
    name,
    cpu: median(samples.get(name).map(({ cpu }) => cpu)),
    wall: median(samples.get(name).map(({ wall }) => wall)),
  }));
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
