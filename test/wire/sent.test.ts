import { Agent, RetryAgent } from 'undici';
import { describe, expect, test } from 'vitest';
import type { APITimeoutError, ClientEvent } from '../../src/index.js';
import { engines } from '../helpers/engines.js';
import { bytesOf, headOf, rawThenEnd, refused, resetAtEnd } from './behaviours.js';
import { atEnd } from './fault-server.js';
import { failureOf, POST, serve } from './world.js';

describe.each(engines)('$engine', ({ options }) => {
  const world = serve();

  test.each([
    { response: 'a page', bytes: bytesOf(200, '<p>done', { connection: 'close' }), sent: 'yes' },
    { response: 'a truncated body', bytes: `${headOf(200, { 'content-length': 100 })}{"success":tr`, sent: 'yes' },
    { response: 'a 500', bytes: bytesOf(500, '{}', { connection: 'close' }), sent: 'maybe' },
    { response: "a proxy's 503", bytes: bytesOf(503, '<p>', { connection: 'close' }), sent: 'maybe' },
    { response: 'nothing but a reset', bytes: undefined, sent: 'maybe' },
  ])('a PATCH that got $response has sent: $sent, even if its retry could not connect', async (row) => {
    const answered = row.bytes === undefined ? resetAtEnd() : rawThenEnd(row.bytes);
    world.server.answers(
      atEnd((turn) => {
        world.server.stopListening();
        return answered.act(turn);
      }),
    );

    const events: ClientEvent[] = [];
    const client = world.context({ ...options, onEvent: (event) => events.push(event) });
    const body = { content: 'new' };

    const error = await failureOf(client.memory.update('m1', body));

    expect(error).toMatchObject({ name: 'APIConnectionError', phase: 'connect', sent: row.sent });
    expect(events.at(-1)).toMatchObject({ type: 'done', attempts: 3, bytesSent: JSON.stringify(body).length });
    expect(world.server.requests).toBe(1);
  });

  test('a deadline during the second read of the key keeps sent: yes of the first attempt', async () => {
    world.server.answers(rawThenEnd(bytesOf(200, '<p>done')));
    let read = 0;
    const sessionToken = () => (read++ === 0 ? 'session-0123456789' : new Promise<string>(() => {}));
    const client = world.context({ ...options, sessionToken, deadline: 400 });

    const error = (await failureOf(client.memory.update('m1', { content: 'new' }))) as APITimeoutError;

    expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'deadline', sent: 'yes' });
  });

  test.each([404, 503])('a %d after an attempt that may have taken effect has sent: maybe', async (status) => {
    world.server.answers(resetAtEnd(), refused(status));

    const error = await failureOf(world.context({ ...options, maxRetries: 1 }).memory.delete('m1'));

    expect(error).toMatchObject({ status, sent: 'maybe', attempts: [{ error: 'APIConnectionError' }, { status }] });
    expect(error.attempts[0]).not.toHaveProperty('status');
  });

  test('a DELETE that is repeated after a lost response, and gets a 404, says that the first may have been done', async () => {
    world.server.answers(resetAtEnd(), refused(404), refused(404));
    const client = world.context({ ...options, maxRetries: 1 });

    const repeated = await failureOf(client.memory.delete('m1'));
    const plain = await failureOf(client.memory.delete('m1'));

    expect(repeated.message).toContain('now. An earlier attempt of this call may have deleted it');
    expect(plain.message).not.toContain('earlier attempt');
  });

  test('a POST is not retried once an attempt may have taken effect, even if another was rejected', async () => {
    world.server.answers(refused(503), resetAtEnd(), refused(503));

    const error = await failureOf(world.gateway(options).request(POST));

    expect(error).toMatchObject({ sent: 'maybe', attempts: [{ status: 503 }, { error: 'APIConnectionError' }] });
  });
});

describe('a dispatcher or fetch that retries by itself', () => {
  const world = serve();

  /** Resets the connection of the first request, and refuses the next connection. */
  const doneThenClosed = atEnd(({ socket }) => {
    world.server.stopListening();
    socket.resetAndDestroy();
  });

  test.each(['POST', 'DELETE'] as const)(
    'a %s through a RetryAgent has sent: maybe, although its last connection was refused',
    async (method) => {
      world.server.answers(doneThenClosed);
      const dispatcher = new RetryAgent(new Agent(), { minTimeout: 10, maxRetries: 2, methods: ['POST', 'DELETE'] });
      const client = world.gateway({ dispatcher, maxRetries: 0 });

      expect(await failureOf(client.request({ ...POST, method }))).toMatchObject({ sent: 'maybe' });
      await dispatcher.close();
    },
  );

  test('a request that a dispatcher restarts after the response has begun has sent: yes', async () => {
    const controller = { abort: () => {}, pause: () => {}, resume: () => {} };
    const dispatch = (_: never, handler: Record<string, (...given: unknown[]) => void>) => {
      handler.onRequestStart?.(controller);
      handler.onResponseStart?.(controller, 200, {});
      handler.onRequestStart?.(controller);
      handler.onResponseError?.(controller, Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
      return true;
    };
    const client = world.gateway({ dispatcher: { dispatch }, maxRetries: 0 });

    expect(await failureOf(client.request(POST))).toMatchObject({ phase: 'body', sent: 'yes' });
  });

  const again: typeof fetch = (...given) => fetch(...given).catch(() => fetch(...given));
  test.each([
    { kind: 'a fetch that retries', fetch: again },
    { kind: 'a bound fetch, whose source text is hidden,', fetch: again.bind({}) },
  ])('a POST through $kind has sent: maybe, although its last connection was refused', async (given) => {
    world.server.answers(doneThenClosed);
    const client = world.gateway({ fetch: given.fetch, maxRetries: 2 });

    expect(await failureOf(client.request(POST))).toMatchObject({ sent: 'maybe' });
    expect(world.server.requests).toBe(1);
  });
});
