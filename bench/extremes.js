/** What a mean does not show: memory, what is left open, and the first moment. */
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { EVENT_BYTES } from './answers.js';
import { Clients } from './measure.js';

const PAUSES = 8;

/** A long stream whose reader takes its time: the largest heap (MB), and the MB taken from the server beyond what was read. */
export async function slowReader(server, contestants, megabytes, rounds) {
  const events = Math.round((megabytes * 2 ** 20) / EVENT_BYTES);
  const figures = Object.fromEntries(contestants.map((contestant) => [contestant, { heap: [], ahead: [] }]));
  for (let round = 0; round < rounds; round += 1) {
    for (const contestant of contestants) {
      const clients = new Clients(server.origin);
      const { accepted: before } = await server.state();
      const ahead = [];
      const task = { model: `stream-${events}-200`, events, every: 2_000, pauses: PAUSES };
      const heap = await clients.tell(contestant, 'readSlowly', task, async (seen) => {
        await sleep(100); // whatever is going to be taken is taken by then
        const { accepted } = await server.state();
        ahead.push((accepted - before - seen * EVENT_BYTES) / 2 ** 20);
      });
      clients.stop();
      figures[contestant].heap.push(heap);
      figures[contestant].ahead.push(Math.max(...ahead));
    }
  }
  return figures;
}

/** Streams that are left at their first chunk: connections the server has, and what keeps the client's process busy, 6 s later. */
export async function leftEarly(server, contestants, streams) {
  const figures = {};
  await sleep(500);
  for (const contestant of contestants) {
    const clients = new Clients(server.origin);
    const resources = await clients.tell(contestant, 'leave', { model: 'endless', streams });
    const { connections } = await server.state();
    figures[contestant] = { connections, resources };
    clients.stop();
    await sleep(500); // until the server has noticed
  }
  return figures;
}

/** ms from the start of a process until a package is imported, and until it has its first answer; both over an empty process. */
export function coldStart(server, contestants, rounds) {
  const script = fileURLToPath(new URL('cold.js', import.meta.url));
  const start = (...args) => JSON.parse(spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' }).stdout);
  const figures = Object.fromEntries(contestants.map((contestant) => [contestant, { imported: [], answered: [] }]));
  for (let round = -1; round < rounds; round += 1) {
    const empty = start().imported;
    for (const contestant of contestants) {
      const { imported, answered } = start(contestant, server.origin);
      if (round < 0) continue; // files are read from the disk once
      figures[contestant].imported.push(imported - empty);
      figures[contestant].answered.push(answered - empty);
    }
  }
  return figures;
}
