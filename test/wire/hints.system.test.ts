import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ClientEvent, GatewayClientOptions } from '../../src/index.js';
import { engines } from '../helpers/engines.js';
import { answer, type HeaderList, headOf, raw, rawThenReset } from './behaviours.js';
import { atEnd, type Behaviour } from './fault-server.js';
import { failureOf, GET, serve, until, watched } from './world.js';

const hintOf = (seconds: number, message = 'slow down') =>
  JSON.stringify({ error: { message, type: 'rate_limit_error', retry_after: seconds } });

/** The headers of an error, and its body `ms` later. */
const late = (body: string, ms: number, status = 429): Behaviour =>
  atEnd(async ({ socket }) => {
    socket.write(headOf(status, { 'content-type': 'application/json', 'content-length': body.length }));
    await sleep(ms);
    socket.write(body);
  });

describe.concurrent.each(engines)('$engine', ({ options }) => {
  const world = serve();

  /** The delay chosen after the first response. The call is aborted before the delay starts. */
  async function waitAfter(behaviour: Behaviour, more: GatewayClientOptions = {}): Promise<number> {
    world.server.answers(behaviour);
    const stop = new AbortController();
    let wait = Number.NaN;
    const onEvent = (event: ClientEvent): void => {
      if (event.type !== 'retry') return;
      wait = event.wait;
      stop.abort();
    };
    await failureOf(world.gateway({ ...options, onEvent, ...more }).request(GET, { signal: stop.signal }));
    return wait;
  }

  test.sequential('retry_after is read before the next attempt even if the body is late or long', async () => {
    expect(await waitAfter(late(hintOf(5), 1_200))).toBe(5_000);
    expect(await waitAfter(answer(429, hintOf(5, 'm'.repeat(70_000))))).toBe(5_000);
    expect(await waitAfter(answer(429, hintOf(5, 'm'.repeat(900_000))))).toBe(5_000);
    expect(await waitAfter(late(hintOf(4), 1_100, 503))).toBe(4_000);
  });

  test.sequential('retry_after is read even if the body arrives while the event loop is blocked', async () => {
    let blocked = false;
    const onEvent = (event: ClientEvent): void => {
      if (event.type === 'response' && !blocked) {
        blocked = true;
        setTimeout(() => block(1_100), 5);
      }
    };
    world.server.answers(late(hintOf(2), 50), answer(200));
    const before = performance.now();

    const { response } = await world
      .gateway({ ...options, onEvent })
      .request(GET)
      .withResponse();

    expect(response.attempts[1]?.delay).toBeGreaterThanOrEqual(2_000);
    expect(performance.now() - before).toBeGreaterThanOrEqual(2_000);
  });

  test.sequential('no other call is sent until the body of a 429 has arrived', async () => {
    world.server.answers(late(hintOf(30), 400), answer(200));
    const client = world.gateway({ ...options, maxRetries: 1, maxRetryAfter: 10_000 });
    const first = failureOf(client.request(GET));
    await until(() => world.server.requests === 1);
    await sleep(50);

    const stop = new AbortController();
    const second = failureOf(client.request(GET, { signal: stop.signal }));
    expect(await first).toMatchObject({ name: 'RateLimitError', retryAfter: 30_000 });
    await sleep(50);

    expect(world.server.requests).toBe(1);
    stop.abort();
    expect((await second).name).toBe('AbortError');
  });

  test.sequential('a call that is not retried does not wait for the rest of an error body', async () => {
    // Shortens the second that reading an error's body may take, and leaves the timeout as it is.
    const hurried = watched({ setTimer: (go, ms) => setTimeout(go, ms > 10_000 ? ms : ms / 20) });
    const stalled = (headers: HeaderList) => raw(headOf(429, { ...headers, 'content-length': 500 }), '{');
    for (const [headers, more] of [
      [{ 'retry-after': 3600 }, {}],
      [{}, { maxRetries: 0 }],
    ] as const) {
      world.server.answers(stalled(headers));
      const since = performance.now();

      await failureOf(world.gateway({ ...options, ...more }, hurried).request(GET, { timeout: 20_000 }));

      expect(performance.now() - since).toBeLessThan(10_000);
    }
  });

  const start = `${headOf(429, { 'content-type': 'application/json', 'content-length': 500 })}{"error":{`;
  test.sequential.each([
    { kind: 'breaks off', behaviour: rawThenReset(start), wait: 8_000 },
    { kind: 'is above its limit', behaviour: answer(429, hintOf(5, 'm'.repeat(2 ** 20))), wait: 8_000 },
    { kind: 'is still incomplete at the timeout', behaviour: raw(start), wait: 8_000 },
    { kind: 'has no retry_after', behaviour: answer(429, '{}'), wait: 0 },
    { kind: 'is not JSON', behaviour: answer(429, '<h1>Too many requests'), wait: 0 },
  ])('the delay is $wait ms if the body of a 429 $kind', async ({ behaviour, wait }) => {
    expect(await waitAfter(behaviour, { timeout: 300 })).toBe(wait);
  });

  test.sequential('an error that breaks off has the wait before a retry, which maxRetryAfter limits', async () => {
    world.server.answers(rawThenReset(start));
    const retries: ClientEvent[] = [];
    const onEvent = (event: ClientEvent) => void (event.type === 'retry' && retries.push(event));

    const error = await failureOf(world.gateway({ ...options, onEvent, maxRetryAfter: 7_999 }).request(GET));

    expect(error).toMatchObject({ status: 429, retryAfter: 8_000 });
    expect(retries).toEqual([]);
  });

  test.sequential('the largest of several Retry-After headers wins', async () => {
    const twice = headOf(429, { 'retry-after': '1\r\nRetry-After: 3\r\nretry-after: soon', 'content-length': 0 });

    expect(await waitAfter(raw(twice))).toBe(3_000);
  });
});

/** Blocks the event loop. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
