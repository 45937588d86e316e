import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ConfigurationError, GatewayClient, RateLimitError, type RateLimiter } from '../../src/index.js';
import { connectionError } from '../../src/platform/failure.js';
import { meaningInFetch } from '../../src/platform/meaning.js';
import { CallTimeouts, LiveCalls } from '../../src/request/timeouts.js';
import { engines } from '../helpers/engines.js';
import { manualRuntime } from '../helpers/manual-runtime.js';
import { bytesOf } from './behaviours.js';
import { atEnd } from './fault-server.js';
import { failureOf, KEY, POST, serve, until } from './world.js';

describe('timeouts of a call', () => {
  test('still stop the current work when earlier work that timed out settles late', async () => {
    const runtime = manualRuntime();
    const timeouts = new CallTimeouts(runtime, new LiveCalls(), undefined, 120_000, 1_000);
    let settleLate!: () => void;
    timeouts.startAttempt(100, 0);
    const first = timeouts.wait(new Promise<void>((resolve) => (settleLate = resolve)));
    const given = failureOf(first);
    await runtime.advance(100);
    expect(await given).toMatchObject({ kind: 'attempt' });

    const second = failureOf(timeouts.wait(new Promise(() => {})));
    settleLate();
    await runtime.advance(1_000);

    expect(await second).toMatchObject({ kind: 'deadline' });
    timeouts.end();
  });

  test('reject the call even if stopping its work throws', async () => {
    const timeouts = new CallTimeouts(manualRuntime(), new LiveCalls(), undefined, 120_000);
    const error = failureOf(
      timeouts.wait(new Promise(() => {}), () => {
        throw new Error('cannot stop');
      }),
    );

    expect(() => timeouts.close()).toThrow('cannot stop');

    expect(await error).toMatchObject({ name: 'ClientClosedError' });
  });
});

describe('an error of a call that may have had an effect', () => {
  test.each(['EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN'])(
    'with %s has sent: maybe on an open connection, and sent: no while connecting',
    (code) => {
      const progress = { phase: 'headers', sent: 'maybe' } as const;
      const broken = Object.assign(new Error(code), { code, syscall: 'read' });
      const refused = Object.assign(new Error(code), { code, syscall: 'connect' });
      const request = { origin: 'http://localhost', meaningOf: meaningInFetch, sendsOnce: true };

      expect(connectionError(broken, progress, request)).toMatchObject(progress);
      expect(connectionError(refused, progress, request)).toMatchObject({ phase: 'connect', sent: 'no' });
    },
  );

  test('does not show an error code of the wrong format, which may be a secret', () => {
    const error = connectionError(Object.assign(new Error('x'), { code: `${KEY} leaked` }), {
      phase: 'headers',
      sent: 'maybe',
    });

    expect(`${error.message}${String(error.cause)}`).not.toContain(KEY);
  });

  test('is not retried because of a polluted prototype', async () => {
    let sent = 0;
    const fetch = async () => {
      sent += 1;
      return Response.json({}, { status: 500 });
    };
    const gateway = new GatewayClient({ baseURL: 'https://service.test', apiKey: KEY, maxRetries: 5, fetch });
    Object.defineProperty(Object.prototype, 'wait', { value: 1, configurable: true, writable: true });
    const error = await failureOf(gateway.request(POST));
    Reflect.deleteProperty(Object.prototype, 'wait');

    expect(error).toMatchObject({ status: 500 });
    expect(sent).toBe(1);
  });
});

describe("a user's rate limiter", () => {
  const fail = () => {
    throw new Error('no');
  };
  let sent = 0;
  const gateway = (pacing: unknown, status = 200) => {
    sent = 0;
    const fetch = async () => {
      sent += 1;
      return Response.json({ fine: true }, { status });
    };
    const given = { baseURL: 'https://service.test', apiKey: KEY, maxRetries: 0, fetch };
    return new GatewayClient({ ...given, pacing: pacing as RateLimiter });
  };

  test.each([
    ['throws on release', { acquire: () => ({ release: fail }) }],
    ['rejects on release', { acquire: () => ({ release: () => Promise.reject(new Error('no')) }) }],
    ['returns no permit', { acquire: () => undefined }],
  ])('that %s does not fail the call', async (_, pacing) => {
    expect(await gateway(pacing).request(POST)).toEqual({ fine: true });
  });

  test('that throws on acquire leads to a ConfigurationError, and nothing is sent', async () => {
    expect(await failureOf(gateway({ acquire: fail }).request(POST))).toBeInstanceOf(ConfigurationError);
    expect(sent).toBe(0);
  });

  test('that throws on hold does not hide the 429', async () => {
    const pacing = { acquire: () => ({ release: () => {}, hold: fail }) };

    expect(await failureOf(gateway(pacing, 429).request(POST))).toBeInstanceOf(RateLimitError);
  });

  test('whose release throws does not prevent an abort', async () => {
    const controller = new AbortController();
    const pacing = { acquire: () => ({ ready: new Promise(() => {}), release: fail }) };
    const call = failureOf(gateway(pacing).request(POST, { signal: controller.signal }));

    controller.abort();

    expect(await call).toMatchObject({ name: 'AbortError' });
  });
});

test('a call with a slow key function respects a retry_after that another call received meanwhile', async () => {
  const sent: number[] = [];
  const fetch = async () => {
    sent.push(performance.now());
    const error = { message: 'slow', type: 'rate_limit_error', retry_after: 1 };
    return sent.length === 1 ? Response.json({ error }, { status: 429 }) : Response.json({});
  };
  let reads = 0;
  const slowSecond = async (): Promise<string> => {
    reads += 1;
    if (reads === 2) await new Promise((resolve) => setTimeout(resolve, 200));
    return KEY;
  };
  const gateway = new GatewayClient({ baseURL: 'https://service.test', apiKey: slowSecond, fetch });

  await Promise.all([gateway.request(POST), gateway.request(POST)]);

  expect((sent[1] as number) - (sent[0] as number)).toBeGreaterThanOrEqual(990);
});

describe.each(engines)('$engine', ({ options }) => {
  const world = serve();

  test('bytes after a compressed response do not keep its connection open', async () => {
    const head = { 'content-type': 'application/json', 'content-encoding': 'gzip', 'content-length': 1e6 };
    world.server.answers(flooding(bytesOf(200, gzipSync('[]'), head)));

    await world
      .gateway({ ...options, timeout: 3_000 })
      .presets.list()
      .catch(() => {}); // an engine may reject the trailing bytes

    await until(() => world.server.used === 0);
  });
});

/** Sends these bytes, and more until the connection closes. */
const flooding = (bytes: Buffer) =>
  atEnd(({ socket }) => {
    socket.write(bytes);
    const more = setInterval(() => socket.write('more'), 5);
    socket.once('close', () => clearInterval(more));
  });
