/** What averages do not show: memory, leaked resources and cold starts. */
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { EVENT_BYTES } from './answers.js';
import { Clients } from './measure.js';

const PAUSES = 8;

/** A long stream with a slow reader: the largest heap in MB, and the MB that were buffered ahead of the reader. */
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
        await sleep(100); // until the client's buffers are full
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

/** Streams left at their first chunk: the connections of the server and the timers of the client, 6 s later. */
export async function leftEarly(server, contestants, streams) {
  const figures = {};
  await sleep(500);
  for (const contestant of contestants) {
    const clients = new Clients(server.origin);
    const resources = await clients.tell(contestant, 'leave', { model: 'endless', streams });
    const { connections } = await server.state();
    figures[contestant] = { connections, resources };
    clients.stop();
    await sleep(500); // until the server has closed the connections
  }
  return figures;
}

/** ms from process start to the end of the import and to the first response, minus those of an empty process. */
export function coldStart(server, contestants, rounds) {
  const script = fileURLToPath(new URL('cold.js', import.meta.url));
  const start = (...args) => JSON.parse(spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' }).stdout);
  const figures = Object.fromEntries(contestants.map((contestant) => [contestant, { imported: [], answered: [] }]));
  for (let round = -1; round < rounds; round += 1) {
    const empty = start().imported;
    for (const contestant of contestants) {
      const { imported, answered } = start(contestant, server.origin);
      if (round < 0) continue; // the first round reads the files from disk
      figures[contestant].imported.push(imported - empty);
      figures[contestant].answered.push(answered - empty);
    }
  }
  return figures;
}
