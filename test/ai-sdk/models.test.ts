import { AISDKError, APICallError } from 'ai';
import { APIAbortError, type APIConnectionError, ConfigurationError, StreamError } from 'context-gateway';
import { createAiSdkProvider } from 'context-gateway/ai-sdk';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { failureOf, gatewayAt } from '../helpers/service.js';
import { emulatedService } from '../helpers/world.js';
import { majors } from './majors.js';

const service = emulatedService({});
const { emulator } = service;
const prompt = 'The key is red. What is red?';
/** Headers that trigger a fault of the emulator. */
const fault = (name: string) => ({ 'x-emulator-fault': name });

test('a call of ai 4, whose early releases do not check the version, names the versions', async () => {
  const model = createAiSdkProvider(service.gateway())('atlas-small');
  const options = { mode: { type: 'regular' }, inputFormat: 'prompt', prompt: [] };
  for (const call of [model.doGenerate(options as never), model.doStream(options as never)]) {
    await expect(call).rejects.toThrow(ConfigurationError);
    await expect(call).rejects.toThrow(/needs ai 5, 6 or 7, .*: npm install ai@7/);
  }
  expect(emulator.requests).toEqual([]);
});

describe.each(majors)('$name', ({ ai, createProvider }) => {
  const model = (id = 'atlas-small') => createProvider(service.gateway())(id);
  /** Every part of a stream, and the errors in it. */
  const read = async (options: {
    headers?: Record<string, string>;
    abortSignal?: AbortSignal;
    onPart?: () => void;
  }) => {
    const { onPart, ...more } = options;
    const result = ai.streamText({ model: model(), prompt, maxRetries: 0, onError: () => {}, ...more });
    const parts: { type: string; error?: unknown; text?: string }[] = [];
    for await (const part of result.fullStream) {
      parts.push(part);
      if (part.type === 'text-delta') onPart?.();
    }
    return { parts, types: parts.map(({ type }) => type), result };
  };

  test('generates text with its finish reason, usage and warnings', async () => {
    const result = await ai.generateText({ model: model(), prompt });

    expect(result.text).toBe('The key is red.');
    expect(result.finishReason).toBe('stop');
    expect(result.usage).toMatchObject({ inputTokens: 13, outputTokens: 5, totalTokens: 18 });
    expect(result.warnings).toEqual([]);
    expect(result.response).toMatchObject({ modelId: 'atlas-small', id: expect.stringMatching(/^chatcmpl_/) });
    expect(result.response.timestamp).toEqual(new Date('2026-01-15T10:00:00.000Z'));
  });

  test('streams text in pieces, with its finish reason and usage', async () => {
    const { parts, types, result } = await read({});

    const texts = parts.filter(({ type }) => type === 'text-delta').map(({ text }) => text);
    expect(texts).toEqual(['The', ' key', ' is', ' red', '.']);
    expect(types.filter((type) => type.startsWith('text-')).at(-1)).toBe('text-end');
    expect(await result.finishReason).toBe('stop');
    expect(await result.usage).toMatchObject({ inputTokens: 13, outputTokens: 5, totalTokens: 18 });
  });

  test('joins the text parts of a message, and sends temperature and maximum length', async () => {
    const content = ['The key is red.', 'What is red?'].map((text) => ({ type: 'text' as const, text }));
    const messages = [{ role: 'user' as const, content }];
    const sent = { model: model(), system: 'Be short.', messages, temperature: 0.5, maxOutputTokens: 40 };
    await ai.generateText(sent);

    expect(JSON.parse(service.last.body ?? '')).toEqual({
      model: 'atlas-small',
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'The key is red.\nWhat is red?' },
      ],
      temperature: 0.5,
      max_tokens: 40,
      stream: false,
    });
  });

  test('masks a key that the service repeats in its error', async () => {
    const key = service.emulator.apiKeys.secret;
    const body = { error: { message: `The key ${key} may not do this.`, type: 'permission_error' }, key };
    service.emulator.faults.add({ respond: { status: 403, body } });

    const error = (await failureOf(ai.generateText({ model: model(), prompt, maxRetries: 0 }))) as APICallError;

    expect(error.responseBody).toContain('may not do this');
    expect(error.responseBody).not.toContain(key);
    expect(JSON.stringify(error.data)).not.toContain(key);
  });

  test('turns an error of the service into an APICallError with its status, headers and body', async () => {
    const error = await failureOf(ai.generateText({ model: model('no-such-model'), prompt }));

    expect(error).toSatisfy(APICallError.isInstance);
    const { responseBody, data } = error as APICallError;
    expect(error).toMatchObject({
      ...{ statusCode: 404, url: '/v1/chat/completions', isRetryable: false },
      data: { error: { code: 'model_not_found', param: 'model' } },
      responseHeaders: { 'x-ratelimit-limit': '1000', 'x-request-id': expect.any(String) },
      cause: { name: 'NotFoundError', code: 'model_not_found' },
    });
    expect(JSON.parse(responseBody ?? '')).toEqual(data);
    expect(emulator.requests).toHaveLength(1);
  });

  test('only the client retries, and a printed error shows no prompt and no key', async () => {
    const retrying = createProvider(service.gateway({ maxRetries: 1 }))('atlas-small');
    const error = await failureOf(ai.generateText({ model: retrying, prompt, maxRetries: 5, headers: fault('503') }));
    expect(emulator.requests).toHaveLength(2);
    const { inspect } = await import('node:util');

    expect((error as APICallError).requestBodyValues).toMatchObject({ messages: [{ content: prompt }] });
    for (const printed of [inspect(error, { depth: 9 }), JSON.stringify(error)]) {
      expect(printed).toContain('503');
      expect(printed).not.toMatch(/What is red|svc_sk_/);
    }
  });

  test('an error has no code of the network among its causes, for which the AI SDK would repeat the request', async () => {
    const unreachable = createProvider(service.gateway({ baseURL: 'http://127.0.0.1:9', maxRetries: 1 }))(
      'atlas-small',
    );
    const error = await failureOf(ai.generateText({ model: unreachable, prompt }));

    expect(error).toMatchObject({ name: 'AI_APICallError', isRetryable: false, cause: { sent: 'no' } });
    const { cause } = error as { cause: APIConnectionError };
    expect(cause.message).toContain('ECONNREFUSED');
    expect(cause.attempts).toHaveLength(2);
    expect(cause.cause).toBeInstanceOf(Error);
    expect(cause.cause).not.toHaveProperty('code');
  });

  test('an aborted call ends with an AbortError, and aborts its request', async () => {
    const controller = new AbortController();
    const call = ai.generateText({ model: model(), prompt, headers: fault('stall'), abortSignal: controller.signal });
    const failure = failureOf(call);
    await vi.waitFor(() => expect(emulator.requests).toHaveLength(1), { timeout: 30_000 });
    controller.abort();

    expect(await failure).toBeInstanceOf(APIAbortError);
    expect(await failure).toHaveProperty('name', 'AbortError');
    await vi.waitFor(() => expect(service.last.outcome).toBe('aborted'), { timeout: 30_000 });
  });

  test('an aborted stream ends with an abort part, and aborts its request', async () => {
    const controller = new AbortController();
    const { types } = await read({
      headers: fault('cut=3:stall'),
      abortSignal: controller.signal,
      onPart: () => controller.abort(),
    });

    expect(types.at(-1)).toBe('abort');
    expect(types).not.toContain('error');
    await vi.waitFor(() => expect(service.last.outcome).toBe('aborted'), { timeout: 30_000 });
  });

  test('an aborted doStream() rejects its reader instead of sending an error part', async () => {
    const controller = new AbortController();
    const { stream } = await model().doStream({
      prompt: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
      headers: fault('cut=3:stall'),
      abortSignal: controller.signal,
    });
    const reader = stream.getReader();
    await reader.read();
    const next = reader.read();
    controller.abort();

    expect(await failureOf(next.then(() => reader.read()).then(() => reader.read()))).toBeInstanceOf(APIAbortError);
  });

  test('an error inside a stream comes after the text, and text-end follows', async () => {
    const { parts, types, result } = await read({ headers: fault('error=2') });

    const { error } = parts.find(({ type }) => type === 'error') ?? {};
    expect(error).toBeInstanceOf(StreamError);
    expect(error).toMatchObject({
      code: 'service_unavailable',
      partial: { choices: [{ message: { content: 'The' } }] },
    });
    expect(types).toContain('text-end');
    expect(await result.finishReason).toBe('error');
    expect((await result.usage).totalTokens).toBeUndefined();
  });

  test('passes on the rate limit as headers and as metadata', async () => {
    const { response, providerMetadata } = await ai.generateText({ model: model(), prompt });
    const { result } = await read({});

    const rateLimit = { limit: 1000, remaining: 999, reset: expect.stringMatching(/^2026-01-15T10:\d\d:\d\d\.000Z$/) };
    expect(response.headers).toMatchObject({ 'x-ratelimit-limit': '1000', 'x-ratelimit-remaining': '999' });
    expect(providerMetadata).toEqual({ svc: { rateLimit } });
    expect((await result.response).headers).toMatchObject({ 'x-ratelimit-remaining': '998' });
    expect(await result.providerMetadata).toEqual({ svc: { rateLimit: { ...rateLimit, remaining: 998 } } });
  });

  test('includes the raw chunks on request', async () => {
    const result = ai.streamText({ model: model(), prompt, includeRawChunks: true });
    const raw: unknown[] = [];
    for await (const part of result.fullStream) if (part.type === 'raw') raw.push(part.rawValue);

    expect(raw[0]).toMatchObject({ object: 'chat.completion.chunk' });
    expect(raw.length).toBeGreaterThan(5);
  });

  test('finds language models in a registry, and rejects other kinds of models', () => {
    const svc = createProvider(service.gateway());
    const registry = ai.createProviderRegistry({ svc });

    expect(registry.languageModel('svc:atlas-small').modelId).toBe('atlas-small');
    const isKnown = (error: unknown) => ai.NoSuchModelError.isInstance(error) && AISDKError.isInstance(error);
    for (const kind of ['embeddingModel', 'textEmbeddingModel', 'imageModel'] as const)
      expect(() => svc[kind]('atlas-small')).toThrow(expect.toSatisfy(isKnown));
  });
});

