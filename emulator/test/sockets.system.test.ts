import { afterEach, describe, expect, test } from 'vitest';
import { createEmulator, type Emulator, type EmulatorOptions } from '../src/index.js';
import { callsTo } from './support.js';

const opened: Emulator[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((emulator) => emulator.close()));
});

async function listening(options: EmulatorOptions = {}) {
  const emulator = createEmulator({ seed: 'socket', ...options });
  opened.push(emulator);
  const address = await emulator.listen();
  const stream = (init: RequestInit = {}) =>
    fetch(`${address.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${emulator.apiKeys.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(STREAM),
      ...init,
    });
  return { emulator, ...address, ...callsTo(emulator, fetch, address.url), stream };
}

const STREAM = { model: 'atlas-small', stream: true, messages: [{ role: 'user', content: 'How tall is the tower?' }] };

describe('an emulator on a socket', () => {
  test('listens on loopback after less than 300 ms of CPU time, and replaces no global Request and Response', async () => {
    const before = [globalThis.Request, globalThis.Response];
    const started = process.cpuUsage();
    const { url, port, apiKeys, sessionToken, emulator } = await listening();

    expect(process.cpuUsage(started).user).toBeLessThan(300_000);
    expect([globalThis.Request, globalThis.Response]).toEqual(before);
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect(apiKeys).toEqual({ secret: emulator.apiKeys.secret, publishable: emulator.apiKeys.publishable });
    expect(sessionToken).toBe(emulator.sessionToken);
  });

  test('responds as it does in process', async () => {
    const { ask, emulator } = await listening({ now: '2026-01-15T10:00:00Z' });
    const twin = createEmulator({ seed: 'socket', now: '2026-01-15T10:00:00Z' });

    const socket = await ask('How tall is the tower?');
    const inProcess = await callsTo(twin).ask('How tall is the tower?');

    expect(socket.body).toEqual(inProcess.body);
    for (const name of ['x-request-id', 'date', 'content-type', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
      expect(socket.headers.get(name)).toBe(inProcess.headers.get(name));
    expect(emulator.requests.at(-1)?.body).toContain('How tall is the tower?');
  });

  test('stops a stream when its reader disconnects', async () => {
    const { emulator, stream } = await listening({ pace: { tokensPerSecond: 50 } });
    emulator.chat.on('tower', 'word '.repeat(5000));
    const aborter = new AbortController();
    const response = await stream({ signal: aborter.signal });
    await (response.body as ReadableStream<Uint8Array>).getReader().read();

    aborter.abort();

    await expect.poll(() => emulator.requests[0]?.outcome).toBe('aborted');
    const events = emulator.requests[0]?.events;
    expect(events).toBeLessThan(100);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(emulator.requests[0]?.events).toBe(events);
  });

  test('produces a stream no faster than the client reads it', async () => {
    const { emulator, stream } = await listening();
    emulator.chat.on('tower', 'several words of an answer '.repeat(20_000));
    const unread = await stream({ body: JSON.stringify({ ...STREAM, max_tokens: 100_000 }) });
    await expect.poll(() => emulator.requests[0]?.events).toBeGreaterThan(0);

    await new Promise((resolve) => setTimeout(resolve, 100));
    const first = emulator.requests[0]?.events ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 100));

    expect(emulator.requests[0]?.events).toBe(first);
    expect(emulator.requests[0]?.outcome).toBe('pending');
    await unread.body?.cancel();
    await expect.poll(() => emulator.requests[0]?.outcome).toBe('aborted');
  });

  test.each([
    { respond: { type: 'reset' } as const, outcome: 'reset' },
    { respond: { type: 'cutBody', afterBytes: 20 } as const, outcome: 'cut' },
  ])('breaks the connection for $respond', async ({ respond, outcome }) => {
    const { emulator, gateway } = await listening();
    emulator.faults.add({ respond });

    await expect(gateway('GET', '/v1/presets')).rejects.toThrow(TypeError);

    await expect.poll(() => emulator.requests[0]?.outcome).toBe(outcome);
    expect((await gateway('GET', '/v1/presets')).status).toBe(200);
  });

  test('ends a stream that is cut by end', async () => {
    const { emulator, stream } = await listening();
    emulator.faults.add({ respond: { type: 'cutStream', afterEvents: 3, how: 'end' } });

    expect((await (await stream()).text()).match(/data: /g)).toHaveLength(3);
  });

  test('delivers the events before a cut by reset', async () => {
    const { emulator, stream } = await listening();
    emulator.faults.add({ respond: { type: 'cutStream', afterEvents: 3, how: 'reset' }, times: 5 });
    const eventsBeforeReset = async () => {
      const response = await stream();
      let text = '';
      try {
        for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) text += Buffer.from(piece);
      } catch {
        return text.match(/data: /g)?.length;
      }
      throw new Error('the stream was not cut');
    };

    // The reader has 50 ms to take them. A busy machine may miss that, so there are five attempts.
    const seen = [];
    while (seen.length < 5 && seen.at(-1) !== 3) seen.push(await eventsBeforeReset().catch(() => 0));

    expect(seen.at(-1)).toBe(3);
  });

  test('stalls until the caller disconnects', async () => {
    const { emulator, stream } = await listening();
    emulator.faults.add({ respond: { type: 'stall' } });
    const aborter = new AbortController();
    stream({ signal: aborter.signal }).catch(() => {});
    await expect.poll(() => emulator.requests.length).toBe(1);

    aborter.abort();

    await expect.poll(() => emulator.requests[0]?.outcome).toBe('aborted');
  });

  test('responds with 413 to an upload above the limit, and keeps serving', async () => {
    const { emulator, gateway, upload } = await listening({ maxFileSize: 1000 });

    const answer = await upload(new File([new Uint8Array(200_000)], 'x'));

    expect(answer).toMatchObject({ status: 413, body: { error: { code: 'file_too_large' } } });
    expect((await gateway('GET', '/v1/presets')).status).toBe(200);
    expect(emulator.files.list()).toEqual([]);
  });

  test('closes with open connections, and can be closed twice', async () => {
    const { emulator, url, stream } = await listening({ pace: { ttft: 60_000 } });
    const response = await stream();

    await emulator.close();
    await emulator.close();

    await expect(response.text()).rejects.toThrow();
    await expect(fetch(`${url}/v1/presets`)).rejects.toThrow();
    await expect(emulator.fetch(`${url}/v1/presets`)).rejects.toThrow('fetch failed');
  });

  test('fails with EADDRINUSE on a port that is taken', async () => {
    const { port } = await listening();

    await expect(createEmulator().listen({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
