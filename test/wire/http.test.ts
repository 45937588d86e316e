import { describe, expect, test } from 'vitest';
import { engines } from '../helpers/engines.js';
import { settled } from '../helpers/manual-runtime.js';
import { answer, bytesOf, drip, finAtEnd, headOf, json, raw, rawThenEnd, rawThenReset } from './behaviours.js';
import { atEnd, type Behaviour, FaultServer } from './fault-server.js';
import { failureOf, GET, KEY, POST, serve, until, watched } from './world.js';

const OK = bytesOf(200, '{"a":1}');

describe.each(engines)('$engine', ({ engine, options }) => {
  const world = serve();
  const once = { ...options, maxRetries: 0 };

  test.each([301, 302, 303, 307, 308])('a redirect with %i is an error, and is not followed', async (status) => {
    const trap = await FaultServer.start();
    trap.answers(json({ trapped: true }));
    const locations = [`${trap.url}/v1/things?key=1`, '/v1/elsewhere', 'file:///etc/passwd', 'http://:bad', undefined];
    for (const location of locations) {
      world.server.answers(answer(status, '', { location }));
      const error = await failureOf(world.gateway(options).request(POST));
      expect(error).toMatchObject({ name: 'APIError', status });
      expect(error.message).not.toMatch(/key=1|\/etc\/passwd|elsewhere/);
    }

    expect(world.server.requests).toBe(5);
    expect(trap.connections).toBe(0);
    await trap.close();
  });

  test('an upload is not redirected either, and its credential stays on the host', async () => {
    const trap = await FaultServer.start();
    trap.answers(json({ trapped: true }));
    world.server.answers(answer(307, '', { location: `${trap.url}/v1/files` }));
    async function* file() {
      yield new TextEncoder().encode('hello');
    }

    const error = await failureOf(world.gateway(options).files.upload({ file: file(), purpose: 'test' }));

    // fetch does not say that a rejected response was a redirect.
    expect(error.name).toBe(engine === 'fetch' ? 'APIConnectionError' : 'APIError');
    expect(trap.connections).toBe(0);
    await trap.close();
  });

  test.each([
    ['an unrequested upgrade', raw('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')],
    ['endless 103 responses', storm('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n')],
    ['a status of 099', raw('HTTP/1.1 099 Low\r\ncontent-length: 0\r\n\r\n')],
    ['headers sent byte by byte', drip('HTTP/1.1 200 OK\r\nx-long: '.padEnd(2_000, 'a'), 15)],
    ['two content-lengths', raw(headOf(200, { 'content-length': '2\r\ncontent-length: 3' }), '{}')],
    [
      'a content-length and chunks',
      raw(headOf(200, { 'content-length': 5, 'transfer-encoding': 'chunked' }), '2\r\n{}\r\n0\r\n\r\n'),
    ],
    ['a header of 200 kB', raw(headOf(200, { 'x-long': 'a'.repeat(200_000), 'content-length': 2 }), '{}')],
    ['HTTP/0.9', rawThenEnd('{"a":1}')],
  ])('%s: a connection error or a timeout, and the connection is closed', async (_, behaviour) => {
    world.server.answers(behaviour);

    const error = await failureOf(world.gateway(once).request(POST, { deadline: 700 }));

    expect(['APIConnectionError', 'APITimeoutError']).toContain(error.name);
    expect(error).not.toMatchObject({ sent: 'no' });
    expect(world.server.requests).toBe(1);
    await until(() => world.server.used === 0);
  });

  test('a status of 600 is invalid', async () => {
    world.server.answers(answer(600));

    const error = await failureOf(world.gateway(once).request(POST));

    expect(error).toMatchObject({ name: 'APIConnectionError', retryable: expect.any(Boolean) });
  });

  test('long headers, Latin-1 ones and those named after properties of Object.prototype are read', async () => {
    const named = Object.fromEntries(['constructor', '__proto__', 'valueOf'].map((name) => [name, 'a']));
    const given = { ...named, 'x-long': 'a'.repeat(12_000), 'x-latin': 'caf\u00e9', 'x-request-id': 'r\u00e9' };
    const head = headOf(200, { ...given, 'content-length': 2 });
    const utf8 = Buffer.from('x-utf8: €\r\n');
    const [status, ...rest] = head.split(/(?<=\r\n)/).map((line) => Buffer.from(line, 'latin1'));
    world.server.answers(raw(Buffer.concat([status as Buffer, utf8, ...rest]), '{}'));

    const { response } = await world.gateway(once).request(GET).withResponse();

    expect(response.requestId).toBe('r\u00e9');
    for (const [name, value] of Object.entries({ ...given, 'x-utf8': '\u00e2\u0082\u00ac' }))
      expect(response.headers.get(name)).toBe(value);
  });

  test.each([
    { what: 'bytes beyond the content-length', surplus: '{"b":2}' },
    { what: 'an unrequested second response', surplus: bytesOf(200, '{"poisoned":true}') },
  ])('$what: no part of this or the next response, and the connection is not reused', async ({ surplus }) => {
    world.server.answers(raw(OK, surplus), json({ c: 3 }));
    const client = world.gateway(options);

    expect(await client.request(GET)).toEqual({ a: 1 });
    await until(() => world.server.used === 0);
    expect(await client.request(GET)).toEqual({ c: 3 });
    expect(world.server.turns.map(({ onConnection }) => onConnection)).toEqual([1, 1]);
  });

  test('a GET on a kept connection that closes on reuse is retried at once', async () => {
    world.server.answers(json({ a: 1 }), finAtEnd(), json({ a: 2 }));
    const client = world.gateway(options, watched({ random: () => 0.9 })); // a backoff would be visible in `delay`
    await client.request(GET);
    await settled();

    const { data, response } = await client.request(GET).withResponse();

    expect(data).toEqual({ a: 2 });
    expect(response.attempts).toMatchObject([{ error: 'APIConnectionError' }, { status: 200, delay: 0 }]);
    expect(world.server.turns.map(({ onConnection }) => onConnection)).toEqual([1, 2, 1]);
  });

  test('a POST on a kept connection that closes on reuse is not retried', async () => {
    world.server.answers(json({ a: 1 }), finAtEnd(), json({ a: 2 }));
    const client = world.gateway(options);
    await client.request(GET);
    await settled();

    expect(await failureOf(client.request(POST))).toMatchObject({ name: 'APIConnectionError', sent: 'maybe' });
    expect(world.server.turns.map(({ onConnection }) => onConnection)).toEqual([1, 2]);
  });

  test('a kept connection that closed while idle costs no attempt', async () => {
    world.server.answers(
      atEnd(({ socket }) => void socket.end(OK)),
      json({ a: 2 }),
    );
    const client = world.gateway(options);
    await client.request(GET);
    await until(() => world.server.used === 0);

    const { response } = await client.request(POST).withResponse();

    expect(response.attempts).toHaveLength(1);
  });

  test('the responses of concurrent calls are not mixed up', async () => {
    world.server.decides(({ path }) => (path.endsWith('3') ? rawThenReset('HTTP/1.1 20') : json({ path })));
    const client = world.gateway({ ...options, maxRetries: 0 });

    const calls = Array.from({ length: 100 }, async (_, at) => {
      const path = `/v1/things/${at}`;
      if (path.endsWith('3')) return failureOf(client.request({ method: 'GET', path }));
      return expect(client.request({ method: 'GET', path })).resolves.toEqual({ path });
    });

    await Promise.all(calls);
  });

  test('method, path, query, headers and body are sent as given', async () => {
    world.server.answers(json({}));
    const client = world.gateway({ ...options, baseURL: `${world.server.url}/prefix/` });

    await client.request({ method: 'PATCH', path: '/v1/a%20b', query: { q: 'ü&=#', n: 1 }, body: { text: 'ü' } });

    const turn = world.server.turns[0];
    expect(turn).toMatchObject({ method: 'PATCH', path: '/prefix/v1/a%20b?q=%C3%BC%26%3D%23&n=1' });
    expect(turn?.headers.get('authorization')).toBe(`Bearer ${KEY}`);
    expect(turn?.headers.get('content-length')).toBe(String(turn?.body.byteLength));
    expect(JSON.parse(String(turn?.body))).toEqual({ text: 'ü' });
  });
});

/** Repeats an informational response until the connection closes. */
function storm(announcement: string): Behaviour {
  return atEnd(({ socket }) => {
    const timer = setInterval(() => socket.write(announcement.repeat(20)), 2);
    socket.once('close', () => clearInterval(timer));
  });
}
