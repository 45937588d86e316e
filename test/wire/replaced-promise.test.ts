import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { chatParams } from '../helpers/samples.js';
import { answer, json } from './behaviours.js';
import { GET, serve } from './world.js';

const Native = Promise;
beforeEach(() => {
  // As zone.js and promise libraries do. Async functions still return native promises.
  globalThis.Promise = class Replaced<T> extends Native<T> {};
});
afterEach(() => {
  globalThis.Promise = Native;
});

const EVENTS = 'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

const world = serve();

test('calls and streams, even compressed ones, work if the global Promise is replaced', async () => {
  const gzip = { 'content-encoding': 'gzip' };
  const stream = { 'content-type': 'text/event-stream', ...gzip };
  world.server.answers(json({ a: 1 }), answer(200, gzipSync('{"b":2}'), gzip), answer(200, gzipSync(EVENTS), stream));
  const gateway = world.gateway({ maxRetries: 0 });

  expect(await gateway.request(GET)).toEqual({ a: 1 });
  expect(await gateway.request(GET)).toEqual({ b: 2 });
  const whole = await (await gateway.chat.completions.create({ ...chatParams, stream: true })).finalCompletion();
  expect(whole.choices[0]?.message.content).toBe('a');
});
