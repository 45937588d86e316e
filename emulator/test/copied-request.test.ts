import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { requestAsCurl } from '../inspector/requests/curl.js';
import { callsTo, testEmulator } from './support.js';

const params = { model: 'atlas-small', messages: [{ role: 'user' as const, content: "What's new?" }], stream: true };

describe('a copied request', () => {
  test('from the log has its method, body and headers, but no credential', async () => {
    const emulator = testEmulator();
    const { gateway, context } = callsTo(emulator);
    await gateway('POST', '/v1/chat/completions', { ...params, stream: false }, { 'x-team': "it's us" });
    await context('GET', '/api/memory?type=fact');

    const [asked, listed] = emulator.requests.map((request) => requestAsCurl(request, 'http://127.0.0.1:4010'));

    expect(asked).toContain("curl -g -X 'POST' 'http://127.0.0.1:4010/v1/chat/completions'");
    expect(asked).toContain('-H "authorization: Bearer $CONTEXT_GATEWAY_API_KEY"');
    expect(asked).toContain("-H 'x-team: it'\\''s us'");
    expect(asked).toContain("What'\\''s new?");
    expect(listed).toContain("curl -g 'http://127.0.0.1:4010/api/memory?type=fact'");
    expect(listed).toContain('Bearer $CONTEXT_GATEWAY_SESSION_TOKEN');
    for (const secret of [emulator.apiKeys.secret, emulator.sessionToken])
      expect(`${asked}${listed}`).not.toContain(secret);
  });

  test('is the same request for brackets in the path, HEAD, an empty header and an upload, or says that it is not', async () => {
    const emulator = testEmulator();
    const { gateway, upload } = callsTo(emulator);
    const send = (path: string, init: RequestInit) => emulator.fetch(`http://emulator.test${path}`, init);
    await gateway('GET', '/v1/presets?category[]=a&limit={1,2}');
    await send('/v1/presets', { method: 'HEAD', headers: { 'x-empty': '' } });
    await upload(new File(['one\r\ntwo'], 'a.txt'));
    await upload(new File([new Uint8Array([0xff, 0x00])], 'a.txt'));
    await send('/v1/chat/completions', { method: 'POST', body: 'x'.repeat(70_000), headers: { 'x-token': 'abc' } });

    const origin = 'http://127.0.0.1:4010';
    const commands = emulator.requests.map((request) => requestAsCurl(request, origin));
    const words = commands.map(wordsOf);

    expect(words[0]?.slice(0, 2)).toEqual(['-g', `${origin}/v1/presets?category[]=a&limit={1,2}`]);
    expect(words[1]).toEqual(['-g', '-I', `${origin}/v1/presets`, '-H', 'x-empty;']);
    expect(words[2]?.at(-1)).toBe(emulator.requests[2]?.body);
    expect(words[2]?.at(-1)).toContain('one\r\ntwo');
    expect(commands[3]).toMatch(/^# Not the same request: without the body, which the log cannot show as it was sent/);
    expect(commands[4]).toContain('# Not the same request: without the header x-token, whose value the log hides');
    expect(commands[4]).toContain('of which the log has only a part');
    for (const command of commands.slice(0, 3)) expect(command).not.toContain('#');
  });

  test('runs no command that a page put into it', async () => {
    const emulator = testEmulator();
    const planted = '$(echo planted) `echo planted` ***';
    const headers = {
      authorization: `Bearer ${emulator.apiKeys.secret}`,
      'x-note': planted,
      'x-quoted': "it's $(echo planted)",
      'x-`echo`-token': 'session_local_abcdefgh',
      cookie: 'theme=dark',
    };
    await emulator.fetch("https://emulator.test/v1/presets?'$(echo)", { method: '`echo`', headers });
    const read = { method: 'POST', headers, body: '@/etc/hostname' };
    await emulator.fetch('https://emulator.test/v1/chat/completions', read);

    const words = emulator.requests.map((request) => wordsOf(requestAsCurl(request, 'http://127.0.0.1:4010')));

    const url = 'http://127.0.0.1:4010/v1/presets?%27$(echo)';
    const quoted = ['-H', "x-quoted: it's $(echo planted)"];
    const key = ['-H', 'authorization: Bearer the-key'];
    expect(words[0]).toEqual(['-g', '-X', '`echo`', url, ...key, ...quoted]);
    expect(words[1]?.slice(-2)).toEqual(['--data-raw', '@/etc/hostname']);
    expect(words.flat().join()).not.toContain('theme');
  });

  test('is in the HAR file with its response, its query and its fault', async () => {
    const emulator = testEmulator();
    emulator.faults.add({ respond: { status: 503 } });
    await callsTo(emulator).gateway('GET', '/v1/presets?limit=7');
    await emulator.fetch('https://emulator.test//');

    const { log } = (await callsTo(emulator).control('GET', '/har')).body;
    const common = { httpVersion: 'HTTP/1.1', cookies: [], headers: expect.any(Array), headersSize: -1 };
    const text = expect.stringContaining('error');
    expect(log).toMatchObject({ version: '1.2', creator: { name: 'context-gateway-emulator' }, pages: [] });
    expect(log.entries[0]).toEqual({
      startedDateTime: '2026-01-15T10:00:00.000Z',
      time: 0,
      request: {
        ...common,
        ...{ method: 'GET', url: 'http://emulator.test/v1/presets?limit=7', bodySize: 0 },
        queryString: [{ name: 'limit', value: '7' }],
      },
      response: {
        ...common,
        ...{ status: 503, statusText: '', redirectURL: '', bodySize: expect.any(Number) },
        content: { size: expect.any(Number), mimeType: 'application/json', text },
      },
      cache: {},
      timings: { send: 0, wait: 0, receive: 0 },
      comment: 'fault: status 503',
    });
    expect(log.entries[1].request.url).toBe('http://emulator.test//');
  });
});

/** The arguments that a shell would pass to curl. */
function wordsOf(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  const env = { ...process.env, CONTEXT_GATEWAY_API_KEY: 'the-key', CONTEXT_GATEWAY_SESSION_TOKEN: 'the-token' };
  return execFileSync('/bin/sh', ['-c', script], { env, encoding: 'utf8' }).split('\0').slice(0, -1);
}
