import { inspect } from 'node:util';
import { type ClientEvent, ResponseValidationError, StreamTruncatedError, toEventStream } from 'context-gateway';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import {
  changed,
  chatParams,
  compactAnswer,
  completion,
  contextAnswer,
  memoryItem,
  pinnedItem,
  usageReport,
} from '../helpers/samples.js';
import { cannedService, contextAt, failureOf, gatewayAt, json, text } from '../helpers/service.js';

const { answers, requests } = cannedService();

describe('a response from a newer service', () => {
  test('keeps unknown values, and extra fields at every level', async () => {
    answers(json({ success: true, pinnedItem: { ...pinnedItem(), category: 'idea' } }));
    expect((await contextAt().pin('c', 'm')).category).toBe('idea');

    answers(json({ success: true, memories: [{ ...memoryItem(), type: 'goal' }] }));
    expect((await contextAt().memory.list())[0]?.type).toBe('goal');

    const choice = { ...completion().choices[0], finish_reason: 'content_filter', logprobs: null };
    const odd = { ...completion(), system_fingerprint: 'fp', choices: [choice] };
    answers(json(odd as never));
    expect(await gatewayAt().chat.completions.create(chatParams)).toEqual(odd);

    const context = changed(contextAnswer(), ['context', 'rollingSummary', 'importantReferences', 0, 'type'], 'data');
    const more = changed(context, ['context', 'rollingSummary', 'decisions', 0, 'by'], 'Kim');
    answers(json(more));
    expect(await contextAt().retrieve('c')).toEqual(more.context);
  });

  test('counts null as absent in optional fields, and removes it', async () => {
    answers(json({ success: true, memories: [{ ...memoryItem(), workspaceId: null, isActive: null, note: null }] }));
    expect(await contextAt().memory.list()).toEqual([{ ...memoryItem(), workspaceId: null, note: null }]);

    const chunk = { id: null, model: null, created: null, choices: [{ index: 0, delta: { content: 'Hi' } }] };
    const last = { id: 'c1', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null };
    const events = [chunk, last].map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
    answers(text(events, { headers: { 'content-type': 'text/event-stream' } }));
    const stream = await gatewayAt().chat.completions.create({ ...chatParams, stream: true });
    expect(await stream.finalCompletion()).toMatchObject({ id: 'c1', choices: [{ message: { content: 'Hi' } }] });
  });

  test('still rejects null in a required field', async () => {
    answers(json({ success: true, memories: [{ ...memoryItem(), key: null, workspaceId: null }] }));

    expect(await failureOf(contextAt().memory.list())).toMatchObject({
      issues: [{ path: ['memories', 0, 'key'], message: 'expected string, got null' }],
    });
  });

  test('may have no choices, and success: false inside a compaction result, which is data', async () => {
    answers(json({ ...completion(), choices: [] }));
    expect((await gatewayAt().chat.completions.create(chatParams)).choices).toEqual([]);

    answers(json(changed(compactAnswer(), ['result', 'success'], false)));
    expect((await contextAt().compact('c')).success).toBe(false);
  });

  test('is parsed as JSON whatever its content type, and with a byte order mark', async () => {
    answers(text(JSON.stringify(usageReport()), { headers: { 'content-type': 'text/plain' } }));
    expect(await gatewayAt().usage.retrieve()).toEqual(usageReport());

    answers(text(`\uFEFF${JSON.stringify(usageReport())}`));
    expect(await gatewayAt().usage.retrieve()).toEqual(usageReport());
  });

  test('cannot change a prototype with keys named __proto__ and constructor', async () => {
    const body = JSON.stringify(usageReport()).replace('"atlas-small":12', '"__proto__":5,"constructor":6');
    answers(text(body, { headers: { 'content-type': 'application/json' } }));

    const { breakdown_by_model: tokens } = await gatewayAt().usage.retrieve();

    expect(Object.entries(tokens)).toEqual([
      ['__proto__', 5],
      ['constructor', 6],
    ]);
    expect(Object.getPrototypeOf(tokens)).toBe(Object.prototype);
  });
});

const retrieve = () => contextAt().retrieve('c');
const create = () => gatewayAt().chat.completions.create(chatParams);
const usage = () => gatewayAt().usage.retrieve();

