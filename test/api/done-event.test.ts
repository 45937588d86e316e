import type { ClientEvent } from 'context-gateway';
import { describe, expect, test } from 'vitest';
import { chatParams, completion } from '../helpers/samples.js';
import { cannedService, failureOf, gatewayAt, json, KEY, text } from '../helpers/service.js';

const { answers, requests } = cannedService();

const EVENTS = { headers: { 'content-type': 'text/event-stream', 'x-request-id': 'req_1' } };
const event = (fields: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'atlas-small-2', ...fields })}\n\n`;
const piece = (content: string, finish_reason: string | null = null) =>
  event({ choices: [{ index: 0, delta: { content }, finish_reason }] });
const USAGE = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
const usageChunk = event({ choices: [], usage: USAGE });
const DONE = 'data: [DONE]\n\n';
const busy = json({ error: { message: 'busy', type: 'service_unavailable' } }, { status: 503 });

/** A gateway client and the events of its calls. */
function listening(options = {}) {
  const events: ClientEvent[] = [];
  const gateway = gatewayAt({ onEvent: (event) => events.push(event), ...options });
  const done = () => events.filter((event): event is Extract<ClientEvent, { type: 'done' }> => event.type === 'done');
  return { gateway, events, done };
}

const failures = (events: readonly ClientEvent[]) =>
  events.flatMap((event) =>
    event.type === 'failure' ? { attempt: event.attempt, reason: event.reason, stop: event.stop } : [],
  );

async function streamOf(body: string, options = {}) {
  answers(text(body, EVENTS));
  const listener = listening(options);
  const stream = await listener.gateway.chat.completions.create({ ...chatParams, stream: true });
  return { ...listener, stream };
}

describe('the done event', () => {
  test('reports the usage, times and bytes of a plain completion', async () => {
    const headers = { 'x-request-id': 'req_1', 'x-ratelimit-limit': '1000', 'x-ratelimit-remaining': '999' };
    answers(json(completion(), { headers }));
    const { gateway, events, done } = listening();

    await gateway.chat.completions.create(chatParams);

    expect(done()).toEqual([
      {
        type: 'done',
        call: expect.any(Number),
        area: 'gateway',
        method: 'POST',
        path: '/v1/chat/completions',
        outcome: 'success',
        status: 200,
        attempts: 1,
        duration: expect.any(Number),
        queued: 0,
        model: chatParams.model,
        responseModel: 'atlas-small',
        responseId: completion().id,
        finishReasons: ['stop'],
        usage: USAGE,
        usageEstimated: false,
        bytesSent: JSON.stringify(chatParams).length,
        bytesReceived: JSON.stringify(completion()).length,
        requestId: 'req_1',
        rateLimit: expect.objectContaining({ limit: 1_000, remaining: 999 }),
      },
    ]);
    expect(events.map(({ type }) => type)).toEqual(['start', 'request', 'response', 'done']);
    expect(events[0]).toMatchObject({ model: chatParams.model, streamed: false });
  });

  test('follows a start event that says what the call asks for', async () => {
    answers(json(completion()));
    const { gateway, events } = listening();

    for (const asked of [
      { temperature: 0, max_tokens: 5 },
      { max_completion_tokens: 7, response_format: { type: 'json_object' } },
      { response_format: { type: 'text' } },
    ] as const)
      await gateway.chat.completions.create({ ...chatParams, ...asked });

    expect(events.filter(({ type }) => type === 'start')).toMatchObject([
      { temperature: 0, maxTokens: 5, outputType: undefined },
      { maxTokens: 7, outputType: 'json' },
      { outputType: 'text' },
    ]);
  });

  test('counts the attempts, adds up their bytes, and does not keep the status of an earlier attempt', async () => {
    answers(busy, json(completion()), busy, () => Response.error());
    const { gateway, done } = listening({ maxRetries: 1 });

    await gateway.chat.completions.create(chatParams);
    await failureOf(gateway.usage.retrieve());

    const bytes = JSON.stringify(chatParams).length;
    expect(done()).toMatchObject([
      { outcome: 'success', attempts: 2, status: 200, bytesSent: 2 * bytes },
      { error: 'APIConnectionError', attempts: 2, status: undefined },
    ]);
    expect(done()[0]?.bytesReceived).toBeGreaterThan(JSON.stringify(completion()).length);
  });

  test('masks a key that the service repeats, and leaves out fields of the wrong type', async () => {
    const strange = {
      ...{ ...completion(), model: `atlas for ${KEY} ${'x'.repeat(500)}`, usage: 'lots' },
      choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: [KEY] }],
    };
    answers(json(strange));
    const { gateway, done } = listening({ validation: 'report' });

    await gateway.chat.completions.create(chatParams);

    const [{ responseModel, finishReasons, usage } = {}] = done();
    expect(responseModel).toMatch(/^atlas for \S+ x+$/);
    expect(responseModel?.length).toBe(100);
    expect(responseModel).not.toContain(KEY);
    expect({ finishReasons, usage }).toEqual({ finishReasons: [], usage: undefined });
  });

  test('names the error of a call that failed, once, and there is none for a call with invalid arguments', async () => {
    answers(json({ error: { message: 'no', type: 'invalid_request_error' } }, { status: 404 }));
    const { gateway, events, done } = listening();

    await failureOf(gateway.chat.completions.create({ ...chatParams, temperature: 9 }));
    expect(events).toEqual([]);
    await failureOf(gateway.presets.execute('p', { input: 'a', model: 'm' }));

    expect(done()).toMatchObject([
      { outcome: 'error', error: 'NotFoundError', status: 404, model: 'm', usage: undefined },
    ]);
  });

  test('has the usage of a preset and of any other response that has one, and the id of completions only', async () => {
    const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
    const choices = [{ finish_reason: 'stop' }, null, { finish_reason: 7 }];
    answers(
      json({ output: 'Done.', model: 'm-2', choices, usage: { ...usage, note: 'of the prompt' } }),
      json({ id: 'summary_1', usage }),
      json({ usage: { total_tokens: 5 }, model: {}, choices: 'none' }),
      json([1]),
    );
    const { gateway, done } = listening();

    await gateway.presets.execute('p', { input: 'a', model: 'm' });
    await gateway.request({ method: 'POST', path: '/v1/summaries', body: {} });
    await gateway.integrations.execute('chat', { action: 'post' });
    await gateway.request({ method: 'GET', path: '/v1/list' });

    expect(done()).toMatchObject([
      { usage, usageEstimated: false, responseModel: 'm-2', finishReasons: ['stop'] },
      { usage, responseModel: undefined, responseId: undefined, finishReasons: [] },
      { usage: undefined, usageEstimated: false, responseModel: undefined, finishReasons: [] },
      { usage: undefined },
    ]);
    expect(done()[0]?.usage).toEqual(usage);
  });

  test('is emitted for an aborted call, and for a call whose client is closed', async () => {
    answers(() => new Promise<never>(() => {}));
    const { gateway, done } = listening();
    const abort = new AbortController();

    const first = failureOf(gateway.usage.retrieve({}, { signal: abort.signal }));
    abort.abort();
    await first;
    const second = failureOf(gateway.usage.retrieve());
    await gateway.close();
    await second;

    expect(done()).toMatchObject([
      { outcome: 'aborted', error: 'AbortError', status: undefined },
      { outcome: 'aborted', error: 'ClientClosedError' },
    ]);
  });

  test('is emitted at the end of a stream, with its times and the usage from the service', async () => {
    const { stream, done, events } = await streamOf(piece('The ') + piece('Rhine.', 'stop') + usageChunk + DONE);
    expect(done()).toEqual([]);

    await stream.finalCompletion();

    const { timeToFirstChunk, largestGap } = stream.metrics;
    expect(timeToFirstChunk).toBeTypeOf('number');
    expect(done()).toMatchObject([
      {
        ...{ outcome: 'success', status: 200, timeToFirstChunk, largestGap, usage: USAGE, usageEstimated: false },
        ...{ responseModel: 'atlas-small-2', finishReasons: ['stop'], requestId: 'req_1' },
      },
    ]);
    expect(done()[0]?.duration).toBeGreaterThanOrEqual(timeToFirstChunk ?? 0);
    expect(failures(events)).toEqual([]);
  });

  test('estimates the tokens of a stream without usage, and says so', async () => {
    const { stream, done, events } = await streamOf(piece('Grüße, 12 bytes', 'stop') + DONE);

    await stream.finalCompletion();

    const prompt = Math.ceil(JSON.stringify({ ...chatParams, stream: true }).length / 4);
    expect(done()).toMatchObject([
      { usage: { prompt_tokens: prompt, completion_tokens: 5, total_tokens: prompt + 5 }, usageEstimated: true },
    ]);
    expect(JSON.stringify(events)).not.toMatch(/Grüße|Name a river/);
  });

  test('distinguishes a truncated stream from one that its reader left', async () => {
    const cut = await streamOf(piece('The ') + usageChunk);
    const error = await failureOf(cut.stream.finalCompletion());
    const left = await streamOf(piece('The ') + piece('Rhine.'));
    for await (const _ of left.stream) break;

    expect(error).toMatchObject({ partial: { usage: USAGE } });
    expect(cut.done()).toMatchObject([{ outcome: 'error', error: 'StreamTruncatedError', usage: USAGE }]);
    expect(failures(cut.events)).toEqual([{ attempt: 1, reason: 'StreamTruncatedError', stop: 'not-repeatable' }]);
    expect(left.done()).toMatchObject([{ outcome: 'cancelled', error: undefined, usageEstimated: true }]);
    expect(failures(left.events)).toEqual([]);
  });

  test('follows a failure if a stream reports an error', async () => {
    const { stream, events } = await streamOf(`${piece('The ')}event: error\ndata: {"error":{"message":"busy"}}\n\n`);
    await failureOf(stream.finalCompletion());

    expect(failures(events)).toEqual([{ attempt: 1, reason: 'StreamError', stop: 'not-repeatable' }]);
  });
});

describe('onEvent', () => {
  test('is called for derived clients, unless they have their own', async () => {
    answers(json(completion()));
    const { gateway, events } = listening();
    const own: ClientEvent[] = [];

    await gateway.withOptions({ timeout: 1_000 }).chat.completions.create(chatParams);
    await gateway.withOptions({ onEvent: (event) => own.push(event) }).chat.completions.create(chatParams);

    expect(events.map(({ type }) => type)).toEqual(['start', 'request', 'response', 'done']);
    expect(own.map(({ type }) => type)).toEqual(['start', 'request', 'response', 'done']);
    expect(own[0]?.call).not.toBe(events[0]?.call);
  });

  test('lets a listener add headers to an attempt, but not the credential or those of the caller', async () => {
    answers(busy, json(completion()));
    const taken: boolean[] = [];
    const onEvent = (event: ClientEvent) => {
      if (event.type !== 'request') return;
      taken.push(event.setHeader('x-extra', `${event.attempt}`));
      for (const name of ['traceparent', 'TraceState', 'authorization']) taken.push(event.setHeader(name, 'theirs'));
    };
    const gateway = gatewayAt({ onEvent, maxRetries: 1, defaultHeaders: { Tracestate: 'mine=1' } });

    await gateway.chat.completions.create(chatParams, { headers: { traceparent: 'mine' } });

    expect(taken).toEqual([true, false, false, true, false, false]); // the credential throws
    const names = ['traceparent', 'tracestate', 'authorization', 'x-extra'];
    expect(requests.map(({ headers }) => names.map((name) => headers.get(name)))).toEqual([
      ['mine', 'mine=1', `Bearer ${KEY}`, '1'],
      ['mine', 'mine=1', `Bearer ${KEY}`, '2'],
    ]);
  });
});
