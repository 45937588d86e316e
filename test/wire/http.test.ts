import { describe, expect, test } from 'vitest';
import { engines } from '../helpers/engines.js';
import { settled } from '../helpers/manual-runtime.js';
import { answer, bytesOf, drip, finAtEnd, headOf, json, raw, rawThenEnd, rawThenReset } from './behaviours.js';
import { atEnd, atHead, type Behaviour, FaultServer } from './fault-server.js';
import { failureOf, KEY, serve, until, watched } from './world.js';

const GET = { method: 'GET', path: '/v1/things' } as const;
const POST = { method: 'POST', path: '/v1/things', body: {} } as const;
const OK = bytesOf(200, '{"a":1}');

describe.each(engines)('$engine', ({ engine, options }) => {
  const world = serve();
  const once = { ...options, maxRetries: 0 };

  test.each([301, 302, 303, 307, 308])('a redirect with %i is an error, and is not followed', async (status) => {
    const trap = await FaultServer.start();
    trap.answers(json({ trapped: true }));
    for (const location of [
      `${trap.url}/v1/things?key=1`,
      '/v1/elsewhere',
      'file:///etc/passwd',
      'http://:bad',
      undefined,
    ]) {
      world.server.answers(answer(status, '', { location }));
      const error = await failureOf(world.gateway(options).request(POST));
      expect(error).toMatchObject({ name: 'APIError', status });
      expect(error.message).not.toMatch(/key=1|\/etc\/passwd|elsewhere/);
      if (location?.startsWith(trap.url)) expect(error.message).toContain(`localhost:${trap.port}`);
    }

    expect(world.server.requests).toBe(5);
    expect(trap.connections).toBe(0);
    await trap.close();
  });

  test('the error of a redirect names its target host, even if the body is a page', async () => {
    const page = '<html>\r\n<head><title>302 Found</title></head>\r\n<body><h1>302 Found</h1>nginx</body></html>';
    world.server.answers(answer(302, page, { location: 'https://login.test/x?key=1', 'content-type': 'text/html' }));

    const error = await failureOf(world.gateway(options).request(POST));

    expect(error.message).toMatch(/^302 Found nginx\. The service redirects to login\.test\. /);
  });

  test('the error of a 404 page shows where the request went, for a plain call and a stream', async () => {
    world.server.answers(answer(404, '<title>404 Not Found</title><h1>404 Not Found</h1>', {}));
    const baseURL = `${world.server.url}/prefix`;
    const { completions } = world.gateway({ ...options, baseURL }).chat;
    const params = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };

    const errors = [
      await failureOf(completions.create(params)),
      await failureOf(completions.create({ ...params, stream: true })),
    ];

    for (const { message } of errors) {
      expect(message).toMatch(/^404 Not Found\. This is not the service's own error\. Check baseURL/);
      expect(message).toContain(`the request went to ${baseURL}/v1/chat/completions (POST /v1/chat/completions).`);
    }
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
    {
      what: 'an unrequested upgrade',
      behaviour: raw('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    },
    { what: 'endless 102 responses', behaviour: storm('HTTP/1.1 102 Processing\r\n\r\n') },
    { what: 'endless 103 responses', behaviour: storm('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n') },
    { what: 'a status of 099', behaviour: raw('HTTP/1.1 099 Low\r\ncontent-length: 0\r\n\r\n') },
    { what: 'a status of four digits', behaviour: rawThenEnd('HTTP/1.1 2000 OK\r\ncontent-length: 0\r\n\r\n') },
    { what: 'headers sent byte by byte', behaviour: drip('HTTP/1.1 200 OK\r\nx-long: '.padEnd(2_000, 'a'), 15) },
    {
      what: 'two content-lengths',
      behaviour: raw(headOf(200, { 'content-length': 2 }).replace('\r\n\r\n', '\r\ncontent-length: 3\r\n\r\n{}')),
    },
    {
      what: 'a content-length and chunks',
      behaviour: raw(headOf(200, { 'content-length': 5, 'transfer-encoding': 'chunked' }), '2\r\n{}\r\n0\r\n\r\n'),
    },
    {
      what: 'a header of 200 kB',
      behaviour: raw(headOf(200, { 'x-long': 'a'.repeat(200_000), 'content-length': 2 }), '{}'),
    },
    { what: 'ten thousand headers', behaviour: raw(headOf(200, manyHeaders()), '{}') },
    { what: 'a header with a NUL', behaviour: raw(headOf(200, { 'x-a': 'a\u0000b', 'content-length': 2 }), '{}') },
    {
      what: 'an invalid chunk size',
      behaviour: raw(headOf(200, { 'transfer-encoding': 'chunked' }), 'zz\r\n{}\r\n'),
    },
    { what: 'HTTP/0.9', behaviour: rawThenEnd('{"a":1}') },
    { what: 'another protocol', behaviour: rawThenEnd('\u0016\u0003\u0001\u0002\u0000\u0001') },
  ])('$what leads to a connection error or a timeout, and the connection is closed', async ({ behaviour }) => {
    world.server.answers(behaviour);

    const error = await failureOf(world.gateway(once).request(POST, { deadline: 700 }));

    expect(['APIConnectionError', 'APITimeoutError']).toContain(error.name);
    expect(error).not.toMatchObject({ sent: 'no' });
    expect(world.server.requests).toBe(1);
    await until(() => world.server.used === 0);
  });

  test.each([402, 418, 451, 599])('a status of %i is an APIError with this status', async (status) => {
    world.server.answers(answer(status, '<html><body>odd</body></html>', { 'content-type': 'text/html' }));

    const error = await failureOf(world.gateway(once).request(POST));

    expect(error).toMatchObject({ status });
    expect(error.message).toContain(`${status} odd`);
  });

  test.each([600, 999])('a status of %i is invalid', async (status) => {
    world.server.answers(answer(status));

    const error = await failureOf(world.gateway(once).request(POST));

    expect(error).toMatchObject({ name: 'APIConnectionError', retryable: expect.any(Boolean) });
  });

  test('informational responses before the final one are ignored', async () => {
    world.server.answers(raw('HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n', OK));

    expect(await world.gateway(once).request(GET)).toEqual({ a: 1 });
  });

  test('a header of 12 kB is read', async () => {
    world.server.answers(
      raw(headOf(200, { 'x-long': 'a'.repeat(12_000), 'x-request-id': 'r1', 'content-length': 2 }), '{}'),
    );

    const { response } = await world.gateway(once).request(GET).withResponse();

    expect(response.requestId).toBe('r1');
    expect(response.headers.get('x-long')).toHaveLength(12_000);
  });

  test('a header that is not ASCII is read as Latin-1, and the other headers are kept', async () => {
    const head = headOf(200, { 'x-latin': 'caf\u00e9', 'x-request-id': 'r\u00e9', 'content-length': 2 });
    const utf8 = Buffer.from('x-utf8: €\r\n');
    const [status, ...rest] = head.split(/(?<=\r\n)/).map((line) => Buffer.from(line, 'latin1'));
    world.server.answers(raw(Buffer.concat([status as Buffer, utf8, ...rest]), '{}'));

    const { response } = await world.gateway(once).request(GET).withResponse();

    expect(response.requestId).toBe('r\u00e9');
    expect(response.headers.get('x-latin')).toBe('caf\u00e9');
    expect(response.headers.get('x-utf8')).toBe('\u00e2\u0082\u00ac');
  });

  test('a header may be named after a property of Object.prototype', async () => {
    const names = ['constructor', '__proto__', 'valueOf'];
    const named = Object.fromEntries([...names.map((name) => [name, 'a']), ['x-request-id', 'r1']]);
    world.server.answers(raw(headOf(200, { ...named, 'content-length': 2 }), '{}'));

    const { response } = await world.gateway(once).request(GET).withResponse();

    expect(names.map((name) => response.headers.get(name))).toEqual(['a', 'a', 'a']);
    expect(response.requestId).toBe('r1');
  });

  test('bytes beyond the content-length are not part of the response, and the connection is not reused', async () => {
    world.server.answers(raw(bytesOf(200, '{"a":1}'), '{"b":2}'), json({ c: 3 }));
    const client = world.gateway(options);

    expect(await client.request(GET)).toEqual({ a: 1 });
    await until(() => world.server.used === 0);
    expect(await client.request(GET)).toEqual({ c: 3 });
    expect(world.server.turns.map(({ onConnection }) => onConnection)).toEqual([1, 1]);
  });

  test('an unrequested second response does not become the response of the next call', async () => {
    world.server.answers(raw(bytesOf(200, '{"a":1}'), bytesOf(200, '{"poisoned":true}')), json({ c: 3 }));
    const client = world.gateway(options);

    expect(await client.request(GET)).toEqual({ a: 1 });
    await until(() => world.server.used === 0);
    expect(await client.request(GET)).toEqual({ c: 3 });
  });

  test('a response that comes before the upload is complete is read', async () => {
    world.server.answers(
      atHead(
        ({ socket }) => void socket.write(bytesOf(413, '{"error":{"message":"too big"}}', { connection: 'close' })),
      ),
    );
    const file = new Blob([new Uint8Array(20 * 1024 * 1024)]);

    const error = await failureOf(world.gateway(once).files.upload({ file, purpose: 'test' }));

    expect(error).toMatchObject({ status: 413 });
    await until(() => world.server.used === 0);
  });

  test('a response followed by a reset during the upload is a typed error', async () => {
    world.server.answers(
      atHead(({ socket }) => {
        socket.write(bytesOf(413, '{"error":{"message":"too big"}}', { connection: 'close' }));
        setTimeout(() => socket.resetAndDestroy(), 5);
      }),
    );
    const file = new Blob([new Uint8Array(20 * 1024 * 1024)]);

    const error = await failureOf(world.gateway({ ...once, deadline: 20_000 }).files.upload({ file, purpose: 'test' }));

    if (error.name !== 'APIError') expect(error).toMatchObject({ name: 'APIConnectionError' });
    expect(world.server.requests).toBe(1);
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

  test('a body sent byte by byte is read to its end', async () => {
    world.server.answers(drip(`${headOf(200, { 'content-length': 7 })}{"a":1}`, 1));

    expect(await world.gateway(options).request(GET)).toEqual({ a: 1 });
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

function manyHeaders(): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`x-${at}`, 'a']));
}