describe('a response that breaks the documented schema', () => {
  test.each<[call: () => PromiseLike<unknown>, answer: object, path: (string | number)[], value: unknown]>([
    [retrieve, contextAnswer(), ['context', 'rollingSummary', 'version'], 1.5],
    [retrieve, contextAnswer(), ['context', 'rollingSummary', 'lastUpdated'], 'CANARY'],
    [retrieve, contextAnswer(), ['context', 'metadata', 'compressedTokens'], -77_777],
    [retrieve, contextAnswer(), ['context', 'metadata', 'lastCompactionAt'], 'CANARY'],
    [retrieve, contextAnswer(), ['success'], 'true'],
    [create, completion(), ['choices', 0, 'message', 'role'], -77_777],
    [usage, usageReport(), ['breakdown_by_model', 'atlas-small'], '77777'],
  ])(
    '%#: is an error with the path and the body, and a message without the value',
    async (call, answer, path, value) => {
      const wrong = changed(answer, path, value);
      answers(json(wrong as never));

      const error = await failureOf(call());

      expect(error).toBeInstanceOf(ResponseValidationError);
      const { issues, body, message } = error as ResponseValidationError;
      expect(issues.map((issue) => issue.path)).toContainEqual(path);
      expect(body).toEqual(wrong);
      expect(message).toContain(String(path.at(-1)));
      expect(message).not.toMatch(/CANARY|77777/);
      expect(requests).toHaveLength(1);
    },
  );

  test('does not repeat a definition term in the error, since it is the user’s own text', async () => {
    answers(json(changed(contextAnswer(), ['context', 'rollingSummary', 'definitions'], { 'CANARY term': 5 })));

    const error = await failureOf(retrieve());

    expect(error).toMatchObject({ issues: [{ path: ['context', 'rollingSummary', 'definitions'] }] });
    expect(JSON.stringify(error)).not.toContain('CANARY');
  });

  test('names the call and the request id in the message', async () => {
    answers(json({ success: true, context: 1 }, { headers: { 'x-request-id': 'req_7' } }));

    const error = (await failureOf(contextAt().retrieve('c'))) as ResponseValidationError;

    expect(error.message).toBe(
      'The response does not match the documentation: context: expected object, got number (GET /api/context, request req_7).',
    );
  });

  test.each([
    { wrong: 49, kept: 49, more: 'and 44 more' },
    { wrong: 50, kept: 50, more: 'and more' },
    { wrong: 60, kept: 50, more: 'and more' },
  ])('keeps $kept of $wrong issues, shows five, and says "$more"', async ({ wrong, kept, more }) => {
    const models = Array.from({ length: wrong }, (_, at) => [`model-${at}`.padEnd(10_000, '-'), 'x']);
    answers(json({ ...usageReport(), breakdown_by_model: Object.fromEntries(models) }));

    const error = (await failureOf(usage())) as ResponseValidationError;

    expect(error.issues).toHaveLength(kept);
    expect(error.message).toMatch(new RegExp(`model-4-+…: [^;]*; ${more} \\(GET /v1/usage\\)\\.$`));
    for (const printed of [JSON.stringify(error), inspect(error, { showHidden: true })]) {
      expect(printed.length).toBeLessThan(20_000);
    }
  });

  test.each(['null', '[]', '"x"', '1', 'true'])('whose whole body is %s is a ResponseValidationError', async (body) => {
    answers(text(body, { headers: { 'content-type': 'application/json' } }));
    await expect(retrieve()).rejects.toBeInstanceOf(ResponseValidationError);
    await expect(create()).rejects.toBeInstanceOf(ResponseValidationError);
    await expect(contextAt().unpin('c', 'm')).rejects.toBeInstanceOf(ResponseValidationError);
  });

  test.each([
    ['{"id": ', 'it is cut off'],
    ['<html><b>Sorry</b></html>', 'it is an HTML page'],
    ['', 'it is empty'],
  ])('a response with status 200 and the body %j is a ResponseValidationError: %s', async (body) => {
    answers(text(body, { headers: { 'content-type': 'text/html' } }));

    const error = await failureOf(create());

    expect(error).toMatchObject({ name: 'ResponseValidationError', body });
    expect(String(error)).toMatch(/not JSON .*baseURL/);
    expect(String(error)).not.toContain('Sorry');
  });

  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const JSON_TYPE = { headers: { 'content-type': 'application/json' } };
  const EVENTS = { headers: { 'content-type': 'text/event-stream' } };
  const deepEvent = (levels: number) => `data: {"choices":[{"index":0,"delta":{}}],"x":${nested(levels)}}\n\n`;
  const stream = () => gatewayAt().chat.completions.create({ ...chatParams, stream: true });

  test('nested 100,000 levels deep is a typed error on every kind of call', async () => {
    const tooDeep = { name: 'ResponseValidationError', message: expect.stringContaining('deeper than 500 levels') };

    answers(text(`{"data":${nested(100_000)}}`, JSON_TYPE));
    expect(await failureOf(gatewayAt().presets.list())).toMatchObject(tooDeep);
    answers(text(nested(100_000), JSON_TYPE));
    expect(await failureOf(gatewayAt().request({ method: 'GET', path: '/v1/x' }))).toMatchObject(tooDeep);
    answers(text(JSON.stringify({ ...completion(), x: 'DEEP' }).replace('"DEEP"', nested(100_000)), JSON_TYPE));
    expect(await failureOf(create())).toMatchObject(tooDeep);
    expect(await failureOf(stream())).toMatchObject(tooDeep);
    answers(text(deepEvent(100_000), EVENTS));
    expect(await failureOf((await stream()).finalCompletion())).toMatchObject(tooDeep);
    expect(await new Response(toEventStream(await stream())).text()).toMatch(/^event: error\n/);
  });

  test('may be nested 500 levels deep, and so may an event', async () => {
    answers(text(nested(500), JSON_TYPE));
    await gatewayAt().request({ method: 'GET', path: '/v1/x' });
    answers(text(nested(501), JSON_TYPE));
    await failureOf(gatewayAt().request({ method: 'GET', path: '/v1/x' }));
    answers(text(`${deepEvent(499)}data: [DONE]\n\n`, EVENTS));
    expect(await new Response(toEventStream(await stream())).text()).toBe(`${deepEvent(499)}data: [DONE]\n\n`);
  });

  test('may be nested to any depth if it is an error', async () => {
    const body = `{"error":{"message":"No such model.","code":"model_not_found","x":${nested(5_000)}}}`;
    answers(text(body, { ...JSON_TYPE, status: 404 }));
    const facts = { code: 'model_not_found', message: expect.stringContaining('No such model') };
    expect(await failureOf(gatewayAt().presets.list())).toMatchObject({ name: 'NotFoundError', ...facts });

    answers(text(`event: error\ndata: ${body}\n\n`, EVENTS));
    expect(await failureOf((await stream()).finalCompletion())).toMatchObject({ name: 'StreamError', ...facts });
  });
});

