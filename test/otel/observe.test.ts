import { context, createTraceState, metrics, TraceFlags, trace } from '@opentelemetry/api';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-base';
import { ContextClient, tool } from 'context-gateway';
import { createConversation } from 'context-gateway/conversation';
import { observeCalls, observeTools } from 'context-gateway/otel';
import { afterEach, describe, expect, test } from 'vitest';
import { completion } from '../helpers/samples.js';
import { unknownNames } from './conventions.js';
import { plain, type ReceivedSpan } from './receiver.js';
import { observedWorld } from './world.js';

const PROMPT = 'The canary sings at dawn. When does the canary sing?';
const ask = { model: 'atlas-small', messages: [{ role: 'user' as const, content: PROMPT }] };
let close: (() => Promise<void>) | undefined;
afterEach(() => close?.());

async function open(options: Parameters<typeof observedWorld>[0] = {}) {
  const world = await observedWorld(options);
  close = world.close;
  const spanOf = async (name: string): Promise<ReceivedSpan> => {
    await world.flush();
    const span = world.receiver.spans.find((one) => one.name === name);
    if (span === undefined) throw new Error(`no span ${name}, but ${world.receiver.spans.map((one) => one.name)}`);
    return span;
  };
  return { ...world, spanOf };
}

describe('the span of a call', () => {
  test('has what was asked of the model, and what a plain completion reports', async () => {
    const { gateway, spanOf } = await open();

    const { id, model, usage } = await gateway.chat.completions.create({ ...ask, temperature: 0.2, max_tokens: 50 });

    const span = await spanOf('chat atlas-small');
    expect(span.kind).toBe(3); // CLIENT
    expect(span.status.code).toBe(0); // unset: no error
    expect(plain(span.attributes)).toMatchObject({
      'gen_ai.request.temperature': 0.2,
      'gen_ai.request.max_tokens': 50,
      'gen_ai.response.id': id,
      'gen_ai.response.model': model,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': usage?.prompt_tokens,
      'gen_ai.usage.output_tokens': usage?.completion_tokens,
      'context_gateway.request_id': expect.any(String),
    });
    expect(span.events.map(({ name }) => name)).toEqual(['request', 'response']);
  });

  test('has events for a wait in the queue, a 503, its retry and the first chunk', async () => {
    const { gateway, emulator, spanOf } = await open({
      emulator: { limits: { gateway: { requests: 1, windowMs: 800 } } },
    });
    emulator.faults.add({ match: { path: '/v1/chat/completions' }, respond: { status: 503 } });
    await gateway.presets.list();

    for await (const _ of await gateway.chat.completions.create({ ...ask, stream: true }));

    const span = await spanOf('chat atlas-small');
    expect(span.events.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['queued', 'dequeued', 'request', 'response', 'retry', 'first_chunk']),
    );
    const attributes = plain(span.attributes);
    expect(attributes).toMatchObject({ 'http.request.resend_count': 1, 'http.response.status_code': 200 });
    const queueTime = Number(attributes['context_gateway.queue_time']);
    expect(queueTime).toBeGreaterThan(0);
    expect(Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e9).toBeGreaterThan(queueTime);
  });

  test('is a child of the active span, and its traceparent is sent to the service', async () => {
    const { gateway, emulator, spanOf, inSpan } = await open();

    await inSpan('answer the user', async () => void (await gateway.presets.list()));

    const parent = await spanOf('answer the user');
    const span = await spanOf('GET /v1/presets');
    expect(span).toMatchObject({ traceId: parent.traceId, parentSpanId: parent.spanId });
    expect(emulator.requests.at(-1)?.headers.traceparent).toBe(`00-${span.traceId}-${span.spanId}-01`);
  });

  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  test.each([
    { given: 'no header', headers: {}, sent: 'vendor=1' },
    { given: 'a traceparent, which may belong to another trace,', headers: { traceparent }, sent: undefined },
    { given: 'both', headers: { traceparent, tracestate: 'mine=1' }, sent: 'mine=1' },
  ])('sends the tracestate of its trace if the caller gives $given: $sent', async ({ headers, sent }) => {
    const { gateway, emulator } = await open();
    const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
    const parent = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, traceState: createTraceState('vendor=1') };

    await context.with(trace.setSpanContext(context.active(), parent), () => gateway.presets.list({}, { headers }));

    const { headers: received } = emulator.requests.at(-1) ?? {};
    expect(received).toMatchObject(headers);
    expect(received?.tracestate).toBe(sent);
  });

  test('ends once if the reader leaves, the caller aborts or the stream breaks off', async () => {
    const { gateway, emulator, spanOf, receiver, flush } = await open({ emulator: { pace: { tokensPerSecond: 20 } } });
    const controller = new AbortController();

    for await (const _ of await gateway.chat.completions.create({ ...ask, stream: true })) break;
    expect(plain((await spanOf('chat atlas-small')).attributes)['context_gateway.outcome']).toBe('cancelled');
    const stream = await gateway.chat.completions.create({ ...ask, stream: true }, { signal: controller.signal });
    controller.abort();
    await stream.finalCompletion().catch(() => {});
    emulator.faults.add({ match: { path: '/v1/chat/completions' }, respond: { type: 'cutStream', afterEvents: 2 } });
    const cut = await gateway.chat.completions.create({ ...ask, stream: true });
    await cut.finalCompletion().catch(() => {});

    await flush();
    const ended = receiver.spans.map(({ attributes, status }) => ({ code: status.code, ...plain(attributes) }));
    expect(ended).toMatchObject([
      { 'context_gateway.outcome': 'cancelled', code: 0 },
      { 'context_gateway.outcome': 'aborted', code: 0 },
      { 'context_gateway.outcome': 'error', code: 2, 'error.type': 'StreamTruncatedError' },
    ]);
    expect(ended[2]).toHaveProperty(['context_gateway.usage_estimated'], true);
  });

  test('the span of a call that is not sampled still sends a traceparent', async () => {
    const { gateway, emulator, receiver, flush } = await open({ sampler: new AlwaysOffSampler() });

    await gateway.presets.list();

    await flush();
    expect(receiver.spans).toEqual([]);
    expect(emulator.requests.at(-1)?.headers.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  });
});

