import { get } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
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

const completion = (more: object = {}) => ({
  model: 'atlas-small',
  messages: [{ role: 'user', content: 'How tall is the tower?' }],
  ...more,
});

function streamFrom(url: string, key: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(completion({ stream: true })),
    ...init,
  });
}

/** Polls until `fact` is true, and fails after 5 s. */
async function until(fact: () => boolean): Promise<void> {
  const deadline = Date.now() + 5000;
  while (!fact() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(fact()).toBe(true);
}

describe('an emulator on a socket', () => {
  test('listens on loopback after less than 300 ms of CPU time, and returns its URL and keys', async () => {
    const started = process.cpuUsage();
    const { url, port, apiKeys, sessionToken, emulator } = await listening();

    expect(process.cpuUsage(started).user).toBeLessThan(300_000);
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect(apiKeys).toEqual({ secret: emulator.apiKeys.secret, publishable: emulator.apiKeys.publishable });
    expect(sessionToken).toBe(emulator.sessionToken);
  });

  test('responds as it does in process', async () => {
    const { emulator, gateway } = await listening({ now: '2026-01-15T10:00:00Z' });
    const twin = createEmulator({ seed: 'socket', now: '2026-01-15T10:00:00Z' });

    const socket = await gateway('POST', '/v1/chat/completions', completion());
    const inProcess = await callsTo(twin).gateway('POST', '/v1/chat/completions', completion());

    expect(socket.body).toEqual(inProcess.body);
    const names = [
      'x-request-id',
      'date',
      'content-type',
      'x-ratelimit-limit',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
    ];
    for (const name of names) expect(socket.headers.get(name)).toBe(inProcess.headers.get(name));
    expect(emulator.requests.at(-1)?.body).toBe(JSON.stringify(completion()));
  });

  test('does not replace the global Request and Response', async () => {
    const before = [globalThis.Request, globalThis.Response];

    await listening();

    expect([globalThis.Request, globalThis.Response]).toEqual(before);
    expect(globalThis.Response).toBe(before[1]);
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

    await until(() => emulator.requests[0]?.outcome === 'aborted');
    const events = emulator.requests[0]?.events;
    expect(events).toBeLessThan(100);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(emulator.requests[0]?.events).toBe(events);
  });

  test('produces a stream no faster than the client reads it', async () => {
    const { emulator, url, apiKeys } = await listening();
    emulator.chat.on('tower', 'several words of an answer '.repeat(20_000));
    const request = await openRaw(url, apiKeys.secret, completion({ stream: true, max_tokens: 100_000 }));
    await until(() => (emulator.requests[0]?.events ?? 0) > 0);

    await new Promise((resolve) => setTimeout(resolve, 100));
    const first = emulator.requests[0]?.events ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 100));

    expect(emulator.requests[0]?.events).toBe(first);
    expect(emulator.requests[0]?.outcome).toBe('pending');
    request.destroy();
    await until(() => emulator.requests[0]?.outcome === 'aborted');
  });

  test.each([
    { respond: { type: 'reset' } as const, outcome: 'reset' },
    { respond: { type: 'cutBody', afterBytes: 20 } as const, outcome: 'cut' },
  ])('breaks the connection for $respond', async ({ respond, outcome }) => {
    const { emulator, gateway } = await listening();
    emulator.faults.add({ respond });

    await expect(gateway('GET', '/v1/presets')).rejects.toThrow(TypeError);

    await until(() => emulator.requests[0]?.outcome === outcome);
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
    await until(() => emulator.requests.length === 1);

    aborter.abort();

    await expect(attempt).rejects.toThrow();
    await until(() => emulator.requests[0]?.outcome === 'aborted');
  });

  test('responds with 413 to an upload above the limit, and keeps serving', async () => {
    const { emulator, url, gateway, apiKeys } = await listening({ maxFileSize: 1000 });
    const form = new FormData();
    form.set('purpose', 'x');
    form.set('file', new File([new Uint8Array(200_000)], 'x'));

    const response = await fetch(`${url}/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKeys.secret}` },
      body: form,
    });

    expect(response.status).toBe(413);
    expect((await response.json()).error.code).toBe('file_too_large');
    expect((await gateway('GET', '/v1/presets')).status).toBe(200);
    expect(emulator.files.list()).toEqual([]);
  });

  test('rejects control requests from other machines, whatever their Host header', async () => {
    const other = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal);
    const emulator = createEmulator();
    opened.push(emulator);
    const { port } = await emulator.listen({ host: '0.0.0.0' });
    const status = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { host: `127.0.0.1:${port}` };
        get({ host, port, path: '/_emulator/state', headers }, (answer) => resolve(answer.resume().statusCode)).on(
          'error',
          reject,
        );
      });

    expect(await status('127.0.0.1')).toBe(200);
    if (other !== undefined) expect(await status(other.address)).toBe(403);
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