describe("validation: 'report'", () => {
  const reporting = () => {
    const events: ClientEvent[] = [];
    return { events, options: { validation: 'report' as const, onEvent: (event: ClientEvent) => events.push(event) } };
  };

  test('returns the body unchanged and reports the issues to onEvent, without values', async () => {
    const { events, options } = reporting();
    const odd = changed<object>(contextAnswer(), ['context', 'metadata', 'totalTokens'], 'CANARY');
    answers(json(odd as never));

    const answer = await contextAt(options).retrieve('c');

    expect(answer.metadata.totalTokens).toBe('CANARY');
    expect(events.find(({ type }) => type === 'validation')).toMatchObject({
      path: '/api/context',
      issues: [{ path: ['context', 'metadata', 'totalTokens'], message: 'expected a whole number, got string' }],
    });
    expect(JSON.stringify(events)).not.toContain('CANARY');
  });

  test('reports a whole completion in place of a stream once, and streams it', async () => {
    const { events, options } = reporting();
    answers(json(changed(completion(), ['choices', 0, 'message', 'role'], 7)));

    const stream = await gatewayAt(options).chat.completions.create({ ...chatParams, stream: true });

    const { choices } = await stream.finalCompletion();
    expect(choices[0]?.message.content).toBe(completion().choices[0]?.message.content);
    expect(events.filter(({ type }) => type === 'validation')).toMatchObject([
      { issues: [{ path: ['choices', 0, 'delta', 'role'] }] },
    ]);
  });

  test('streams a whole completion without choices as one chunk', async () => {
    answers(json(changed(completion(), ['choices'], 'none')));

    const stream = await gatewayAt(reporting().options).chat.completions.create({ ...chatParams, stream: true });

    const read = async () => {
      for await (const chunk of stream) expect(chunk).toMatchObject({ choices: 'none', usage: completion().usage });
    };
    await expect(read()).rejects.toThrow(StreamTruncatedError);
    expect(stream.metrics.chunks).toBe(1);
  });

  test('throws a typed error if the body reports an error, or holds nothing to return', async () => {
    const { options } = reporting();
    answers(json({ success: false, error: 'no' }));
    expect(await failureOf(contextAt(options).retrieve('c'))).toMatchObject({ name: 'APIError', status: 200 });

    answers(json(null));
    expect(await failureOf(contextAt(options).retrieve('c'))).toBeInstanceOf(ResponseValidationError);
    expect(await failureOf(gatewayAt(options).presets.list())).toBeInstanceOf(ResponseValidationError);
  });
});

