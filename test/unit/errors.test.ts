import { describe, expect, test, vi } from 'vitest';
import { type APIErrorDetails, apiError } from '../../src/errors/api.js';
import { addCallDetails } from '../../src/errors/call.js';
import { Redactor } from '../../src/errors/redactor.js';
import * as errors from '../../src/index.js';
import { leaksOf } from '../helpers/leaks.js';

const redactor = new Redactor();
const headers = { get: () => undefined, toHeaders: () => new Headers({ 'x-a': '1' }) };
const details: APIErrorDetails = {
  message: '404 gone (GET /v1/x, request r1)',
  area: 'gateway',
  sent: 'no',
  type: 'invalid_request_error',
  code: 'model_not_found',
  param: 'model',
  requestId: 'r1',
  retryAfter: 5,
  headers,
  body: { secret: 'CANARY' },
};

const description = 'GET /v1/x';
const partial: errors.PartialChatCompletion = {
  ...{ id: 'c', model: 'm', created: 1, usage: undefined },
  choices: [{ index: 0, message: { role: 'assistant', content: 'CANARY' }, finish_reason: null }],
};

/** An error of every class. */
const all = (from: typeof errors = errors, pick = apiError): InstanceType<typeof errors.ContextGatewayError>[] => [
  new from.ConfigurationError('bad option'),
  new from.RequestValidationError([{ path: ['messages', 0, 'content'], message: 'expected string' }]),
  ...[400, 401, 403, 404, 409, 413, 418, 422, 429, 500, 503].map((status) => pick(status, details)),
  new from.StreamError(200, details),
  new from.APIConnectionError('cut', { phase: 'body', sent: 'yes' }),
  new from.APITimeoutError('late', { kind: 'idle', phase: 'stream', sent: 'yes' }),
  new from.ResponseTooLargeError('The response', 8, 'body'),
  new from.APIAbortError({ cause: 'enough' }),
  new from.ClientClosedError(),
  new from.ResponseValidationError('odd', { body: 'CANARY', issues: [{ path: ['id'], message: 'expected string' }] }),
  new from.StreamTruncatedError(),
  new from.StreamConsumedError(),
];

const classes = Object.values(errors)
  .map((one) => one as typeof errors.ContextGatewayError)
  .filter((one) => typeof one === 'function' && one.prototype instanceof errors.ContextGatewayError);

test('the list above has an error of every class', () => {
  const names = classes.map((one) => one.name).sort();

  expect(names.length).toBeGreaterThan(15);
  expect([...new Set(all().map((error) => error.constructor.name))].sort()).toEqual(names);
});

test('every error has the name of its class, except an abort, which is an AbortError', () => {
  for (const error of all()) {
    const expected = error instanceof errors.APIAbortError ? 'AbortError' : error.constructor.name;
    expect(error.name).toBe(expected);
    expect(String(error)).toBe(`${expected}: ${error.message}`);
    expect(error.stack).toContain(error.message);
    expect(Object.keys(error)).not.toContain('name');
  }
});

describe('is', () => {
  test('agrees with instanceof for every pair of class and error', () => {
    for (const one of classes)
      for (const error of all())
        expect([one.name, error.name, one.is(error)]).toEqual([one.name, error.name, error instanceof one]);
  });

  test('recognises the errors of a second copy of the package, unlike instanceof', async () => {
    vi.resetModules();
    const second: typeof errors = await import('../../src/index.js');
    const api = await import('../../src/errors/api.js');
    expect(second.ContextGatewayError).not.toBe(errors.ContextGatewayError);
    const [own, foreign] = [all(), all(second, api.apiError)];

    for (const [at, error] of foreign.entries()) {
      expect(error).not.toBeInstanceOf(errors.ContextGatewayError);
      for (const one of classes) expect(one.is(error)).toBe(one.is(own[at]));
    }
  });

  test.each([undefined, null, 5, {}, new Error('a'), Object.assign(new Error('a'), { name: 'APIError' })])(
    'is false for %s',
    (value) => {
      expect(errors.ContextGatewayError.is(value)).toBe(false);
      expect(errors.APIError.is(value)).toBe(false);
    },
  );
});

describe('toJSON', () => {
  test('has the fields of each class, and survives JSON', () => {
    const forms = Object.fromEntries(all().map((error) => [error.name, JSON.parse(JSON.stringify(error))]));

    const { headers: _, body: __, ...shown } = details;
    expect(forms.NotFoundError).toEqual({ name: 'NotFoundError', status: 404, ...shown, retryable: false });
    expect(forms.APITimeoutError).toMatchObject({ kind: 'idle', phase: 'stream', sent: 'yes', retryable: true });
    const issues = [{ path: ['messages', 0, 'content'], message: 'expected string' }];
    expect(forms.RequestValidationError).toMatchObject({ issues });
    const ofEvery = { message: expect.any(String), retryable: false };
    expect(forms.ClientClosedError).toEqual({ name: 'ClientClosedError', ...ofEvery });
  });
});

test('attempts are printed; body, headers and partial can be read, and appear in no printed form', () => {
  for (const error of all()) {
    const attempts = [{ status: 503, delay: 0, duration: 5 }];
    addCallDetails(error, { description, redactor, call: { attempts, sent: 'no' } }, () => partial);
    expect(error.partial).toBe(partial);
    expect([error.attempts, error.toJSON().attempts]).toEqual([attempts, attempts]);
    if (error instanceof errors.APIError) {
      expect(error.body).toEqual({ secret: 'CANARY' });
      expect(error.headers.get('x-a')).toBe('1');
    }
    expect(leaksOf(error, ['CANARY'])).toEqual([]);
  }
});

test('partial is joined when it is first read, and only then', () => {
  const error = new errors.StreamTruncatedError();
  const join = vi.fn(() => partial);

  addCallDetails(error, { description, redactor, call: { attempts: [], sent: 'no' } }, join);

  expect(join).not.toHaveBeenCalled();
  expect(error.partial).toBe(error.partial);
  expect(join).toHaveBeenCalledOnce();
});

test('the message shows the path of an issue as it is written in code', () => {
  const error = new errors.RequestValidationError([
    { path: ['messages', 0, 'content'], message: 'expected string' },
    { path: [], message: 'an argument could not be read' },
  ]);

  expect(error.message).toBe(
    'The request was not sent: messages[0].content: expected string; an argument could not be read.',
  );
});
