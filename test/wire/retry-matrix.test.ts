import { describe, expect, test } from 'vitest';
import { engines } from '../helpers/engines.js';
import {
  answer,
  finAtEnd,
  headOf,
  raw,
  rawThenEnd,
  rawThenReset,
  refused,
  resetAtEnd,
  resetAtHead,
} from './behaviours.js';
import { type Behaviour, stall } from './fault-server.js';
import { failureOf, PROMPT, serve } from './world.js';

const METHODS = { safe: 'GET', idempotent: 'DELETE', effect: 'POST' } as const;
const OPERATIONS = ['safe', 'idempotent', 'effect'] as const;

/** Requests that the server receives, by kind of operation: no effect, the same effect if repeated, a second effect. */
type Sends = readonly [safe: number, idempotent: number, effect: number];

interface Facts {
  /** `every status has its class` (`api/refusals.test.ts`) checks those of a status. */
  readonly name?: string;
  readonly sent?: string;
}

const ALWAYS: Sends = [3, 3, 3];
const UNLESS_EFFECT: Sends = [3, 3, 1];
const NEVER: Sends = [1, 1, 1];
const CHUNKED = headOf(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
const LENGTH = headOf(200, { 'content-type': 'application/json', 'content-length': 100 });
const UNTIL_CLOSE = headOf(200, { 'content-type': 'application/json', connection: 'close' });

const broken: Facts = { name: 'APIConnectionError', sent: 'maybe' };
const cut: Facts = { name: 'APIConnectionError', sent: 'yes' };
const unavailable: Facts = { name: 'ServiceUnavailableError' };
const unreadable: Facts = { name: 'ResponseValidationError' };

type Row = [kind: string, behaviour: Behaviour, sends: Sends, facts: Facts];
const rows: Row[] = [
  // ambiguous: bytes were written, and no status line arrived
  ['reset in the middle of the request', resetAtHead(), UNLESS_EFFECT, broken],
  ['reset after the request', resetAtEnd(), UNLESS_EFFECT, broken],
  ['close instead of a response', finAtEnd(), UNLESS_EFFECT, broken],
  ['cut in the headers', rawThenEnd('HTTP/1.1 200 OK\r\ncontent-ty'), UNLESS_EFFECT, broken],
  ['reset in the headers', rawThenReset('HTTP/1.1 200 OK\r\ncontent-ty'), UNLESS_EFFECT, broken],
  ['bytes that are not HTTP', rawThenEnd('\u0000\u0001 SSH-2.0-none\r\n\r\n'), UNLESS_EFFECT, cut],
  // rejected: the service says that it did nothing
  ['429', answer(429), ALWAYS, { name: 'RateLimitError' }],
  ['503', refused(503), ALWAYS, unavailable],
  // a 503 from a proxy may hide work that was done
  ['503 without an error', answer(503, '{}'), UNLESS_EFFECT, unavailable],
  ['503 with a page', answer(503, '<h1>503</h1>'), UNLESS_EFFECT, unavailable],
  ['503 with a message', answer(503, '{"message":"Service Unavailable"}'), UNLESS_EFFECT, unavailable],
  ['503 with half an error', answer(503, '{"error":{"message":"x","type":"y"'), UNLESS_EFFECT, unavailable],
  // other statuses
  ...[500, 520, 524, 529].map((status): Row => [String(status), answer(status), UNLESS_EFFECT, {}]),
  ['400', answer(400), NEVER, {}],
  // the body of a success
  ['reset in a chunked body', rawThenReset(CHUNKED, '5\r\n{"a":\r\n'), UNLESS_EFFECT, cut],
  ['close in a chunked body', rawThenEnd(CHUNKED, '5\r\n{"a":\r\n'), UNLESS_EFFECT, cut],
  ['close before the announced length', rawThenEnd(LENGTH, '{"a":'), UNLESS_EFFECT, cut],
  ['reset before the announced length', rawThenReset(LENGTH, '{"a":'), UNLESS_EFFECT, cut],
  ['half a response that ends with its connection', rawThenEnd(UNTIL_CLOSE, '{"a":'), UNLESS_EFFECT, unreadable],
  ['a body that is not JSON', answer(200, '<p>hello'), UNLESS_EFFECT, unreadable],
  [
    'a body above the limit',
    raw(headOf(200, { 'content-length': 40 * 1024 * 1024 })),
    NEVER,
    { name: 'ResponseTooLargeError', sent: 'yes' },
  ],
];

describe.each(engines)('$engine', ({ options }) => {
  const world = serve();
  const table = rows.flatMap(([kind, behaviour, sends, facts]) =>
    OPERATIONS.map((operation, at) => ({ kind, behaviour, facts, operation, count: sends[at] ?? 0 })),
  );

  test.each(table)('$kind: a request of kind "$operation" is sent $count times', async (row) => {
    const { operation, behaviour, count, facts } = row;
    world.server.answers(behaviour);
    const client = world.gateway({ ...options, pacing: false });
    const body = operation === 'safe' ? undefined : { text: PROMPT };

    const error = await failureOf(client.request({ method: METHODS[operation], path: '/v1/things', body }));

    expect(world.server.requests).toBe(count);
    expect(error).toMatchObject({ ...facts, attempts: { length: count } });
  });

  test.each(OPERATIONS)('a refused connection is tried three times, with sent: no (%s)', async (operation) => {
    const client = world.gateway({ ...options, baseURL: `http://127.0.0.1:${world.server.port}` });
    world.server.stopListening();

    const error = await failureOf(client.request({ method: METHODS[operation], path: '/v1/things' }));

    expect(error).toMatchObject({ name: 'APIConnectionError', phase: 'connect', sent: 'no', retryable: true });
    expect(error.attempts).toHaveLength(3);
  });
});

describe('a silent service', () => {
  const world = serve();

  test('a request is sent again after `timeout`, unless it has an effect', async () => {
    const silences = [
      { start: undefined, sent: 'maybe' },
      { start: 'HTTP/1.1 200 OK\r\ncontent-', sent: 'maybe' },
      { start: `${LENGTH}{"a":`, sent: 'yes' },
    ];
    world.server.decides(({ path }) => {
      const { start } = silences[Number(path.at(-1))] ?? {};
      return start === undefined ? stall() : raw(start);
    });
    const table = engines.flatMap(({ engine, options }) =>
      silences.flatMap(({ sent }, silence) =>
        OPERATIONS.map((operation) => ({ engine, options, sent, silence, operation })),
      ),
    );

    const calls = table.map(async ({ engine, options, sent, silence, operation }) => {
      const path = `/v1/${engine}/${operation}/${silence}`;
      // A busy machine must send the request within it, and read what arrives.
      const client = world.gateway({ ...options, timeout: 2_000, maxRetries: 1 });
      const error = await failureOf(client.request({ method: METHODS[operation], path }));
      const sends = world.server.turns.filter((turn) => turn.path === path).length;
      expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'attempt', sent });
      expect(sends, path).toBe(operation === 'effect' ? 1 : 2);
    });
    await Promise.all(calls);
  });
});
