import { describe, expect, test } from 'vitest';
import type { Emulator } from '../src/index.js';
import { callsTo, eventsOf, openStream, testEmulator } from './support.js';

const contentOf = (events: string[]) =>
  events
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data).choices[0]?.delta.content ?? '')
    .join('');

const eventsFrom = async (emulator: Emulator, more: object = {}) =>
  eventsOf(await (await openStream(emulator, 'x', more)).text());
const readerOf = async (emulator: Emulator, init: RequestInit = {}) =>
  ((await openStream(emulator, 'x', {}, init)).body as ReadableStream<Uint8Array>).getReader();
const tokensUsed = async (emulator: Emulator) => (await callsTo(emulator).gateway('GET', '/v1/usage')).body.tokens_used;

describe('a streamed completion', () => {
  test('is a role chunk, content chunks, a finish chunk, a usage chunk without choices, and [DONE]', async () => {
    const emulator = testEmulator();
    emulator.chat.on('hello', 'Good morning!');

    const response = await openStream(emulator, 'hello');

    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const events = eventsOf(await response.text());
    expect(events.pop()).toBe('[DONE]');
    const chunks = events.map((data) => JSON.parse(data));
    const head = { id: chunks[0].id, object: 'chat.completion.chunk', created: 1768471200, model: 'atlas-small' };
    const choice = (delta: object, finish_reason: string | null) => ({
      ...head,
      choices: [{ index: 0, delta, finish_reason }],
    });
    expect(chunks).toEqual([
      choice({ role: 'assistant', content: '' }, null),
      choice({ content: 'Good' }, null),
      choice({ content: ' morning' }, null),
      choice({ content: '!' }, null),
      choice({}, 'stop'),
      { ...head, choices: [], usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 } },
    ]);
  });

  test.each(['token', 'word', 'char'] as const)(
    'never splits or loses a character when chunked by %s',
    async (chunkBy) => {
      const emulator = testEmulator({ pace: { chunkBy } });
      const text = '👩‍👩‍👧 und 🏳️‍🌈, 日本語です。 Zażółć \ufffd gęślą 𝒳𝒴 ẞ';
      emulator.chat.on('x', text);

      const events = await eventsFrom(emulator);

      expect(contentOf(events)).toBe(text);
      for (const data of events.slice(0, -1)) {
        expect(JSON.parse(data).choices[0]?.delta.content ?? '').not.toMatch(/[\ud800-\udbff]$|^[\udc00-\udfff]/);
      }
    },
  );

  test('omits a character that max_tokens would split', async () => {
    const emulator = testEmulator();
    emulator.chat.on('x', '𒀀𒀁𒀂');

    const stream = await eventsFrom(emulator, { max_tokens: 1 });
    const plain = await callsTo(emulator).ask('x', { max_tokens: 1 });

    expect(contentOf(stream)).toBe('');
    expect(JSON.parse(stream.at(-3) ?? '').choices[0].finish_reason).toBe('length');
    expect(JSON.parse(stream.at(-2) ?? '').usage).toEqual(plain.body.usage);
    expect(plain.body.choices[0]).toMatchObject({ message: { content: '' }, finish_reason: 'length' });
  });

  test('waits for ttft, then keeps tokensPerSecond, by the clock', async () => {
    const emulator = testEmulator({ pace: { ttft: 500, tokensPerSecond: 10 } });
    emulator.chat.on('x', 'one two three');
    const reader = await readerOf(emulator);
    let read = 0;
    const reading = (async () => {
      while (!(await reader.read()).done) read += 1;
    })();
    const passed = async (ms: number) => {
      emulator.clock.advance(ms);
      await new Promise((resolve) => setImmediate(resolve));
      return read;
    };

    const seen: number[] = [];
    for (const ms of [0, 499, 1, 99, 1, 100]) seen.push(await passed(ms));
    expect(seen).toEqual([1, 1, 2, 2, 3, 4]);
    await passed(100);
    await reading;
  });

  test('is produced only as it is read, stops when its reader cancels, and is billed for what was sent', async () => {
    const emulator = testEmulator();
    emulator.chat.on('x', 'word '.repeat(1000));
    const reader = await readerOf(emulator);
    for (let i = 0; i < 4; i += 1) await reader.read();
    expect(emulator.requests.at(-1)).toMatchObject({ outcome: 'pending', events: 4 });

    await reader.cancel();

    expect(emulator.requests.at(-1)).toMatchObject({ outcome: 'aborted', events: 4 });
    expect(await tokensUsed(emulator)).toBe(5 + 3);
  });

  test('rejects with the reason of its signal in the middle of a wait', async () => {
    const emulator = testEmulator({ pace: { ttft: 1000 } });
    const aborter = new AbortController();
    const reader = await readerOf(emulator, { signal: aborter.signal });
    await reader.read();
    const next = reader.read();

    aborter.abort(new Error('enough'));

    await expect(next).rejects.toThrow('enough');
    expect(emulator.requests.at(-1)).toMatchObject({ outcome: 'aborted', events: 1 });
    expect(await tokensUsed(emulator)).toBe(5);
  });

  test('is billed before [DONE] is sent, like a plain completion', async () => {
    const emulator = testEmulator();
    const reader = await readerOf(emulator);
    let last = '';
    while (last !== 'data: [DONE]\n\n') last = new TextDecoder().decode((await reader.read()).value);

    const billed = await tokensUsed(emulator);
    await reader.cancel();
    expect(await tokensUsed(emulator)).toBe(billed);
    expect((await callsTo(emulator).ask('x')).body.usage.total_tokens).toBe(billed);
  });
});

