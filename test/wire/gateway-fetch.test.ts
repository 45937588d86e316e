import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { ClientClosedError } from '../../src/index.js';
import { completion } from '../helpers/samples.js';
import { answer, headOf, json, raw, rawThenEnd, rawThenReset, refused, resetAtEnd } from './behaviours.js';
import { stall } from './fault-server.js';
import { KEY, serve, until } from './world.js';

const world = serve();
const params = { model: 'm', messages: [{ role: 'user' as const, content: 'Which river?' }] };
const STREAMED = headOf(200, { 'content-type': 'text/event-stream' });
const event = (content: string, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', own: 7, choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`;

const post = (body: BodyInit, type: string): RequestInit => ({
  method: 'POST',
  body,
  headers: { 'content-type': type },
});

/** A program that is written for the openai package, with its own retries left on. */
function openai(options: Parameters<typeof world.gateway>[0] = {}, own: object = {}) {
  const gateway = world.gateway(options);
  const baseURL = `${world.server.url}/v1`;
  return { gateway, client: new OpenAI({ baseURL, apiKey: 'unused', fetch: gateway.fetch, ...own }) };
}

async function errorOf(work: PromiseLike<unknown>): Promise<Record<string, unknown>> {
  try {
    await work;
  } catch (error) {
    return error as Record<string, unknown>;
  }
  throw new Error('succeeded');
}

async function textOf(stream: AsyncIterable<OpenAI.ChatCompletionChunk>) {
  let text = '';
  const error = await errorOf(
    (async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    })(),
  ).catch(() => undefined);
  return { text, error };
}

describe('what is sent', () => {
  test('has the credential of the gateway, and the headers and the text of the caller', async () => {
    world.server.answers(json(completion()));
    const { gateway } = openai();
    const body = '{"model":"m", "messages":[{"role":"user","content":"Hi"}], "seed":12345678901234567890}';

    await gateway.fetch(`${world.server.url}/v1/chat/completions?beta=a&beta=b`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer theirs',
        'x-api-key': 'theirs',
        'content-type': 'application/json',
        'x-own': '1',
      },
      body,
    });

    const [turn] = world.server.turns;
    expect(turn?.body.toString()).toBe(body);
    expect(turn?.path).toBe('/v1/chat/completions?beta=a&beta=b');
    expect(turn?.headers.get('authorization')).toBe(`Bearer ${KEY}`);
    expect(turn?.headers.get('x-own')).toBe('1');
    expect(turn?.head).not.toContain('theirs');
  });

  test.each([
    'https://api.openai.com/v1/chat/completions',
    '{own}/api/memory',
    '{own}/v1/../api/memory',
    '{own}/v1',
    'http://localhost.example.com/v1/models',
  ])('goes to no other address: %s', async (address) => {
    const { gateway } = openai();

    const response = await gateway.fetch(address.replace('{own}', world.server.url));

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining(`${world.server.url}/v1:`) },
    });
    expect(world.server.turns).toEqual([]);
  });

  test.each<[what: string, init: RequestInit, sent: { type?: string; body: number[] }]>([
    ['no body, whatever its type', { method: 'GET', headers: { 'content-type': 'application/json' } }, { body: [] }],
    ['bytes without a type', { method: 'POST', body: new Uint8Array([0, 255]) }, { body: [0, 255] }],
    [
      'text with a type of its own',
      post('a', 'application/merge-patch+json'),
      { type: 'application/merge-patch+json', body: [97] },
    ],
    ['a byte order mark', post('\ufeffa', 'application/json'), { type: 'application/json', body: [239, 187, 191, 97] }],
    [
      'JSON in Latin-1',
      post(new Uint8Array([34, 228, 34]), 'application/json; charset=latin1'),
      { type: 'application/json; charset=latin1', body: [34, 228, 34] },
    ],
    [
      'a form whose boundary says json',
      post(new Uint8Array([255]), 'multipart/form-data; boundary=x-json-y'),
      { type: 'multipart/form-data; boundary=x-json-y', body: [255] },
    ],
  ])('is %s', async (_, init, { type, body }) => {
    world.server.answers(json({}));
    const { gateway } = openai();

    expect((await gateway.fetch(`${world.server.url}/v1/things`, init)).status).toBe(200);

    const [turn] = world.server.turns;
    expect([turn?.headers.get('content-type'), [...(turn?.body ?? [])]]).toEqual([type, body]);
  });

  test('is not waited for any longer than its signal', async () => {
    const { gateway } = openai();
    const body = new ReadableStream({ pull: () => new Promise(() => {}) });
    const init = { method: 'POST', body, duplex: 'half', signal: AbortSignal.timeout(20) } as RequestInit;

    expect(await errorOf(gateway.fetch(`${world.server.url}/v1/things`, init))).toMatchObject({ name: 'TimeoutError' });
    expect(world.server.turns).toEqual([]);
  });

  test('is a form with its bytes', async () => {
    world.server.answers(json({ id: 'file-1', object: 'file' }));
    const { client } = openai();

    const file = new File([new Uint8Array([0, 255, 10])], 'a.bin');
    expect(await client.files.create({ file, purpose: 'user_data' })).toMatchObject({ id: 'file-1' });

    const [turn] = world.server.turns;
    expect(turn?.headers.get('content-type')).toMatch(/^multipart\/form-data; boundary=/);
    expect(turn?.body.includes(Buffer.from([0, 255, 10]))).toBe(true);
    expect(turn?.bodySize).toBe(Number(turn?.headers.get('content-length')));
  });
});

