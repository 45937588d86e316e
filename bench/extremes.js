import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from './measure.js';

/** A long stream whose reader takes its time: the most memory it takes. */
export async function slowReader(contestants, megabytes) {
  const events = Math.round((megabytes * 1024 * 1024) / 300);
  for (const contestant of contestants) {
    globalThis.gc?.();
    const before = process.memoryUsage();
    let peak = 0;
    let seen = 0;
    const since = performance.now();
    await contestant.stream(`stream-${events}-200`, () => {
      seen += 1;
      if (seen % 2000 !== 0) return;
      peak = Math.max(peak, process.memoryUsage().heapUsed - before.heapUsed);
      const until = performance.now() + 2; // busy for 2 ms, as a reader that does something with it
      while (performance.now() < until);
    });
    console.log(
      `- ${contestant.name}: ${megabytes} MB stream, slow reader: heap grew by at most ${(peak / 1048576).toFixed(0)} MB, ${((performance.now() - since) / 1000).toFixed(1)} s`,
    );
  }
}

/** Streams that are left after their first chunk: what stays open. */
export async function leftEarly(origin, contestants, streams) {
  const open = async () => (await (await fetch(`${origin}/count`)).json()).count;
  for (const contestant of contestants) {
    const before = await open();
    const left = new Error('left');
    await Promise.all(
      Array.from({ length: streams }, () =>
        contestant
          .stream('endless-100000-10', () => {
            throw left;
          })
          .catch(() => {}),
      ),
    );
    await sleep(6_000);
    const after = Math.max(0, (await open()) - before);
    console.log(
      `- ${contestant.name}: ${streams} streams left after the first chunk; 6 s later ${after} of their connections are open`,
    );
  }
}

/** Time to import each package in a new process, over an empty one. */
export function coldImport(packages, rounds) {
  const run = (code) => {
    const script = `const t = process.hrtime.bigint(); ${code}; console.log(Number(process.hrtime.bigint() - t) / 1e6)`;
    return Number(
      spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', cwd: import.meta.dirname })
        .stdout,
    );
  };
  const samples = new Map(packages.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of packages) samples.get(name).push(run(`await import('${name}')`));
  }
  const figures = packages.map((name) => `${name} ${median(samples.get(name)).toFixed(0)} ms`);
  console.log(`- cold import: ${figures.join(', ')}`);
}
