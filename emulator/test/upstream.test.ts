import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { Emulator, EmulatorOptions } from '../src/index.js';
import { callsTo, dataDirectory, eventsOf, openStream, PROJECT_TALK, testEmulator } from './support.js';

/** An emulator, and a second one that serves as its upstream. */
function pair(options: EmulatorOptions = {}, models: Record<string, string> = {}) {
  const upstream = testEmulator({ seed: 'upstream' });
  const url = 'http://upstream.test/v1';
  const emulator = testEmulator({
    upstream: { url, key: upstream.apiKeys.secret, models, fetch: upstream.fetch },
    ...options,
  });
  return { emulator, upstream };
}

/** An emulator whose upstream responds with `answer`. */
const withUpstream = (answer: (request: Request) => Response | Promise<Response>, options: EmulatorOptions = {}) =>
  testEmulator({
    upstream: {
      url: 'http://up.test/v1',
      fetch: async (...all) => answer(new Request(...all)),
    },
    ...options,
  });

const ask = (emulator: Emulator, more: object = {}, headers: Record<string, string> = {}) =>
  callsTo(emulator).ask('How tall?', more, headers);

const streamed = async (emulator: Emulator, content = 'How tall?') =>
  eventsOf(await (await openStream(emulator, content)).text());
const contentOf = async (answer: ReturnType<typeof ask>) => (await answer).body.choices[0].message.content;

const json = (value: unknown, status = 200) => Response.json(value, { status });
const sse = (text: string) => new Response(text, { headers: { 'content-type': 'text/event-stream' } });
const said = (events: string[]) =>
  events
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data).choices?.[0]?.delta.content ?? '')
    .join('');

