import { expect, test } from 'vitest';
import { giveTime } from '../helpers/give-time.js';
import { failureOf, serve } from './world.js';

const world = serve();

test.each([{ signal: AbortSignal.abort() }, { deadline: 5 }])(
  'a key function that rejects after its call has ended causes no unhandled rejection (%j)',
  async (options) => {
    const unhandled: unknown[] = [];
    const listener = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', listener);
    const client = world.gateway({ apiKey: () => Promise.reject(new Error('no key')) });

    const error = await failureOf(client.usage.retrieve({}, options));
    await giveTime(20);
    process.off('unhandledRejection', listener);

    expect(['AbortError', 'APITimeoutError']).toContain(error.name);
    expect(unhandled).toEqual([]);
  },
);