describe('a 2xx body that reports an error', () => {
  test.each([
    { body: { success: false, error: 'no such thing' }, because: 'the Context form' },
    { body: { success: false, error: { message: 'no such thing' } }, because: 'the Gateway form inside it' },
    { body: { error: { message: 'no such thing', type: 'x' } }, because: 'the Gateway form' },
    { body: { success: false, message: 'no such thing' }, because: 'the bare form' },
  ])('throws, and is never returned as data: $because', async ({ body }) => {
    answers(json(body));

    for (const call of [retrieve, create, () => contextAt().unpin('c', 'm'), () => gatewayAt().presets.list()]) {
      const error = await failureOf(call());
      expect(error).toMatchObject({ name: 'APIError', status: 200, body });
      expect(String(error)).toContain('no such thing');
    }
  });

  test('a body announced at the limit of 32 MB is read, and one byte more is not', async () => {
    const limit = 32 * 1024 * 1024;
    const announced = (size: number) => json(usageReport(), { headers: { 'content-length': String(size) } });
    answers(announced(limit), announced(limit + 1));

    expect(await usage()).toEqual(usageReport());
    await expect(usage()).rejects.toMatchObject({ name: 'ResponseTooLargeError' });
  });

  test('does not count on success: true if the status is 500', async () => {
    answers(json(contextAnswer(), { status: 500 }));

    await expect(retrieve()).rejects.toMatchObject({ name: 'InternalServerError', status: 500 });
  });
});

describe('an empty body', () => {
  test.each([
    ['unpin', () => contextAt().unpin('c', 'm')],
    ['include', () => contextAt().include('c', 'm')],
    ['memory.delete', () => contextAt().memory.delete('m')],
  ])('is a success for %s, with 204 and with 200', async (_, call) => {
    answers(text(null, { status: 204 }), text('', { status: 200 }));

    expect(await call()).toBeUndefined();
    expect(await call()).toBeUndefined();
  });

  test('is a ResponseValidationError where data is due', async () => {
    answers(text(null, { status: 204 }));

    for (const call of [retrieve, create, () => gatewayAt().integrations.execute('i', { action: 'a' })])
      expect(await failureOf(call())).toMatchObject({ name: 'ResponseValidationError', body: '' });
  });
});

describe('undocumented lists and records', () => {
  const records = [{ id: 'a', name: 'A', extra: { deep: true } }, { id: 'b' }];

  test.each([
    { wrapped: records, as: 'bare' },
    { wrapped: { object: 'list', data: records }, as: 'in data' },
    { wrapped: { presets: records }, as: 'in presets' },
    { wrapped: { integrations: records }, as: 'in integrations' },
    { wrapped: { items: records, next: null }, as: 'in items' },
  ])('a list that comes $as is returned as an array', async ({ wrapped }) => {
    answers(json(wrapped));

    expect(await gatewayAt().presets.list()).toEqual(records);
    expect(await gatewayAt().integrations.list()).toEqual(records);
  });

  test('an object without a list is a ResponseValidationError that suggests `schema`', async () => {
    answers(json({ rows: records }));

    const { presets } = gatewayAt();
    for (const call of [() => presets.list(), () => presets.list({}, { schema: z.any() })]) {
      const error = await failureOf(call());
      expect(error).toMatchObject({ name: 'ResponseValidationError', body: { rows: records } });
      expect(String(error)).toMatch(/data, presets, integrations, items.*schema/);
    }
  });

  test.each([5, 'x', { id: 5 }, { name: [] }])('a body of %j is neither a list nor a record', async (answer) => {
    answers(json(answer as never));

    const expected = 'expected an array, or an object whose id and name are strings';
    for (const call of [gatewayAt().presets.list(), gatewayAt().presets.execute('p', { input: '', model: 'm' })])
      expect(await failureOf(call)).toMatchObject({
        name: 'ResponseValidationError',
        issues: [{ path: [], message: expected }],
      });
  });

  test('records are returned whole, even if they are arrays', async () => {
    answers(json({ id: 'x', output: [1, 2] }));
    expect(await gatewayAt().integrations.execute('i', { action: 'a' })).toEqual({ id: 'x', output: [1, 2] });

    answers(json([1, 'two']));
    expect(await gatewayAt().presets.execute('p', { input: 'a', model: 'b' })).toEqual([1, 'two']);
  });
});
