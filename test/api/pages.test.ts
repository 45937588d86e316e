import { APIConnectionError, type Uploadable } from 'context-gateway';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { chatParams } from '../helpers/samples.js';
import { BASE, contextAt, failureOf, gatewayAt } from '../helpers/service.js';

vi.mock('#platform', () => import('../../src/platform/browser.js'));

const PAGE = 'https://app.test';

beforeEach(() => {
  vi.stubGlobal('window', globalThis);
  vi.stubGlobal('document', {});
  vi.stubGlobal('location', { origin: PAGE });
});
afterEach(() => vi.unstubAllGlobals());

/** Browsers do not say why a request failed. */
const failing = (error: unknown = new TypeError('Failed to fetch')) => vi.fn(() => Promise.reject(error));

test('a request to another origin that fails is reported as a CORS problem', async () => {
  const fetch = failing();
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
    expect(error).toMatchObject({ phase: 'headers', sent: 'maybe', cause: { message: 'Failed to fetch' } });
  }
});

test.each([
  { name: 'location', value: { origin: BASE }, says: "the page's own server did not respond, or redirected; see" },
  { name: 'location', value: undefined, says: 'the connection failed' },
  { name: 'navigator', value: { onLine: false }, says: 'the browser is offline' },
])('with the $name $value the error says: $says', async ({ name, value, says }) => {
  vi.stubGlobal(name, value);

  const error = await failureOf(contextAt({ fetch: failing() }).retrieve('c'));

  expect(String(error)).toContain(`No usable response from ${BASE}: ${says}`);
  expect(String(error)).not.toContain('CORS');
});

test.each([
  new RangeError('no handler'),
  Object.assign(new TypeError('fetch failed'), { code: 'ECONNREFUSED' }),
  'nothing',
  null,
])('a failure of another kind is not reported as a CORS problem: %s', async (error) => {
  const failure = await failureOf(contextAt({ fetch: failing(error) }).retrieve('c'));

  expect(failure).toBeInstanceOf(APIConnectionError);
  expect(String(failure)).not.toContain('CORS');
});

test.each([
  'Accept-Encoding',
  'Origin',
  'referer',
  'Sec-Fetch-Mode',
  'proxy-x',
  'date',
  'via',
  'DNT',
  'cookie2',
  'set-cookie',
])('the header %s, which browsers leave out, is refused when the client is made', async (name) => {
  const construct = () => gatewayAt({ apiKey: 'svc_pk_abc', defaultHeaders: { [name]: 'CANARY' } });
  const message = 'is forbidden in browsers';

  expect(construct).toThrow(`defaultHeaders.${name} ${message}`);
  expect(() => contextAt({ sessionHeader: { name } })).toThrow('a browser forbids');
  const call = gatewayAt({ apiKey: 'svc_pk_abc' }).presets.list({}, { headers: { [name]: 'x' } });
  expect(String(await failureOf(call))).toContain(`headers.${name}: ${message}`);
  vi.unstubAllGlobals();
  expect(construct).not.toThrow();
});

test('a session token in a cookie is refused in a page', () => {
  expect(() => contextAt({ sessionHeader: { name: 'cookie' } })).toThrow('a browser forbids');
});

test('an upload has the type that the caller says', async () => {
  const fetch = vi.fn(async (_url: string, _init: RequestInit) => Response.json({ id: 'f1' }));
  const { files } = gatewayAt({ fetch, apiKey: 'svc_pk_abc' });
  const file = new File(['abc'], 'a.bin');

  await files.upload({ file, purpose: 'p', type: 'application/pdf' });

  const sent = (fetch.mock.calls[0]?.[1].body as FormData | undefined)?.get('file');
  expect(sent).toMatchObject({ name: 'a.bin', type: 'application/pdf', size: 3 });
});

test.each<{ kind: string; file: Uploadable; name: string; type: string }>([
  { kind: 'a view of a larger buffer', file: new Uint8Array([0, 1, 2, 3, 4]).subarray(1, 4), name: 'file', type: '' },
  { kind: 'an ArrayBuffer', file: new Uint8Array([1, 2, 3]).buffer, name: 'file', type: '' },
  { kind: 'a Blob', file: new Blob([new Uint8Array([1, 2, 3])], { type: 'a/b' }), name: 'file', type: 'a/b' },
  { kind: 'a File', file: new File([new Uint8Array([1, 2, 3])], 'own.bin'), name: 'own.bin', type: '' },
])('$kind is uploaded as FormData, whose content-type the platform sets', async ({ file, name, type }) => {
  const fetch = vi.fn(async (_url: string, _init: RequestInit) => Response.json({ id: 'f1' }));
  const progress: unknown[] = [];
  const onProgress = (...told: unknown[]) => progress.push(told);

  await gatewayAt({ fetch: fetch as never, apiKey: 'svc_pk_abc' }).files.upload({ file, purpose: 'p' }, { onProgress });

  const init = fetch.mock.calls[0]?.[1];
  const body = init?.body as FormData;
  const sent = body.get('file') as File;
  expect(init?.headers).not.toHaveProperty('content-type');
  expect(init).toMatchObject({ redirect: 'error', credentials: 'omit' });
  expect([...body.keys()]).toEqual(['purpose', 'file']);
  expect({ name: sent.name, type: sent.type }).toEqual({ name, type });
  expect(new Uint8Array(await sent.arrayBuffer())).toEqual(new Uint8Array([1, 2, 3]));
  expect(progress.map(String)).toEqual(['0,3', '3,3']);
});

test.each<{ file: unknown; says: string }>([
  { file: new Blob().stream(), says: 'browsers cannot stream an upload; pass a Blob or a File, such as await new Res' },
  { file: (async function* () {})(), says: 'browsers cannot stream an upload; pass a Blob or a File' },
  { file: { path: '/etc/hosts' }, says: '{ path } works on Node, Bun and Deno only; pass a Blob or a File' },
  { file: 'text', says: 'expected a File, Blob, Uint8Array or ArrayBuffer' },
])('a page rejects what it cannot upload before it reads the key: $says', async ({ file, says }) => {
  const apiKey = vi.fn(() => 'svc_pk_abc');

  const error = await failureOf(gatewayAt({ apiKey }).files.upload({ file: file as Uploadable, purpose: 'test' }));

  const message = expect.stringContaining(says);
  expect(error).toMatchObject({ name: 'RequestValidationError', issues: [{ path: ['file'], message }] });
  expect(apiKey).not.toHaveBeenCalled();
});
