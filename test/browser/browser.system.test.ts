import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { GatewayClient, toEventStream } from 'context-gateway';
import { createEmulator } from 'context-gateway-emulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
// @ts-expect-error: plain JavaScript, shared with the other runtimes
import { startServer } from '../../compat/server.js';
import { isTried } from '../helpers/endurance.js';
import { browsers } from './launch.js';
import { listen } from './listen.js';
import type { Actions } from './page.js';
import { bundled, pageIn } from './pages.js';

const emulator = createEmulator();
const quiet = createEmulator({ cors: { exposeHeaders: false } });
let gatewayUrl: string;
let quietUrl: string;
let pages: Awaited<ReturnType<typeof listen>>;
let bundle: string;

beforeAll(async () => {
  gatewayUrl = (await emulator.listen({ port: 0 })).url;
  quietUrl = (await quiet.listen({ port: 0 })).url;
  bundle = await bundled('page');
  pages = await listen(answerPage);
});

afterAll(async () => {
  pages.close();
  await Promise.all([emulator.close(), quiet.close()]);
});

test('the bundle contains nothing of undici or Node', () => {
  const code = bundle.replace(/\/\*.*?\*\//gs, ''); // comments of getters stay in a bundle that is not minified
  expect(code).not.toMatch(/undici|node:|getBuiltinModule/);
});

describe.each(browsers.filter(isTried))('$name', (one) => {
  const page = pageIn(one, () => pages.url);

  /** Runs an action in the page. */
  async function act<Name extends keyof Actions>(action: Name, ...args: Parameters<Actions[Name]>) {
    const call = ([one, values]: [string, unknown[]]) =>
      (globalThis as unknown as { actions: Record<string, (...values: unknown[]) => unknown> }).actions[one]?.(
        ...values,
      );
    return (await page().evaluate(call, [action, args] as [string, unknown[]])) as Awaited<ReturnType<Actions[Name]>>;
  }

  test('streams a completion with a publishable key across origins', async () => {
    const { texts, rateLimit, keyType } = await act('stream', gatewayUrl, emulator.apiKeys.publishable);

    expect(texts.join('')).toContain('PostgreSQL');
    expect(texts.length).toBeGreaterThan(2);
    expect(rateLimit?.limit).toBe('1000');
    expect(keyType).toBe('publishable');
  });

  test('requests only authorization and content-type in the preflight', async () => {
    const { asked, url, close } = await recordPreflights();
    await act('stream', url, emulator.apiKeys.publishable).catch(() => {});
    close();

    expect(asked).toEqual(['authorization,content-type']);
  });

  test('reports a CORS problem with another origin, and what the service must allow', async () => {
    const { url, close } = await listen((_, response) => response.end());

    const { name, message, facts } = await act('refused', url, emulator.apiKeys.publishable);
    close();

    expect(name).toBe('APIConnectionError');
    expect(message).toBe(
      `No usable response from ${url}: the service is not running, or something blocks the request: CORS, this page's content security policy (connect-src), a redirect, an extension, or a proxy's error page; see the browser's console. For CORS, the service must ` +
        `respond to the preflight (OPTIONS) and allow the origin ${pages.url} and the headers content-type, authorization ` +
        '(POST /v1/presets/{presetId}/execute).',
    );
    expect(facts).not.toContain(emulator.apiKeys.publishable);
  });

  test('repeats a POST by itself if a used connection is reset, with its idempotency key', async ({ skip }) => {
    skip(one.name !== 'Chromium'); // documented of Chromium only
    const service = await resetUsedConnection();
    const attempts = await act('executeTwice', service.url, emulator.apiKeys.publishable);
    service.close();

    expect(attempts).toBe(1); // the client knows nothing of it
    expect(service.keys).toEqual([undefined, 'order-7', 'order-7']);
  });

  test('works without rate limit headers if the service does not expose them', async () => {
    const { texts, rateLimit } = await act('stream', quietUrl, quiet.apiKeys.publishable);

    expect(texts.join('')).toContain('PostgreSQL');
    expect(rateLimit).toBeUndefined();
  });

  test('rejects a secret key, even from a function, and says why', async () => {
    expect(await act('construct', 'svc_sk_canary0123456789')).toMatch(
      /ConfigurationError: .*secret key in a browser.*svc_pk_/,
    );
    expect(await act('rotatingKey', gatewayUrl, emulator.apiKeys.secret)).toMatch(/ConfigurationError: .*secret key/);
    expect(await act('construct', 'svc_sk_canary0123456789')).not.toContain('canary');
    expect(await act('construct', 'svc_pk_canary0123456789')).toBe('constructed');
  });

  test('uploads a File of a frame, with progress at its start and end', async () => {
    const { record, progress } = await act('upload', gatewayUrl, emulator.apiKeys.secret);

    expect(record).toMatchObject({ bytes: 1_000, filename: 'frame.txt' });
    expect(progress).toHaveLength(2);
  });

  test('reads a relayed completion without a key', async () => {
    expect(await act('relay', `${pages.url}/relay`)).toContain('PostgreSQL');
  });

  test('passes the suite of the other runtimes', { timeout: 60_000 }, async () => {
    const server = await startServer();
    const results = (await act('suite', server.url)) as { name: string; problem?: string }[];
    server.stop();

    expect(results.filter(({ problem }) => problem !== undefined)).toEqual([]);
    expect(results.length).toBeGreaterThanOrEqual(9);
  });

  test('does not violate the content security policy', async () => {
    const read = (name: string) => (globalThis as unknown as Record<string, string[]>)[name];
    expect(await page().evaluate(read, 'violations')).toEqual([]);
  });
});

async function answerPage(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/app.js') {
    response.setHeader('content-type', 'text/javascript');
    response.end(bundle);
  } else if (request.url === '/relay') {
    const gateway = new GatewayClient({ baseURL: gatewayUrl, apiKey: emulator.apiKeys.secret });
    const messages = [{ role: 'user' as const, content: 'We keep invoices in PostgreSQL. Where do we keep invoices?' }];
    const stream = await gateway.chat.completions.create({ model: 'atlas-small', messages, stream: true });
    response.setHeader('content-type', 'text/event-stream');
    Readable.fromWeb(toEventStream(stream) as NodeReadableStream).pipe(response);
    response.on('close', () => void gateway.close());
  } else {
    response.setHeader('content-type', 'text/html');
    const policy = "default-src 'none'; script-src 'self'; connect-src *; img-src 'self'"; // WebKit requests an icon
    response.setHeader('content-security-policy', policy);
    response.end('<!doctype html><title>test</title><script type="module" src="/app.js"></script>');
  }
}

