import { createEmulator } from 'context-gateway-emulator';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { chatParams } from '../helpers/samples.js';
import { failureOf } from '../helpers/service.js';

// A program written for the OpenAI API must work with the service by changing only its baseURL and key.
const emulator = createEmulator({ seed: 'openai', limits: { gateway: 10 } });
let url = '';
beforeAll(async () => {
  url = (await emulator.listen({ port: 0 })).url;
});
beforeEach(() => emulator.reset());
afterAll(() => emulator.close());

const client = (options: object = {}) =>
  new OpenAI({ apiKey: emulator.apiKeys.secret, baseURL: `${url}/v1`, maxRetries: 0, ...options });
const params = {
  model: chatParams.model,
  messages: [{ role: 'user' as const, content: 'The key is red. What is red?' }],
};

test('the official openai client gets a plain completion', async () => {
  const completion = await client().chat.completions.create(params);

  expect(completion).toMatchObject({ object: 'chat.completion', model: 'atlas-small' });
  expect(completion.choices[0]).toMatchObject({ index: 0, finish_reason: 'stop', message: { role: 'assistant' } });
  expect(completion.usage?.total_tokens).toBeGreaterThan(0);
});

test('the official openai client gets a streamed completion, with its usage at the end, and assembles it', async () => {
  const whole = await client().chat.completions.create(params);
  const stream = client().chat.completions.stream(params);
  let text = '';
  let usage = 0;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    usage = chunk.usage?.total_tokens ?? usage;
  }

  expect(text).toBe(whole.choices[0]?.message.content);
  expect(usage).toBe(whole.usage?.total_tokens);
  expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe('The key is red.');
});

const keyless = { defaultHeaders: { Authorization: null } };
const wrongKey = { apiKey: 'svc_sk_wrong' };
test.each([
  { of: OpenAI.AuthenticationError, facts: { status: 401, code: 'missing_authorization' }, options: keyless },
  { of: OpenAI.PermissionDeniedError, facts: { status: 403, code: 'invalid_api_key' }, options: wrongKey },
  { of: OpenAI.NotFoundError, facts: { status: 404, code: 'model_not_found' }, more: { model: 'no-such-model' } },
  { of: OpenAI.BadRequestError, facts: { status: 400, param: 'temperature' }, more: { temperature: 3 } },
])('the official openai client throws its own class of error: $of.name', async ({ of, facts, options, more }) => {
  const error = await failureOf(client(options).chat.completions.create({ ...params, ...more }));

  expect(error).toBeInstanceOf(of);
  expect(error).toMatchObject({ ...facts, requestID: expect.any(String) });
});

test('the official openai client throws its RateLimitError on 429', async () => {
  for (let n = 0; n < 10; n += 1) await client().chat.completions.create(params);

  const error = await failureOf(client().chat.completions.create(params));

  expect(error).toBeInstanceOf(OpenAI.RateLimitError);
  expect(error).toMatchObject({ status: 429, type: 'rate_limit_error', error: { retry_after: expect.any(Number) } });
});
