import { APIConnectionError, type Uploadable } from 'context-gateway';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { chatParams } from '../helpers/samples.js';
import { BASE, contextAt, failureOf, gatewayAt } from '../helpers/service.js';

vi.mock('#platform', () => import('../../src/platform/browser.js'));

const PAGE = 'https://app.test';

beforeEach(() => {
  vi.stubGlobal('window', globalThis);
  vi.stubGlobal('document', {});
  vi.stubGlobal('navigator', { onLine: true });
  vi.stubGlobal('location', { origin: PAGE });
});
afterEach(() => vi.unstubAllGlobals());

/** Browsers do not say why a request failed. */
const failing = (error: unknown = new TypeError('Failed to fetch')) => vi.fn(() => Promise.reject(error));

test.each(['Failed to fetch', 'NetworkError when attempting to fetch resource.', 'Load failed'])(
  'a request to another origin that fails with "%s" is reported as a CORS problem',
  async (said) => {
    const fetch = failing(new TypeError(said));
    const options = { headers: { 'x-team': 'a' }, idempotencyKey: 'k' };
    const session = { sessionHeader: { name: 'X-Session' } };

    const errors = [
      await failureOf(gatewayAt({ fetch, apiKey: 'svc_pk_abc' }).chat.completions.create(chatParams, options)),
      await failureOf(contextAt({ fetch, ...session }).retrieve('c')),
    ] as APIConnectionError[];

    const why = `No usable response from ${BASE}: the service is not running, or something blocks the request: CORS, this page's content security policy (connect-src), a redirect, an extension, or a proxy's error page; see the browser's console. For CORS, the service must`;
    expect(errors.map(({ message }) => message)).toEqual([
      `${why} respond to the preflight (OPTIONS) and allow the origin ${PAGE} and the headers x-team, idempotency-key, content-type, authorization (POST /v1/chat/completions).`,
      `${why} respond to the preflight (OPTIONS) and allow the origin ${PAGE} and the headers x-session (GET /api/context).`,
    ]);
    for (const error of errors) {
      expect(error).toBeInstanceOf(APIConnectionError);
      expect(error).toMatchObject({ phase: 'headers', sent: 'maybe', cause: { message: said } });
    }
  },
);

test('a request to the origin of the page is not reported as a CORS problem', async () => {
  vi.stubGlobal('location', { origin: BASE });

  const error = await failureOf(contextAt({ fetch: failing() }).retrieve('c'));

  expect(String(error)).toContain(
    `No usable response from ${BASE}: the page's own server did not respond, or redirected; see the browser's console`,
  );
});

test('no cause is guessed if a worker does not know its own origin', async () => {
  vi.stubGlobal('location', undefined);

  const error = await failureOf(contextAt({ fetch: failing() }).retrieve('c'));

  expect(String(error)).toContain(`No usable response from ${BASE}: the connection failed`);
});

test('a failure in an offline browser says that it is offline', async () => {
  vi.stubGlobal('navigator', { onLine: false });

  const error = await failureOf(contextAt({ fetch: failing() }).retrieve('c'));

  expect(String(error)).toContain(`No usable response from ${BASE}: the browser is offline`);
  expect(String(error)).not.toContain('CORS');
});

test.each([
  { error: new RangeError('no handler'), because: 'it is not a network error' },
  {
    error: Object.assign(new TypeError('fetch failed'), { code: 'ECONNREFUSED' }),
    because: 'its code names the cause',
  },
  { error: 'nothing', because: 'the error is a string' },
  { error: null, because: 'the error is null' },
])('a failure is not reported as a CORS problem if $because', async ({ error }) => {
  const failure = await failureOf(contextAt({ fetch: failing(error) }).retrieve('c'));

  expect(failure).toBeInstanceOf(APIConnectionError);
  expect(String(failure)).not.toContain('CORS');
});

test('no failure outside browsers is reported as a CORS problem', async () => {
  vi.unstubAllGlobals();

  const error = await failureOf(contextAt({ fetch: failing() }).retrieve('c'));

  expect(String(error)).toContain(`No usable response from ${BASE}: the connection failed`);
});

test.each<{ kind: string; file: Uploadable; name: string; type: string }>([
  { kind: 'bytes', file: new Uint8Array([1, 2, 3]), name: 'file', type: '' },
  { kind: 'a view of a larger buffer', file: new Uint8Array([0, 1, 2, 3, 4]).subarray(1, 4), name: 'file', type: '' },
  { kind: 'an ArrayBuffer', file: new Uint8Array([1, 2, 3]).buffer, name: 'file', type: '' },
  {
    kind: 'a Blob',
    file: new Blob([new Uint8Array([1, 2, 3])], { type: 'image/png' }),
    name: 'file',
    type: 'image/png',
  },
  { kind: 'a File', file: new File([new Uint8Array([1, 2, 3])], 'own.bin'), name: 'own.bin', type: '' },
])('$kind is uploaded as FormData, whose content-type the platform sets', async ({ file, name, type }) => {
  const fetch = vi.fn(async (_url: string, _init: RequestInit) => Response.json({ id: 'f1' }));
  const progress: unknown[] = [];

  await gatewayAt({ fetch: fetch as never, apiKey: 'svc_pk_abc' }).files.upload(
    { file, purpose: 'test' },
    { onProgress: (...told) => progress.push(told) },
  );

  const init = fetch.mock.calls[0]?.[1];
  const body = init?.body as FormData;
  const sent = body.get('file') as File;
  expect(init?.headers).not.toHaveProperty('content-type');
  expect(init).toMatchObject({ redirect: 'error', credentials: 'omit' });
  expect([...body.keys()]).toEqual(['purpose', 'file']);
  expect({ name: sent.name, type: sent.type }).toEqual({ name, type });
  expect(new Uint8Array(await sent.arrayBuffer())).toEqual(new Uint8Array([1, 2, 3]));
  expect(progress).toEqual([
    [0, 3],
    [3, 3],
  ]);
});

test.each<{ file: unknown; says: string }>([
  {
    file: new Blob().stream(),
    says: 'browsers cannot stream an upload; pass a Blob or a File, such as await new Response(stream).blob()',
  },
  {
    file: (async function* () {})(),
    says: 'browsers cannot stream an upload; pass a Blob or a File, such as await new Response(stream).blob()',
  },
  { file: { path: '/etc/hosts' }, says: '{ path } works on Node, Bun and Deno only; pass a Blob or a File' },
  { file: 'text', says: 'expected a File, Blob, Uint8Array or ArrayBuffer' },
])('a page rejects what it cannot upload before it reads the key: $says', async ({ file, says }) => {
  const apiKey = vi.fn(() => 'svc_pk_abc');

  const error = await failureOf(gatewayAt({ apiKey }).files.upload({ file: file as Uploadable, purpose: 'test' }));

  expect(error).toMatchObject({ name: 'RequestValidationError', issues: [{ path: ['file'], message: says }] });
  expect(apiKey).not.toHaveBeenCalled();
});
