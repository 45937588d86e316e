import { APICallError, UnsupportedFunctionalityError } from '@ai-sdk/provider';
import { RequestValidationError, StreamTruncatedError } from 'context-gateway';
import { createAiSdkProvider } from 'context-gateway/ai-sdk';
import { describe, expect, test } from 'vitest';
import { changed, completion } from '../helpers/samples.js';
import { cannedService, failureOf, gatewayAt, json, text } from '../helpers/service.js';
import type { Specification } from './majors.js';
import { partsOf } from './parts.js';

const service = cannedService();
const model = <Version extends Specification = 'v3'>(specification?: Version) =>
  createAiSdkProvider(gatewayAt(), { specification })('atlas-small');
const call = { prompt: [{ role: 'user', content: [{ type: 'text', text: 'Name a river.' }] }] };

/** An event stream of these chunks, with the common fields added to each. */
const stream = (...chunks: object[]) => {
  const common = { id: 'c1', object: 'chat.completion.chunk', created: 1_767_600_000, model: 'atlas-small' };
  const events = chunks.map((chunk) => `data: ${JSON.stringify({ ...common, ...chunk })}\n\n`);
  return text(`${events.join('')}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } });
};
const piece = (content: string, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: { content }, finish_reason }],
});

/** The parts of a streamed completion of these chunks. */
async function streamed(chunks: object[], specification?: Specification) {
  service.answers(stream(...chunks));
  return partsOf(
    (await model(specification).doStream({ ...call, tools: [{ type: 'provider', name: 'search' }] })).stream,
  );
}

describe('a streamed completion', () => {
  test('begins with the warnings and the response metadata, and ends with finish reason and usage', async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };

    expect(await streamed([piece(''), piece('Rh'), piece('ine.', 'stop'), { choices: [], usage }])).toEqual([
      {
        type: 'stream-start',
        warnings: [
          { type: 'unsupported', feature: 'tool search', details: 'It belongs to another provider. It was not sent.' },
        ],
      },
      { type: 'response-metadata', id: 'c1', modelId: 'atlas-small', timestamp: new Date(1_767_600_000_000) },
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'Rh' },
      { type: 'text-delta', id: '0', delta: 'ine.' },
      { type: 'text-end', id: '0' },
      {
        type: 'finish',
        finishReason: { unified: 'stop', raw: 'stop' },
        usage: {
          inputTokens: { total: 9, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
          outputTokens: { total: 3, text: undefined, reasoning: undefined },
          raw: usage,
        },
      },
    ]);
  });

  const usage = {
    ...{ prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
    ...{ prompt_tokens_details: { cached_tokens: 80 }, completion_tokens_details: { reasoning_tokens: 30 } },
  };
  const [flat, none] = [{ inputTokens: 100, outputTokens: 50, totalTokens: 150 }, { total: undefined }];
  test.each([
    ['cached and reasoning tokens', 'v2', usage, { ...flat, cachedInputTokens: 80, reasoningTokens: 30 }],
    [
      ...(['cached and reasoning tokens', 'v3', usage] as const),
      { inputTokens: { total: 100, noCache: 20, cacheRead: 80 }, outputTokens: { text: 20, reasoning: 30 } },
    ],
    ['no tokens, not 0', 'v2', undefined, { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined }],
    ['no tokens, not 0', 'v3', undefined, { inputTokens: none, outputTokens: none }],
  ] as const)('has %s in %s if the service reports %j', async (_, specification, reported, tokens) => {
    const parts = await streamed([piece('Rhine.', 'stop'), { choices: [], usage: reported }], specification);

    expect(parts.at(-1)).toMatchObject({ type: 'finish', usage: tokens });
  });

  const [first, second, alone] = ['\ud83d', '\ude00', '\ufffd'];
  test.each([
    ['is held back until its second half', [piece(`Rhine ${first}`), piece(second, 'stop')], ['Rhine ', '😀']],
    ['is held back at the beginning', [piece(first), piece(second, 'stop')], ['😀']],
    ['is U+FFFD at the end', [piece('a'), piece(first, 'stop')], ['a', alone]],
    ['is U+FFFD as the only text', [piece(first, 'stop')], [alone]],
    ['is U+FFFD before another character', [piece(first), piece('a', 'stop')], [`${alone}a`]],
  ])('the first half of a character %s', async (_, chunks, texts) => {
    const deltas = texts.map((delta) => ({ type: 'text-delta', id: '0', delta }));
    expect((await streamed(chunks)).slice(2, -1)).toEqual([
      { type: 'text-start', id: '0' },
      ...deltas,
      { type: 'text-end', id: '0' },
    ]);
  });

  test('a streamed completion without a finish_reason is an error, even if the service sends [DONE]', async () => {
    const [error, textEnd, finish] = (await streamed([piece('Rhine.')])).slice(-3);

    expect(error).toMatchObject({ type: 'error', error: expect.any(StreamTruncatedError) });
    expect(textEnd).toEqual({ type: 'text-end', id: '0' });
    expect(finish).toMatchObject({ type: 'finish', finishReason: { unified: 'error', raw: undefined } });
  });

  test('a streamed completion without text has no text parts', async () => {
    const types = (await streamed([piece('', 'stop')])).map(({ type }) => type);

    expect(types).toEqual(['stream-start', 'response-metadata', 'finish']);
  });
});

describe('a plain completion', () => {
  test.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['content_filter', 'content-filter'],
    ['tool_calls', 'tool-calls'],
    ['tired', 'other'],
    ['constructor', 'other'],
  ])('a plain completion with the finish_reason %s has %s in the AI SDK', async (finish_reason, unified) => {
    service.answers(json(changed(completion(), ['choices', 0, 'finish_reason'], finish_reason)));

    expect((await model().doGenerate(call)).finishReason).toEqual({ unified, raw: finish_reason });
    expect((await model('v2').doGenerate(call)).finishReason).toBe(unified);
  });

  test('has the body of the service, and the request body', async () => {
    service.answers(json(completion()));

    const { content, request, response } = await model().doGenerate(call);

    expect(content).toEqual([{ type: 'text', text: 'Rhine.' }]);
    expect(request.body).toEqual(JSON.parse(service.bodies[0] ?? ''));
    expect(response).toMatchObject({ id: 'chatcmpl-1', body: completion() });
  });

  test('a plain completion without text has no content', async () => {
    service.answers(json(changed(completion(), ['choices', 0, 'message', 'content'], '')));

    expect((await model().doGenerate(call)).content).toEqual([]);
  });

  test.each([
    [
      'an incomplete',
      { 'x-ratelimit-remaining': '7' },
      { svc: { rateLimit: { limit: null, remaining: 7, reset: null } } },
    ],
    ['no', {}, undefined],
  ])('with %s rate limit of %j has the provider metadata %j', async (_, headers, metadata) => {
    service.answers(json(completion(), { headers: headers as Record<string, string> }));

    expect((await model().doGenerate(call)).providerMetadata).toEqual(metadata);
  });
});

describe('a call', () => {
  const generate = (options: object) => model().doGenerate({ ...call, ...options });

  test.each<[object, object]>([
    [{ reasoning: 'high' }, { reasoning_effort: 'high' }],
    [{ reasoning: 'provider-default' }, {}],
    [{ responseFormat: { type: 'json' } }, { response_format: { type: 'json_object' } }],
    [{ responseFormat: { type: 'text' } }, {}],
    [{ providerOptions: { svc: { cache: true } } }, { cache: true }],
    [{ providerOptions: { other: { cache: true } } }, {}],
    [{ tools: [], toolChoice: { type: 'auto' } }, {}],
    [{ toolChoice: { type: 'none' } }, {}],
  ])('a call with %j sends %j beside the documented parameters, without a warning', async (options, sent) => {
    service.answers(json(completion()));

    const { warnings } = await generate(options);

    expect(warnings).toEqual([]);
    const { model: _, messages: __, stream: ___, ...others } = JSON.parse(service.bodies[0] ?? '');
    expect(others).toEqual(sent);
  });

  test('leaves out the reasoning of earlier turns', async () => {
    service.answers(json(completion()));
    const content = [
      { type: 'reasoning', text: 'Rivers, rivers.' },
      { type: 'text', text: 'Rhine.' },
    ];
    const prompt = [...call.prompt, { role: 'assistant', content }, ...call.prompt];

    await model().doGenerate({ prompt });

    expect(JSON.parse(service.bodies[0] ?? '').messages[1]).toEqual({ role: 'assistant', content: 'Rhine.' });
  });

  test.each([
    { role: 'user', content: [{ type: 'file' }], says: 'file part' },
    {
      role: 'user',
      content: [{ type: 'file', data: 'UEsDBA', mediaType: 'application/zip' }],
      says: 'application/zip part',
    },
    { role: 'assistant', content: [{ type: 'custom' }], says: 'custom part' },
  ])('a call with a $role message that has a $says is rejected', async ({ says, ...message }) => {
    const error = await failureOf(model().doGenerate({ prompt: [...call.prompt, message] }));

    expect(error).toBeInstanceOf(UnsupportedFunctionalityError);
    expect(String(error)).toContain(says);
    expect(service.requests).toEqual([]);
  });

  test("a call with a temperature out of range is rejected with the client's own error", async () => {
    const error = await failureOf(generate({ temperature: 3 }));

    expect(error).toBeInstanceOf(RequestValidationError);
    expect(APICallError.isInstance(error)).toBe(false);
  });
});

test('a failure of the connection is not retryable, because the work may be done', async () => {
  service.answers(() => Response.error());

  const error = await failureOf(model().doGenerate(call));

  expect(error).toMatchObject({ name: 'AI_APICallError', isRetryable: false, cause: { sent: 'maybe' } });
});
