import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Runtime } from '../../src/base/runtime.js';
import { GatewayClient } from '../../src/index.js';
import { engines } from '../helpers/engines.js';
import { failureOf } from '../helpers/service.js';
import { eventOf, headOf, json } from './behaviours.js';
import { atEnd } from './fault-server.js';
import { GET, KEY, STREAM, serve, until, watched } from './world.js';

/** The timeout, deadline or idle time of a call: longer than any test machine needs. */
const LIMIT = 60_000;

/** A client's clock and timers, and an event loop that can be blocked until its limit is over. */
function blockable() {
  let blocked = 0;
  const timers = new Map<object, () => void>();
  const runtime = watched({
    now: () => performance.now() + blocked,
    setTimer: (callback, ms) => {
      if (ms < 1_000 || ms > LIMIT) return setTimeout(callback, ms);
      const timer = {};
      timers.set(timer, callback);
      return timer;
    },
    clearTimer: (timer) => {
      if (!timers.delete(timer as object)) clearTimeout(timer as NodeJS.Timeout);
    },
  });
  /** Lets time pass, without a turn of the event loop for its timers. */
  const pass = (ms: number): void => {
    blocked += ms;
    for (const [timer, fire] of [...timers]) {
      timers.delete(timer);
      fire();
    }
  };
  /** As a blocked event loop does, fires them while the response that `act` writes is still unread in its socket. */
  const block = (act: () => unknown): void =>
    void setImmediate(() => {
      act();
      pass(LIMIT + 500);
    });
  return { runtime, block, pass };
}

describe.each(engines)('$engine', ({ options }) => {
  const world = serve();

  test.each([{ timeout: LIMIT }, { timeout: 10 * LIMIT, deadline: LIMIT }])(
    'a response that arrived in time does not end with %j, however long the event loop was blocked',
    async (limits) => {
      const { runtime, block } = blockable();
      world.server.answers(
        json({ warm: 1 }),
        atEnd((turn) => block(() => json({ a: 1 }).act(turn))),
      );
      const client = world.gateway({ ...options, maxRetries: 0 }, runtime);
      await client.request(GET);

      expect(await client.request(GET, limits)).toEqual({ a: 1 });
    },
  );

  /** Reads a stream of two events, of which the second comes by `act` once the first was read. */
  async function readText(runtime: Runtime, act: (sendLast: () => void) => unknown): Promise<string> {
    let text = '';
    world.server.answers(
      atEnd(async ({ socket }) => {
        socket.write(headOf(200, { 'content-type': 'text/event-stream' }) + eventOf('a'));
        await until(() => text === 'a');
        await act(() => socket.write(`${eventOf('b', 'stop')}data: [DONE]\n\n`));
      }),
    );
    const client = world.gateway({ ...options, streamIdleTimeout: LIMIT }, runtime);
    for await (const piece of (await client.chat.completions.create(STREAM)).textStream) text += piece;
    return text;
  }

  test('a stream whose event arrived in time does not end as idle', async () => {
    const { runtime, block } = blockable();

    expect(await readText(runtime, (sendLast) => block(sendLast))).toBe('ab');
  });

  test.each(['goes on', 'ends as idle'])(
    'a stream whose page was frozen for an hour %s by what comes then',
    async (end) => {
      const { runtime, pass } = blockable();
      const read = readText(runtime, async (sendLast) => {
        pass(60 * LIMIT);
        await sleep(200); // longer than the events that had arrived need
        if (end === 'goes on') sendLast();
        else pass(LIMIT + 500);
      });

      if (end === 'goes on') expect(await read).toBe('ab');
      else expect(await failureOf(read)).toMatchObject({ name: 'APITimeoutError', kind: 'idle' });
    },
  );
});

describe('mocked timers', () => {
  afterEach(() => {
    mock.timers.reset();
    vi.useRealTimers();
  });
  const silent: typeof fetch = (_, init) =>
    new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
  const client = (limits: object) =>
    new GatewayClient({ baseURL: 'https://service.test', apiKey: KEY, maxRetries: 0, fetch: silent, ...limits });

  test.each(['timeout', 'deadline'] as const)('of node:test end a call by its %s', async (limit) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const failure = failureOf(client({ [limit]: 5_000 }).presets.list());
    await new Promise(setImmediate);
    mock.timers.tick(4_999);
    await new Promise(setImmediate);
    mock.timers.tick(1);

    expect(await failure).toMatchObject({ name: 'APITimeoutError' });
  });

  test.each(['timeout', 'deadline'] as const)(
    'of vitest, with and without the clock, end a call by its %s',
    async (limit) => {
      for (const toFake of [
        ['setTimeout', 'clearTimeout'],
        ['setTimeout', 'clearTimeout', 'performance'],
      ] as const) {
        vi.useFakeTimers({ toFake: [...toFake] });
        const failure = failureOf(client({ [limit]: 5_000 }).presets.list());
        await vi.advanceTimersByTimeAsync(5_000);

        expect(await failure).toMatchObject({ name: 'APITimeoutError' });
        vi.useRealTimers();
      }
    },
  );
});

describe("a dispatcher's own timers", () => {
  const world = serve();

  test('end neither a slow response nor a slow stream: only the limits of the client apply', async () => {
    const dispatcher = new Agent({ headersTimeout: 100, bodyTimeout: 100 });
    const late = (act: () => void) => void setTimeout(act, 1_500);
    world.server.decides(({ headers }) =>
      headers.get('accept') === 'text/event-stream'
        ? atEnd(({ socket }) => {
            socket.write(headOf(200, { 'content-type': 'text/event-stream' }) + eventOf('a'));
            late(() => socket.write(`${eventOf('b', 'stop')}data: [DONE]\n\n`));
          })
        : atEnd((turn) => late(() => void json({ a: 1 }).act(turn))),
    );
    const client = world.gateway({ dispatcher, maxRetries: 0 });

    // Proves that they end a plain request. Without it this test could not fail.
    const left = request(`${world.server.url}/v1/things`, { dispatcher }).then(
      () => 'answered',
      (error) => error.code,
    );
    const stream = client.chat.completions.create(STREAM).then((opened) => opened.finalCompletion());

    expect(await client.request(GET)).toEqual({ a: 1 });
    expect((await stream).choices[0]?.message.content).toBe('ab');
    expect(await left).toBe('UND_ERR_HEADERS_TIMEOUT');
    await dispatcher.close();
  });
});
