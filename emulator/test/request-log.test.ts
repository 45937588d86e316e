import { describe, expect, test } from 'vitest';
import { SentBody } from '../src/http/log/sent-body.js';
import { callsTo, openStream, testEmulator } from './support.js';

describe('the request log', () => {
  test('keeps the headers and the body of a response', async () => {
    const emulator = testEmulator();
    const { body } = await callsTo(emulator).gateway('GET', '/v1/presets');

    const [request] = emulator.requests;

    const headers = { 'content-type': 'application/json', 'x-request-id': request?.requestId };
    expect(request?.response?.headers).toMatchObject(headers);
    expect(JSON.parse(request?.response?.body ?? '')).toEqual(body);
    expect(request?.response?.events).toBeUndefined();
    expect(emulator.request(request?.requestId ?? '')).toEqual(request);
  });

  test('keeps the events of a stream, each with its time, also while it is running', async () => {
    const emulator = testEmulator();
    const reader = ((await openStream(emulator, 'Hello?')).body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    expect(emulator.requests[0]).toMatchObject({ outcome: 'pending', response: { events: [{ at: 0 }] } });
    emulator.clock.advance(10);
    while (!(await reader.read()).done) emulator.clock.advance(10);

    const [request] = emulator.requests;
    const { events = [], body } = request?.response ?? {};

    expect(events).toHaveLength(request?.events ?? 0);
    expect(events.map(({ at }) => at)).toEqual(events.map((_, i) => i * 10));
    expect(events.map(({ text }) => text).join('')).toBe(body);
    expect(events.at(-1)?.text).toBe('data: [DONE]\n\n');
    expect(request?.stoppedBy).toBeUndefined();
  });

  test('keeps at most 64 KB of a body, of a stream and of an error message, in bytes', async () => {
    const emulator = testEmulator({ maxTokens: 1e6 });
    emulator.chat.on('long', '\u20ac'.repeat(40_000));
    emulator.chat.on('broken', () => Promise.reject(new Error('e'.repeat(100_000))));
    for (const content of ['long', 'broken']) await callsTo(emulator).ask(content);
    await (await openStream(emulator, 'long')).text();

    const [long, broken, streamed] = emulator.requests;
    for (const request of [long, streamed]) {
      const size = Buffer.byteLength(request?.response?.body ?? '');
      expect(size).toBeLessThanOrEqual(64 * 1024);
      expect(size).toBeGreaterThan(64 * 1024 - 3);
    }
    expect(broken?.error).toHaveLength(64 * 1024);
    expect(streamed?.response?.events?.length).toBeLessThan(streamed?.events ?? 0);
  });

  test('copies the bytes of a response', () => {
    const sent = new SentBody(30);
    const response = new Uint8Array(1000).fill(97);
    sent.add(response.subarray(0, 20), 0);
    sent.add(response, 1);
    response.fill(98);

    expect(sent.text()).toBe('a'.repeat(30));
  });

  test('passes a listener the summary and the error, without the response', async () => {
    const emulator = testEmulator();
    emulator.chat.on('broken', () => Promise.reject(new Error('on purpose')));
    const ended: object[] = [];
    emulator.onRequest((request) => ended.push(request));
    await callsTo(emulator).ask('broken');

    expect(ended).toMatchObject([{ status: 500, error: expect.stringContaining('on purpose') }]);
    expect(Object.keys(ended[0] ?? {})).not.toEqual(expect.arrayContaining(['response']));
    expect(emulator.requests).toMatchObject(ended);
  });

  test('redacts every key and names its owner', async () => {
    const emulator = testEmulator();
    const spare = emulator.apiKeys.create('secret', { name: 'spare' });
    emulator.chat.on('key', `Keep ${spare} to yourself.`);
    const { ask, bare, context } = callsTo(emulator);
    await ask('key', {}, { authorization: `Bearer ${spare}` });
    await context('GET', '/api/memory');
    await bare('GET', '/v1/presets', undefined, { authorization: 'Bearer wrong' });

    expect(emulator.requests.map(({ caller }) => caller)).toEqual(['spare', emulator.userId, undefined]);
    expect(JSON.stringify(emulator.requests)).not.toContain(spare);
    expect(emulator.requests[0]?.response?.body).toContain('Keep svc_sk_***');
  });

  test('has the body of a call that was refused, and of one whose connection a fault reset', async () => {
    const emulator = testEmulator({ limits: { gateway: 3 } });
    const { ask, bare, gateway } = callsTo(emulator);
    const sent = { model: 'atlas-small', messages: [{ role: 'user', content: 'Hello?' }] };
    for (const respond of [{ status: 503 }, { type: 'reset' as const }]) emulator.faults.add({ respond });

    await ask('Hello?');
    await expect(ask('Hello?')).rejects.toThrow('fetch failed');
    await bare('POST', '/v1/chat/completions', sent);
    await gateway('POST', '/v1/nothing', sent);
    for (let i = 0; i < 3; i += 1) await ask('Hello?');

    expect(emulator.requests.map(({ status }) => status)).toEqual([503, undefined, 401, 404, 200, 200, 429]);
    const whole = { body: JSON.stringify(sent), isBodyCut: false, isBodyExact: true };
    for (const request of emulator.requests) expect(request).toMatchObject(whole);
  });

  test('says whether a body is what was sent', async () => {
    const emulator = testEmulator();
    const post = (body: BodyInit) =>
      emulator.fetch('http://emulator.test/v1/chat/completions', { method: 'POST', body });
    await post('plain text');
    await post('x'.repeat(70_000));
    await post(emulator.apiKeys.secret);
    await post(new Uint8Array([0xff, 0xfe, 0x00]));

    expect(emulator.requests).toMatchObject([
      { isBodyExact: true, isBodyCut: false },
      { isBodyExact: false, isBodyCut: true },
      { isBodyExact: false, isBodyCut: false },
      { isBodyExact: false, isBodyCut: false },
    ]);
  });

  test.each(['https://elsewhere.example', undefined])(
    'cannot be flushed by a page of another machine (%s)',
    async (origin) => {
      const emulator = testEmulator({ seed: undefined });
      await callsTo(emulator).gateway('GET', '/v1/presets?limit=3');
      const headers = origin === undefined ? { 'sec-fetch-site': 'cross-site' } : { origin };
      for (let i = 0; i < 1200; i += 1) await emulator.fetch('http://emulator.test/v1/usage', { headers });
      await callsTo(emulator).gateway('GET', '/v1/presets?limit=4');

      const { requests } = emulator;
      expect(requests).toHaveLength(52);
      expect(requests[0]?.path).toBe('/v1/presets?limit=3');
      expect(requests[51]?.path).toBe('/v1/presets?limit=4');
      expect(requests[1]).toMatchObject({ isForeign: true, path: '/v1/usage' });
    },
  );
});