describe('an upstream', () => {
  test('serves a completion, which is billed here under the requested model', async () => {
    const { emulator, upstream } = pair({}, { 'atlas-small': 'birch-large' });
    upstream.chat.on(({ model }) => model === 'birch-large', 'From the other side.');

    const { status, body } = await ask(emulator, { temperature: 0.5, max_tokens: 50 });

    expect(status).toBe(200);
    const message = { role: 'assistant', content: 'From the other side.' };
    expect(body).toMatchObject({ model: 'atlas-small', choices: [{ message, finish_reason: 'stop' }] });
    const messages = [{ role: 'user', content: 'How tall?' }];
    const sent = { model: 'birch-large', messages, temperature: 0.5, max_tokens: 50 };
    expect(JSON.parse(upstream.requests[0]?.body ?? '')).toEqual(sent);
    const used = (await callsTo(emulator).gateway('GET', '/v1/usage')).body;
    expect(used.breakdown_by_model).toEqual({ 'atlas-small': body.usage.total_tokens });
  });

  test('streams a completion, with the usage in the last chunk', async () => {
    const { emulator, upstream } = pair();
    upstream.chat.on('tower', 'One two three.');

    const events = await streamed(emulator, 'How tall is the tower?');

    expect(said(events)).toBe('One two three.');
    expect(events.at(-1)).toBe('[DONE]');
    const [end, { usage }] = events.slice(-3, -1).map((data) => JSON.parse(data));
    expect(end).toMatchObject({ model: 'atlas-small', choices: [{ finish_reason: 'stop' }] });
    expect(usage).toEqual({ prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 });
    expect(JSON.parse(upstream.requests[0]?.body ?? '').stream_options).toEqual({ include_usage: true });
  });

  test('may send null for choices, a delta, usage or an error, as if they were absent', async () => {
    const events = [
      '{"choices":null,"usage":null,"error":null}',
      '{"choices":[{"delta":null}]}',
      '{"choices":[{"delta":{"content":"One two"}}]}',
      '{"choices":[{"delta":null,"finish_reason":"stop"}]}',
      '{"choices":null,"usage":{"prompt_tokens":3,"completion_tokens":2}}',
    ];
    const emulator = withUpstream(() => sse([...events, '[DONE]'].map((data) => `data: ${data}\n\n`).join('')));

    const sent = await streamed(emulator);

    expect(said(sent)).toBe('One two');
    expect(JSON.parse(sent.at(-2) ?? '').usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 2 });
  });

  test('that reports no usage has its tokens counted', async () => {
    const choice = { message: { content: 'One two three.' }, finish_reason: 'stop' };
    const plain = await ask(withUpstream(() => json({ choices: [choice], usage: null })));
    const stream = [
      'data: {"choices":[{"delta":{"content":"One two"},"finish_reason":null}],"usage":null}',
      ': beat',
      'data: {"choices":[{"delta":{"content":" three."},"finish_reason":"stop"}]}',
      'data: [DONE]',
    ];
    const events = await streamed(withUpstream(() => sse(stream.map((event) => `${event}\r\n\r\n`).join(''))));

    expect(plain.body.usage).toEqual({ prompt_tokens: 7, completion_tokens: 4, total_tokens: 11 });
    expect(JSON.parse(events.at(-2) ?? '').usage).toEqual(plain.body.usage);
  });

  test('never receives the credentials of a caller', async () => {
    const seen: Request[] = [];
    const emulator = withUpstream((request) => {
      seen.push(request);
      return json({ choices: [{ message: { content: 'x' } }] });
    });

    await ask(emulator, {}, { cookie: 'sid=1', 'x-api-key': 'abc' });

    const [request] = seen;
    expect([...(request?.headers.keys() ?? [])]).toEqual(['content-type']);
    expect(await request?.text()).not.toContain(emulator.apiKeys.secret);
  });

  const unknown = { code: 'model_not_found', param: 'model', message: expect.stringContaining('--model-map') };
  test.each([
    { from: 404, status: 404, error: unknown },
    {
      from: 400,
      status: 400,
      error: { code: 'upstream_refused', message: 'The upstream rejected the request: "too hot"' },
    },
    { from: 500, status: 503, error: { code: 'upstream_error' } },
  ])('that responds with $from becomes a $status', async ({ from, status, error }) => {
    const answer = await ask(withUpstream(() => json({ error: { message: 'too hot' } }, from)));

    expect(answer.status).toBe(status);
    expect(answer.body.error).toMatchObject(error);
  });

  test.each([
    { because: 'cannot be reached', answer: () => Promise.reject(new TypeError('fetch failed')) },
    { because: 'does not return JSON', answer: () => new Response('<html>') },
    { because: 'returns JSON of another shape', answer: () => json({ ok: true }) },
  ])('that $because becomes a 503 upstream_unavailable', async ({ answer }) => {
    const { status, body } = await ask(withUpstream(answer as () => Response));

    expect(status).toBe(503);
    expect(body.error).toMatchObject({ type: 'service_unavailable', code: 'upstream_unavailable' });
  });

  test.each(['', 'data: {oops\n\n', 'data: {"error":{"message":"overloaded"}}\n\n'])(
    'whose stream fails ends in an error event: %j',
    async (end) => {
      const emulator = withUpstream(() => sse(`data: {"choices":[{"delta":{"content":"One"}}]}\n\n${end}`));

      const events = await streamed(emulator, 'x');

      expect(said(events)).toBe('One');
      expect(JSON.parse(events.at(-1) ?? '').error).toMatchObject({ code: 'upstream_unavailable' });
      expect(emulator.requests[0]).toMatchObject({ stoppedBy: 'upstream', code: 'upstream_unavailable' });
      expect((await callsTo(emulator).gateway('GET', '/v1/usage')).body.tokens_used).toBe(5 + 1);
    },
  );

  test('is aborted when the caller leaves, before and during the response', async () => {
    const { emulator, upstream } = pair();
    upstream.chat.on('x', 'word '.repeat(1000));
    const reader = ((await openStream(emulator, 'x')).body as ReadableStream<Uint8Array>).getReader();
    for (let i = 0; i < 4; i += 1) await reader.read();
    await reader.cancel();
    expect(upstream.requests.at(-1)).toMatchObject({ outcome: 'aborted' });

    upstream.faults.add({ respond: { type: 'stall' } });
    const aborter = new AbortController();
    const attempt = openStream(emulator, 'x', {}, { signal: aborter.signal });
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(2), { timeout: 30_000 });
    aborter.abort(new Error('enough'));
    await expect(attempt).rejects.toThrow('enough');
    await vi.waitFor(() => expect(upstream.requests.at(-1)?.outcome).toBe('aborted'), { timeout: 30_000 });
  });

  test('also runs presets, but a reply set with chat.on comes first', async () => {
    const { emulator, upstream } = pair();
    upstream.chat.on(() => true, 'from upstream');
    emulator.chat.on('mine', 'from here');
    const run = { input: 'Text.', model: 'atlas-small' };

    const preset = await callsTo(emulator).gateway('POST', '/v1/presets/summarize/execute', run);

    expect(preset.body.output).toBe('from upstream');
    expect(await contentOf(callsTo(emulator).ask('mine'))).toBe('from here');
    expect(upstream.requests).toHaveLength(1);
  });
});

