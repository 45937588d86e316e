import { APIError, type ContextGatewayError } from 'context-gateway';
import { describe, expect, test } from 'vitest';
import { chatParams } from '../helpers/samples.js';
import { BASE, cannedService, contextAt, failureOf, gatewayAt, json, KEY, TOKEN, text } from '../helpers/service.js';

const { answers, requests } = cannedService();

const create = () => gatewayAt().chat.completions.create(chatParams);
const retrieve = () => contextAt().retrieve('c');

describe('both error formats are read in both areas', () => {
  const gatewayForm = { message: 'gone', type: 'invalid_request_error', param: 'model', code: 'model_not_found' };

  test.each([
    { body: { error: gatewayForm }, form: 'wrapped' },
    { body: gatewayForm, form: 'bare' },
  ])('the Gateway format, $form', async ({ body }) => {
    answers(json(body, { status: 404 }));

    for (const [area, call] of [
      ['gateway', create],
      ['context', retrieve],
    ] as const) {
      const error = await failureOf(call());
      expect(error).toMatchObject({ name: 'NotFoundError', area, body, ...omitMessage(gatewayForm) });
      expect(String(error)).toContain('404 gone');
    }
  });

  test('the Context format', async () => {
    answers(json({ success: false, error: 'gone' }, { status: 404 }));

    for (const call of [create, retrieve]) {
      const error = await failureOf(call());
      expect(error).toMatchObject({ name: 'NotFoundError', type: undefined, code: undefined, param: undefined });
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

describe('an error says whether the service may have carried out the call', () => {
  const gatewayForm = { error: { message: 'Away.', type: 'unavailable' } };
  const contextForm = { success: false, error: 'Away.' };
  const proxyForm = { error: { type: 'unavailable' } };

  test.each([
    ...[400, 404, 422, 429].map((status) => ({
      status,
      body: proxyForm,
      sent: 'no',
      because: 'it rejects the request',
    })),
    ...[401, 403, 503].flatMap((status) => [
      { status, body: gatewayForm, sent: 'no', because: 'the service itself rejects the request' },
      { status, body: contextForm, sent: 'no', because: 'the service itself rejects the request' },
      { status, body: proxyForm, sent: 'maybe', because: 'a proxy may respond after the work was done' },
    ]),
    ...[408, 409, 425, 500, 502, 504].map((status) => ({
      status,
      body: gatewayForm,
      sent: 'maybe',
      because: 'the service may have begun',
    })),
    { status: 200, body: contextForm, sent: 'maybe', because: 'the status is that of a success' },
  ])('a $status with $body has sent: $sent, because $because', async ({ status, body, sent }) => {
    answers(json(body as never, { status }));

    const error = (await failureOf(create())) as APIError;

    expect(error).toMatchObject({ status, sent });
    expect(error.toJSON()).toMatchObject({ sent });
  });
});

function omitMessage({ message: _, ...rest }: Record<string, string>): Record<string, string> {
  return rest;
}

describe('every status has its class', () => {
  test.each([
    [400, 'BadRequestError'],
    [401, 'AuthenticationError'],
    [402, 'APIError'],
    [403, 'PermissionDeniedError'],
    [404, 'NotFoundError'],
    [405, 'APIError'],
    [409, 'APIError'],
    [413, 'APIError'],
    [418, 'APIError'],
    [422, 'APIError'],
    [429, 'RateLimitError'],
    [451, 'APIError'],
    [500, 'InternalServerError'],
    [502, 'InternalServerError'],
    [503, 'ServiceUnavailableError'],
    [504, 'InternalServerError'],
    [599, 'InternalServerError'],
  ])('%d is a %s', async (status, name) => {
    answers(text('nothing to say', { status }));

    const error = await failureOf(create());

    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ name, status, body: 'nothing to say', attempts: [{ status }] });
    expect(requests).toHaveLength(1);
  });

  test.each([300, 301, 302, 307, 308])(
    '%d is not followed, and its error shows only the host of the redirect',
    async (status) => {
      answers(text(null, { status, headers: { location: 'https://elsewhere.test/secret/path?token=canary' } }));

      const error = await failureOf(create());

      expect(error).toMatchObject({ name: 'APIError', status });
      expect(String(error)).toContain('elsewhere.test');
      expect(String(error)).not.toMatch(/secret|canary/);
      expect(requests).toHaveLength(1);
    },
  );
});

describe('a redirect', () => {
  const headers = { location: 'https://login.test/secret?token=canary', 'content-type': 'text/html' };

  test.each([
    { body: '<html><title>302 Found</title><h1>302 Found</h1>nginx</html>', says: '302 Found nginx. ' },
    { body: JSON.stringify({ error: { message: 'moved' } }), says: '302 moved. ' },
    { body: '', says: '302 ' },
  ])('names the target host in the error, whatever its body: $says', async ({ body, says }) => {
    answers(text(body, { status: 302, headers }));

    const error = (await failureOf(create())) as APIError;

    expect(error.message).toBe(
      `${says}The service redirects to login.test. Redirects are not followed, to keep the credential on its host. ` +
        'Correct baseURL (POST /v1/chat/completions).',
    );
  });
});

describe('a 404', () => {
  const at = { baseURL: `${BASE}/prefix` };

  test.each([
    {
      body: '<html><head><title>404 Not Found</title></head><body>nginx</body></html>',
      says: '404 nginx. ',
    },
    { body: 'default backend - 404', says: '404 default backend - 404. ' },
    { body: '', says: '404 ' },
    { body: '{"detail":"Not Found"}', says: '404 Not Found. ' },
  ])('a 404 that does not come from the service shows where the request went: $body', async ({ body, says }) => {
    answers(text(body, { status: 404 }));

    const errors = [
      await failureOf(gatewayAt(at).chat.completions.create(chatParams)),
      await failureOf(contextAt(at).exclude('conversation-1', 'message-1')),
    ] as APIError[];

    const path = '/api/context/exclude/{conversationId}/{messageId}';
    expect(errors.map(({ message }) => message)).toEqual([
      `${says}This is not the service's own error. Check baseURL: the request went to ${BASE}/prefix/v1/chat/completions (POST /v1/chat/completions).`,
      `${says}This is not the service's own error. Check baseURL: the request went to ${BASE}/prefix${path} (PATCH ${path}).`,
    ]);
  });

  test.each([{ error: { message: 'gone' } }, { success: false, error: 'gone' }])(
    'that comes from the service does not suggest to check baseURL',
    async (body) => {
      answers(json(body, { status: 404 }));

      expect(String(await failureOf(create()))).toBe('NotFoundError: 404 gone (POST /v1/chat/completions)');
    },
  );
});

describe('the advice to try again', () => {
  const emptyWindow = { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '45' };
  const body = { error: { message: 'no', type: 'busy' } };

  test.each([400, 401, 404, 409, 413, 422])(
    'is not given with %d, even if no request is left in the window',
    async (status) => {
      answers(json(body, { status, headers: emptyWindow }));
      const ofWindow = (await failureOf(create())) as APIError;
      expect(ofWindow.message).not.toContain('Try again');
      expect(ofWindow).toMatchObject({ retryAfter: undefined, rateLimit: { remaining: 0 } });

      // retryAfter still reports the header, but trying again cannot help.
      answers(json(body, { status, headers: { ...emptyWindow, 'retry-after': '7' } }));
      const ofHeader = (await failureOf(create())) as APIError;
      expect(ofHeader.message).not.toContain('Try again');
      expect(ofHeader.retryAfter).toBe(7_000);
    },
  );

  test.each([429, 503])('is given with %d, based on retry-after or the end of an empty window', async (status) => {
    answers(json(body, { status, headers: emptyWindow }));
    const ofWindow = (await failureOf(create())) as APIError;
    expect(ofWindow.message).toContain(`${status} no. Try again in 45 s`);
    expect(ofWindow.retryAfter).toBe(45_000);

    answers(json(body, { status, headers: { ...emptyWindow, 'retry-after': '7' } }));
    expect(String(await failureOf(create()))).toContain(`${status} no. Try again in 7 s`);
  });

  test.each([408, 500, 502, 504])('is given with %d only for a retry-after', async (status) => {
    answers(json(body, { status, headers: emptyWindow }));
    expect(await failureOf(create())).toMatchObject({ retryAfter: undefined });

    answers(json(body, { status, headers: { 'retry-after': '7' } }));
    expect(String(await failureOf(create()))).toContain(`${status} no. Try again in 7 s`);
  });
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
    {
      of: 'nginx',
      page: '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center></body></html>',
      line: '502 Bad Gateway nginx',
    },
    {
      of: 'haproxy',
      page: '<html><body><h1>502 Bad Gateway</h1>\nThe server returned an invalid or incomplete response.\n</body></html>\n',
      line: '502 Bad Gateway The server returned an invalid or incomplete response',
    },
    {
      of: 'Varnish',
      page: '<?xml version="1.0"?>\n<!DOCTYPE html>\n<html><head><title>502 Backend fetch failed</title></head><body><h1>Error 502 Backend fetch failed</h1><p>XID: 5</p></body></html>',
      line: '502 Error 502 Backend fetch failed XID: 5',
    },
    { of: 'Express', page: '<title>Error</title><pre>Cannot POST /v1/x</pre>', line: '502 Cannot POST /v1/x' },
    {
      of: 'an app',
      page: '<title>Our app</title><script>if (a < b && c > d) { x = "</p>" }</script><style>p > a { color: red }</style><noscript>Please enable scripts</noscript>',
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

  test('a credential written with HTML entities is masked', async () => {
    const sessionToken = 'tok/en+canary&session==';
    const written = [...sessionToken].map((one) => (/\w/.test(one) ? one : `&#x${one.charCodeAt(0).toString(16)};`));
    answers(text(`<title>${written.join('')}</title><p>${written.join('')}</p>`, { status: 502 }));

    const error = (await failureOf(contextAt({ sessionToken }).retrieve('c'))) as APIError;

    expect(error.message).toBe('502 *** (GET /api/context)');
  });

  test.each([502, 503, 403])('an HTML page with %d is shown as a short text without tags', async (status) => {
    const page = `<html><style>b{color:red}</style><script>alert(1)</script><h1>Bad   gateway</h1>${'<p>please wait</p>'.repeat(500)}</html>`;
    answers(text(page, { status, headers: { 'content-type': 'text/html' } }));

    const error = (await failureOf(create())) as APIError;

    expect(error.message).toMatch(/^\d{3} Bad gateway please wait/);
    expect(error.message).not.toMatch(/[<>]|color|alert/);
    expect(error.message.length).toBeLessThan(500);
    expect(error.body).toBe(page);
  });

  test('a message of 1 MB is cut to 2 kB, and its control characters are escaped', async () => {
    answers(json({ error: { message: `a\r\nb\u001b[31m\u2028${'x'.repeat(60_000)}` } }, { status: 400 }));
    const error = (await failureOf(create())) as APIError;
    expect(error.message).toContain('a\\u000d\\u000ab\\u001b[31m\\u2028xxx');
    expect(error.message.length).toBeLessThan(2_300);

    answers(json({ error: { message: 'x'.repeat(1_000_000) } }, { status: 400 }));
    expect(((await failureOf(create())) as APIError).message.length).toBeLessThan(2_300);
  });

  test('keys and the credential are masked wherever the service repeats them', async () => {
    const said = `wrong key ${KEY} or svc_pk_other-key_1`;
    answers(
      json(
        { error: { message: said, type: said, code: KEY, param: said } },
        { status: 403, headers: { 'x-request-id': `r-${KEY}` } },
      ),
    );
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

describe('retry_after in the body', () => {
  test.each([
    [0, 0],
    [1, 1_000],
    [60, 60_000],
    [-1, undefined],
    [1.5, 1_500],
    ['5', 5_000],
    ['1m30s', 90_000],
    ['soon', undefined],
    [null, undefined],
    [undefined, undefined],
    [1e12, 0], // a time in 2001
  ])('%j is %j ms', async (retry_after, expected) => {
    answers(json({ error: { message: 'busy', type: 'rate_limit_error', retry_after } }, { status: 429 }));

    const error = (await failureOf(create())) as APIError;

    expect(error.retryAfter).toBe(expected);
    expect(error).toMatchObject({ name: 'RateLimitError', type: 'rate_limit_error' });
  });
});

test('`retryable` says whether the same call may succeed later', async () => {
  const retryable: Record<number, boolean> = {};
  for (const status of [400, 401, 403, 404, 408, 409, 413, 425, 429, 500, 502, 503, 504]) {
    answers(text('', { status }));
    retryable[status] = ((await failureOf(create())) as ContextGatewayError).retryable;
  }

  expect(retryable).toEqual({
    ...{ 400: false, 401: false, 403: false, 404: false, 409: false, 413: false },
    ...{ 408: true, 425: true, 429: true, 500: true, 502: true, 503: true, 504: true },
  });
});
