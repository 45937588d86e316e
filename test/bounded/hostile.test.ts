import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { atLength } from '../helpers/endurance.js';
import { builtFile } from '../helpers/programs.js';

/** Milliseconds after which a call counts as endless: minutes, because a busy machine must not fail this. */
const ENDLESS = 120_000;
const SEED = Number(process.env.PROPERTY_SEED ?? 20_261_128);

test('no hostile text stops a process, whatever it meets', async () => {
  // Its event loop may be blocked for ever: only another thread sees that.
  const worker = new Worker(builtFile('hostile-worker'), {
    workerData: { seed: SEED, runs: atLength(3, 400), step: atLength(5, 1) },
  });
  let last: { name?: string; texts?: string[]; isDone?: boolean } = {};
  const ended = new Promise<string>((resolve) => {
    let clock = setTimeout(() => {}, 0);
    const watch = (): void => {
      clearTimeout(clock);
      clock = setTimeout(() => resolve('it never ends'), ENDLESS);
    };
    watch();
    worker.on('message', (message) => {
      last = message;
      watch();
    });
    worker.on('error', (error: Error) => resolve(`${error.message}: ${error.cause ?? error.stack}`));
    worker.on('exit', () => {
      clearTimeout(clock);
      resolve('');
    });
  });
  const problem = await ended;
  await worker.terminate();

  expect({ problem, last }).toEqual({ problem: '', last: { isDone: true } });
}, 3_600_000); // as long as its calls go on
