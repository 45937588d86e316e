import { APIConnectionError } from 'context-gateway';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { chatParams } from '../helpers/samples.js';
import { BASE, contextAt, failureOf, gatewayAt } from '../helpers/service.js';

const PAGE = 'https://app.test';

beforeEach(() => {
  vi.stubGlobal('window', globalThis);
  vi.stubGlobal('document', {});
  vi.stubGlobal('navigator', { onLine: true });
  vi.stubGlobal('location', { origin: PAGE });
});
afterEach(() => vi.unstubAllGlobals());

/** What the browsers say of any request that failed: nothing. */
const failing = (error: unknown = new TypeError('Failed to fetch')) => vi.fn(() => Promise.reject(error));

test.each(['Failed to fetch', 'NetworkError when attempting to fetch resource.', 'Load failed'])(
  'a request to another origin that failed with "%s" is put down to CORS',
  async (said) => {
    const fetch = failing(new TypeError(said));
    const options = { headers: { 'x-team': 'a' }, idempotencyKey: 'k' };
    const session = { sessionHeader: { name: 'X-Session' } };

    const errors = [
      await failureOf(gatewayAt({ fetch, apiKey: 'svc_pk_abc' }).chat.completions.create(chatParams, options)),
      await failureOf(contextAt({ fetch, ...session }).retrieve('c')),
    ] as APIConnectionError[];

    const why = `No usable answer from ${BASE}: CORS is the likely cause. See the browser's console for the reason. The service must`;
    expect(errors.map(({ message }) => message)).toEqual([
      `${why} answer the preflight (OPTIONS) and allow the origin ${PAGE} and the headers x-team, idempotency-key, content-type, authorization (POST /v1/chat/completions).`,
      `${why} answer the preflight (OPTIONS) and allow the origin ${PAGE} and the headers x-session (GET /api/context).`,
    ]);
    for (const error of errors) {
      expect(error).toBeInstanceOf(APIConnectionError);
      expect(error).toMatchObject({ phase: 'headers', sent: 'maybe', cause: { message: said } });
    }
  },
);

test('a request to the origin of the page itself is not put down to CORS', async () => {
  vi.stubGlobal('location', { origin: BASE });

  const error = await failureOf(contextAt({ fetch: failing() }).retrieve('c'));

  expect(String(error)).toContain(
    `No usable answer from ${BASE}: the page's own server did not answer, or redirected; the browser's console has the reason`,
  );
});

test('nothing is guessed where a worker does not know its own address', async () => {
  vi.stubGlobal('location', undefined);

  const error = await failureOf(contextAt({ fetch: failing() }).retrieve('c'));

  expect(String(error)).toContain(`No usable answer from ${BASE}: the connection failed`);
});

test('a browser without a network is said to be offline', async () => {
  vi.stubGlobal('navigator', { onLine: false });

  const error = await failureOf(contextAt({ fetch: failing() }).retrieve('c'));

  expect(String(error)).toContain(`No usable answer from ${BASE}: the browser is offline`);
  expect(String(error)).not.toContain('CORS');
});

test.each([
  { error: new RangeError('no handler'), because: 'it is no network error' },
  {
    error: Object.assign(new TypeError('fetch failed'), { code: 'ECONNREFUSED' }),
    because: 'its code says what it is',
  },
  { error: 'nothing', because: 'it says nothing' },
  { error: null, because: 'it is nothing' },
])('a failure is not put down to CORS where $because', async ({ error }) => {
  const failure = await failureOf(contextAt({ fetch: failing(error) }).retrieve('c'));

  expect(failure).toBeInstanceOf(APIConnectionError);
  expect(String(failure)).not.toContain('CORS');
});

test('nothing is put down to CORS outside of browsers', async () => {
  vi.unstubAllGlobals();

  const error = await failureOf(contextAt({ fetch: failing() }).retrieve('c'));

  expect(String(error)).toContain(`No usable answer from ${BASE}: the connection failed`);
});
