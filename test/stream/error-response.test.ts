import {
  APIError,
  ConfigurationError,
  ContextClient,
  GatewayClient,
  type RequestOptions,
  readChatCompletionStream,
  StreamError,
  toErrorData,
  toErrorResponse,
  toEventStream,
} from 'context-gateway';
import { describe, expect, test, vi } from 'vitest';
import { relayTo } from '../helpers/relay.js';
import { failureOf } from './bench.js';
import { eventResponse, streamOf } from './canned.js';
import { PARAMS } from './measure.js';
import { text } from './script.js';

const KEY = 'svc_sk_canary_0123456789';
const HOST = 'inner-host.test';

/** Internal details that a visitor must not see. */
const INNER = new RegExp(`${KEY}|canary|${HOST}|/v1/|/api/|db-7|Agency`);

const gatewayOf = (answer: () => Response | Promise<Response>) =>
  new GatewayClient({ baseURL: `https://${HOST}`, apiKey: KEY, maxRetries: 0, fetch: async () => answer() });

/** The error of a call that gets this response. */
const errorOf = (answer: () => Response | Promise<Response>, options?: RequestOptions): Promise<unknown> =>
  failureOf(
    gatewayOf(answer)
      .chat.completions.create(PARAMS, options)
      .then((stream) => stream.finalCompletion()),
  );

const refused = (status: number, error: unknown) => errorOf(() => Response.json({ error }, { status }));
const page = (status: number) =>
  errorOf(() => new Response(`<h1>nginx on ${HOST}</h1>`, { status, headers: { 'content-type': 'text/html' } }));
const streamed = (...events: string[]) => errorOf(() => eventResponse(events.join('')));
const failing = (error: Error) => errorOf(() => Promise.reject(error));

/** The response that the page gets. */
async function told(error: unknown) {
  const response = toErrorResponse(error);
  const body = await response.clone().text();
  expect(body).not.toMatch(INNER);
  expect(response.headers.get('content-type')).toBe('application/json');
  return { response, ...JSON.parse(body).error };
}

