import { InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { ClientEvent } from 'context-gateway';
import { observeCalls, observeTools } from 'context-gateway/otel';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { unknownNames } from './conventions.js';

const NOW = 1_767_600_000_000;
beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const CHAT = { method: 'POST', path: '/v1/chat/completions' };
const LIST = { method: 'GET', path: '/v1/presets' };
const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
const start = (more: object = {}) => ({ type: 'start', model: undefined, streamed: false, ...more });
const request = (attempt: number) => ({ type: 'request', attempt, setHeader: () => true });
const done = (more: Partial<Extract<ClientEvent, { type: 'done' }>> = {}) => ({
  ...{ type: 'done', outcome: 'success', error: undefined, status: 200, attempts: 1, duration: 250, queued: 0 },
  ...{ timeToFirstChunk: undefined, largestGap: undefined, model: undefined, responseModel: undefined },
  ...{ finishReasons: [], usage: undefined, usageEstimated: false, bytesSent: 0, bytesReceived: 0 },
  ...{ requestId: undefined, rateLimit: undefined },
  ...more,
});

/** Records a call that emits exactly these events, a tenth of a second apart. */
async function record(facts: object, ...events: object[]) {
  const spans = new InMemorySpanExporter();
  const metrics = new InMemoryMetricExporter(0);
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 3_600_000 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const emit = observeCalls({ tracerProvider, meterProvider });
  for (const event of events) {
    emit({ call: 1, area: 'gateway', ...facts, ...event } as ClientEvent);
    vi.advanceTimersByTime(100);
  }
  await meterProvider.forceFlush();
  const recorded = metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  await meterProvider.shutdown();
  return {
    unknown: unknownNames(
      ...spans
        .getFinishedSpans()
        .flatMap((span) => [span.attributes, ...span.events.map((one) => one.attributes ?? {})]),
      ...recorded.flatMap(({ dataPoints }) => dataPoints.map(({ attributes }) => attributes)),
    ),
    spans: spans.getFinishedSpans().map(({ name, attributes, status, events: its }) => ({
      ...{ name, attributes, status: status.code },
      events: its.map(({ name: event, attributes: facts }) => [event, facts]),
      firstChunkAt: its.flatMap(({ name: event, time: [s, ns] }) =>
        event === 'first_chunk' ? s * 1e3 + ns / 1e6 : [],
      ),
    })),
    units: Object.fromEntries(recorded.map(({ descriptor }) => [descriptor.name, descriptor.unit])),
    /** By the name of the metric: the attributes of each point, and its value or the sum of its values. */
    points: Object.fromEntries(
      recorded.map(({ descriptor: { name }, dataPoints }) => [
        name,
        dataPoints.map(({ attributes, value }) => [attributes, Object(value).sum ?? value]),
      ]),
    ),
  };
}

test('a streamed completion with a wait and a retry is a span with all its events, and a point of every metric', async () => {
  const { spans, points, units, unknown } = await record(
    CHAT,
    start({ model: 'atlas-small', streamed: true, temperature: 0, maxTokens: 50, outputType: 'json' }),
    { type: 'queued', bucket: 'chat' },
    { type: 'dequeued', bucket: 'chat', waited: 1_500 },
    request(1),
    { type: 'response', attempt: 1, status: 503 },
    { type: 'retry', attempt: 1, reason: 503, wait: 500 },
    request(2),
    { type: 'response', attempt: 2, status: 200 },
    { type: 'validation', issues: [{}, {}] },
    done({
      ...{ attempts: 2, queued: 1_500, timeToFirstChunk: 40, largestGap: 25, usage, finishReasons: ['stop'] },
      ...{ model: 'atlas-small', responseModel: 'atlas-small-2', responseId: 'c1', requestId: 'r1' },
    }),
  );

  expect(spans).toEqual([
    {
      name: 'chat atlas-small',
      status: 0,
      attributes: {
        'http.request.method': 'POST',
        'url.template': '/v1/chat/completions',
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'context-gateway',
        'gen_ai.request.model': 'atlas-small',
        'gen_ai.request.stream': true,
        'gen_ai.request.temperature': 0,
        'gen_ai.request.max_tokens': 50,
        'gen_ai.output.type': 'json',
        'gen_ai.response.id': 'c1',
        'gen_ai.response.model': 'atlas-small-2',
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.response.time_to_first_chunk': 0.04,
        'gen_ai.usage.input_tokens': 9,
        'gen_ai.usage.output_tokens': 3,
        'http.request.resend_count': 1,
        'http.response.status_code': 200,
        'context_gateway.outcome': 'success',
        'context_gateway.queue_time': 1.5,
        'context_gateway.largest_gap': 0.025,
        'context_gateway.request_id': 'r1',
      },
      events: [
        ['queued', { 'context_gateway.rate_limit.bucket': 'chat' }],
        ['dequeued', { 'context_gateway.rate_limit.bucket': 'chat', 'context_gateway.wait': 1.5 }],
        ['request', { 'context_gateway.attempt': 1 }],
        ['response', { 'context_gateway.attempt': 1, 'http.response.status_code': 503 }],
        ['retry', { 'context_gateway.attempt': 1, 'context_gateway.reason': '503', 'context_gateway.wait': 0.5 }],
        ['request', { 'context_gateway.attempt': 2 }],
        ['response', { 'context_gateway.attempt': 2, 'http.response.status_code': 200 }],
        ['validation', { 'context_gateway.issues': 2 }],
        ['first_chunk', {}],
      ],
      firstChunkAt: [NOW + 640], // 40 ms after the second request, the seventh event
    },
  ]);
  const asked = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'context-gateway',
    'gen_ai.request.model': 'atlas-small',
    'gen_ai.response.model': 'atlas-small-2',
  };
  const call = { 'http.request.method': 'POST', 'url.template': '/v1/chat/completions' };
  expect(points).toEqual({
    'context_gateway.client.call.duration': [
      [{ ...call, 'http.response.status_code': 200, 'context_gateway.outcome': 'success' }, 0.25],
    ],
    'context_gateway.client.queue.duration': [[{ 'context_gateway.rate_limit.bucket': 'chat' }, 1.5]],
    'context_gateway.client.retries': [
      [{ 'url.template': '/v1/chat/completions', 'context_gateway.reason': '503' }, 1],
    ],
    'gen_ai.client.operation.duration': [[asked, 0.25]],
    'gen_ai.client.operation.time_to_first_chunk': [[asked, 0.04]],
    'gen_ai.client.token.usage': [
      [{ ...asked, 'gen_ai.token.type': 'input' }, 9],
      [{ ...asked, 'gen_ai.token.type': 'output' }, 3],
    ],
  });
  expect(units).toMatchObject({ 'gen_ai.client.operation.duration': 's', 'gen_ai.client.token.usage': '{token}' });
  expect(unknown).toEqual([]);
});

