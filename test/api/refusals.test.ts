import { APIError } from 'context-gateway';
import { describe, expect, test } from 'vitest';
import { chatParams } from '../helpers/samples.js';
import { BASE, cannedService, contextAt, failureOf, gatewayAt, json, KEY, TOKEN, text } from '../helpers/service.js';

const { answers, requests } = cannedService();

const create = () => gatewayAt().chat.completions.create(chatParams);
const retrieve = () => contextAt().retrieve('c');

describe('both error formats are read in both areas', () => {
  const { message, ...fields } = { message: 'gone', type: 'invalid_request_error', param: 'model', code: 'c' };

  test.each<{ as: string; body: object; fields: Record<string, string | undefined> }>([
    { as: 'the Gateway format, wrapped', body: { error: { message, ...fields } }, fields },
    { as: 'the Gateway format, bare', body: { message, ...fields }, fields },
    { as: 'the Context format', body: { success: false, error: message }, fields: { type: undefined } },
  ])('$as', async ({ body, fields }) => {
    answers(json(body as never, { status: 404 }));

    for (const [area, call] of [
      ['gateway', create],
      ['context', retrieve],
    ] as const) {
      const error = await failureOf(call());
      expect(error).toMatchObject({ name: 'NotFoundError', area, body, ...fields });
      expect(String(error)).toContain('404 gone');
    }
  });

  test.each([
    { body: [1, 2], as: 'an array' },
    { body: 'gone', as: 'a string' },
    { body: null, as: 'null' },
    { body: { error: { error: { message: 'gone' } } }, as: 'an error inside an error' },
    { body: { error: { message: { text: 'gone' }, type: 5, code: [], param: null } }, as: 'fields of other types' },
  ])('$as is an error with the class of its status', async ({ body }) => {
    answers(json(body as never, { status: 400 }));

    for (const call of [create, retrieve]) {
      const error = (await failureOf(call())) as APIError;
      expect(error).toMatchObject({ name: 'BadRequestError', status: 400, type: undefined, body });
      expect(error.message).toMatch(/^400 \S/);
    }
  });
});

const gatewayForm = { error: { message: 'Away.', type: 'unavailable' } };
const contextForm = { success: false, error: 'Away.' };
const proxyForm = { error: { type: 'unavailable' } };
test.each<[statuses: number[], body: object, sent: string, because: string]>([
  [[400, 404, 422, 429], proxyForm, 'no', 'it rejects the request'],
  [[401, 403, 503], gatewayForm, 'no', 'the service itself rejects the request'],
  [[401, 403, 503], contextForm, 'no', 'the service itself rejects the request'],
  [[401, 403, 503], proxyForm, 'maybe', 'a proxy may respond after the work was done'],
  [[408, 409, 425, 500, 502, 504], gatewayForm, 'maybe', 'the service may have begun'],
  [[200], contextForm, 'maybe', 'the status is that of a success'],
])('an error with a status of %j and the body %j has sent: %s, because %s', async (statuses, body, sent) => {
  for (const status of statuses) {
    answers(json(body as never, { status }));

    const error = (await failureOf(create())) as APIError;

    expect(error).toMatchObject({ status, sent });
    expect(error.toJSON()).toMatchObject({ sent });
  }
});

test.each([
  [400, 'BadRequestError'],
  [401, 'AuthenticationError'],
  [402, 'APIError'],
  [403, 'PermissionDeniedError'],
  [404, 'NotFoundError'],
  [409, 'ConflictError'],
  [413, 'RequestTooLargeError'],
  [422, 'UnprocessableEntityError'],
  [429, 'RateLimitError'],
  [500, 'InternalServerError'],
  [503, 'ServiceUnavailableError'],
  [599, 'InternalServerError'],
])('%d is a %s', async (status, name) => {
  answers(text('nothing to say', { status }));

  const error = await failureOf(create());

  expect(error).toBeInstanceOf(APIError);
  expect(error).toMatchObject({ name, status, body: 'nothing to say', attempts: [{ status }] });
  expect(requests).toHaveLength(1);
});

describe('a redirect', () => {
  const headers = { location: 'https://login.test/secret?token=canary', 'content-type': 'text/html' };

  test.each([
    { status: 302, body: '<html><title>302 Found</title><h1>302 Found</h1>nginx</html>', says: '302 Found nginx. ' },
    { status: 307, body: JSON.stringify({ error: { message: 'moved' } }), says: '307 moved. ' },
    { status: 300, body: '', says: '300 ' },
  ])('is not followed, and names only the target host in the error: $says', async ({ status, body, says }) => {
    answers(text(body, { status, headers }));

    const error = (await failureOf(create())) as APIError;

    expect(error).toMatchObject({ name: 'APIError', status });
    expect(error.message).toBe(
      `${says}The service redirects to login.test. Redirects are not followed, to keep the credential on its host. ` +
        'Correct baseURL (POST /v1/chat/completions).',
    );
    expect(requests).toHaveLength(1);
  });
});

