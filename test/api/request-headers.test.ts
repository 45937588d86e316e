import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ContextClient, GatewayClient } from 'context-gateway';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../helpers/engines.js';
import { chatParams, completion, contextAnswer } from '../helpers/samples.js';
import { KEY, TOKEN } from '../helpers/service.js';

describe.each(engines)('the request as it leaves through $engine', ({ engine, options }) => {
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
  /** What the platform's own fetch adds to every request; nothing of it is ours. */
  const platform = engine === 'fetch' ? ['accept-encoding', 'accept-language', 'sec-fetch-mode', 'user-agent'] : [];

  test('a call without a body has authorization and accept, and no header of our own invention', async () => {
    const context = new ContextClient({ baseURL, sessionToken: TOKEN, ...options });
    await context.retrieve('c');
    await context.close();

    const { headers } = arrived.at(-1) as IncomingMessage;
    expect(Object.keys(headers).sort()).toEqual(['accept', 'authorization', 'connection', 'host', ...platform].sort());
    expect(headers).toMatchObject({ accept: 'application/json', authorization: `Bearer ${TOKEN}` });
  });

  test('a call with a body adds its type and length alone', async () => {
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