describe.each(majors)('$name, when the service is busy', ({ ai, createProvider }) => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  test('the client retries after the wait in the body', async () => {
    emulator.faults.add({ match: { path: '/v1/chat/*' }, respond: { status: 429, retryAfter: 5 } });
    const gateway = service.gateway({ pacing: false, fetch: emulator.fetch, maxRetries: 2 });
    const answer = ai.generateText({ model: createProvider(gateway)('atlas-small'), prompt });
    await settled();

    await vi.advanceTimersByTimeAsync(4_999);
    await settled();
    expect(emulator.requests).toHaveLength(1);

    await vi.advanceTimersByTimeAsync(2_000); // with some jitter
    expect((await answer).text).toBe('The key is red.');
    expect(emulator.requests).toHaveLength(2);
  });

  const busyFor = (retryAfter: number) =>
    emulator.faults.add({
      match: { path: '/v1/chat/*' },
      respond: { status: 429, headers: { 'retry-after': String(retryAfter) } },
      times: 5,
    });

  test('a 429 that asks for more than maxRetryAfter fails at once', async () => {
    busyFor(30);

    const gateway = service.gateway({ fetch: emulator.fetch, pacing: false, maxRetryAfter: 29_000 });
    const error = await failureOf(ai.generateText({ model: createProvider(gateway)('atlas-small'), prompt })); // no timer has passed

    const cause = { status: 429, sent: 'no', retryAfter: 30_000 };
    expect(error).toMatchObject({ name: 'AI_APICallError', isRetryable: false, cause });
    expect(emulator.requests).toHaveLength(1);
  });

  test('the deadline of the client is that of all attempts', async () => {
    emulator.faults.add({ match: { path: '/v1/chat/*' }, respond: { status: 503 }, times: 50 });
    const gateway = service.gateway({ fetch: emulator.fetch, pacing: false, deadline: 1_000, maxRetries: 5 });
    const failure = failureOf(ai.generateText({ model: createProvider(gateway)('atlas-small'), prompt }));

    for (let ms = 0; ms < 1_100; ms += 100) {
      await settled();
      await vi.advanceTimersByTimeAsync(100);
    }

    expect(await failure).toMatchObject({ name: 'AI_APICallError' }); // no other timer has passed
  });

  test('a wait that the client does not queue for fails at once, and nothing is sent', async () => {
    busyFor(30);
    const gateway = service.gateway({ fetch: emulator.fetch, maxRetryAfter: 10_000 });
    await failureOf(ai.generateText({ model: createProvider(gateway)('atlas-small'), prompt, maxRetries: 0 }));

    const failure = failureOf(ai.generateText({ model: createProvider(gateway)('atlas-small'), prompt }));
    await settled();

    expect(await failure).toMatchObject({ name: 'AI_APICallError', isRetryable: false });
    expect(String(await failure)).toContain('so the request was not sent');
    expect(emulator.requests).toHaveLength(1);
  });
});