describe('a 404', () => {
  const at = { baseURL: `${BASE}/prefix` };

  test.each([
    { body: '<html><head><title>404 Not Found</title></head><body>nginx</body></html>', says: '404 nginx. ' },
    { body: '', says: '404 ' },
    { body: '{"detail":"Not Found"}', says: '404 Not Found. ' },
  ])('that does not come from the service shows where the request went: $body', async ({ body, says }) => {
    answers(text(body, { status: 404 }));
    const path = '/api/context/exclude/{conversationId}/{messageId}';
    const wrong = (of: string) =>
      `${says}This is not the service's own error. Check baseURL: the request went to ${BASE}/prefix${of}`;

    expect(await failureOf(gatewayAt(at).chat.completions.create(chatParams))).toMatchObject({
      message: `${wrong('/v1/chat/completions')} (POST /v1/chat/completions).`,
    });
    expect(await failureOf(contextAt(at).exclude('conversation-1', 'message-1'))).toMatchObject({
      message: `${wrong(path)} (PATCH ${path}).`,
    });
  });

  test.each([{ error: { message: 'gone' } }, { success: false, error: 'gone' }])(
    'that comes from the service does not suggest to check baseURL',
    async (body) => {
      answers(json(body, { status: 404 }));

      expect(String(await failureOf(create()))).toBe('NotFoundError: 404 gone (POST /v1/chat/completions)');
    },
  );
});

describe('the advice to try again, and `retryable`,', () => {
  const emptyWindow = { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '45' };
  const body = { error: { message: 'no', type: 'busy' } };

  test.each([
    ...[400, 401, 403, 404, 409, 413, 422].map((status) => ({ status, window: undefined, isAdvised: false })),
    ...[429, 503].map((status) => ({ status, window: 45_000, isAdvised: true })),
    ...[408, 425, 500, 502, 504].map((status) => ({ status, window: undefined, isAdvised: true })),
  ])(
    'with $status after an empty window: $window ms; after retry-after, it is given: $isAdvised',
    async ({ status, window, isAdvised }) => {
      answers(
        json(body, { status, headers: emptyWindow }),
        json(body, { status, headers: { ...emptyWindow, 'retry-after': '7' } }),
      );
      const ofWindow = (await failureOf(create())) as APIError;
      const ofHeader = (await failureOf(create())) as APIError;

      expect(ofWindow).toMatchObject({ retryAfter: window, rateLimit: { remaining: 0 } });
      expect(ofWindow.message.includes('. Try again in 45 s')).toBe(window !== undefined);
      // retryAfter reports the header, even where trying again cannot help.
      expect(ofHeader.retryAfter).toBe(7_000);
      expect(ofHeader.message.includes('. Try again in 7 s')).toBe(isAdvised);
      expect(ofHeader.retryable).toBe(isAdvised);
    },
  );
});

describe('the message of an error', () => {
  test.each([
    { body: { detail: 'No such model' }, says: 'No such model' },
    { body: { detail: [{ loc: ['body'], msg: 'field required', type: 'missing' }] }, says: 'field required' },
    { body: { title: 'Forbidden', detail: 'Your plan has no such model' }, says: 'Your plan has no such model' },
    { body: { title: 'Forbidden', status: 502 }, says: 'Forbidden' },
    { body: { Message: 'Not authorized' }, says: 'Not authorized' },
    { body: { success: false, errors: [{ code: 10_000, message: 'Bad token' }] }, says: 'Bad token' },
    { body: { errors: ['Bad token'] }, says: 'Bad token' },
    { body: [{ error: { code: 502, message: 'Quota exceeded' } }], says: 'Quota exceeded' },
    { body: { error: { detail: 'Quota exceeded' } }, says: 'Quota exceeded' },
    ...[{ status: 'down', since: 5 }, { errors: [] }, {}, [], null, '', { message: '' }].map((body) => ({
      ...{ body, says: 'The response contains no message' },
    })),
  ])('in $body is $says', async ({ body, says }) => {
    answers(json(body, { status: 502 }));

    const { message } = (await failureOf(create())) as APIError;

    expect(message.replace(/\.$/, '')).toBe(`502 ${says} (POST /v1/chat/completions)`);
  });

  test('names a code that is a number', async () => {
    answers(json({ error: { message: 'Busy', code: 1301 } }, { status: 502 }));

    expect(await failureOf(create())).toMatchObject({ code: '1301' });
  });
});