describe('a failure', () => {
  test.each([
    ['a connection that breaks after the request', resetAtEnd(), 502],
    ['an answer that is no JSON', answer(200, '<h1>hello', { 'content-type': 'text/html' }), 502],
    ['half of an answer', rawThenReset(headOf(200, { 'content-type': 'application/json' }), '{"choices":'), 502],
    ['500', answer(500, '{"error":{"message":"It broke.","type":"server_error"}}'), 500],
  ])(
    'that may have done the work is a response, and sent once, whatever the other client would do: %s',
    async (_, behaviour, status) => {
      world.server.answers(behaviour);
      const { client } = openai();

      const error = await errorOf(client.chat.completions.create(params));

      expect(error).toBeInstanceOf(OpenAI.APIError);
      expect(error.status).toBe(status);
      expect(String(error.message)).not.toBe(`${status} status code (no body)`);
      expect(world.server.turns).toHaveLength(1);
    },
  );

  test('that did nothing is repeated by the gateway', async () => {
    world.server.answers(refused(503), refused(503), json(completion()));
    const { client } = openai();

    const { choices } = await client.chat.completions.create(params);

    expect(choices[0]?.message.content).toBe(completion().choices[0]?.message.content);
    expect(world.server.turns).toHaveLength(3);
  });

  test('that the service explains has its status, body, id and wait', async () => {
    const body = { error: { message: 'Slower.', type: 'rate_limit_error', code: 'slow', param: null, more: 1 } };
    world.server.answers(answer(429, JSON.stringify(body), { 'retry-after': '1.5', 'x-request-id': 'req_7' }));
    const { gateway } = openai({ maxRetries: 0 });

    const response = await gateway.fetch(`${world.server.url}/v1/models`);

    expect(response.status).toBe(429);
    expect(await response.json()).toEqual(body);
    const headers = ['retry-after', 'x-request-id', 'x-should-retry'].map((name) => response.headers.get(name));
    expect(headers).toEqual(['2', 'req_7', 'false']);
  });

  test('shows the key to no one, and may be too deep to be passed on', async () => {
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    const quoting = `{"error":{"message":"Incorrect API key ${KEY}","type":"auth"}}`;
    world.server.answers(answer(401, quoting), answer(500, `{"error":{"message":"x","d":${deep}}}`));
    const { client } = openai();

    const rejected = await errorOf(client.chat.completions.create(params));
    expect([rejected.status, String(rejected.message)]).toEqual([401, expect.not.stringContaining(KEY)]);
    const broken = await errorOf(client.chat.completions.create(params));
    expect(broken).toBeInstanceOf(OpenAI.InternalServerError);
    expect(world.server.turns).toHaveLength(2);
  });

  test('is 504 if the time is over, and 200 is never the status of an error', async () => {
    world.server.answers(stall(), json({ error: { message: 'No.', type: 'x' } }));
    const { gateway } = openai({ timeout: 50, maxRetries: 0 });
    const ask = () =>
      gateway.fetch(`${world.server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...params, stream: true }),
      });

    const late = await ask();
    expect([late.status, await late.json()]).toMatchObject([
      504,
      { error: { type: 'APITimeoutError', code: 'APITimeoutError', sent: 'maybe' } },
    ]);
    const failed = await ask();
    expect([failed.status, await failed.json()]).toMatchObject([502, { error: { message: 'No.', type: 'x' } }]);
  });

  test('by an abort is what the platform throws, and one by a closed client says so', async () => {
    world.server.answers(stall());
    const { gateway, client } = openai();
    const stop = new AbortController();
    const call = errorOf(gateway.fetch(`${world.server.url}/v1/models`, { signal: stop.signal }));
    const asked = errorOf(client.chat.completions.create(params, { signal: stop.signal }));
    await until(() => world.server.turns.length === 2);
    const reason = new Error('enough');
    stop.abort(reason);

    expect(await call).toBe(reason);
    expect(await asked).toBeInstanceOf(OpenAI.APIUserAbortError);
    await gateway.close();
    expect(await errorOf(gateway.fetch(`${world.server.url}/v1/models`))).toBeInstanceOf(ClientClosedError);
  });
});

describe('a stream', () => {
  test('is whole, with every field', async () => {
    world.server.answers(raw(STREAMED, event('The '), event('Rhine.', 'stop'), 'data: [DONE]\n\n'));
    const { client } = openai();

    const chunks = [];
    for await (const chunk of await client.chat.completions.create({ ...params, stream: true })) chunks.push(chunk);

    expect(chunks.map(({ choices }) => choices[0]?.delta.content)).toEqual(['The ', 'Rhine.']);
    expect(chunks[0]).toMatchObject({ own: 7 });
  });

  test('that is cut off ends with an error after what arrived', async () => {
    world.server.answers(rawThenEnd(STREAMED, event('The ')));
    const { client } = openai();

    const { text, error } = await textOf(await client.chat.completions.create({ ...params, stream: true }));

    expect(text).toBe('The ');
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error?.code).toBe('StreamTruncatedError');
    expect(world.server.turns).toHaveLength(1);
  });

  test.each([
    ['without a choice that was asked for is cut off', '', 'StreamTruncatedError'],
    ['with fewer choices is whole if the service says so', 'data: [DONE]\n\n', undefined],
  ])('%s, also as the answer to a plain call', async (_, end, code) => {
    world.server.answers(rawThenEnd(STREAMED, event('The Rhine.', 'stop'), end));
    const { client, gateway } = openai();
    const asked = { ...params, n: 2 };

    const { text, error } = await textOf(await client.chat.completions.create({ ...asked, stream: true }));
    expect([text, error?.code]).toEqual(['The Rhine.', code]);

    const [plain] = await Promise.allSettled([gateway.chat.completions.create(asked)]);
    expect(plain.status === 'rejected' ? plain.reason.name : undefined).toBe(code);
  });

  test('that is silent ends with an error after its idle timeout', async () => {
    world.server.answers(raw(STREAMED, event('The ')));
    const { client } = openai({ streamIdleTimeout: 50 });

    const { text, error } = await textOf(await client.chat.completions.create({ ...params, stream: true }));

    expect([text, error?.code]).toEqual(['The ', 'APITimeoutError']);
  });

  test('that is left or aborted leaves its connection', async () => {
    world.server.answers(raw(STREAMED, event('The ')));
    const { client } = openai();
    const stop = new AbortController();

    for await (const _ of await client.chat.completions.create({ ...params, stream: true })) break;
    await until(() => world.server.open.size === 0);
    const stream = await client.chat.completions.create({ ...params, stream: true }, { signal: stop.signal });
    for await (const _ of stream) stop.abort();
    await until(() => world.server.open.size === 0);

    expect(world.server.turns).toHaveLength(2);
  });
});

describe('another path', () => {
  const MODELS = '/v1/models';
  const audio = headOf(200, { 'content-type': 'audio/mpeg', 'content-length': 4 });

  test('passes as bytes, and names no id in events', async () => {
    const paths: string[] = [];
    world.server.answers(raw(audio, new Uint8Array([0, 255, 1, 2])));
    const { gateway } = openai({ onEvent: ({ path, type }) => type === 'done' && paths.push(path) });

    const response = await gateway.fetch(`${world.server.url}/v1/files/file-Abc1/content`);

    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0, 255, 1, 2]);
    expect(response.headers.get('content-type')).toBe('audio/mpeg');
    expect(paths).toEqual(['/v1/files/{id}']);
  });

  test('is repeated if its JSON was cut off, and passes its digits on', async () => {
    const half = rawThenReset(headOf(200, { 'content-type': 'application/json', 'content-length': 40 }), '{"data":');
    world.server.answers(half, answer(200, '{"data":[12345678901234567890]}'));
    const { gateway } = openai();

    const response = await gateway.fetch(world.server.url + MODELS);

    expect(await response.text()).toBe('{"data":[12345678901234567890]}');
  });

  test('fails in its body if its bytes are cut off or silent, and leaves its connection if it is cancelled', async () => {
    const part = new Uint8Array([0]);
    world.server.answers(rawThenReset(audio, part), raw(audio, part));
    const { gateway } = openai({ streamIdleTimeout: 50 });
    const open = () => gateway.fetch(world.server.url + MODELS);

    expect(await errorOf((await open()).arrayBuffer())).toMatchObject({ name: 'APIConnectionError' });
    expect(await errorOf((await open()).arrayBuffer())).toMatchObject({ name: 'APITimeoutError' });
    await (await open()).body?.cancel();
    await until(() => world.server.open.size === 0);
  });

  test('that nobody reads ends its call in time, and so does an abort, with its reason', async () => {
    const outcomes: unknown[] = [];
    world.server.answers(raw(audio, new Uint8Array([0])));
    const { gateway } = openai({
      streamIdleTimeout: 20,
      onEvent: (event) => event.type === 'done' && outcomes.push(event.error),
    });
    const stop = new AbortController();

    const unread = await gateway.fetch(world.server.url + MODELS);
    await until(() => outcomes.length === 1);
    expect(unread.bodyUsed).toBe(false);
    const response = await gateway.fetch(world.server.url + MODELS, { signal: stop.signal });
    const read = errorOf(response.arrayBuffer());
    stop.abort('enough');

    expect(await read.catch(String)).toBe('enough');
    expect(outcomes).toEqual(['APITimeoutError', 'AbortError']);
    await until(() => world.server.open.size === 0);
  });

  test.each([
    [
      'lines of JSON arrive one by one',
      headOf(200, { 'content-type': 'application/x-ndjson' }),
      '{"a":1}\n',
      '{"a":1}\n',
    ],
    [
      'an encoding that cannot be decoded stays named',
      headOf(200, { 'content-type': 'audio/mpeg', 'content-encoding': 'odd' }),
      'x',
      'x',
    ],
  ])('%s', async (_, head, sent, got) => {
    world.server.answers(raw(head, sent));
    const { gateway } = openai();

    const response = await gateway.fetch(world.server.url + MODELS);
    const first = await response.body?.getReader().read();

    expect(new TextDecoder().decode(first?.value)).toBe(got);
    expect(response.headers.get('content-encoding')).toBe(head.includes('odd') ? 'odd' : null);
  });

  test('whose JSON ends early without a length is repeated, too', async () => {
    const head = headOf(200, { 'content-type': 'application/json', connection: 'close' });
    world.server.answers(rawThenEnd(head, '{"data":[1,'), answer(200, new Uint8Array([34, 228, 34])));
    const { gateway } = openai();

    const response = await gateway.fetch(world.server.url + MODELS);

    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([34, 228, 34]);
  });

  test('may have no body', async () => {
    world.server.answers(raw(headOf(204, {})));
    const { gateway } = openai();

    const response = await gateway.fetch(world.server.url + MODELS, { method: 'DELETE' });

    expect([response.status, await response.text()]).toEqual([204, '']);
  });
});

describe('a provider of the AI SDK', () => {
  const model = () => {
    const { fetch } = world.gateway();
    return createOpenAICompatible({ name: 'gateway', baseURL: `${world.server.url}/v1`, fetch })('m');
  };

  test('gets a text, whose request is repeated by the gateway', async () => {
    world.server.answers(refused(503), json(completion()));

    const { text } = await generateText({ model: model(), prompt: 'Which river?', maxRetries: 0 });

    expect(text).toBe(completion().choices[0]?.message.content);
    expect(world.server.turns).toHaveLength(2);
  });

  test('gets the error of a stream that is cut off', async () => {
    world.server.answers(rawThenEnd(STREAMED, event('The ')));
    const errors: unknown[] = [];

    const { textStream } = streamText({
      model: model(),
      prompt: 'Which river?',
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    });
    let text = '';
    for await (const piece of textStream) text += piece;

    expect(text).toBe('The ');
    expect(JSON.stringify(errors)).toContain('The stream ended before');
    expect(world.server.turns).toHaveLength(1);
  });
});
