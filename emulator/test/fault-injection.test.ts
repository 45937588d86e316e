import { describe, expect, test } from 'vitest';
import type { FaultResponse } from '../src/index.js';
import { callsTo, eventsOf, openStream, testEmulator } from './support.js';

const memory = { type: 'fact', key: 'a', content: 'b' };
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** The chunks of a body as they are read. */
async function piecesOf(response: Response): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) pieces.push(piece);
  return pieces;
}

const joined = (pieces: Uint8Array[]) => Buffer.concat(pieces).toString();

describe('a rule', () => {
  test('fires from the n-th match on, as often as set, and is then removed', async () => {
    const emulator = testEmulator();
    const { gateway } = callsTo(emulator);
    emulator.faults.add({ match: { path: '/v1/presets', nth: 3 }, times: 2, respond: { status: 503 } });

    const seen: number[] = [];
    for (let i = 0; i < 6; i += 1) seen.push((await gateway('GET', '/v1/presets')).status);

    expect(seen).toEqual([200, 200, 503, 503, 200, 200]);
    expect(emulator.faults.list()).toEqual([]);
  });

  test('that does not fire yet leaves the request to the next rule', async () => {
    const emulator = testEmulator();
    const { gateway } = callsTo(emulator);
    emulator.faults.add({ match: { nth: 2 }, respond: { status: 500 } });
    emulator.faults.add({ respond: { status: 503 } });

    expect((await gateway('GET', '/v1/presets')).status).toBe(503);
    expect((await gateway('GET', '/v1/presets')).status).toBe(500);
  });

  test('fires with its probability, and the same way for the same seed', async () => {
    const run = async (seed: string) => {
      const emulator = testEmulator({ seed });
      emulator.faults.add({ match: { probability: 0.3 }, times: 1e6, respond: { status: 500 } });
      const seen: number[] = [];
      for (let i = 0; i < 200; i += 1) seen.push((await callsTo(emulator).gateway('GET', '/v1/presets')).status);
      return seen;
    };

    const one = await run('one');

    expect(await run('one')).toEqual(one);
    expect(await run('two')).not.toEqual(one);
    const failed = one.filter((status) => status === 500).length;
    expect(failed).toBeGreaterThan(40);
    expect(failed).toBeLessThan(80);
  });

  test.each([{ nth: 0 }, { probability: 1.5 }, { probability: -1 }])('with the match %j is rejected', (match) => {
    expect(() => testEmulator().faults.add({ match, respond: { status: 500 } })).toThrow(RangeError);
  });
});

describe('a fault', () => {
  test.each([
    { when: 'before' as const, items: 0 },
    { when: 'after' as const, items: 1 },
  ])('can break the connection $when the work is done', async ({ when, items }) => {
    const emulator = testEmulator();
    emulator.faults.add({ respond: { type: 'reset', when } });

    await expect(callsTo(emulator).context('POST', '/api/memory', memory)).rejects.toThrow('fetch failed');

    expect(emulator.state().memory).toHaveLength(items);
    expect(emulator.requests.at(-1)?.outcome).toBe('reset');
  });

  test('can return half of the JSON', async () => {
    const emulator = testEmulator();
    emulator.faults.add({ respond: { type: 'malformed' } });

    await expect(callsTo(emulator).context('GET', '/api/memory')).rejects.toThrow(SyntaxError);
    expect((await callsTo(emulator).context('GET', '/api/memory')).body).toEqual({ success: true, memories: [] });
  });

  test.each([{ type: 'malformed' } as const, { type: 'garbleStream', afterEvents: 1 } as const])(
    'can garble an event of a stream: $type',
    async (respond) => {
      const emulator = testEmulator();
      const whole = eventsOf(await (await openStream(emulator, 'How tall is the tower?')).text());
      emulator.faults.add({ respond });

      const events = eventsOf(await (await openStream(emulator, 'How tall is the tower?')).text());

      expect(events).toHaveLength(whole.length);
      expect(() => JSON.parse(events[1] ?? '')).toThrow(SyntaxError);
      expect(() => JSON.parse(events[2] ?? '')).not.toThrow();
      expect(events.at(-1)).toBe('[DONE]');
    },
  );

  test('can change the content type of a response', async () => {
    const emulator = testEmulator();
    emulator.faults.add({ respond: { type: 'contentType', contentType: 'text/html' } });

    const answer = await callsTo(emulator).context('GET', '/api/memory');

    expect(answer.headers.get('content-type')).toBe('text/html');
    expect(answer.body).toEqual({ success: true, memories: [] });
  });

  test('can send a body slowly, by the clock', async () => {
    const emulator = testEmulator();
    emulator.faults.add({ respond: { type: 'drip', bytes: 10, every: 50 } });
    const response = await emulator.fetch('http://emulator.test/api/memory', {
      headers: { authorization: `Bearer ${emulator.sessionToken}` },
    });
    const reading = piecesOf(response);
    const pieces = Math.ceil(JSON.stringify({ success: true, memories: [] }).length / 10);

    for (let i = 0; i < pieces; i += 1) {
      await settle();
      emulator.clock.advance(50);
    }

    expect((await reading).map((piece) => piece.byteLength)).toEqual([10, 10, 10]);
    expect(emulator.clock.now() - Date.parse('2026-01-15T10:00:00Z')).toBe(pieces * 50);
  });

  test('can end a stream before [DONE]', async () => {
    const emulator = testEmulator();
    emulator.faults.add({ respond: { type: 'cutStream' } });

    const events = eventsOf(await (await openStream(emulator, 'How tall is it?')).text());

    expect(events.at(-1)).toContain('"usage"');
    expect(emulator.requests.at(-1)?.outcome).toBe('cut');
  });
});

