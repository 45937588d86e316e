import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { atLength } from '../helpers/endurance.js';
import { engines } from '../helpers/engines.js';
import { eventOf, openStream } from './behaviours.js';
import { failureOf, STREAM, serve, until, watched } from './world.js';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

describe.each(engines)('$engine', ({ engine, options }) => {
  const world = serve();

  // Global fetch is much slower, and a tenth of the streams shows the same.
  const count = engine === 'undici' ? atLength(80, 10_000) : atLength(40, 1_000);

  test(`${count} aborted streams leave no connection, no timer, no listener and no memory`, async () => {
    world.server.answers(openStream(eventOf('a')));
    const runtime = watched();
    const client = world.gateway(options, runtime);
    const shared = new AbortController();
    let left = count;

    const worker = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const own = new AbortController();
        const signal = left % 2 === 0 ? own.signal : shared.signal;
        const stream = await client.chat.completions.create(STREAM, { signal });
        const chunks = stream[Symbol.asyncIterator]();
        await chunks.next();
        if (signal === shared.signal) {
          stream.close();
          continue;
        }
        own.abort();
        await failureOf(chunks.next());
        expect(getEventListeners(own.signal, 'abort')).toEqual([]);
      }
    };
    const batch = () => Promise.all(Array.from({ length: 32 }, worker));
    left = count / 5;
    await batch();
    world.server.turns.length = 0;
    collect();
    const heap = process.memoryUsage().heapUsed;
    left = count - count / 5;
    await batch();

    await until(() => world.server.used === 0, 10_000);
    world.server.turns.length = 0;
    expect(runtime.timers.size).toBe(0);
    expect(getEventListeners(shared.signal, 'abort')).toEqual([]);
    collect();
    expect(process.memoryUsage().heapUsed - heap).toBeLessThan(10 * 1024 * 1024);
  }, 240_000);
});
