import { APIError, type ContextGatewayError } from 'context-gateway';
import { describe, expect, test } from 'vitest';
import { chatParams } from '../helpers/samples.js';
import { cannedService, contextAt, failureOf, gatewayAt, json, KEY, TOKEN, text } from '../helpers/service.js';

const { answers, requests } = cannedService();

const create = () => gatewayAt().chat.completions.create(chatParams);
const retrieve = () => contextAt().retrieve('c');

describe('A22: both error forms are read on either area', () => {
  const gatewayForm = { message: 'gone', type: 'invalid_request_error', param: 'model', code: 'model_not_found' };

  test.each([
    { body: { error: gatewayForm }, form: 'wrapped' },
    { body: gatewayForm, form: 'bare' },
  ])('the Gateway form, $form', async ({ body }) => {
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

  test('the Context form', async () => {
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
    { body: { error: { error: { message: 'gone' } } }, as: 'an error in an error' },
    { body: { error: { message: { text: 'gone' }, type: 5, code: [], param: null } }, as: 'fields of other types' },
  ])('W18: $as is an error by its status', async ({ body }) => {
    answers(json(body as never, { status: 400 }));

    for (const call of [create, retrieve]) {
      const error = (await failureOf(call())) as APIError;
      expect(error).toMatchObject({ name: 'BadRequestError', status: 400, type: undefined, body });
      expect(error.message).toMatch(/^400 \S/);
    }
  });
});

function omitMessage({ message: _, ...rest }: Record<string, string>): Record<string, string> {
  return rest;
}

describe('W22: every status has its class', () => {
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

  test.each([300, 301, 302, 307, 308])('R5: %d is not followed, and its error names the host alone', async (status) => {
    answers(text(null, { status, headers: { location: 'https://elsewhere.test/secret/path?token=canary' } }));

    const error = await failureOf(create());

    expect(error).toMatchObject({ name: 'APIError', status });
    expect(String(error)).toContain('elsewhere.test');
    expect(String(error)).not.toMatch(/secret|canary/);
    expect(requests).toHaveLength(1);
  });
});

describe('pages and long texts', () => {
  test.each([502, 503, 403])('W4: of an HTML page with %d a short text without tags is shown', async (status) => {
    const page = `<html><style>b{color:red}</style><script>alert(1)</script><h1>Bad   gateway</h1>${'<p>please wait</p>'.repeat(500)}</html>`;
    answers(text(page, { status, headers: { 'content-type': 'text/html' } }));

    const error = (await failureOf(create())) as APIError;

    expect(error.message).toMatch(/^\d{3} Bad gateway please wait/);
    expect(error.message).not.toMatch(/[<>]|color|alert/);
    expect(error.message.length).toBeLessThan(500);
    expect(error.body).toBe(page);
  });

  test('W19: a message of 1 MB is cut at 2 kB, and its control characters are escaped', async () => {
    answers(json({ error: { message: `a\r\nb\u001b[31m\u2028${'x'.repeat(60_000)}` } }, { status: 400 }));
    const error = (await failureOf(create())) as APIError;
    expect(error.message).toContain('a\\u000d\\u000ab\\u001b[31m\\u2028xxx');
    expect(error.message.length).toBeLessThan(2_300);

    answers(json({ error: { message: 'x'.repeat(1_000_000) } }, { status: 400 }));
    expect(((await failureOf(create())) as APIError).message.length).toBeLessThan(2_300);
  });

  test('W20: keys and the credential are masked wherever the service repeats them', async () => {
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
    'W20: a token that begins at character %d of a page is not shown in part',
    async (at) => {
      answers(text(`<p>${'y'.repeat(at - 1)} ${TOKEN}</p>`, { status: 502 }));

      expect(String(await failureOf(retrieve()))).not.toContain('session-');
    },
  );

  test('an answer without a reason says so, and names method, path and request id', async () => {
    answers(text('', { status: 500, headers: { 'x-request-id': 'req-9' } }));

    const error = (await failureOf(contextAt().exclude('conversation-1', 'message-1'))) as APIError;

    expect(error.message).toBe(
      '500 The service gave no reason (PATCH /api/context/exclude/{conversationId}/{messageId}, request req-9).',
    );
    expect(error.requestId).toBe('req-9');
  });
});

describe('W21: retry_after in the body', () => {
  test.each([
    [0, 0],
    [1, 1_000],
    [60, 60_000],
    [-1, undefined],
    [1.5, undefined],
    ['5', undefined],
    [null, undefined],
    [undefined, undefined],
    [1e12, 1e15],
  ])('%j is %j ms', async (retry_after, expected) => {
    answers(json({ error: { message: 'busy', type: 'rate_limit_error', retry_after } }, { status: 429 }));

    const error = (await failureOf(create())) as APIError;

    expect(error.retryAfter).toBe(expected);
    expect(error).toMatchObject({ name: 'RateLimitError', type: 'rate_limit_error' });
  });
});

test('every error tells whether the same call may succeed later', async () => {
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