describe('an error about the request is relayed with its status and message', () => {
  const type = 'invalid_request_error';
  const unknownModel = { message: 'No model atlas-9.', type, code: 'model_not_found', param: 'model' };
  const invalid = { message: 'No such role.', type, param: 'messages' };
  const tooLong = { message: 'Too long.', type, code: 'context_length_exceeded' };

  test.each([
    { status: 404, name: 'NotFoundError', error: unknownModel, message: '404 No model atlas-9 (relayed stream).' },
    { status: 400, name: 'BadRequestError', error: invalid, message: '400 No such role (relayed stream).' },
    {
      status: 413,
      name: 'RequestTooLargeError',
      error: { message: 'Too large.' },
      message: '413 Too large (relayed stream).',
    },
    {
      status: 400,
      shown: 413,
      name: 'RequestTooLargeError',
      error: tooLong,
      message: '413 Too long (relayed stream).',
    },
  ])('$status: $error.message', async ({ status, shown = status, name, error, message }) => {
    const { response, ...facts } = await told(await refused(status, error));

    expect(response.status).toBe(shown);
    expect(facts).toEqual(error);
    const thrown = await failureOf(readChatCompletionStream(response));
    expect(thrown).toMatchObject({ ...error, name, status: shown, message });
  });

  test.each([402, 405, 418])('except %i, whose message is not for visitors', async (status) => {
    const error = await refused(status, { message: 'canary', type: 'canary', code: 'canary', param: 'canary' });
    const { response, message } = await told(error);

    expect(response.status).toBe(status === 402 ? 500 : status);
    expect(message).toMatch(/request/);
    expect(JSON.stringify(toErrorData(error))).not.toContain('canary');
  });

  test.each([
    { status: 429, name: 'RateLimitError', type: 'rate_limit_error' },
    { status: 503, name: 'ServiceUnavailableError', type: 'service_unavailable' },
  ])('$status: with its retry_after', async ({ status, name, type }) => {
    const error = { message: 'Slow down.', type, retry_after: 7 };
    const { response, ...facts } = await told(await refused(status, error));

    expect(response.status).toBe(status);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(facts).toEqual(error);
    const thrown = await failureOf(readChatCompletionStream(response));
    expect(thrown).toMatchObject({ name, status, type, retryAfter: 7_000, retryable: true });
    expect((thrown as Error).message).toBe(`${status} Slow down. Try again in 7 s (relayed stream).`);
  });

  test('Retry-After is rounded up to whole seconds', async () => {
    const given = { message: '429 Slow down.', area: 'gateway', sent: 'no', retryAfter: 1_200 } as const;
    const details = { ...given, body: {}, headers };

    const { response } = await told(new APIError(429, details));

    expect(response.headers.get('retry-after')).toBe('2');
  });

  test('an invalid argument is a 400 that names it', async () => {
    const { completions } = gatewayOf(() => Response.json({})).chat;
    const { response, ...facts } = await told(await failureOf(completions.create({ ...PARAMS, temperature: 3 })));

    expect(response.status).toBe(400);
    expect(facts).toEqual({ message: 'temperature: expected a number of at most 2.', type, param: 'temperature' });
  });

  test('an error inside a stream keeps its fields, and its message does not show the status 200', async () => {
    const error = { message: 'Overloaded.', type: 'overloaded_error', code: 'busy', retry_after: 3 };
    const events = [text('The '), `event: error\ndata: ${JSON.stringify({ error })}\n\n`];
    const stream = await streamOf(events.join(''));

    const relayed = await failureOf((await readChatCompletionStream(toEventStream(stream))).finalCompletion());

    expect(relayed).toBeInstanceOf(StreamError);
    expect(relayed).toMatchObject({ type: 'overloaded_error', code: 'busy', retryAfter: 3_000 });
    expect((relayed as Error).message).toBe('Overloaded. Try again in 3 s (relayed stream).');
    const { response, ...facts } = await told(await streamed(...events));
    expect(response.status).toBe(502);
    expect(facts).toEqual(error);
  });
});

const headers = { get: () => undefined, toHeaders: () => new Headers() };
const silent = { message: 'The server could not handle the request.', type: 'server_error' };
const unusable = { message: 'The service sent no usable response.', type: 'server_error' };

