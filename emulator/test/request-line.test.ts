import { expect, test, vi } from 'vitest';
import { runCommand } from '../src/cli/cli.js';
import { requestLine } from '../src/http/log/request-line.js';
import type { Emulator, RequestRecord } from '../src/index.js';
import { callsTo, dataDirectory, openStream, testEmulator } from './support.js';

/** The log lines of the requests that `act` makes. */
async function linesOf(emulator: Emulator, act: () => Promise<unknown>): Promise<string[]> {
  const lines: string[] = [];
  const stop = emulator.onRequest((request) => lines.push(requestLine(request, false)));
  await act();
  stop();
  await callsTo(emulator).gateway('GET', '/v1/presets');
  return lines;
}

const QUESTION = 'The key is red. What is red?';

test('shows status, method, time, tokens and path of each request, in columns', async () => {
  const emulator = testEmulator({ limits: { gateway: 3 } });
  const { ask, gateway, context } = callsTo(emulator);

  const lines = await linesOf(emulator, async () => {
    await ask(QUESTION);
    await (await openStream(emulator, QUESTION)).text();
    await context('DELETE', '/api/memory/none');
    await gateway('GET', '/v1/presets?limit=2');
    await gateway('GET', '/v1/presets');
  });

  expect(lines).toEqual([
    '200  POST         0 ms       13 in     5 out  /v1/chat/completions',
    '200  POST         0 ms       13 in     5 out  /v1/chat/completions',
    '404  DELETE       0 ms                        /api/memory/none',
    '200  GET          0 ms                        /v1/presets?limit=2',
    '429  GET          0 ms                        /v1/presets  limit gateway: request 4 of 3 in 60 s, until 10:01:00',
  ]);
});

test('names the fault of a request, and a client that disconnected', async () => {
  const emulator = testEmulator({ pace: { ttft: 1000 } });
  const { gateway } = callsTo(emulator);
  emulator.faults.add({ respond: { status: 503 } });
  emulator.faults.add({ respond: { type: 'reset' } });
  const left = new AbortController();

  const lines = await linesOf(emulator, async () => {
    await gateway('GET', '/v1/usage');
    await expect(gateway('GET', '/v1/usage')).rejects.toThrow();
    const stream = openStream(emulator, 'Hello?', {}, { signal: left.signal });
    await (await stream).body?.getReader().read();
    left.abort();
    await vi.waitUntil(() => emulator.requests.at(-1)?.tokens, 30_000);
  });

  expect(lines[0]).toBe('503  GET          0 ms                        /v1/usage  fault: status 503');
  expect(lines[1]).toBe('---  GET          0 ms                        /v1/usage  fault: reset, similar request 2');
  expect(lines[2]).toMatch(/^--- {2}POST .* \d+ in +0 out {2}\/v1\/chat\/completions {2}client disconnected$/);
});

test('contains no key and no part of a body', async () => {
  const emulator = testEmulator();
  const { secret } = emulator.apiKeys;

  const [line = ''] = await linesOf(emulator, () =>
    callsTo(emulator).gateway('POST', `/v1/chat/completions?key=${secret}`, { content: QUESTION }),
  );

  expect(line).toContain('/v1/chat/completions?key=svc_sk_***');
  expect(line).not.toContain('red');
});

test('has colors in a terminal only, and none with NO_COLOR', async () => {
  const record = { method: 'GET', path: '/v1/usage', status: 503, outcome: 'answered', duration: 12.4 };

  expect(requestLine(record as RequestRecord, true)).toContain('\x1b[31m503\x1b[39m');
  expect(requestLine(record as RequestRecord, false)).toBe('503  GET         12 ms                        /v1/usage');

  const said = async (more: { env?: Record<string, string>; isTerminal?: boolean }, ...args: string[]) => {
    let out = '';
    let stop: (signal: NodeJS.Signals) => void = () => {};
    const request = async (url: string): Promise<void> => {
      await (await fetch(`${url}/v1/usage`)).text();
      stop('SIGINT');
    };
    await runCommand(['--port', '0', ...args], {
      env: {},
      directory: dataDirectory(),
      isTerminal: false,
      isInteractive: false,
      ...more,
      out: (text) => {
        out += text;
        const [, url] = /^Listening on (\S+)$/m.exec(text) ?? [];
        if (url !== undefined) void request(url);
      },
      err: () => {},
      onSignal: (listener) => {
        stop = listener;
      },
    });
    return out.split('\n').find((line) => line.includes('/v1/usage'));
  };
  expect(await said({})).toMatch(/^401 {2}GET /);
  expect(await said({ isTerminal: true })).toMatch(/^\x1b\[33m401\x1b\[39m {2}GET /);
  expect(await said({ isTerminal: true, env: { NO_COLOR: '1' } })).toMatch(/^401 {2}GET /);
  expect(await said({}, '--quiet')).toBeUndefined();
});