describe('the header x-emulator-fault', () => {
  const asked = (fault: string, path = '/v1/presets', emulator = testEmulator()) =>
    callsTo(emulator).gateway('GET', path, undefined, { 'x-emulator-fault': fault });

  test('applies to its own request only', async () => {
    const emulator = testEmulator();

    expect((await asked('503', '/v1/presets', emulator)).status).toBe(503);
    expect((await callsTo(emulator).gateway('GET', '/v1/presets')).status).toBe(200);
    expect(emulator.requests[0]).toMatchObject({ fault: 'status 503', headers: { 'x-emulator-fault': '503' } });
  });

  test.each([
    {
      header: '429=7',
      status: 429,
      body: { error: { message: 'Rate limit exceeded', type: 'rate_limit_error', retry_after: 7 } },
    },
    { header: '{"status":418,"body":{"tea":true}}', status: 418, body: { tea: true } },
  ])('accepts $header', async ({ header, status, body }) => {
    expect(await asked(header)).toMatchObject({ status, body });
  });

  test.each(['reset', 'reset-after', 'malformed', 'cut-body=5'])('accepts %s', async (header) => {
    await expect(asked(header)).rejects.toThrow();
  });

  test.each([
    { header: 'cut=2', events: 2 },
    { header: 'cut', events: 12 },
    { header: 'error=1', events: 2 },
    { header: 'garble=1', events: 13 },
  ])('accepts $header on a stream', async ({ header, events }) => {
    const emulator = testEmulator();
    const authorization = `Bearer ${emulator.apiKeys.secret}`;
    emulator.chat.on('x', 'one two three four five six seven eight nine');

    const response = await openStream(emulator, 'x', {}, { headers: { authorization, 'x-emulator-fault': header } });

    expect(eventsOf(await response.text())).toHaveLength(events);
  });

  test('accepts content-type, delay and drip', async () => {
    const emulator = testEmulator();
    expect((await asked('content-type=text/plain')).headers.get('content-type')).toBe('text/plain');
    const slow = asked('delay=10', '/v1/presets', emulator);
    emulator.clock.advance(10);
    expect((await slow).status).toBe(200);
    const dripped = asked('drip=100000:5', '/v1/presets', emulator);
    await settle();
    emulator.clock.advance(5);
    expect((await dripped).status).toBe(200);
  });

  test.each(['nonsense', 'delay=soon', '{', '{"type":"flood"}', '999'])(
    'with the value %s is rejected with 400',
    async (header) => {
      const { status, body } = await asked(header);

      expect(status).toBe(400);
      expect(body.error.type).toBe('invalid_request_error');
    },
  );
});

