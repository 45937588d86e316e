import { connect } from 'node:net';
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
  return { emulator, ...address, ...callsTo(emulator, fetch, address.url) };
}

const STREAM = { model: 'atlas-small', stream: true, messages: [{ role: 'user', content: 'How tall is the tower?' }] };

function streamFrom(url: string, key: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(STREAM),
    ...init,
  });
}

describe('an emulator on a socket', () => {
  test('listens on loopback after less than 300 ms of CPU time, and replaces no global Request and Response', async () => {
    const before = [globalThis.Request, globalThis.Response];
    const started = process.cpuUsage();
    const { url, port, apiKeys, sessionToken, emulator } = await listening();

    expect(process.cpuUsage(started).user).toBeLessThan(300_000);
    expect([globalThis.Request, globalThis.Response]).toEqual(before);
    expect(globalThis.Response).toBe(before[1]);
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

  test('streams events one by one', async () => {
    const { url, apiKeys } = await listening({ pace: { ttft: 50 } });

    const response = await streamFrom(url, apiKeys.secret);

    const chunks: string[] = [];
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      chunks.push(new TextDecoder().decode(chunk));
    expect(chunks.length).toBeGreaterThan(1);
    expect(chunks.join('').trimEnd().endsWith('data: [DONE]')).toBe(true);
  });

  test('stops a stream when its reader disconnects', async () => {
    const { emulator, url, apiKeys } = await listening({ pace: { tokensPerSecond: 50 } });
    emulator.chat.on('tower', 'word '.repeat(5000));
    const aborter = new AbortController();
    const response = await streamFrom(url, apiKeys.secret, { signal: aborter.signal });
    await (response.body as ReadableStream<Uint8Array>).getReader().read();

    aborter.abort();

    await expect.poll(() => emulator.requests[0]?.outcome).toBe('aborted');
    const events = emulator.requests[0]?.events;
    expect(events).toBeLessThan(100);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(emulator.requests[0]?.events).toBe(events);
  });

  test('produces a stream no faster than the client reads it', async () => {
    const { emulator, url, apiKeys } = await listening();
    emulator.chat.on('tower', 'several words of an answer '.repeat(20_000));
    const request = await openRaw(url, apiKeys.secret, { ...STREAM, max_tokens: 100_000 });
    await expect.poll(() => emulator.requests[0]?.events).toBeGreaterThan(0);

    await new Promise((resolve) => setTimeout(resolve, 100));
    const first = emulator.requests[0]?.events ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 100));

    expect(emulator.requests[0]?.events).toBe(first);
    expect(emulator.requests[0]?.outcome).toBe('pending');
    request.destroy();
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

  test.each([
    { how: 'end' as const, breaks: false },
    { how: 'reset' as const, breaks: true },
  ])('cuts a stream by $how', async ({ how, breaks }) => {
    const { emulator, url, apiKeys } = await listening();
    emulator.faults.add({ respond: { type: 'cutStream', afterEvents: 3, how } });

    const text = streamFrom(url, apiKeys.secret).then((response) => response.text());

    if (breaks) await expect(text).rejects.toThrow();
    else expect((await text).match(/data: /g)).toHaveLength(3);
  });

  test('delivers the events before a cut by reset', async () => {
    const { emulator, url, apiKeys } = await listening();
    emulator.faults.add({ respond: { type: 'cutStream', afterEvents: 3, how: 'reset' }, times: 5 });
    const eventsBeforeReset = async () => {
      const response = await streamFrom(url, apiKeys.secret);
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
    const { emulator, url, apiKeys } = await listening();
    emulator.faults.add({ respond: { type: 'stall' } });
    const aborter = new AbortController();
    const attempt = streamFrom(url, apiKeys.secret, { signal: aborter.signal });
    await expect.poll(() => emulator.requests.length).toBe(1);

    aborter.abort();

    await expect(attempt).rejects.toThrow();
    await expect.poll(() => emulator.requests[0]?.outcome).toBe('aborted');
  });

  test('responds with 413 to an upload above the limit, and keeps serving', async () => {
    const { emulator, gateway, upload } = await listening({ maxFileSize: 1000 });

    const { status, body } = await upload(new File([new Uint8Array(200_000)], 'x'));

    expect(status).toBe(413);
    expect(body.error.code).toBe('file_too_large');
    expect((await gateway('GET', '/v1/presets')).status).toBe(200);
    expect(emulator.files.list()).toEqual([]);
  });

  test('responds with 404 to a path that cannot be decoded', async () => {
    const { context } = await listening();

    expect((await context('DELETE', '/api/memory/%E0%A4%A')).status).toBe(404);
  });

  test('closes with open connections, and can be closed twice', async () => {
    const { emulator, url, apiKeys } = await listening({ pace: { ttft: 60_000 } });
    const response = await streamFrom(url, apiKeys.secret);

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

/** Sends a request over a bare socket and never reads the response. */
async function openRaw(url: string, key: string, body: object) {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.pause();
  const text = JSON.stringify(body);
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  );
  return socket;
}
