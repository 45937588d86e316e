import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { atLength } from '../../test/helpers/endurance.js';
import { createEmulator } from '../src/index.js';

const emulator = createEmulator({ seed: 'always', limits: { gateway: 1e6, context: 1e6, compact: 1e6 } });
let port: number;
beforeAll(async () => {
  port = (await emulator.listen()).port;
});
afterAll(() => emulator.close());

/** The status line of the response to these bytes, or `closed` if the server closes the connection without one. */
function answerTo(bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const done = (outcome: string): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(outcome);
    };
    const timer = setTimeout(() => done('nothing within 20 s'), 20_000);
    socket.once('data', (data) => done(data.toString('latin1').split('\r\n', 1)[0] ?? ''));
    socket.once('end', () => done('closed'));
    socket.once('error', () => done('closed'));
    socket.write(bytes);
  });
}

function request(target: string, headers: Record<string, string> = {}, { method = 'GET', body = '' } = {}): string {
  const all = { host: 'localhost', 'content-length': String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

const withFault = (fault: string) => request('/v1/presets', { 'x-emulator-fault': fault });
const key = () => ({ authorization: `Bearer ${emulator.apiKeys.secret}`, 'content-type': 'application/json' });
const ANSWERED = /^(?:HTTP\/1\.1 [2-5]\d\d |closed$)/;

describe('a request over a socket', () => {
  test.each([
    ['HTTP/1.0 without a Host', 'GET /v1/presets HTTP/1.0\r\n\r\n'],
    ['an invalid Host', request('/v1/presets', { host: 'a b' })],
    ['OPTIONS *', request('*', {}, { method: 'OPTIONS' })],
    ['an absolute target with an invalid URL', request('http://[/v1/presets')],
    ['a back-slash in the path', request('/v1\\presets', { host: 'a_b:99' })],
    ['a control-plane path with a bad Host', request('/_emulator/', { host: 'a b' })],
    ['CONNECT', request('localhost:1', {}, { method: 'CONNECT' })],
    ['an upgrade', request('/v1/presets', { connection: 'upgrade', upgrade: 'websocket' })],
    ['a malformed encoding in the path', request('/v1/presets/%E0%A4%A/execute', {}, { method: 'POST' })],
  ])('with %s gets a response, or its connection is closed', async (_, bytes) => {
    expect(await answerTo(bytes)).toMatch(ANSWERED);
  });

  test.each([
    ...['204', '429', '599', '101', '-1', '503=1e400', '__proto__=1', '', '{', '{"type":"reset","when":1}', 'drip=0:0'],
    '{"status":204,"body":{"a":1}}',
    '{"status":200,"headers":{"a b":"c"}}',
    '{"status":200,"headers":{"a":"b\\r\\nc: d"}}',
    '{"status":200,"headers":{"a":"\\u2014"}}',
    '{"status":200,"headers":{"content-length":"1000"}}',
    '{"type":"garbage","contentType":"\\u2014"}',
    '{"type":"status","status":200,"message":{}}',
  ])('for the fault %s gets a response', async (fault) => {
    expect(await answerTo(withFault(fault))).toMatch(ANSWERED);
  });

  test('gets a response whatever fault rules were posted before it', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const rules = [
      `{"respond":{"status":200,"body":${deep}}}`,
      `{"respond":{"type":"streamError","afterEvents":0,"error":{"a":${deep}}}}`,
      '{"match":{"header":{"a b":"c"}},"respond":{"status":500}}',
      '{"match":{"path":"__proto__*"},"respond":{"status":500}}',
    ];
    for (const body of rules) {
      expect(await answerTo(request('/_emulator/faults', {}, { method: 'POST', body }))).toMatch(ANSWERED);
      const ask = '{"model":"atlas-small","stream":true,"messages":[{"role":"user","content":"x"}]}';
      expect(await answerTo(request('/v1/chat/completions', key(), { method: 'POST', body: ask }))).toMatch(ANSWERED);
      expect(await answerTo(request('/_emulator/faults'))).toMatch(/200/);
      emulator.faults.clear();
    }
  });

  test('with deeply nested JSON gets a response', async () => {
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    for (const [path, credential, body] of [
      ['/v1/chat/completions', emulator.apiKeys.secret, `{"model":"atlas-small","messages":${deep}}`],
      ['/v1/integrations/team-chat/execute', emulator.apiKeys.secret, `{"action":"post_message","text":${deep}}`],
      ['/api/memory', emulator.sessionToken, deep],
    ] as const) {
      const headers = { authorization: `Bearer ${credential}` };
      expect(await answerTo(request(path, headers, { method: 'POST', body }))).toMatch(/^HTTP\/1\.1 4\d\d /);
    }
    for (const path of ['/conversations', '/faults', '/state', '/clock']) {
      const body = `{"id":"deep","stylePreferences":${deep}}`;
      const method = path === '/state' ? 'PUT' : 'POST';
      expect(await answerTo(request(`/_emulator${path}`, {}, { method, body }))).toMatch(ANSWERED);
    }
    expect(await answerTo(request('/_emulator/state'))).toMatch(/200/);
  });

  test('of any kind gets a response', async () => {
    const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/);
    const value = fc.stringMatching(/^[\t\x20-\x7e\x80-\xff]{0,24}$/);
    const odd = fc.constantFrom('__proto__', 'constructor', 'toString', '..', '%2e%2e', '%', '*', '\u00e9');
    const texts = fc.dictionary(fc.string(), fc.string());
    const rule = { status: fc.integer({ min: 100, max: 700 }), body: fc.jsonValue(), headers: texts };
    const fault = fc.oneof(
      value,
      fc.integer({ min: -1, max: 999 }).map(String),
      odd.map((name) => `${name}=1`),
      // Without the faults that make a request wait.
      fc.json({ maxDepth: 3 }).filter((text) => !/stall|slow/.test(text)),
      fc.record(rule).map((one) => JSON.stringify(one).replace(/[^\x20-\x7e]/g, '')),
    );
    const target = fc.oneof(
      fc.stringMatching(/^\/[!-~]{0,24}$/),
      fc.constantFrom(
        '*',
        '//',
        '/api/context',
        '/v1/chat/completions',
        '/v1/files',
        '/_emulator/',
        '/_emulator/state',
      ),
      fc.array(odd).map((parts) => `/v1/${parts.join('/')}`),
      fc.array(odd, { minLength: 1 }).map((parts) => `/_emulator/inspector/x.${parts.join('.')}`),
      fc.stringMatching(/^[!-~]{1,24}$/),
    );
    const headers = fc.dictionary(token, value, { maxKeys: 4 });
    const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND');
    const known = fc.constantFrom('authorization', 'origin', 'range', 'idempotency-key', 'accept', 'content-type');
    const any = fc.record({
      method,
      target,
      version: fc.constantFrom('1.0', '1.1', '1.1', '1.1'),
      host: fc.option(fc.oneof(value, fc.constantFrom('localhost', 'a b', '', '127.0.0.1:1', '[::1]', '[', 'a@b'))),
      fault: fc.option(fault),
      headers: fc.tuple(headers, fc.dictionary(known, value, { maxKeys: 2 })).map(([a, b]) => ({ ...a, ...b })),
      body: fc.oneof(fc.string(), fc.json()),
      isKnown: fc.boolean(),
    });
    const written = any.map((one) => {
      const lines = Object.entries({ ...one.headers, ...(one.isKnown ? key() : {}) })
        .filter(([name]) => !/^(?:content-length|transfer-encoding|host|connection|upgrade|expect)$/i.test(name))
        .map(([name, text]) => `${name}: ${text}`);
      if (one.host !== null) lines.push(`Host: ${one.host}`);
      if (one.fault !== null) lines.push(`x-emulator-fault: ${one.fault.replaceAll(/[\r\n]/g, ' ')}`);
      const head = `${one.method} ${one.target} HTTP/${one.version}\r\n${lines.join('\r\n')}${lines.length > 0 ? '\r\n' : ''}`;
      const bytes = Buffer.from(one.body);
      return Buffer.concat([Buffer.from(`${head}Content-Length: ${bytes.byteLength}\r\n\r\n`, 'latin1'), bytes]);
    });

    await fc.assert(
      fc.asyncProperty(fc.array(written, { minLength: 8, maxLength: 8 }), async (requests) => {
        for (const outcome of await Promise.all(requests.map(answerTo))) expect(outcome).toMatch(ANSWERED);
      }),
      { numRuns: atLength(50, 150) },
    );
  }, 120_000);
});