test('ai 6 and 7 accept the default specification without a warning, and an older one with a warning', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: true });
  const gateway = service.gateway();
  for (const { ai } of majors.slice(1))
    await ai.generateText({ model: createAiSdkProvider(gateway)('atlas-small'), prompt });
  const warnings = warn.mock.calls.length;
  const older = createAiSdkProvider(gateway, { specification: 'v2' })('atlas-small');
  for (const { ai } of majors.slice(1)) await ai.generateText({ model: older, prompt });
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

  expect(warnings).toBe(0);
  expect(warn).toHaveBeenCalled();
  warn.mockRestore();
});

test.each([
  { gateway: undefined, options: {}, message: 'takes a client: createAiSdkProvider(new GatewayClient(' },
  { gateway: service.gateway, options: {}, message: 'takes a client' },
  {
    gateway: gatewayAt(),
    options: { specification: 'v1' as never },
    message: "specification must be 'v2' (for ai 5), 'v3' (for ai 6 and 7) or 'v4' (for ai 7).",
  },
  {
    gateway: gatewayAt(),
    options: { Specification: 'v2' },
    message: 'Specification is unknown; did you mean specification?',
  },
])('createAiSdkProvider($gateway, $options) throws, and says what it takes', ({ gateway, options, message }) => {
  const make = () => createAiSdkProvider(gateway as never, options as never);

  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(message);
});

/** Waits until everything that needs no timer has happened. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
