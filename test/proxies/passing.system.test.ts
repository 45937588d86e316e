import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { isTried } from '../helpers/endurance.js';
import { bytesOf, eventOf, headOf } from '../wire/behaviours.js';
import type { Turn } from '../wire/fault-server.js';
import { failureOf, PROMPT, until } from '../wire/world.js';
import { bodyOf, chunk, EVENTS } from './backend.js';
import { serveBehindProxies, ways } from './world.js';

const world = serveBehindProxies();
const question = (id: string) => ({ model: 'm', messages: [{ role: 'user' as const, content: `${PROMPT} ${id}` }] });
/** undici does not request compression by default. */
const COMPRESSED = { headers: { 'accept-encoding': 'gzip' } };

describe.concurrent.each(ways.filter(isTried))('$proxy, $engine', ({ proxy, options, missing }) => {
  const within = { timeout: 60_000, skip: missing };

  test.each(['plain', 'adding'] as const)('a stream is delivered event by event (%s)', within, async (kind) => {
    const { gateway } = world.clients(proxy, kind, options);
    const read: string[] = [];
    const { id } = world.backend.operation({
      works: true,
      // Sends each event only after the last one was read. A proxy that buffers would block this forever.
      act: async ({ socket }) => {
        socket.write(EVENTS);
        for (let at = 1; at <= 5; at += 1) {
          socket.write(chunk(eventOf(`${at}`, at === 5 ? 'stop' : null)));
          await until(() => read.length === at);
        }
        socket.write(chunk('data: [DONE]\n\n') + chunk(''));
      },
    });

    const stream = await gateway.chat.completions.create({ ...question(id), stream: true }, COMPRESSED);
    for await (const { choices } of stream) read.push(choices[0]?.delta.content ?? '');

    expect(read).toEqual(['1', '2', '3', '4', '5']);
  });

  test('a slow reader gets every event', within, async () => {
    const { gateway } = world.clients(proxy, 'plain', options);
    const count = 2_000;
    const { id } = world.backend.operation({
      works: true,
      act: async ({ socket }) => {
        socket.write(EVENTS);
        for (let at = 0; at < count; at += 1) {
          if (!socket.write(chunk(eventOf(`${at} ${' '.repeat(4_000)}`)))) await once(socket, 'drain');
        }
        socket.write(chunk(eventOf('', 'stop')) + chunk('data: [DONE]\n\n') + chunk(''));
      },
    });

    const stream = await gateway.chat.completions.create({ ...question(id), stream: true });
    let read = 0;
    for await (const { choices } of stream) {
      if (read === 1) await sleep(300);
      if (choices[0]?.finish_reason === null) expect(choices[0].delta.content).toMatch(new RegExp(`^${read++} `));
    }

    expect(read).toBe(count);
  });

  test('an aborted stream is closed all the way to the service', within, async () => {
    const { gateway } = world.clients(proxy, 'plain', options);
    const sockets: Turn['socket'][] = [];
    const { id, account } = world.backend.operation({
      works: true,
      act: async ({ socket }) => {
        sockets.push(socket);
        socket.write(EVENTS);
        for (; !socket.destroyed; await sleep(20)) socket.write(chunk(eventOf('again ')));
      },
    });
    const ended = new AbortController();

    const stream = await gateway.chat.completions.create({ ...question(id), stream: true }, { signal: ended.signal });
    const reading = (async () => {
      for await (const _ of stream) ended.abort();
    })();

    expect((await failureOf(reading)).name).toBe('AbortError');
    await until(() => sockets[0]?.destroyed === true);
    expect(account).toMatchObject({ effects: 1, arrivals: [expect.any(String)] });
  });

  test('a response that the proxy compresses is decoded', within, async () => {
    const { gateway } = world.clients(proxy, 'adding', options);
    const content = 'Hello! '.repeat(5_000);
    const { id } = world.backend.operation({
      works: true,
      act: (turn) => void turn.socket.write(bytesOf(200, bodyOf(turn).replace('Hello!', content))),
    });

    const { data, response } = await gateway.chat.completions.create(question(id), COMPRESSED).withResponse();

    expect(data.choices[0]?.message.content).toBe(content);
    expect(response.headers.get('content-encoding')).toBe('gzip');
  });

  test('the longest of several Retry-After headers wins', within, async () => {
    const { gateway } = world.clients(proxy, 'adding', { ...options, maxRetries: 0 });
    const head = headOf(429, {
      'content-type': 'application/json',
      'content-length': 2,
      'retry-after': '1\r\nretry-after: 3',
    });
    const { id } = world.backend.operation({ works: false, act: ({ socket }) => void socket.write(`${head}{}`) });

    const error = await failureOf(gateway.chat.completions.create(question(id)));

    expect(error).toMatchObject({ name: 'RateLimitError', retryAfter: 3_000 });
  });

  test('a duplicate rate limit header is kept in raw, and the call succeeds', within, async () => {
    const { gateway } = world.clients(proxy, 'adding', options);
    const twice = { 'x-ratelimit-limit': '1000\r\nx-ratelimit-limit: 1000', 'x-ratelimit-remaining': 7 };
    const { id } = world.backend.operation({
      works: true,
      act: ({ socket }) => void socket.write(bytesOf(200, '{"id":"r1"}', twice)),
    });

    const { data, response } = await gateway.integrations
      .execute('chat', { action: 'post_message', text: id })
      .withResponse();

    expect(data).toEqual({ id: 'r1' });
    expect(response.rateLimit).toMatchObject({
      remaining: 7,
      raw: { limit: expect.stringMatching(/^1000(, 1000)+$/) },
    });
  });

  test('a stream delimited by its connection is complete with [DONE], and truncated without', within, async () => {
    const { gateway } = world.clients(proxy, 'plain', options);
    const head = headOf(200, { 'content-type': 'text/event-stream', connection: 'close' });
    const heads: string[] = [];
    const ending = (end: string) =>
      world.backend.operation({
        works: true,
        act: (turn) => {
          heads.push(turn.head.slice(0, turn.head.indexOf('\r\n')));
          turn.socket.end(head + eventOf('Hello') + end);
        },
      });
    const read = async ({ id }: { id: string }) =>
      (await gateway.chat.completions.create({ ...question(id), stream: true })).finalCompletion();

    const whole = await read(ending(`${eventOf('!', 'stop')}data: [DONE]\n\n`));
    const error = await failureOf(read(ending('')));

    expect(whole.choices[0]?.message.content).toBe('Hello!');
    expect(error).toMatchObject({ name: 'StreamTruncatedError' });
    expect(error.partial?.choices[0]?.message.content).toBe('Hello');
    expect(heads).toEqual(Array(2).fill(`POST /v1/chat/completions HTTP/1.${proxy === 'nginx' ? 0 : 1}`));
  });
});
