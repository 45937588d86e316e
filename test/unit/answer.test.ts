import { describe, expect, test } from 'vitest';
import { apiPromise } from '../../src/base/api-promise.js';
import type { ResponseInfo, WithResponse } from '../../src/base/response-info.js';
import { settled } from '../helpers/manual-runtime.js';

const response: ResponseInfo = {
  status: 200,
  headers: new Headers(),
  requestId: 'r',
  rateLimit: undefined,
  attempts: [],
};
const good = () => apiPromise(Promise.resolve({ data: 5, response }));
const bad = (reason: unknown) => apiPromise<number>(Promise.reject(reason));

describe('APIPromise', () => {
  test('resolves to its data any number of times', async () => {
    const call = good();

    expect([await call, await call, (await call.withResponse()).data]).toEqual([5, 5, 5]);
  });

  test('works with everything that accepts a promise', async () => {
    expect(await Promise.all([good(), good()])).toEqual([5, 5]);
    expect(await Promise.race([good()])).toBe(5);
    expect(await Promise.resolve(good())).toBe(5);
    expect(await (async () => good())()).toBe(5);
    expect(await good().then((data) => data + 1)).toBe(6);
    expect(await good().then()).toBe(5);
    expect(await good().finally(() => 'ignored')).toBe(5);
  });

  test('is a native promise, with nothing else than withResponse', async () => {
    const call = good();

    expect(call).toBeInstanceOf(Promise);
    expect(Object.getPrototypeOf(call)).toBe(Promise.prototype);
    // Not symbols: while an AsyncLocalStorage is in use, Node 20 adds its own to every promise.
    expect(Object.getOwnPropertyNames(call)).toEqual(['withResponse']);
    expect(Symbol.asyncIterator in call).toBe(false); // libraries take what has one for a stream
    expect(Object.getOwnPropertyNames(call.then())).toEqual([]);
  });

  test('rejects with the original reason', async () => {
    const reason = new Error('no');

    await expect(bad(reason)).rejects.toBe(reason);
    await expect(bad(reason).withResponse()).rejects.toBe(reason);
    expect(await bad(reason).catch((error) => error)).toBe(reason);
    expect(await bad(reason).then(null, () => 'handled')).toBe('handled');
    await expect(bad(reason).finally(() => {})).rejects.toBe(reason);
  });

  test('causes no unhandled rejection, whichever way its rejection is handled', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);

    await bad('a').catch(() => {});
    await bad('b')
      .withResponse()
      .catch(() => {});
    await bad('c').then(undefined, () => {});
    await Promise.allSettled([bad('d'), bad('e').finally(() => {})]);
    const both = bad('f');
    await Promise.allSettled([both, both.withResponse()]);
    await settled();
    process.off('unhandledRejection', note);

    expect(unhandled).toEqual([]);
  });

  test('does not run its promise again', async () => {
    let runs = 0;
    const answer = new Promise<WithResponse<number>>((resolve) => {
      runs += 1;
      resolve({ data: runs, response });
    });
    const call = apiPromise(answer);

    expect([await call, await call.withResponse(), await call.then((data) => data)]).toEqual([
      1,
      { data: 1, response },
      1,
    ]);
  });
});
