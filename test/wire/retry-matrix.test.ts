import { describe, expect, test } from 'vitest';
import { type ContextGatewayError, GatewayClient } from '../../src/index.js';
import { engines } from '../helpers/engines.js';
import {
  answer,
  bytesOf,
  finAtEnd,
  headOf,
  raw,
  rawThenEnd,
  rawThenReset,
  refused,
  resetAtEnd,
  resetAtHead,
} from './behaviours.js';
import { type Behaviour, FaultServer, stall } from './fault-server.js';
import { eager, failureOf, KEY, PROMPT, serve } from './world.js';

const METHODS = { safe: 'GET', idempotent: 'DELETE', effect: 'POST' } as const;
const OPERATIONS = ['safe', 'idempotent', 'effect'] as const;

/** Requests that the server receives, by kind of operation: no effect, the same effect if repeated, a second effect. */
type Sends = readonly [safe: number, idempotent: number, effect: number];

interface Row {
  readonly kind: string;
  readonly behaviour: Behaviour;
  readonly sends: Sends;
  /** `every status has its class` (`api/refusals.test.ts`) checks those of a status. */
  readonly error?: string;
  readonly sent?: string;
}

const ALWAYS: Sends = [3, 3, 3];
const UNLESS_EFFECT: Sends = [3, 3, 1];
const NEVER: Sends = [1, 1, 1];
const CHUNKED = headOf(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
const LENGTH = headOf(200, { 'content-type': 'application/json', 'content-length': 100 });
const UNTIL_CLOSE = headOf(200, { 'content-type': 'application/json', connection: 'close' });

const broken = { error: 'APIConnectionError', sent: 'maybe', sends: UNLESS_EFFECT } as const;
const cut = { error: 'APIConnectionError', sent: 'yes', sends: UNLESS_EFFECT } as const;

const rows: Row[] = [
  // ambiguous: bytes were written, and no status line arrived
  { kind: 'reset in the middle of the request', behaviour: resetAtHead(), ...broken },
  { kind: 'reset after the request', behaviour: resetAtEnd(), ...broken },
  { kind: 'close instead of a response', behaviour: finAtEnd(), ...broken },
  { kind: 'cut in the status line', behaviour: rawThenEnd('HTTP/1.1 20'), ...broken },
  { kind: 'cut in the headers', behaviour: rawThenEnd('HTTP/1.1 200 OK\r\ncontent-ty'), ...broken },
  { kind: 'reset in the headers', behaviour: rawThenReset('HTTP/1.1 200 OK\r\ncontent-ty'), ...broken },
  { kind: 'bytes that are not HTTP', behaviour: rawThenEnd('\u0000\u0001 SSH-2.0-none\r\n\r\n'), ...cut },
  // rejected: the service says that it did nothing
  { kind: '429', behaviour: answer(429), error: 'RateLimitError', sends: ALWAYS },
  { kind: '503', behaviour: refused(503), error: 'ServiceUnavailableError', sends: ALWAYS },
  // a 503 from a proxy may hide work that was done
  ...['{}', '<h1>503</h1>', '{"message":"Service Unavailable"}', '{"error":{"message":"x","type":"y"'].map((page) => ({
    kind: `503 with ${page}`,
    behaviour: answer(503, page),
    error: 'ServiceUnavailableError',
    sends: UNLESS_EFFECT,
  })),
  // other statuses
  { kind: '408', behaviour: answer(408), error: 'APIError', sends: UNLESS_EFFECT },
  { kind: '500', behaviour: answer(500), error: 'InternalServerError', sends: UNLESS_EFFECT },
  { kind: '502', behaviour: answer(502), error: 'InternalServerError', sends: UNLESS_EFFECT },
  ...[504, 520, 521, 522, 523, 524, 529, 530].map((status) => ({
    ...{ kind: String(status), behaviour: answer(status), error: 'InternalServerError', sends: UNLESS_EFFECT },
  })),
  { kind: '425', behaviour: answer(425), error: 'APIError', sends: [2, 2, 1] },
  ...[302, 400, 401, 402, 403, 404, 405, 409, 413, 415, 418, 422, 451, 501].map((status) => ({
    kind: String(status),
    behaviour: answer(status),
    sends: NEVER,
  })),
  // the body of a success
  { kind: 'reset in a chunked body', behaviour: rawThenReset(CHUNKED, '5\r\n{"a":\r\n'), ...cut },
  { kind: 'close in a chunked body', behaviour: rawThenEnd(CHUNKED, '5\r\n{"a":\r\n'), ...cut },
  { kind: 'close before the announced length', behaviour: rawThenEnd(LENGTH, '{"a":'), ...cut },
  { kind: 'reset before the announced length', behaviour: rawThenReset(LENGTH, '{"a":'), ...cut },
  {
    kind: 'half a response that ends with its connection',
    behaviour: rawThenEnd(UNTIL_CLOSE, '{"a":'),
    error: 'ResponseValidationError',
    sends: UNLESS_EFFECT,
  },
  {
    kind: 'a body that is not JSON',
    behaviour: answer(200, '<p>hello'),
    error: 'ResponseValidationError',
    sends: UNLESS_EFFECT,
  },
  {
    kind: 'a body above the limit',
    behaviour: raw(headOf(200, { 'content-length': 40 * 1024 * 1024 })),
    error: 'ResponseTooLargeError',
    sends: NEVER,
    sent: 'yes',
  },
];

describe.each(engines)('$engine', ({ options }) => {
  const world = serve();
  const table = rows.flatMap((row) =>
    OPERATIONS.map((operation, at) => ({ ...row, operation, count: row.sends[at] ?? 0 })),
  );

  test.each(table)('$kind: a request of kind "$operation" is sent $count times', async (row) => {
    const { operation, behaviour, count } = row;
    world.server.answers(behaviour);
    const client = world.gateway({ ...options, pacing: false });
    const body = operation === 'safe' ? undefined : { text: PROMPT };

    const error = await failureOf(client.request({ method: METHODS[operation], path: '/v1/things', body }));

    expect(world.server.requests).toBe(count);
    if (row.error !== undefined) expect(error.name).toBe(row.error);
    expect(error.attempts).toHaveLength(count);
    if (row.sent !== undefined) expect(error).toMatchObject({ sent: row.sent });
  });

  test('a request to a silent service is retried after `timeout`, unless it has an effect', async () => {
    const silences = [
      { start: undefined, sent: 'maybe' },
      { start: 'HTTP/1.1 200 OK\r\ncontent-', sent: 'maybe' },
      { start: `${LENGTH}{"a":`, sent: 'yes' },
    ];
    world.server.decides(({ path }) =>
      silences[Number(path.at(-1))]?.start === undefined ? stall() : raw(silences[Number(path.at(-1))]?.start ?? ''),
    );

    const calls = silences.flatMap(({ sent }, silence) =>
      OPERATIONS.map(async (operation) => {
        const path = `/v1/${operation}/${silence}`;
        // One client each: together they would use up their retry budget.
        const client = world.gateway({ ...options, timeout: 400 });
        const error = await failureOf(client.request({ method: METHODS[operation], path }));
        const sends = world.server.turns.filter((turn) => turn.path === path).length;
        expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'attempt', sent });
        expect(sends).toBe(operation === 'effect' ? 1 : 3);
      }),
    );
    await Promise.all(calls);
  });

  test.each([
    { kind: '503', behaviour: answer(503), count: 6 },
    { kind: '500', behaviour: answer(500), count: 3 },
    { kind: '425', behaviour: answer(425), count: 2 },
  ])('$kind is tried at most $count times, however many retries are allowed', async ({ behaviour, count }) => {
    world.server.answers(behaviour);
    const client = world.gateway({ ...options, maxRetries: 5 });

    await failureOf(client.request({ method: 'GET', path: '/v1/things' }));

    expect(world.server.requests).toBe(count);
  });

  test('a 409 is retried if the caller passed an idempotency key, which every attempt sends', async () => {
    world.server.answers(answer(409), answer(200, '{"id":"1"}'));
    const client = world.gateway(options);

    await client.request({ method: 'POST', path: '/v1/things', body: {} }, { idempotencyKey: 'once' });

    expect(world.server.turns.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['once', 'once']);
  });

  test('a broken POST is not retried even with an idempotency key', async () => {
    world.server.answers(resetAtEnd());
    const client = world.gateway(options);

    await failureOf(client.request({ method: 'POST', path: '/v1/things', body: {} }, { idempotencyKey: 'once' }));

    expect(world.server.requests).toBe(1);
  });

  test.each(OPERATIONS)('a refused connection is tried three times, with sent: no (%s)', async (operation) => {
    const closed = `http://127.0.0.1:${await unusedPort()}`;
    const client = new GatewayClient({ ...options, baseURL: closed, apiKey: KEY }, undefined, eager);

    const error = await failureOf(client.request({ method: METHODS[operation], path: '/v1/things' }));

    expect(error).toMatchObject({ name: 'APIConnectionError', phase: 'connect', sent: 'no', retryable: true });
    expect(error.attempts).toHaveLength(3);
    await client.close();
  });

  test('a DELETE that gets a 404 after a broken attempt is a NotFoundError whose attempts show both', async () => {
    world.server.answers(resetAtEnd(), answer(404, '{"success":false,"error":"gone"}'));
    const client = world.context(options);

    const error = await failureOf(client.memory.delete('m1'));

    expect(error.name).toBe('NotFoundError');
    expect(error.attempts).toMatchObject([{ error: 'APIConnectionError' }, { status: 404 }]);
    expect(error.attempts[0]).not.toHaveProperty('status');
  });

  test('a success after failed attempts is returned normally', async () => {
    world.server.answers(resetAtEnd(), rawThenEnd(bytesOf(200, '{"a":1}').subarray(0, -3)), answer(200, '{"a":1}'));

    expect(await world.gateway(options).request({ method: 'GET', path: '/v1/things' })).toEqual({ a: 1 });
  });
});

test('undici: a POST whose connection breaks while it is opened was not sent, and is retried', async () => {
  const world = await FaultServer.start();
  world.onConnection = (socket) => {
    socket.resetAndDestroy();
    return true;
  };
  const client = new GatewayClient({ baseURL: `https://localhost:${world.port}`, apiKey: KEY }, undefined, eager);

  const error: ContextGatewayError = await failureOf(client.request({ method: 'POST', path: '/v1/things', body: {} }));

  expect(error).toMatchObject({ phase: 'connect', sent: 'no' });
  expect(world.connections).toBe(3);
  await client.close();
  await world.close();
});

/** A port that was just in use and is now closed. */
async function unusedPort(): Promise<number> {
  const server = await FaultServer.start();
  const { port } = server;
  await server.close();
  return port;
}
