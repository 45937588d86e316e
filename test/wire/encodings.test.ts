import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as zlib from 'node:zlib';
import { GatewayClient } from 'context-gateway';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failureOf } from '../helpers/service.js';

/** A frame of Zstandard that stores up to 255 bytes as they are. */
function zstd(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  const { length } = bytes;
  return Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, length, ((length << 3) | 1) & 0xff, length >> 5, 0, ...bytes]);
}

const CHUNK = '{"choices":[{"index":0,"delta":{"content":"Six."},"finish_reason":"stop"}]}';
const COMPLETION =
  '{"id":"c","object":"o","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Six."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}';
const ERROR = '{"error":{"message":"The model is busy.","type":"busy"}}';

/** Answers by the path before /v1: /whole, /error or /stream. */
const server = createServer((request, response) => {
  const [, kind = '', encoding = ''] = request.url?.split('/') ?? [];
  request.resume();
  const status = kind === 'error' ? 400 : 200;
  const type = kind === 'stream' ? 'text/event-stream' : 'application/json';
  const body = { whole: COMPLETION, error: ERROR, stream: `data: ${CHUNK}\n\ndata: [DONE]\n\n` }[kind] ?? '';
  response.writeHead(status, { 'content-type': type, 'content-encoding': encoding });
  if (encoding === 'exi') response.end(Uint8Array.from(body, (letter) => letter.charCodeAt(0) ^ 0xa5));
  else response.end(encoding === 'zstd' ? zstd(body) : body);
});
let base = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

const canReadZstd = 'createZstdDecompress' in zlib;

describe.each([
  ['undici', undefined],
  ['fetch', (url: string, init: RequestInit) => fetch(url, init)],
])('through %s', (engine, given) => {
  const ask = async (kind: string, encoding: string) => {
    const options = { apiKey: 'svc_sk_encodings', maxRetries: 0, fetch: given as typeof fetch };
    const gateway = new GatewayClient({ baseURL: `${base}/${kind}/${encoding}`, ...options });
    const params = { model: 'm', messages: [{ role: 'user' as const, content: 'When?' }] };
    try {
      if (kind !== 'stream') return await gateway.chat.completions.create(params);
      return await (await gateway.chat.completions.create({ ...params, stream: true })).finalCompletion();
    } finally {
      await gateway.close();
    }
  };

  test.each(['whole', 'error', 'stream'])(
    'a %s in an encoding that cannot be read is an error that names it',
    async (kind) => {
      // The frame of the test stores lines of a stream as they are.
      const encodings = kind === 'stream' || canReadZstd ? ['exi'] : ['zstd', 'exi'];
      for (const encoding of encodings) {
        const error = await failureOf(ask(kind, encoding));

        expect(String(error)).toContain(`The response is encoded as ${encoding}, which this platform cannot read`);
        expect(String(error)).not.toMatch(/\ufffd|busy|Six/);
      }
    },
  );

  test.runIf(engine === 'undici' && canReadZstd)('Zstandard is read where the platform can', async () => {
    expect(await ask('whole', 'zstd')).toMatchObject({ choices: [{ message: { content: 'Six.' } }] });
    expect(await ask('stream', 'zstd')).toMatchObject({ choices: [{ message: { content: 'Six.' } }] });
  });

  test.each(['utf-8', 'none', 'identity'])(
    'a body that is not encoded is read, whatever its header says: %s',
    async (name) => {
      expect(await ask('whole', name)).toMatchObject({ choices: [{ message: { content: 'Six.' } }] });
      expect(await ask('stream', name)).toMatchObject({ choices: [{ message: { content: 'Six.' } }] });
    },
  );
});

test.each([
  ['gzip', 200],
  ['gzip', 502],
  ['utf-8', 502],
  ['iso-8859-1', 502],
])('a page in Latin-1 is not taken for %s that cannot be read (%d)', async (encoding, status) => {
  const page = Uint8Array.from('Bad gateway: caf\u00e9 service down, please try again later', (one) =>
    one.charCodeAt(0),
  );
  const fetch = async () =>
    new Response(page, { status, headers: { 'content-encoding': encoding, 'content-type': 'text/plain' } });
  const gateway = new GatewayClient({ baseURL: base, apiKey: 'svc_sk_encodings', maxRetries: 0, fetch });

  expect(String(await failureOf(gateway.presets.list()))).toMatch(status === 200 ? /not JSON/ : /Bad gateway/);
});
