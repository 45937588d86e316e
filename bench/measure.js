/** The processes of a run, and contestants measured in turn. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The server in a process of its own. `state` gives its open connections and the bytes that were taken from it. */
export async function startServer() {
  const child = start('server.js', []);
  const [{ port }] = await once(child, 'message');
  const state = async () => {
    child.send({});
    const [state] = await once(child, 'message');
    return state;
  };
  return { origin: `http://127.0.0.1:${port}`, state, stop: () => child.disconnect() };
}

/** Processes of contestants, each started when it is asked for first. */
export class Clients {
  #origin;
  #children = new Map();

  constructor(origin) {
    this.#origin = origin;
  }

  /** Has a contestant do one of the jobs of `client.js`. `onPause` is awaited when the job pauses. */
  async tell(contestant, job, task, onPause) {
    const child = this.#child(contestant);
    child.send({ job, ...task });
    for (;;) {
      const [message] = await once(child, 'message'); // a child that dies emits an error, see below
      if (message.job === job) return message.result;
      await onPause(message.result);
      child.send({});
    }
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
 * Measures entries (`{ contestant, method, model, inFlight, units }`) in turn. First each works until it is warm, which also
 * tells how many calls make a turn of `turn` ms. Then come the rounds, in which each has one turn, every other round in reverse:
 * many short ones, so that what disturbs the machine disturbs all alike. The first are dropped, and
 * tell the calls of a turn anew. `longer` turns are for work that
 * waits a lot. Gives for each entry its CPU and wall time in µs a unit, one of each round.
 */
export async function compare(clients, entries, { rounds, dropped, turn, warm }) {
  const runners = [];
  for (const { contestant, units = 1, longer = 1, ...task } of entries) {
    const job = task.method === 'first' ? 'firstChunk' : 'turn';
    const ms = await clients.tell(contestant, 'warm', { ...task, ms: warm });
    const timesOf = (msOfCall) => Math.max(task.inFlight, Math.round((turn * longer) / msOfCall));
    const run = (times) => clients.tell(contestant, job, { ...task, times });
    runners.push({ run, timesOf, times: timesOf(ms), units, cpu: [], wall: [] });
  }
  for (let round = -dropped; round < rounds; round += 1) {
    for (const runner of round % 2 === 0 ? runners : [...runners].reverse()) {
      const { cpu, wall } = await runner.run(runner.times);
      if (round < 0) {
        runner.times = runner.timesOf(wall / 1000); // whoever was warmed first was measured cold
        continue;
      }
      runner.cpu.push(cpu / runner.units);
      runner.wall.push(wall / runner.units);
    }
  }
  return runners.map(({ cpu, wall }) => ({ cpu, wall }));
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

/** Half the distance between the quarters: how far apart the rounds are, whatever the wildest did. */
export function spread(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
  return (at(0.75) - at(0.25)) / 2;
}