describe('error bodies that are pages or long texts', () => {
  test.each([
    { of: 'Express', page: '<title>Error</title><pre>Cannot POST /v1/x</pre>', line: '502 Cannot POST /v1/x' },
    {
      of: 'an app',
      page: '<?xml version="1.0"?>\n<!DOCTYPE html><title>Our app</title><script>if (a < b && c > d) { x = "</p>" }</script><style>p > a { color: red }</style><noscript>Please enable scripts</noscript>',
      line: '502 Please enable scripts',
    },
    {
      of: 'entities',
      page: '<p>can&#39;t &amp; won&#x2019;t &lt;b&gt;&nbsp;&quot;x&quot; &copy; &#0;</p>',
      line: '502 can\'t & won\u2019t <b> "x" &copy; \\u0000',
    },
    { of: 'comments', page: '<!-- if (x > 1) --><p>Busy</p><!-- cut', line: '502 Busy' },
    { of: 'a style that is cut off', page: '<h1>Busy</h1><style>p { color: red', line: '502 Busy' },
    { of: 'a tag that is cut off', page: '<h1>Busy</h1><div class="x', line: '502 Busy' },
    { of: 'plain text', page: 'upstream  failed:\n\tx < 5 and y > 3', line: '502 upstream failed: x < 5 and y > 3' },
    { of: 'styles alone', page: '<style>p { color: red }</style>', line: '502 The response contains no message' },
  ])('a body of $of becomes one clean line', async ({ page, line }) => {
    answers(text(page, { status: 502 }));

    const error = (await failureOf(create())) as APIError;

    expect(error.message.replace(/\.$/, '')).toBe(`${line} (POST /v1/chat/completions)`);
    expect(error.body).toBe(page);
  });

  test('a long HTML page is shown as a short text', async () => {
    answers(text(`<h1>Bad   gateway</h1>${'<p>please wait</p>'.repeat(500)}`, { status: 403 }));

    const { message } = (await failureOf(create())) as APIError;

    expect(message).toMatch(/^403 Bad gateway please wait/);
    expect(message.length).toBeLessThan(500);
  });

  test('a message of 1 MB is cut to 2 kB, and its control characters are escaped', async () => {
    const escaped = `a\r\nb\u001b[31m\u2028${'x'.repeat(60_000)}`;
    answers(...[escaped, 'x'.repeat(1_000_000)].map((message) => json({ error: { message } }, { status: 400 })));

    const errors = [await failureOf(create()), await failureOf(create())] as APIError[];

    expect(errors[0]?.message).toContain('a\\u000d\\u000ab\\u001b[31m\\u2028xxx');
    for (const { message } of errors) expect(message.length).toBeLessThan(2_300);
  });

  test('keys and the credential are masked wherever the service repeats them', async () => {
    const said = `wrong key ${KEY} or svc_pk_other-key_1`;
    const body = { error: { message: said, type: said, code: KEY, param: said } };
    answers(json(body, { status: 403, headers: { 'x-request-id': `r-${KEY}` } }));
    const error = (await failureOf(create())) as APIError;
    expect(error.message).toContain('wrong key *** or svc_pk_***');
    expect(error).toMatchObject({ type: 'wrong key *** or svc_pk_***', code: '***', requestId: 'r-***' });
    expect(JSON.stringify(error)).not.toContain('canary');

    answers(json({ success: false, error: `no session ${TOKEN}` }, { status: 401 }));
    expect(String(await failureOf(retrieve()))).toContain('no session ***');
  });

  test.each([200, 230, 240, 245, 250, 255])(
    'a token that begins at character %d of a page is not shown even in part',
    async (at) => {
      answers(text(`<p>${'y'.repeat(at - 1)} ${TOKEN}</p>`, { status: 502 }));

      expect(String(await failureOf(retrieve()))).not.toContain('session-');
    },
  );

  test('a response without a message is reported as such, with method, path and request id', async () => {
    answers(text('', { status: 500, headers: { 'x-request-id': 'req-9' } }));

    const error = (await failureOf(contextAt().exclude('conversation-1', 'message-1'))) as APIError;

    expect(error.message).toBe(
      '500 The response contains no message (PATCH /api/context/exclude/{conversationId}/{messageId}, request req-9).',
    );
    expect(error.requestId).toBe('req-9');
  });
});
