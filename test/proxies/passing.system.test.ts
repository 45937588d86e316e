import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { isTried } from '../helpers/endurance.js';
import { bytesOf, eventOf } from '../wire/behaviours.js';
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

  test.each(['plain', 'compressing'] as const)('a stream is delivered event by event (%s)', within, async (kind) => {
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
    const { gateway } = world.clients(proxy, 'compressing', options);
    const content = 'Hello! '.repeat(5_000);
    const { id } = world.backend.operation({
      works: true,
      act: (turn) => void turn.socket.write(bytesOf(200, bodyOf(turn).replace('Hello!', content))),
    });

    const { data, response } = await gateway.chat.completions.create(question(id), COMPRESSED).withResponse();

    expect(data.choices[0]?.message.content).toBe(content);
    expect(response.headers.get('content-encoding')).toBe('gzip');
  });
});