/** A server that records the headers preflights request, and allows them. */
async function recordPreflights(): Promise<{ asked: string[]; url: string; close: () => void }> {
  const asked: string[] = [];
  const server = await listen((request, response) => {
    const headers = request.headers['access-control-request-headers'];
    if (headers !== undefined) asked.push(headers);
    response.writeHead(204, { 'access-control-allow-origin': '*', 'access-control-allow-headers': headers ?? '' });
    response.end();
  });
  return { asked, ...server };
}

/** A service that receives a POST over a used connection, and resets it before a response. Only once. */
async function resetUsedConnection(): Promise<{ keys: (string | undefined)[]; url: string; close: () => void }> {
  const keys: (string | undefined)[] = [];
  const used = new WeakSet<Socket>();
  let hasReset = false;
  const server = await listen(async (request, response) => {
    const headers = request.headers['access-control-request-headers'];
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-headers', headers ?? '');
    if (request.method === 'OPTIONS') return response.writeHead(204).end();
    for await (const _ of request); // receives all of it: the work is done, and billed
    keys.push(request.headers['idempotency-key'] as string | undefined);
    if (used.has(request.socket) && !hasReset) {
      hasReset = true;
      return request.socket.resetAndDestroy();
    }
    used.add(request.socket);
    return response.setHeader('content-type', 'application/json').end('{"output":"done"}');
  });
  return { keys, ...server };
}