test('metrics reach an SDK that is registered after observeCalls was called', async () => {
  const world = await open();
  const { meterProvider, receiver, flush } = world;
  const gateway = world.gateway.withOptions({ onEvent: observeCalls() });
  metrics.setGlobalMeterProvider(meterProvider);
  try {
    await gateway.presets.list();
    await flush();
  } finally {
    metrics.disable();
  }

  expect(receiver.metrics.map(({ name }) => name)).toEqual(['context_gateway.client.call.duration']);
});

test('one listener tells the calls of several clients apart', async () => {
  const { gateway, emulator, url, onEvent, receiver, flush } = await open();
  const context = new ContextClient({ baseURL: url, sessionToken: emulator.sessionToken, onEvent });

  await Promise.all([gateway.presets.list(), context.memory.list()]);
  await flush();

  expect(receiver.spans.map(({ name }) => name).sort()).toEqual(['GET /api/memory', 'GET /v1/presets']);
});

test('exports contain no prompt, no completion and no key', async () => {
  const { gateway, emulator, receiver, flush } = await open();
  emulator.faults.add({ match: { path: '/v1/presets' }, respond: { status: 500, message: PROMPT } });

  await gateway.chat.completions.create(ask);
  for await (const _ of await gateway.chat.completions.create({ ...ask, stream: true }));
  await gateway.presets.list({}, { maxRetries: 0 }).catch(() => {});

  await flush();
  expect(receiver.spans).toHaveLength(3);
  for (const secret of ['canary', 'dawn', emulator.apiKeys.secret]) expect(receiver.text()).not.toContain(secret);
});

test('no text of the service makes a span large', async () => {
  const { gateway, emulator, spanOf, receiver } = await open();
  const long = 'x'.repeat(500_000);
  const [choice] = completion().choices;
  const choices = Array.from({ length: 1_000 }, (_, index) => ({
    ...choice,
    index,
    finish_reason: index ? 'y' : long,
  }));
  const body = { ...completion(), model: long, choices };
  emulator.faults.add({ respond: { status: 200, body, headers: { 'x-request-id': 'r'.repeat(10_000) } } });

  await gateway.chat.completions.create(ask);

  const attributes = plain((await spanOf('chat atlas-small')).attributes);
  expect(attributes['gen_ai.response.finish_reasons']).toEqual(['x'.repeat(100), ...Array(19).fill('y')]);
  expect(receiver.text().length).toBeLessThan(20_000);
});

describe('the span of a tool', () => {
  test('has its call, and what the tool calls is its child', async () => {
    const { gateway, emulator, tracerProvider, spanOf, inSpan } = await open();
    emulator.chat.on('tide', 'At noon.');
    const calls = ['tide', 'broken'].map((name) => ({ id: `call_${name}`, function: { name, arguments: {} } }));
    emulator.chat.on('tide', { tool_calls: calls });
    const tide = tool({
      name: 'tide',
      description: 'When high tide is',
      execute: async () => (await gateway.presets.list()).length,
    });
    const broken = tool({
      name: 'broken',
      execute: () => {
        throw new SyntaxError(PROMPT);
      },
    });
    const tools = observeTools([tide, broken, { type: 'function', function: { name: 'waits' } }], { tracerProvider });
    const talk = createConversation({ gateway, model: 'atlas-small', conversationId: 'tides', tools });

    expect((await inSpan('question', () => talk.send('When is high tide?'))).text).toBe('At noon.');

    const span = await spanOf('execute_tool tide');
    expect(span.kind).toBe(1); // INTERNAL
    expect(plain(span.attributes)).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'tide',
      'gen_ai.tool.description': 'When high tide is',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'call_tide',
    });
    expect(unknownNames(plain(span.attributes))).toEqual([]);
    expect(span.parentSpanId).toBe((await spanOf('question')).spanId);
    expect((await spanOf('GET /v1/presets')).parentSpanId).toBe(span.spanId);
    const failed = await spanOf('execute_tool broken');
    expect(failed.status).toEqual({ code: 2 });
    expect(plain(failed.attributes)).toMatchObject({ 'error.type': 'SyntaxError' });
    expect(JSON.stringify(tools)).toBe(
      JSON.stringify([tide, broken, { type: 'function', function: { name: 'waits' } }]),
    );
  });
});