describe('an internal error of the server is not revealed', () => {
  const words = { message: `The key ${KEY} of the Agency plan`, type: 'authentication_error', code: 'canary' };

  test.each([
    ...[401, 402, 403, 407].map((status) => ({
      what: `a key rejected with ${status}`,
      of: () => refused(status, words),
    })),
    { what: 'a redirect', of: () => errorOf(() => Response.redirect(`https://${HOST}/login`, 307)) },
    { what: 'an invalid configuration', of: async () => new ConfigurationError(`apiKey ${KEY} is malformed.`) },
    { what: 'an invalid option of the call', of: () => errorOf(() => Response.json({}), { timeout: -1 }) },
    { what: 'an exception in the server', of: async () => new TypeError(`${HOST} is undefined`) },
    { what: 'undefined', of: async () => undefined },
  ])('$what is a plain 500', async ({ of }) => {
    const { response, ...facts } = await told(await of());

    expect(response.status).toBe(500);
    expect(facts).toEqual(silent);
    expect(await failureOf(readChatCompletionStream(response))).toMatchObject({
      name: 'InternalServerError',
      code: undefined,
      message: '500 The server could not handle the request (relayed stream).',
    });
  });

  test.each([
    { what: 'a lost connection', of: () => failing(Object.assign(new TypeError(HOST), { code: 'ECONNRESET' })) },
    { what: 'a response that is not a stream', of: () => page(200) },
    { what: 'a response that is not a completion', of: () => errorOf(() => Response.json({ hello: HOST })) },
    { what: 'a stream that broke off', of: () => streamed(text('The ')) },
    { what: 'a 502 of the service', of: () => refused(502, { message: 'db-7 is down', code: 'canary' }) },
    { what: 'an invalid status', of: () => Promise.resolve(strange(999)) },
  ])('$what is a 502', async ({ of }) => {
    const { response, ...facts } = await told(await of());

    expect(response.status).toBe(502);
    expect(facts).toEqual(unusable);
  });

  test.each([
    { status: 404, message: 'The service rejected the request.' },
    { status: 429, message: 'Too many requests.' },
    { status: 503, message: 'The service is temporarily unavailable.' },
  ])("a proxy's error page keeps its status $status, but not its text", async ({ status, message }) => {
    expect(await told(await page(status))).toMatchObject({ response: { status }, message });
  });

  test('a timeout is a 504', async () => {
    const slow = () => new Promise<never>(() => {});

    for (const options of [{ timeout: 20 }, { deadline: 20 }, { signal: AbortSignal.timeout(20) }]) {
      const { response, message } = await told(await errorOf(slow, options));
      expect([response.status, message]).toEqual([504, 'The service did not respond in time.']);
    }
  });

  test("a call ended by the page's own signal is a 499", async () => {
    const { response } = await told(await errorOf(() => Response.json({}), { signal: AbortSignal.abort() }));

    expect(response.status).toBe(499);
  });

  test.each([
    { status: 401, said: 'canary', message: 'Your session has expired. Sign in again.' },
    { status: 403, said: 'canary', message: 'You have no access to this conversation.' },
    { status: 404, said: 'No such conversation.', message: 'No such conversation.' },
  ])('a $status of the Context API is told as: $message', async ({ status, said, message }) => {
    const fetch = async () => Response.json({ success: false, error: said }, { status });
    const given = { baseURL: `https://${HOST}`, sessionToken: 'canary-0123456789', maxRetries: 0, fetch };

    const shown = await told(await failureOf(new ContextClient(given).retrieve('c')));

    expect(shown).toMatchObject({ response: { status }, message });
  });

  test('an error event follows the same rule', async () => {
    const relayed = async (error: Error) => {
      const source = new ReadableStream<Uint8Array>({ pull: () => Promise.reject(error) });
      return new Response(toEventStream(await readChatCompletionStream(source))).text();
    };
    const odd = await streamOf('data: [1]\n\n');

    for (const event of [await relayed(new Error(HOST)), await new Response(toEventStream(odd)).text()])
      expect(event).toBe(
        'event: error\ndata: {"error":{"message":"The stream was interrupted.","type":"stream_error"}}\n\n',
      );
  });
});

/** An error with a status that HTTP allows and `Response` rejects. */
const strange = (status: number) =>
  new APIError(status, { message: `${status} ${HOST}`, area: 'gateway', sent: 'no', body: {}, headers });

test('the relay of the examples shows errors of the service, but not that its own key is rejected', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const ask = async (status: number, error: object) => {
    const app = relayTo(gatewayOf(() => Response.json({ error }, { status })));
    const body = JSON.stringify({ messages: PARAMS.messages });
    return failureOf(readChatCompletionStream(await app.request('/chat', { method: 'POST', body })));
  };

  const busy = await ask(429, { message: 'Slow down.', type: 'rate_limit_error', retry_after: 5 });
  const wrongKey = await ask(403, { message: 'Not with this key.', type: 'permission_error' });

  expect(busy).toMatchObject({ name: 'RateLimitError', type: 'rate_limit_error', retryAfter: 5_000 });
  expect((busy as Error).message).toBe('429 Slow down. Try again in 5 s (relayed stream).');
  expect(wrongKey).toMatchObject({ name: 'InternalServerError', status: 500, type: 'server_error' });
  expect(log.mock.calls).toMatchObject([[{ name: 'RateLimitError' }], [{ name: 'PermissionDeniedError' }]]);
  log.mockRestore();
});