describe('an error of the upstream', () => {
  test.each([
    { body: '{"error":"the model is loading"}', says: ': "the model is loading"' },
    { body: '{"detail":[{"msg":"field required"}]}', says: ': "field required"' },
    { body: '<html>oops</html>', says: '' },
    { body: '{"error":"bad key svc_sk_live_abcdef123456"}', says: ': "bad key svc_sk_***"' },
  ])('keeps its text: $body', async ({ body, says }) => {
    const answer = await ask(withUpstream(() => new Response(body, { status: 500 })));

    expect(answer.body.error.message).toBe(`The upstream responded with 500${says}`);
  });

  test('does not have the key of the upstream', async () => {
    const wrong = async () => Response.json({ error: 'wrong key: own-key-of-the-upstream' }, { status: 500 });
    const upstream = { url: 'http://up.test/v1', key: 'own-key-of-the-upstream', fetch: wrong };

    const { message } = (await ask(testEmulator({ upstream }))).body.error;

    expect(message).toBe('The upstream responded with 500: "wrong key: ***"');
  });

  test.each([
    { headers: { 'retry-after': '9' }, wait: 9 },
    { headers: { date: 'Mon, 02 Mar 2026 09:30:00 GMT', 'retry-after': 'Mon, 02 Mar 2026 09:30:42 GMT' }, wait: 42 },
  ])('passes its Retry-After on, a date by its own clock: $wait', async ({ headers, wait }) => {
    const { body } = await ask(withUpstream(() => new Response('', { status: 429, headers: new Headers(headers) })));

    expect(body.error).toMatchObject({ type: 'rate_limit_error', retry_after: wait });
  });

  test('says that a URL without /v1 has no path', async () => {
    const send = async () => new Response('404 page not found', { status: 404 });
    const { body } = await ask(testEmulator({ upstream: { url: 'http://127.0.0.1:11434', fetch: send } }));

    expect(body.error.code).toBe('upstream_without_path');
    expect(body.error.message).toContain('usually /v1');
  });
});