describe('the bytes of a stream', () => {
  test.each([1, 7])(
    'can be split every %i bytes, inside characters and line ends, without loss',
    async (splitBytes) => {
      const emulator = testEmulator({ pace: { splitBytes, lineEnd: 'crlf' } });
      emulator.chat.on('x', '日本語です。 Zażółć gęślą 𝒳');
      const pieces: Uint8Array[] = [];

      const { body } = await openStream(emulator, 'x');
      for await (const piece of body as unknown as AsyncIterable<Uint8Array>) pieces.push(piece);

      expect(Math.max(...pieces.map((piece) => piece.byteLength))).toBe(splitBytes);
      expect(pieces.some((piece) => Buffer.from(piece).toString().includes('\ufffd'))).toBe(true);
      const text = Buffer.concat(pieces).toString();
      expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
      expect(contentOf(eventsOf(text.replaceAll('\r\n', '\n')))).toBe('日本語です。 Zażółć gęślą 𝒳');
      expect(emulator.requests.at(-1)).toMatchObject({ outcome: 'answered' });
    },
  );

  test('may end lines with CR alone', async () => {
    const text = await (await openStream(testEmulator({ pace: { lineEnd: 'cr' } }), 'x')).text();

    expect(text.endsWith('data: [DONE]\r\r')).toBe(true);
  });

  test('contain comment lines in pauses, which do not count as events', async () => {
    const emulator = testEmulator({ pace: { ttft: 1000, tokensPerSecond: 1, heartbeat: 400 } });
    emulator.chat.on('x', 'one two');
    const reading = openStream(emulator, 'x').then((response) => response.text());
    for (let i = 0; i < 40; i += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      emulator.clock.advance(100);
    }

    const text = await reading;

    expect(text.match(/^: keep-alive$/gm)).toHaveLength(2 + 2 + 2);
    expect(emulator.requests.at(-1)?.events).toBe(eventsOf(text).filter((event) => !event.startsWith(':')).length);
  });

  test.each([
    { chunkBy: 'word' as const, pieces: 3 },
    { chunkBy: 'char' as const, pieces: 13 },
  ])('are chunked by $chunkBy', async ({ chunkBy, pieces }) => {
    const emulator = testEmulator({ pace: { chunkBy } });
    emulator.chat.on('x', 'one two three');

    expect((await eventsFrom(emulator)).slice(1, -3)).toHaveLength(pieces);
  });

  test.each(['splitBytes', 'heartbeat'])('cannot have a %s of 0', (name) => {
    expect(() => testEmulator({ pace: { [name]: 0 } })).toThrow(`pace.${name}`);
  });
});
