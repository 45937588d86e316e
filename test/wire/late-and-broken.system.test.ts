import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import {
  APIConnectionError,
  ConfigurationError,
  GatewayClient,
  type Permit,
  RateLimitError,
  type RateLimiter,
} from '../../src/index.js';
import { meaningOf } from '../../src/platform/codes.js';
import { connectionError } from '../../src/platform/failure.js';
import { CallTimeouts, LiveCalls } from '../../src/request/timeouts.js';
import { engines } from '../helpers/engines.js';
import { manualRuntime } from '../helpers/manual-runtime.js';
import { answer, eventOf, json, openStream, refused, resetAtEnd } from './behaviours.js';
import { atEnd, FaultServer } from './fault-server.js';
import { eager, failureOf, KEY, until } from './world.js';

const POST = { method: 'POST', path: '/v1/x', body: {} } as const;

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
      const request = { origin: 'http://localhost', meaningOf, sendsOnce: true };

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

  test('has sent: maybe if an earlier attempt may have worked, although the last was never sent', async () => {
    const server = await FaultServer.start();
    server.answers(resetAtEnd());
    const { url } = server;
    let hasBegun = false;
    const gateway = new GatewayClient({ baseURL: url, apiKey: KEY, maxRetries: 1 }, undefined, {
      ...eager,
      random: () => {
        if (hasBegun) void server.close(); // between the attempts
        return 0.05;
      },
    });
    hasBegun = true;

    const error = await failureOf(gateway.request({ method: 'DELETE', path: '/v1/x' }));

    expect(error).toBeInstanceOf(APIConnectionError);
    expect(error).toMatchObject({ sent: 'maybe' });
    expect(error.attempts).toHaveLength(2);
    await gateway.close();
  });

  test('is not retried because of a polluted prototype', async () => {
    const server = await FaultServer.start();
    server.answers(answer(500));
    const gateway = new GatewayClient({ baseURL: server.url, apiKey: KEY, maxRetries: 5 }, undefined, eager);
    Object.defineProperty(Object.prototype, 'wait', { value: 1, configurable: true, writable: true });
    const error = await failureOf(gateway.request(POST));
    Reflect.deleteProperty(Object.prototype, 'wait');

    expect(error).toMatchObject({ status: 500 });
    expect(server.turns).toHaveLength(1);
    await gateway.close();
    await server.close();
  });
});

describe("a user's rate limiter", () => {
  const cases: Record<string, RateLimiter> = {
    'throws on release': {
      acquire: () => ({
        release: () => {
          throw new Error('no');
        },
      }),
    },
    'rejects on release': {
      acquire: () => ({ release: () => Promise.reject(new Error('no')) as unknown as undefined }),
    },
    'returns no permit': { acquire: () => undefined as unknown as Permit },
  };
  test.each(Object.entries(cases))('that %s does not fail the call', async (_, pacing) => {
    const server = await FaultServer.start();
    server.answers(json({ fine: true }));
    const gateway = new GatewayClient({ baseURL: server.url, apiKey: KEY, pacing });

    expect(await gateway.request(POST)).toEqual({ fine: true });

    await gateway.close();
    await server.close();
  });

  test("a user's rate limiter that throws on acquire leads to a ConfigurationError, and nothing is sent", async () => {
    const server = await FaultServer.start();
    const pacing: RateLimiter = {
      acquire: () => {
        throw new Error('no');
      },
    };
    const gateway = new GatewayClient({ baseURL: server.url, apiKey: KEY, pacing });

    expect(await failureOf(gateway.request(POST))).toBeInstanceOf(ConfigurationError);
    expect(server.turns).toHaveLength(0);
    await gateway.close();
    await server.close();
  });

  test("a user's rate limiter that throws on hold does not hide the 429", async () => {
    const server = await FaultServer.start();
    server.answers(refused(429));
    const pacing: RateLimiter = {
      acquire: () => ({
        release: () => {},
        hold: () => {
          throw new Error('no');
        },
      }),
    };
    const gateway = new GatewayClient({ baseURL: server.url, apiKey: KEY, pacing, maxRetries: 0 });

    expect(await failureOf(gateway.request(POST))).toBeInstanceOf(RateLimitError);
    await gateway.close();
    await server.close();
  });

  test("a user's rate limiter whose release throws does not prevent an abort", async () => {
    const controller = new AbortController();
    const stuck = {
      ready: new Promise<void>(() => {}),
      release: () => {
        throw new Error('no');
      },
    };
    const pacing: RateLimiter = { acquire: () => stuck };
    const gateway = new GatewayClient({ baseURL: 'https://service.test', apiKey: KEY, pacing });
    const call = failureOf(gateway.request(POST, { signal: controller.signal }));

    controller.abort();

    expect(await call).toMatchObject({ name: 'AbortError' });
    await gateway.close();
  });
});

describe.each(engines)('$engine', ({ options }) => {
  const servers: FaultServer[] = [];
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));
  const start = async (): Promise<FaultServer> => {
    const server = await FaultServer.start();
    servers.push(server);
    return server;
  };

  test('return() of a pending textStream ends it and closes the connection', async () => {
    const server = await start();
    server.answers(openStream(eventOf('The ')));
    const gateway = new GatewayClient({ ...options, baseURL: server.url, apiKey: KEY });
    const stream = await gateway.chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: 'x' }],
      stream: true,
    });
    const texts = stream.textStream[Symbol.asyncIterator]();
    expect(await texts.next()).toEqual({ done: false, value: 'The ' });

    const pending = texts.next();
    await texts.return?.();

    expect(await pending).toMatchObject({ done: true });
    await until(() => server.used === 0);
    await gateway.close();
  });

  test('a call with a slow key function respects a retry_after that another call received meanwhile', async () => {
    const sent: number[] = [];
    const server = await start();
    server.answers(
      atEnd(({ socket, number }) => {
        sent.push(performance.now());
        const body = '{"error":{"message":"slow","type":"rate_limit_error","retry_after":1}}';
        if (number === 1)
          socket.write(
            `HTTP/1.1 429 Slow\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
          );
        else socket.write('HTTP/1.1 200 Fine\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}');
      }),
    );
    let reads = 0;
    const slowSecond = async (): Promise<string> => {
      reads += 1;
      if (reads === 2) await new Promise((resolve) => setTimeout(resolve, 200));
      return KEY;
    };
    const gateway = new GatewayClient({ ...options, baseURL: server.url, apiKey: slowSecond });

    await Promise.all([gateway.request(POST), gateway.request(POST)]);

    expect((sent[1] as number) - (sent[0] as number)).toBeGreaterThanOrEqual(990);
    await gateway.close();
  });

  test('bytes after the end of a compressed response do not keep its connection open', async () => {
    const used = new Set<Socket>();
    const server = createServer(({ socket }, response) => {
      used.add(socket);
      socket.once('close', () => used.delete(socket));
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.write(gzipSync('[]'));
      const more = setInterval(() => response.write('more'), 5);
      response.on('close', () => clearInterval(more));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const given = { ...options, baseURL: `http://127.0.0.1:${port}`, apiKey: KEY, timeout: 3_000 };
    const gateway = new GatewayClient(given, undefined, eager);

    await gateway.presets.list().catch(() => {}); // an engine may reject the trailing bytes
    await until(() => used.size === 0);

    await gateway.close();
    server.close();
  });
});