describe('the bytes of a stream', () => {
  const TEXT = '日本語です。 Zażółć gęślą 𝒳';

  test('can be split inside characters and between CR and LF without loss', async () => {
    const emulator = testEmulator({ pace: { splitBytes: 1, lineEnd: 'crlf' } });
    emulator.chat.on('x', TEXT);

    const pieces = await piecesOf(await openStream(emulator, 'x'));

    expect(pieces.every((piece) => piece.byteLength === 1)).toBe(true);
    const text = joined(pieces);
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    const contents = text
      .split('\r\n\r\n')
      .filter((event) => event.startsWith('data: {'))
      .map((event) => JSON.parse(event.slice(6)).choices[0]?.delta.content ?? '');
    expect(contents.join('')).toBe(TEXT);
    expect(emulator.requests.at(-1)).toMatchObject({ outcome: 'answered' });
  });

  test('are split at splitBytes, also inside a character', async () => {
    const emulator = testEmulator({ pace: { splitBytes: 7 } });
    emulator.chat.on('x', TEXT);

    const pieces = await piecesOf(await openStream(emulator, 'x'));

    expect(Math.max(...pieces.map((piece) => piece.byteLength))).toBe(7);
    expect(pieces.some((piece) => Buffer.from(piece).toString().includes('\ufffd'))).toBe(true);
    expect(eventsOf(joined(pieces)).at(-1)).toBe('[DONE]');
  });

  test.each([
    { lineEnd: 'lf' as const, end: '\n\n' },
    { lineEnd: 'crlf' as const, end: '\r\n\r\n' },
    { lineEnd: 'cr' as const, end: '\r\r' },
  ])('end lines with $lineEnd', async ({ lineEnd, end }) => {
    const text = await (await openStream(testEmulator({ pace: { lineEnd } }), 'x')).text();

    expect(text.endsWith(`data: [DONE]${end}`)).toBe(true);
  });

  test('contain comment lines in pauses, which do not count as events', async () => {
    const emulator = testEmulator({ pace: { ttft: 1000, tokensPerSecond: 1, heartbeat: 400 } });
    emulator.chat.on('x', 'one two');
    const reading = openStream(emulator, 'x').then((response) => response.text());
    for (let i = 0; i < 40; i += 1) {
      await settle();
      emulator.clock.advance(100);
    }

    const text = await reading;

    expect(text.match(/^: keep-alive$/gm)).toHaveLength(2 + 2 + 2);
    expect(emulator.requests.at(-1)?.events).toBe(eventsOf(text).filter((event) => !event.startsWith(':')).length);
  });

  test.each([
    { chunkBy: 'word' as const, contents: ['one ', 'two ', 'three'] },
    { chunkBy: 'char' as const, contents: [...'one two three'] },
  ])('are chunked by $chunkBy', async ({ chunkBy, contents }) => {
    const emulator = testEmulator({ pace: { chunkBy } });
    emulator.chat.on('x', 'one two three');

    const events = eventsOf(await (await openStream(emulator, 'x')).text()).slice(1, -3);

    const said = events.map((data) => JSON.parse(data).choices[0].delta.content);
    expect(said.join('')).toBe('one two three');
    expect(said).toHaveLength(contents.length);
  });

  test.each(['splitBytes', 'heartbeat'])('cannot have a %s of 0', (name) => {
    expect(() => testEmulator({ pace: { [name]: 0 } })).toThrow(`pace.${name}`);
  });
});

/** Keep this in step with the table in the README. */
const EVERY_EFFECT: FaultResponse[] = [
  { type: 'status', status: 500 },
  { type: 'reset' },
  { type: 'stall' },
  { type: 'slow', delay: 1 },
  { type: 'garbage' },
  { type: 'contentType', contentType: 'a/b' },
  { type: 'malformed' },
  { type: 'drip', bytes: 1, every: 1 },
  { type: 'cutBody', afterBytes: 1 },
  { type: 'cutStream' },
  { type: 'garbleStream', afterEvents: 1 },
  { type: 'streamError', afterEvents: 1 },
];

test('every kind of fault can be added over the control plane', async () => {
  const emulator = testEmulator();
  const { bare } = callsTo(emulator, emulator.fetch, 'http://127.0.0.1:4010');

  for (const respond of EVERY_EFFECT) expect((await bare('POST', '/_emulator/faults', { respond })).status).toBe(201);

  expect(emulator.faults.list().map(({ respond }) => respond)).toEqual(EVERY_EFFECT);
});
