/** Vercel's provider for OpenAI-compatible servers works with this service, with five gaps. See docs/guides/ai-sdk.md. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import * as v7 from 'ai';
import * as v5 from 'ai-v5';
import * as v6 from 'ai-v6';
import { createEmulator } from 'context-gateway-emulator';
import { createOpenAICompatible as createOpenAICompatible1 } from 'openai-compatible-v1';
import { createOpenAICompatible as createOpenAICompatible2 } from 'openai-compatible-v2';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

type Ai = typeof v7;
type Create = typeof createOpenAICompatible;
/** All three are typed as the newest version: these tests only use what every version has. */
const majors = [
  { version: 1, ai: v5 as unknown as Ai, create: createOpenAICompatible1 as unknown as Create },
  { version: 2, ai: v6 as unknown as Ai, create: createOpenAICompatible2 as unknown as Create },
  { version: 3, ai: v7, create: createOpenAICompatible },
];

const options = { seed: 'openai-compatible', now: '2026-01-15T10:00:00.000Z' };
const emulator = createEmulator(options);
const strict = createEmulator({ ...options, strict: true });
beforeEach(() => {
  emulator.reset();
  strict.reset();
});
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const prompt = 'The key is red. What is red?';
const lastBody = () => JSON.parse(emulator.requests.at(-1)?.body ?? '');
const failureOf = (call: PromiseLike<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

describe.each(majors)('openai-compatible $version', ({ ai, create }) => {
  const provider = (more: object = {}, { apiKeys, fetch } = emulator) =>
    create({ name: 'svc', baseURL: 'https://emulator.test/v1', apiKey: apiKeys.secret, fetch, ...more });
  const model = provider()('atlas-small');

  test('generates and streams the same text', async () => {
    const whole = await ai.generateText({ model, prompt });
    const streamed = ai.streamText({ model, prompt });

    expect(whole).toMatchObject({ text: 'The key is red.', finishReason: 'stop', usage: { totalTokens: 18 } });
    expect(whole.response.headers).toMatchObject({ 'x-ratelimit-limit': '1000' });
    expect(await streamed.text).toBe(whole.text);
    expect(await streamed.finishReason).toBe('stop');
  });

  test('reports an error with its status and code, and whether it is retryable', async () => {
    const error = await failureOf(ai.generateText({ model: provider()('none'), prompt }));

    expect(error).toMatchObject({ statusCode: 404, isRetryable: false, data: { error: { code: 'model_not_found' } } });
  });

  test('reports the usage of a stream, but includeUsage sends an undocumented parameter', async () => {
    expect((await ai.streamText({ model, prompt }).usage).totalTokens).toBe(18);
    expect(lastBody()).not.toHaveProperty('stream_options');

    const asking = provider({ includeUsage: true })('atlas-small');
    expect((await ai.streamText({ model: asking, prompt }).usage).totalTokens).toBe(18);
    expect(lastBody()).toHaveProperty('stream_options');

    const onError = vi.fn();
    await ai
      .streamText({ model: provider({ includeUsage: true }, strict)('atlas-small'), prompt, onError })
      .consumeStream();
    expect(onError).toHaveBeenCalledWith({ error: expect.objectContaining({ statusCode: 400 }) });
  });

  test('loses the wait that a 429 asks for', async () => {
    const headers = { 'x-emulator-fault': '429=7' };
    const error = await failureOf(ai.generateText({ model, prompt, headers, maxRetries: 0 }));

    expect(error).toMatchObject({ statusCode: 429, isRetryable: true });
    expect(error).toHaveProperty('responseBody', expect.stringContaining('"retry_after":7'));
    expect(error).not.toHaveProperty('responseHeaders.retry-after');
    expect(error).not.toHaveProperty('data.error.retry_after');
  });

  test('sends undocumented parameters without a warning', async () => {
    const settings = { topP: 0.4, seed: 3, stopSequences: ['x'] };
    const { warnings } = await ai.generateText({ model, prompt, ...settings });

    expect(warnings).toEqual([]);
    expect(lastBody()).toMatchObject({ top_p: 0.4, seed: 3, stop: ['x'] });
    const refused = ai.generateText({ model: provider({}, strict)('atlas-small'), prompt, ...settings });
    expect(await failureOf(refused)).toMatchObject({ statusCode: 400 });
  });

  test('sends a message of several parts as a list, which the emulator reads', async () => {
    const content = ['The key is red.', 'What is red?'].map((text) => ({ type: 'text' as const, text }));
    const { text } = await ai.generateText({ model, messages: [{ role: 'user', content }] });

    expect(lastBody().messages[0].content).toEqual(content);
    expect(text).toBe('The key is red.');
  });

  test('reads a stream whose chunks have another shape as empty text', async () => {
    const withMessages = async (...args: Parameters<typeof fetch>) => {
      const response = await emulator.fetch(...args);
      const text = await response.text();
      return new Response(text.replaceAll('"delta":', '"message":'), response);
    };
    const result = ai.streamText({ model: provider({ fetch: withMessages })('atlas-small'), prompt });

    expect(await result.text).toBe('');
    expect(await result.finishReason).toBe('stop');
  });
});

describe('openai-compatible, when a stream breaks off', () => {
  test.each([
    { ...(majors[0] as (typeof majors)[0]), finishReason: 'unknown', errors: 0 },
    { ...(majors[1] as (typeof majors)[0]), finishReason: 'error', errors: 1 },
    { ...(majors[2] as (typeof majors)[0]), finishReason: 'error', errors: 1 },
  ])('version $version ends with $finishReason and $errors errors', async ({ ai, create, finishReason, errors }) => {
    const { apiKeys, fetch } = emulator;
    const svc = create({ name: 'svc', baseURL: 'https://emulator.test/v1', apiKey: apiKeys.secret, fetch });
    const onError = vi.fn();
    const headers = { 'x-emulator-fault': 'cut=3' };
    const result = ai.streamText({ model: svc('atlas-small'), prompt, headers, onError });

    expect(await result.finishReason).toBe(finishReason);
    expect(onError).toHaveBeenCalledTimes(errors);
  });
});

describe.each(majors)('openai-compatible $version, when the service is busy', ({ ai, create }) => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  test('retries after 2 s, whatever the body says', async () => {
    emulator.faults.add({ match: { path: '/v1/chat/*' }, respond: { status: 429, retryAfter: 5 } });
    const { apiKeys, fetch } = emulator;
    const svc = create({ name: 'svc', baseURL: 'https://emulator.test/v1', apiKey: apiKeys.secret, fetch });
    const answer = ai.generateText({ model: svc('atlas-small'), prompt });
    await settled();

    await vi.advanceTimersByTimeAsync(2_000);
    await answer;

    expect(emulator.requests.map(({ status }) => status)).toEqual([429, 200]);
  });
});

/** Waits until everything that needs no timer has happened. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