test('a failed call of another resource has no attributes of a model, and its error in span and metrics', async () => {
  const { spans, points, unknown } = await record(
    LIST,
    start(),
    request(1),
    { type: 'failure', attempt: 1, reason: 'APIConnectionError', stop: 'not-repeatable' },
    done({ outcome: 'error', error: 'APIConnectionError', status: undefined, usage }),
  );

  const error = { 'http.request.method': 'GET', 'url.template': '/v1/presets', 'error.type': 'APIConnectionError' };
  const attributes = { ...error, 'context_gateway.outcome': 'error' };
  const tokens = { 'gen_ai.usage.input_tokens': 9, 'gen_ai.usage.output_tokens': 3 };
  const failure = {
    'context_gateway.attempt': 1,
    'context_gateway.reason': 'APIConnectionError',
    'context_gateway.stop_reason': 'not-repeatable',
  };
  expect(spans).toMatchObject([{ name: 'GET /v1/presets', status: 2, events: [{}, ['failure', failure]] }]);
  expect(spans[0]?.attributes).toEqual({ ...attributes, ...tokens });
  expect(points).toEqual({ 'context_gateway.client.call.duration': [[attributes, 0.25]] });
  expect(unknown).toEqual([]);
});

test.each([
  { ended: 'with status 400', outcome: 'error', status: 400, type: '400' },
  { ended: 'inside a stream', outcome: 'error', status: 200, type: 'APIError' },
  { ended: 'by its caller', outcome: 'aborted', status: 503, type: undefined },
] as const)('a completion that ended $ended has the error.type $type', async ({ outcome, status, type }) => {
  const { spans, points } = await record(CHAT, start(), request(1), done({ outcome, status, error: 'APIError' }));

  expect(spans[0]?.name).toBe('chat'); // without a model
  expect(spans[0]?.attributes['error.type']).toBe(type);
  const asked = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'context-gateway' };
  expect(points['gen_ai.client.operation.duration']).toEqual([
    [{ ...asked, ...(type && { 'error.type': type }) }, 0.25],
  ]);
});

test('estimated tokens are marked in the span, and are no metric', async () => {
  const { spans, points } = await record(CHAT, start(), request(1), done({ usage, usageEstimated: true }));

  expect(spans[0]?.attributes).toMatchObject({
    'gen_ai.usage.input_tokens': 9,
    'context_gateway.usage_estimated': true,
  });
  expect(points['gen_ai.client.token.usage']).toBeUndefined();
});

test.each([
  [null, 'The options must be an object.'],
  [{ tracerprovider: {} }, 'tracerprovider is unknown; did you mean tracerProvider?'],
  [
    { tracerProvider: {}, meterProvider: 1 },
    'tracerProvider must be a TracerProvider; meterProvider must be a MeterProvider.',
  ],
])('an option that is wrong is an error that says so: %j', (options, message) => {
  expect(() => observeCalls(options as never)).toThrow(message);
  if (options !== null && 'tracerprovider' in options)
    expect(() => observeTools([], options as never)).toThrow(message);
});