describe('without an upstream', () => {
  test('no connection is ever opened', async () => {
    const connect = vi.spyOn(Socket.prototype, 'connect');
    const send = vi.spyOn(globalThis, 'fetch');
    const emulator = testEmulator();
    const { gateway, context } = callsTo(emulator);
    emulator.conversations.create({ id: 'talk', messages: PROJECT_TALK });

    await ask(emulator);
    await (await openStream(emulator, 'x')).text();
    await gateway('POST', '/v1/presets/summarize/execute', { input: 'One. Two. Three.', model: 'atlas-small' });
    await gateway('POST', '/v1/integrations/team-chat/execute', { action: 'post_message', channel: 'a', text: 'b' });
    await context('POST', '/api/context/compact', { conversationId: 'talk', level: 'aggressive' });

    expect(connect).not.toHaveBeenCalled();
    expect(send).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  test.each<{ options: EmulatorOptions; says: string }>([
    { options: { cassettes: { directory: '/nowhere', mode: 'record' } }, says: 'recording requires an upstream' },
    { options: { summarizer: 'upstream' }, says: 'needs an upstream' },
    { options: { upstream: { url: 'ftp://x' } }, says: 'must be an http or https URL' },
    { options: { upstream: { url: 'http://127.0.0.1/v1?version=2' } }, says: 'without a query' },
    { options: { upstream: { url: 'http://anna:hunter2@127.0.0.1/v1' } }, says: '--upstream-key' },
    { options: { upstream: { url: 'http://hunter2@127.0.0.1/v1' } }, says: 'without a user and a password' },
  ])('options that need a valid one are rejected: $says', ({ options, says }) => {
    expect(() => testEmulator(options)).toThrow(says);
    expect(() => testEmulator(options)).not.toThrow('hunter2');
  });
});

describe('recorded responses', () => {
  const recorded = () => {
    const directory = dataDirectory();
    const replayer = () => testEmulator({ cassettes: { directory, mode: 'replay' } });
    return { directory, replayer, ...pair({ cassettes: { directory, mode: 'record' } }) };
  };

  test('are replayed without a connection, plain or streamed, with the same usage', async () => {
    const { emulator, upstream, replayer } = recorded();
    upstream.chat.on('tall', 'As tall as a tree.');
    const first = await ask(emulator);
    const send = vi.spyOn(globalThis, 'fetch');
    const replaying = replayer();

    const plain = await ask(replaying);
    const events = await streamed(replaying);

    expect(plain.body.choices).toEqual(first.body.choices);
    expect(plain.body.usage).toEqual(first.body.usage);
    expect(said(events)).toBe('As tall as a tree.');
    expect(send).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  test('that are missing or broken lead to a 503 replay_miss', async () => {
    const { directory, emulator, replayer } = recorded();
    const replaying = replayer();

    const { status, body } = await ask(replaying);

    expect(status).toBe(503);
    const message = 'No response was recorded for this request';
    expect(body.error).toEqual({ message, type: 'service_unavailable', param: '', code: 'replay_miss' });
    await ask(emulator);
    const [file = ''] = readdirSync(directory);
    writeFileSync(join(directory, file), '{');
    expect((await ask(replaying)).body.error.code).toBe('replay_miss');
  });

  test('are given in order, the last one again and again, and from the first after a reset', async () => {
    const { directory, emulator, upstream, replayer } = recorded();
    for (const height of ['ten', 'twenty']) {
      upstream.chat.on('tall', `It is ${height} metres tall.`);
      await ask(emulator);
    }
    const replaying = replayer();
    const next = () => contentOf(ask(replaying));

    const answers = ['It is ten metres tall.', 'It is twenty metres tall.', 'It is twenty metres tall.'];
    expect([await next(), await next(), await next()]).toEqual(answers);
    replaying.reset();
    expect(await next()).toBe(answers[0]);
    expect(readdirSync(directory)).toHaveLength(1);
  });

  test('are needed for a replay: a missing directory is an error, and a miss names the nearest recording', async () => {
    const { emulator, replayer } = recorded();
    const cassettes = { directory: '/none', mode: 'replay' } as const;
    expect(() => testEmulator({ cassettes })).toThrow(/none does not exist/);
    await ask(emulator);
    await callsTo(emulator).ask('Something else entirely.', { temperature: 2 });

    const { body } = await callsTo(replayer()).ask('How small is it?');
    expect(body.error.message).toMatch(
      /^No response was recorded for this request\. The nearest recording, \w+\.json, differs in messages\.0\.content, from character 5 on$/,
    );
  });

  test('contain no key, and match a request that contains another key', async () => {
    const { directory, emulator, upstream, replayer } = recorded();
    upstream.chat.on(/key/, 'Your key is svc_sk_live_abcdef123456, keep it.');
    await streamed(emulator, 'Is svc_sk_live_abcdef123456 my key?');

    const [file = '', ...others] = readdirSync(directory);
    const text = readFileSync(join(directory, file), 'utf8');

    expect(others).toEqual([]);
    expect(text).not.toContain('abcdef');
    for (const key of [emulator.apiKeys.secret, upstream.apiKeys.secret]) expect(text).not.toContain(key);
    const replayed = await contentOf(callsTo(replayer()).ask('Is svc_sk_live_other my key?'));
    expect(replayed).toBe('Your key is svc_sk_***, keep it.');
  });

  test('are complete: an abandoned stream or an error is not recorded', async () => {
    const { directory, emulator, upstream } = recorded();
    const reader = ((await openStream(emulator, 'x')).body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel();
    upstream.faults.add({ respond: { status: 500 } });
    await ask(emulator);

    expect(readdirSync(directory)).toEqual([]);
  });
});
