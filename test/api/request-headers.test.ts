import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ContextClient, GatewayClient } from 'context-gateway';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../helpers/engines.js';
import { chatParams, completion, contextAnswer } from '../helpers/samples.js';
import { KEY, TOKEN } from '../helpers/service.js';

describe.each(engines)('a request sent through $engine', ({ engine, options }) => {
  const arrived: IncomingMessage[] = [];
  const service = createServer((request, response) => {
    arrived.push(request);
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
  const platform = engine === 'fetch' ? ['accept-encoding', 'accept-language', 'sec-fetch-mode', 'user-agent'] : [];

  test('has only authorization and accept, and no custom header, if it has no body', async () => {
    const context = new ContextClient({ baseURL, sessionToken: TOKEN, ...options });
    await context.retrieve('c');
    await context.close();

    const { headers } = arrived.at(-1) as IncomingMessage;
    expect(Object.keys(headers).sort()).toEqual(['accept', 'authorization', 'connection', 'host', ...platform].sort());
    expect(headers).toMatchObject({ accept: 'application/json', authorization: `Bearer ${TOKEN}` });
  });

  test('has only content-type and content-length in addition if it has a body', async () => {
    const gateway = new GatewayClient({ baseURL, apiKey: KEY, ...options });
    await gateway.chat.completions.create(chatParams);
    await gateway.close();

    const { headers } = arrived.at(-1) as IncomingMessage;
    expect(Object.keys(headers).sort()).toEqual(
      ['accept', 'authorization', 'connection', 'content-length', 'content-type', 'host', ...platform].sort(),
    );
    expect(headers).toMatchObject({ 'content-type': 'application/json' });
  });
});
