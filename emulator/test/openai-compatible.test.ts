/** Vercel's provider for OpenAI-compatible servers works with this service, with five gaps. See docs/reference/ai-sdk.md. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import * as v7 from 'ai';
import * as v5 from 'ai-v5';
import * as v6 from 'ai-v6';
import { createEmulator } from 'context-gateway-emulator';
import { createOpenAICompatible as createOpenAICompatible1 } from 'openai-compatible-v1';
import { createOpenAICompatible as createOpenAICompatible2 } from 'openai-compatible-v2';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';

type Ai = typeof v7;
type Create = typeof createOpenAICompatible;
/** All three are typed as the newest version: these tests only use what every version has. */
const majors = [
  { version: 1, ai: v5 as unknown as Ai, create: createOpenAICompatible1 as unknown as Create, whenCut: 'unknown' },
  { version: 2, ai: v6 as unknown as Ai, create: createOpenAICompatible2 as unknown as Create, whenCut: 'error' },
  { version: 3, ai: v7, create: createOpenAICompatible, whenCut: 'error' },
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

describe.each(majors)('openai-compatible $version', ({ ai, create, whenCut }) => {
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

  test('reports the usage of a stream, but includeUsage sends an undocumented parameter', async () => {
    expect((await ai.streamText({ model, prompt }).usage).totalTokens).toBe(18);
    expect(lastBody()).not.toHaveProperty('stream_options');

    const asking = provider({ includeUsage: true })('atlas-small');
    expect((await ai.streamText({ model: asking, prompt }).usage).totalTokens).toBe(18);
    expect(lastBody()).toHaveProperty('stream_options');

    const onError = vi.fn();
    const refused = provider({ includeUsage: true }, strict)('atlas-small');
    await ai.streamText({ model: refused, prompt, onError }).consumeStream();
    expect(onError).toHaveBeenCalledWith({ error: expect.objectContaining({ statusCode: 400 }) });
  });

  test('loses the wait that a 429 asks for', async () => {
    const headers = { 'x-emulator-fault': '429=7' };
    const error = await ai.generateText({ model, prompt, headers, maxRetries: 0 }).catch((error: unknown) => error);

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
    await expect(refused).rejects.toMatchObject({ statusCode: 400 });
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

  test('ends a stream that breaks off without an exception, in version 1 also without an error', async () => {
    const onError = vi.fn();
    const result = ai.streamText({ model, prompt, headers: { 'x-emulator-fault': 'cut=3' }, onError });

    expect(await result.finishReason).toBe(whenCut);
    expect(onError).toHaveBeenCalledTimes(whenCut === 'error' ? 1 : 0);
  });

  test('retries after 2 s, whatever the body of a 429 says', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    emulator.faults.add({ match: { path: '/v1/chat/*' }, respond: { status: 429, retryAfter: 5 } });
    const answer = ai.generateText({ model, prompt });
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
