import { getEventListeners } from 'node:events';
import { GatewayClient } from 'context-gateway';
import { describe, expect, test, vi } from 'vitest';
import { atLength } from '../helpers/endurance.js';
import { engines } from '../helpers/engines.js';
import { failureOf } from './bench.js';
import { Firehose } from './firehose.js';
import { MEGABYTE, megabytes, memory, PARAMS, watchProcess } from './measure.js';
import { text } from './script.js';

watchProcess();
// The large counts take long on a busy machine.
vi.setConfig({ testTimeout: 600_000 });

describe.each(engines)('$engine', ({ engine, options }) => {
  const count = engine === 'undici' ? atLength(150, 10_000) : atLength(100, 1_000);

  test(`${count} streams aborted after their first event leave no memory, timer or listener`, async () => {
    const firehose = new Firehose(text('The '), 1);
    const client = new GatewayClient({ baseURL: await firehose.start(), apiKey: 'svc_sk_test', ...options });
    const round = async (streams: number): Promise<void> => {
      let left = streams;
      const worker = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          await readOneAndAbort(client);
        }
      };
      await Promise.all(Array.from({ length: 64 }, worker));
      await until(() => firehose.used.size === 0);
    };
    await round(count / 10);
    const timersBefore = timers();
    const before = memory();

    await round(count);

    const growth = memory() - before;
    console.info(
      `${engine}: ${firehose.requests} streams, heap +${megabytes(growth)}, timers ${timersBefore} to ${timers()}`,
    );
    expect(growth).toBeLessThan(10 * MEGABYTE);
    await until(() => timers() <= timersBefore);
    await client.close();
    await firehose.close();
  });

  test('many streams leave no listener on a shared signal', async () => {
    const firehose = new Firehose(text('The '), 1);
    const client = new GatewayClient({ baseURL: await firehose.start(), apiKey: 'svc_sk_test', ...options });
    const { signal } = new AbortController();
    const readOne = async (): Promise<void> => {
      for await (const _ of await client.chat.completions.create(PARAMS, { signal })) break;
    };

    for (let count = 0; count < atLength(100, 1_000); count += 50)
      await Promise.all(Array.from({ length: 50 }, readOne));

    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await until(() => firehose.used.size === 0);
    await client.close();
    await firehose.close();
  });
});

async function readOneAndAbort(client: GatewayClient): Promise<void> {
  const abort = new AbortController();
  const stream = await client.chat.completions.create(PARAMS, { signal: abort.signal });
  const iterator = stream[Symbol.asyncIterator]();
  await iterator.next();
  const waiting = failureOf(iterator.next());
  abort.abort();
  expect(await waiting).toMatchObject({ name: 'AbortError' });
  expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
}

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
