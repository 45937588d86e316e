import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ContextClient, GatewayClient } from 'context-gateway';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { userAgent } from '../../src/platform/environment.js';
import { engines } from '../helpers/engines.js';
import { chatParams, completion, contextAnswer } from '../helpers/samples.js';
import { KEY, TOKEN } from '../helpers/service.js';

describe.each(engines)('a request sent through $engine', ({ engine, options }) => {
  const arrived: IncomingMessage[] = [];
  let answer = 200;
  const service = createServer((request, response) => {
    arrived.push(request);
    response.statusCode = answer;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.method === 'POST' ? completion() : contextAnswer()));
  });
  let baseURL = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    baseURL = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    service.closeAllConnections();
    service.close();
  });
  /** Headers that the platform's fetch adds to every request. */
  const platform =
    engine === 'fetch' ? ['accept-encoding', 'accept-language', 'cache-control', 'pragma', 'sec-fetch-mode'] : [];
  const always = ['accept', 'authorization', 'connection', 'host', 'user-agent', ...platform];

  test('has only authorization, accept and user-agent, and with a body its type and length', async () => {
    const context = new ContextClient({ baseURL, sessionToken: TOKEN, ...options });
    await context.retrieve('c');
    await context.compact('c').catch(() => {});
    await context.close();

    const [get, post] = arrived.slice(-2).map(({ headers }) => headers);
    expect(Object.keys(get ?? {}).sort()).toEqual([...always].sort());
    expect(get).toMatchObject({ accept: 'application/json', authorization: `Bearer ${TOKEN}` });
    expect(Object.keys(post ?? {}).sort()).toEqual([...always, 'content-length', 'content-type'].sort());
    expect(post).toMatchObject({ 'content-type': 'application/json' });
  });

  test('names its call and its attempt if it is a retry, and not before', async () => {
    answer = 503;
    const context = new ContextClient({ baseURL, sessionToken: TOKEN, ...options, maxRetries: 2 });
    const before = arrived.length;
    await context.retrieve('c').catch(() => {});
    await context.retrieve('c', { maxRetries: 0 }).catch(() => {});
    answer = 200;
    await context.close();

    const attempts = arrived.slice(before).map((request) => request.headers['x-call-attempt']);
    expect(attempts).toEqual([
      undefined,
      expect.stringMatching(/^[0-9a-z]+-1\.2$/),
      expect.stringMatching(/^[0-9a-z]+-1\.3$/),
      undefined,
    ]);
  });

  test('names this version and the runtime, unless the app names itself', async () => {
    const named = { ...options, defaultHeaders: { 'User-Agent': 'our-app/2' } };
    const seen: (string | undefined)[] = [];
    for (const [of, headers] of [[options], [named], [named, { 'user-agent': 'our-job/3' }]] as const) {
      const gateway = new GatewayClient({ baseURL, apiKey: KEY, ...of });
      await gateway.chat.completions.create(chatParams, { headers });
      await gateway.close();
      seen.push(arrived.at(-1)?.headers['user-agent']);
    }

    const [major] = process.versions.node.split('.');
    expect(seen).toEqual([`context-gateway/${manifest.version} node/${major}`, 'our-app/2', 'our-job/3']);
  });
});

test('a page leaves the user agent to its browser, and a runtime without a version sends none', () => {
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.stubGlobal('process', { versions: { node: '24.3.0', bun: '1.3.1' } });
  expect(userAgent()).toMatch(/^context-gateway.* bun\/1$/);
  vi.stubGlobal('process', {});
  expect(userAgent()).toBeUndefined();
  vi.unstubAllGlobals();
  vi.stubGlobal('window', {});
  vi.stubGlobal('document', {});
  expect(userAgent()).toBeUndefined();
});
