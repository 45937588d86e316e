import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { apiPromise } from '../../src/base/api-promise.js';
import type { ResponseInfo } from '../../src/base/response-info.js';
import { settled } from '../helpers/manual-runtime.js';

const response: ResponseInfo = {
  status: 200,
  headers: new Headers(),
  requestId: 'r',
  rateLimit: undefined,
  attempts: [],
  toResponse: () => new Response('5'),
};
const bad = (reason: unknown) => apiPromise<number>(Promise.reject(reason));

describe('APIPromise', () => {
  test('is a native promise, with nothing else than withResponse and asResponse', () => {
    const call = apiPromise(Promise.resolve({ data: 5, response }));

    expect(call).toBeInstanceOf(Promise);
    expect(Object.getPrototypeOf(call)).toBe(Promise.prototype);
    // Not symbols: while an AsyncLocalStorage is in use, Node 20 adds its own to every promise.
    expect(Object.getOwnPropertyNames(call)).toEqual(['withResponse', 'asResponse']);
    expect(Symbol.asyncIterator in call).toBe(false); // libraries take what has one for a stream
  });

  test('rejects with the original reason', async () => {
    const reason = new Error('no');

    await expect(bad(reason)).rejects.toBe(reason);
    await expect(bad(reason).withResponse()).rejects.toBe(reason);
  });

  test('causes no unhandled rejection, whichever way its rejection is handled', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    onTestFinished(() => void process.off('unhandledRejection', unhandled));

    await bad('a').catch(() => {});
    await Promise.allSettled([bad('b').withResponse(), bad('c'), bad('d').finally(() => {})]);
    const both = bad('e');
    await Promise.allSettled([both, both.withResponse()]);
    await settled();

    expect(unhandled).not.toHaveBeenCalled();
  });
});
