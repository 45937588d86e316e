import type { ContextGatewayError } from 'context-gateway';
import { describe, expect, test } from 'vitest';
import { AT_LENGTH, isTried } from '../helpers/endurance.js';
import { bytesOf, headOf } from '../wire/behaviours.js';
import type { Turn } from '../wire/fault-server.js';
import { failureOf, PROMPT } from '../wire/world.js';
import { begin, type Fault } from './backend.js';
import { type Kind, missingBinary, proxyNames } from './proxies.js';
import { type Clients, serveBehindProxies, ways } from './world.js';

/** Calls that send the id of their operation. */
const POSTS: Readonly<Record<string, (clients: Clients, id: string) => PromiseLike<unknown>>> = {
  execute: ({ gateway }, id) =>
    gateway.integrations.execute('chat', { action: 'post_message', channel: id, text: PROMPT }),
  completion: ({ gateway }, id) => gateway.chat.completions.create({ model: 'm', messages: messages(id) }),
  stream: async ({ gateway }, id) => {
    const stream = await gateway.chat.completions.create({ model: 'm', messages: messages(id), stream: true });
    return stream.finalCompletion();
  },
  upload: ({ gateway }, id) =>
    gateway.files.upload({ file: new Blob([PROMPT, id, new Uint8Array(300_000)]), purpose: 'notes' }),
};
const REPEATABLES: typeof POSTS = {
  PATCH: ({ context }, id) => context.memory.update(id, { content: PROMPT }),
  GET: ({ gateway }, id) => gateway.presets.list({ category: id }),
};
const messages = (id: string) => [{ role: 'user' as const, content: `${PROMPT} ${id}` }];

/** How a POST may end: with the proxy's own page or a broken connection. Which one can depend on timing. */
const HIDDEN = /^(InternalServerError 502|ServiceUnavailableError 503|APIConnectionError (maybe|yes))$/;
const TOO_LATE = /^(InternalServerError 504|ServiceUnavailableError 503)$/;
/** A busy Varnish sometimes ends the response to a stream as if it were complete. The stream is then truncated. */
const CUT = /^(APIConnectionError yes|ServiceUnavailableError 503|StreamTruncatedError )$/;
const SILENT = /^(APIConnectionError yes|InternalServerError 504|ServiceUnavailableError 503)$/;

/** Ways to fail after the work was done. */
const failures: readonly { service: string; act: Fault['act']; ends: RegExp; kind?: Kind }[] = [
  { service: 'resets the connection', act: ({ socket }) => void socket.resetAndDestroy(), ends: HIDDEN },
  { service: 'closes the connection', act: ({ socket }) => void socket.end(), ends: HIDDEN },
  { service: 'closes it in the headers', act: closing('HTTP/1.1 200 OK\r\ncontent-ty'), ends: HIDDEN },
  { service: 'responds with bytes that are not HTTP', act: closing('garbage\r\n\r\n'), ends: HIDDEN },
  { service: 'resets the connection in the body', act: resetInBody, ends: CUT },
  { service: 'closes the connection in the body', act: closeInBody, ends: CUT },
  {
    service: 'sends half a body without a content-length',
    act: closing(`${headOf(200, { 'content-type': 'application/json', connection: 'close' })}{"id":`),
    ends: /^ResponseValidationError $/,
  },
  { service: 'responds too late for the proxy', act: () => {}, ends: TOO_LATE, kind: 'impatient' },
  { service: 'stalls in the body', act: begin, ends: SILENT, kind: 'impatient' },
  { service: 'responds with 500', act: answering(500), ends: /^InternalServerError 500$/ },
  {
    service: 'responds with 503 and a page',
    act: answering(503, '<h1>Service Unavailable</h1>'),
    ends: /^ServiceUnavailableError 503$/,
  },
];

const documented = { message: 'Too busy.', type: 'service_unavailable', param: '', code: 'service_unavailable' };
const refusal: Fault = { works: false, act: answering(503, JSON.stringify({ error: documented })) };

const world = serveBehindProxies();

test('a proxy that is not installed is reported', () => {
  const missing = [...new Set(proxyNames.flatMap((name) => missingBinary(name) ?? []))];
  if (missing.length > 0)
    console.warn(`SKIPPED: ${missing.join(', ')} is not installed here. The tests behind it run where it is.`);
  expect(process.env.REQUIRE_PROXIES ? missing : []).toEqual([]);
});

describe.concurrent.each(ways.filter(isTried))('$proxy, $engine', ({ proxy, options, missing }) => {
  const within = { timeout: 60_000, skip: missing, repeats: AT_LENGTH ? 4 : 0 };

  test.each(failures)(
    'a service that does the work and then $service: one POST has one effect',
    within,
    async (row) => {
      const { act, ends, kind = 'plain' } = row;
      const clients = world.clients(proxy, kind, options);

      const posts = Object.values(POSTS).map(async (call) => {
        const { id, account } = world.backend.operation({ works: true, act });
        const error = await failureOf(call(clients, id));
        expect(endOf(error)).toMatch(ends);
        expect(error.attempts).toHaveLength(1);
        expect(account).toMatchObject({ effects: 1, arrivals: [expect.any(String)] });
      });
      const repeatables = Object.values(REPEATABLES).map(async (call) => {
        const { id, account } = world.backend.operation({ works: true, act });
        await call(clients, id);
        // Some may come from the proxy: nginx and varnish repeat a GET themselves if a kept connection breaks.
        expect(account.arrivals.length).toBeGreaterThan(1);
      });

      await Promise.all([...posts, ...repeatables]);
    },
  );

  test('a service that responds with its own 503: every call is retried, and has one effect', within, async () => {
    const clients = world.clients(proxy, 'plain', options);

    await Promise.all(
      [...Object.values(POSTS), ...Object.values(REPEATABLES)].map(async (call) => {
        const { id, account } = world.backend.operation(refusal);
        await call(clients, id);
        expect(account.effects).toBe(1);
        expect(new Set(account.arrivals).size).toBe(2);
      }),
    );
  });

  // Nothing was done, but the proxy's page does not say so.
  test('a service that is not running: a POST is not retried, and repeatable calls are', within, async () => {
    const clients = world.clients(proxy, 'stopped', options);
    const callAll = (calls: typeof POSTS, attempts: number) =>
      Object.values(calls).map(async (call) => {
        const error = await failureOf(call(clients, 'op'));
        expect(endOf(error)).toMatch(/^(InternalServerError 502|ServiceUnavailableError 503)$/);
        expect(error.attempts).toHaveLength(attempts);
      });

    await Promise.all([...callAll(POSTS, 1), ...callAll(REPEATABLES, 3)]);
  });
});

/** The class of an error with its status or `sent`. */
function endOf(error: ContextGatewayError): string {
  const { status, sent = '' } = error as { status?: number; sent?: string };
  return `${error.name} ${status ?? sent}`;
}

function closing(bytes: string): Fault['act'] {
  return ({ socket }) => void socket.end(bytes);
}

function answering(status: number, body = '{}'): Fault['act'] {
  const type = body.startsWith('<') ? 'text/html' : 'application/json';
  return ({ socket }) => void socket.write(bytesOf(status, body, { 'content-type': type }));
}

function resetInBody(turn: Turn): void {
  begin(turn);
  setTimeout(() => turn.socket.resetAndDestroy(), 20); // once the bytes are sent
}

function closeInBody(turn: Turn): void {
  begin(turn);
  turn.socket.end();
}
