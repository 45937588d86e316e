/** Starts the processes of a run, and measures the contestants alternately. */
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Starts the server in its own process. */
export async function startServer() {
  const child = start('server.js', []);
  const [{ port }] = await once(child, 'message');
  return { origin: `http://127.0.0.1:${port}`, stop: () => child.disconnect() };
}

/** One process per contestant, started on first use. */
export class Clients {
  #origin;
  #children = new Map();

  constructor(origin) {
    this.#origin = origin;
  }

  /** Runs one of the jobs of `client.js` for a contestant. */
  async tell(contestant, job, task) {
    const child = this.#child(contestant);
    child.send({ job, ...task });
    const [result] = await once(child, 'message'); // rejects if the child dies: #child emits an error
    return result;
  }

  #child(contestant) {
    let child = this.#children.get(contestant);
    if (child === undefined) {
      child = start('client.js', [contestant, this.#origin]);
      child.on('exit', (code) => code && child.emit('error', new Error(`${contestant} failed`)));
      this.#children.set(contestant, child);
    }
    return child;
  }

  stop() {
    for (const child of this.#children.values()) child.disconnect();
    this.#children.clear();
  }
}

function start(file, args) {
  return fork(fileURLToPath(new URL(file, import.meta.url)), args, { execArgv: ['--expose-gc'] });
}

/**
 * Measures entries (`{ contestant, method, model, inFlight, units }`) alternately. Each entry is warmed up first, which
 * also gives the number of calls that fill a turn of `turn` ms. In every round each entry has one turn; every other
 * round runs in reverse order. Turns are short and rounds are many, so that a disturbance of the machine affects all
 * entries alike. The first rounds are dropped and only update the number of calls. Returns the CPU and wall time of each entry in µs per unit, one value per round.
 */
export async function compare(clients, entries, { rounds, dropped, turn, warm }) {
  const runners = [];
  for (const { contestant, units = 1, ...task } of entries) {
    const job = task.method === 'first' ? 'firstChunk' : 'turn';
    const ms = await clients.tell(contestant, 'warm', { ...task, ms: warm });
    const timesOf = (msOfCall) => Math.max(task.inFlight, Math.round(turn / msOfCall));
    const run = (times) => clients.tell(contestant, job, { ...task, times });
    runners.push({ run, timesOf, times: timesOf(ms), units, cpu: [], wall: [] });
  }
  for (let round = -dropped; round < rounds; round += 1) {
    for (const runner of round % 2 === 0 ? runners : [...runners].reverse()) {
      const { cpu, wall } = await runner.run(runner.times);
      if (round < 0) {
        runner.times = runner.timesOf(wall / 1000); // the first entry was warmed up on a cold machine
        continue;
      }
      runner.cpu.push(cpu / runner.units);
      runner.wall.push(wall / runner.units);
    }
  }
  return runners.map(({ cpu, wall }) => ({ cpu, wall }));
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

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}
