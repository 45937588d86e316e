import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bytesOf, eventOf, headOf } from '../wire/behaviours.js';
import type { Turn } from '../wire/fault-server.js';
import { failureOf, PROMPT, until } from '../wire/world.js';
import { bodyOf, chunk, EVENTS } from './backend.js';
import { serveBehindProxies, ways } from './world.js';

const world = serveBehindProxies();
const question = (id: string) => ({ model: 'm', messages: [{ role: 'user' as const, content: `${PROMPT} ${id}` }] });
/** undici asks for no compression by itself. */
const COMPRESSED = { headers: { 'accept-encoding': 'gzip' } };

describe.concurrent.each(ways)('$proxy, $engine', ({ proxy, options, missing }) => {
  const within = { timeout: 60_000, skip: missing };

  test.each(['plain', 'adding'] as const)(
    'a stream comes event by event, not when it is complete: %s',
    within,
    async (kind) => {
      const { gateway } = world.clients(proxy, kind, options);
      const read: string[] = [];
      const { id } = world.backend.operation({
        works: true,
        // The next event is sent when the last one was read: a proxy that keeps any back ends this for good.
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
    },
  );

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

  test('a stream that is aborted is closed as far as the service', within, async () => {
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

  test('an answer that the proxy compresses is read', within, async () => {
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

  test('of several Retry-After headers the longest counts', within, async () => {
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

  test('a rate limit that is sent twice is not guessed at, and does no harm', within, async () => {
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

  test('a stream that ends with its connection is complete by its [DONE], and cut short without', within, async () => {
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
