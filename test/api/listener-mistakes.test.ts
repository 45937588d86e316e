import { runInNewContext } from 'node:vm';
import { afterEach, expect, test } from 'vitest';
import { gatewayAt } from '../helpers/service.js';
import { watchProcess } from '../stream/measure.js';

watchProcess();

const Native = Promise;
afterEach(() => {
  globalThis.Promise = Native;
});

const call = async (onEvent: () => unknown) => {
  const fetch = async () => Response.json({ a: 1 });
  const answer = await gatewayAt({ fetch, onEvent: onEvent as () => void }).request({ method: 'GET', path: '/v1/x' });
  await new Native((resolve) => setTimeout(resolve, 0));
  return answer;
};

test.each<[name: string, onEvent: () => unknown]>([
  ['throws', () => runInNewContext('throw new Error("mine")')],
  ['is async and throws', () => Native.reject(new Error('mine'))],
  ['rejects with a promise of another realm', () => runInNewContext('Promise.reject(new Error("mine"))')],
  [
    'returns a thenable that throws',
    () => Object.defineProperty({}, 'then', { get: () => runInNewContext('throw 1') }),
  ],
  ['returns null', () => null],
])('a listener that %s fails neither the call nor the process', async (_, onEvent) => {
  expect(await call(onEvent)).toEqual({ a: 1 });
});

test('an async listener that throws does not end the process if the global Promise is replaced', async () => {
  globalThis.Promise = class Replaced<T> extends Native<T> {};
  const onEvent = async () => {
    throw new Error('mine');
  };

  expect(await call(onEvent)).toEqual({ a: 1 });
});
