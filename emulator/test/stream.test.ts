import { describe, expect, test } from 'vitest';
import { callsTo, eventsOf, openStream, testEmulator } from './support.js';

const contentOf = (events: string[]) =>
  events
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data).choices[0]?.delta.content ?? '')
    .join('');

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

      const events = eventsOf(await (await openStream(emulator, 'x')).text());

      expect(contentOf(events)).toBe(text);
      for (const data of events.slice(0, -1)) {
        expect(JSON.parse(data).choices[0]?.delta.content ?? '').not.toMatch(/[\ud800-\udbff]$|^[\udc00-\udfff]/);
      }
    },
  );

  test('ends at max_tokens with finish_reason length', async () => {
    const events = eventsOf(await (await openStream(testEmulator(), 'How tall is it?', { max_tokens: 2 })).text());

    expect(contentOf(events)).toBe('The context');
    expect(JSON.parse(events.at(-3) ?? '').choices[0].finish_reason).toBe('length');
    expect(JSON.parse(events.at(-2) ?? '').usage.completion_tokens).toBe(2);
  });

  test('omits a character that max_tokens would split', async () => {
    const emulator = testEmulator();
    emulator.chat.on('x', '𒀀𒀁𒀂');

    const stream = eventsOf(await (await openStream(emulator, 'x', { max_tokens: 1 })).text());
    const plain = await callsTo(emulator).gateway('POST', '/v1/chat/completions', {
      model: 'atlas-small',
      max_tokens: 1,
      messages: [{ role: 'user', content: 'x' }],
    });

    expect(contentOf(stream)).toBe('');
    expect(plain.body.choices[0]).toMatchObject({ message: { content: '' }, finish_reason: 'length' });
  });

  test('waits for ttft, then keeps tokensPerSecond, by the clock', async () => {
    const emulator = testEmulator({ pace: { ttft: 500, tokensPerSecond: 10 } });
    emulator.chat.on('x', 'one two three');
    const reader = ((await openStream(emulator, 'x')).body as ReadableStream<Uint8Array>).getReader();
    let read = 0;
    const reading = (async () => {
      while (!(await reader.read()).done) read += 1;
    })();
    const passed = async (ms: number) => {
      emulator.clock.advance(ms);
      await new Promise((resolve) => setImmediate(resolve));
      return read;
    };

    expect(await passed(0)).toBe(1);
    expect(await passed(499)).toBe(1);
    expect(await passed(1)).toBe(2);
    expect(await passed(99)).toBe(2);
    expect(await passed(1)).toBe(3);
    expect(await passed(100)).toBe(4);
    await passed(100);
    await reading;
  });

  test('is produced only as it is read', async () => {
    const emulator = testEmulator();
    emulator.chat.on('x', 'word '.repeat(1000));
    const reader = ((await openStream(emulator, 'x')).body as ReadableStream<Uint8Array>).getReader();

    for (let i = 0; i < 5; i += 1) await reader.read();

    expect(emulator.requests.at(-1)).toMatchObject({ outcome: 'pending', events: 5 });
    await reader.cancel();
  });

  test('stops when its reader cancels, and is billed for what was sent', async () => {
    const emulator = testEmulator();
    emulator.chat.on('x', 'word '.repeat(1000));
    const reader = ((await openStream(emulator, 'x')).body as ReadableStream<Uint8Array>).getReader();
    for (let i = 0; i < 4; i += 1) await reader.read();

    await reader.cancel();

    expect(emulator.requests.at(-1)).toMatchObject({ outcome: 'aborted', events: 4 });
    const { body } = await callsTo(emulator).gateway('GET', '/v1/usage');
    expect(body.tokens_used).toBe(5 + 3);
  });

  test('rejects with the reason of its signal in the middle of a wait', async () => {
    const emulator = testEmulator({ pace: { ttft: 1000 } });
    const aborter = new AbortController();
    const response = await openStream(emulator, 'x', {}, { signal: aborter.signal });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    const next = reader.read();

    aborter.abort(new Error('enough'));

    await expect(next).rejects.toThrow('enough');
    expect(emulator.requests.at(-1)).toMatchObject({ outcome: 'aborted', events: 1 });
    expect((await callsTo(emulator).gateway('GET', '/v1/usage')).body.tokens_used).toBe(5);
  });

  test('is billed before [DONE] is sent', async () => {
    const emulator = testEmulator();
    const reader = ((await openStream(emulator, 'x')).body as ReadableStream<Uint8Array>).getReader();
    let last = '';
    while (last !== 'data: [DONE]\n\n') last = new TextDecoder().decode((await reader.read()).value);

    expect((await callsTo(emulator).gateway('GET', '/v1/usage')).body.tokens_used).toBeGreaterThan(5);
    await reader.cancel();
    const [entry] = emulator.state().usage;
    expect(entry?.tokens).toBe((await callsTo(emulator).gateway('GET', '/v1/usage')).body.tokens_used);
  });

  test('is billed like a plain completion', async () => {
    const emulator = testEmulator();
    await (await openStream(emulator, 'How tall is the tower?')).text();
    const { gateway } = callsTo(emulator);
    const streamed = (await gateway('GET', '/v1/usage')).body.tokens_used;

    const messages = [{ role: 'user', content: 'How tall is the tower?' }];
    const plain = await gateway('POST', '/v1/chat/completions', { model: 'atlas-small', messages });

    expect(streamed).toBe(plain.body.usage.total_tokens);
  });
});
