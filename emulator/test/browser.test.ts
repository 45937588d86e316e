import { describe, expect, test } from 'vitest';
import { originRejection } from '../src/http/cors.js';
import type { EmulatorOptions } from '../src/index.js';
import { answerAt, testEmulator } from './support.js';

const fromPage = (
  options: EmulatorOptions,
  init: RequestInit & { headers: Record<string, string> },
  path = '/v1/presets',
) => {
  const emulator = testEmulator({ seed: undefined, ...options });
  const authorization = `Bearer ${emulator.apiKeys.publishable}`;
  return emulator.fetch(`http://emulator.test${path}`, { ...init, headers: { authorization, ...init.headers } });
};
const origin = 'https://app.example.com';
const preflight = (page = origin) => ({
  method: 'OPTIONS',
  headers: {
    origin: page,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  },
});

describe('a page in a browser', () => {
  test('may send a preflight without a key', async () => {
    const response = await fromPage({}, preflight(), '/v1/chat/completions');

    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-methods')).toBe('GET, POST, PATCH, DELETE');
    expect(response.headers.get('access-control-allow-headers')).toBe('authorization,content-type');
  });

  test('may read responses and our headers, also of errors', async () => {
    for (const path of ['/v1/presets', '/v1/usage', '/api/memory']) {
      const { headers } = await fromPage({}, { headers: { origin } }, path);

      expect(headers.get('access-control-allow-origin')).toBe('*');
      const ours = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Retry-After', 'x-request-id'];
      const exposed = headers.get('access-control-expose-headers')?.split(', ');
      expect(exposed).toEqual(expect.arrayContaining(ours));
    }
  });

  test.each<{ cors: EmulatorOptions['cors']; allowed: string | null; exposes: boolean }>([
    { cors: { exposeHeaders: false }, allowed: '*', exposes: false },
    { cors: { origins: [origin] }, allowed: origin, exposes: true },
    { cors: { origins: ['https://elsewhere.example'] }, allowed: null, exposes: false },
    { cors: false, allowed: null, exposes: false },
  ])('gets with $cors the origin $allowed', async ({ cors, allowed, exposes }) => {
    const { headers } = await fromPage({ cors }, { headers: { origin } });

    expect(headers.get('access-control-allow-origin')).toBe(allowed);
    expect(headers.has('access-control-expose-headers')).toBe(exposes);
    const asked = await fromPage({ cors }, preflight());
    expect(asked.headers.get('access-control-allow-origin')).toBe(allowed);
    if (cors) expect(headers.get('vary')).toBe(cors.origins === undefined ? null : 'Origin');
  });

  test.each(['http://localhost:3000', 'http://[::1]:8080'])(
    'on this machine (%s) is accepted when the keys come from a seed',
    async (page) => {
      const asked = await fromPage({ seed: 'public' }, preflight(page));
      expect(asked.headers.get('access-control-allow-origin')).toBe(page);
      const answered = await fromPage({ seed: 'public' }, { headers: { origin: page } });
      expect(answered.status).toBe(200);
      expect(answered.headers.get('access-control-allow-origin')).toBe(page);
    },
  );

  test.each(['http://localhost.evil.example', 'null'])(
    'on another machine (%s) is rejected when the keys come from a seed, unless cors allows it',
    async (page) => {
      const asked = await fromPage({ seed: 0 }, preflight(page));
      expect(asked.headers.has('access-control-allow-origin')).toBe(false);
      for (const path of ['/v1/presets', '/api/memory']) {
        const refused = await fromPage({ seed: 0 }, { headers: { origin: page } }, path);
        expect(refused.status).toBe(403);
        expect(refused.headers.has('access-control-allow-origin')).toBe(false);
        expect(await refused.text()).toContain('--cors');
      }
      const any = await fromPage({ seed: 0, cors: { origins: '*' } }, { headers: { origin: page } });
      expect(any.status).toBe(200);
      expect(any.headers.get('access-control-allow-origin')).toBe('*');
    },
  );

  test('on another machine is still rejected after a reset, and after a seeded state was restored', async () => {
    const emulator = testEmulator({ seed: 'public' });
    const other = testEmulator({ seed: undefined });
    const status = async (one: typeof emulator) => {
      const headers = { origin, authorization: `Bearer ${one.apiKeys.publishable}` };
      return (await one.fetch('http://emulator.test/v1/presets', { headers })).status;
    };

    emulator.reset();
    expect(await status(emulator)).toBe(403);
    expect(await status(other)).toBe(200);
    other.restore(emulator.state());
    expect(await status(other)).toBe(403);
  });

  test('whose host name was rebound to this machine is rejected when the keys come from a seed', async () => {
    const emulator = testEmulator({ seed: 'public', data: undefined });
    const { port, close } = await emulator.listen();
    const authorization = `Bearer ${emulator.apiKeys.publishable}`;
    const status = async (host: string) => (await answerAt(port, '/v1/presets', { host, authorization })).status;

    expect(await status(`evil.example:${port}`)).toBe(403);
    expect(await status(`localhost:${port}`)).toBe(200);
    await close();
  });

  test.each([
    { host: 'evil.example', agent: 'Mozilla/5.0', status: 403 },
    { host: 'evil.example.:4010', agent: 'Mozilla/5.0', status: 403 },
    { host: 'evil.example', agent: 'node', status: 200 },
    { host: 'emulator:4010', agent: 'Mozilla/5.0', status: 200 },
    { host: '[fd00::7]:4010', agent: 'Mozilla/5.0', status: 200 },
  ])('on a network address gets $status for host $host and agent $agent', ({ host, agent, status }) => {
    const request = new Request('http://192.168.0.7:4010/v1/presets', { headers: { host, 'user-agent': agent } });

    const refusal = originRejection(request, '192.168.0.7', { origins: 'loopback', exposeHeaders: true });

    expect(refusal === undefined ? 200 : 403).toBe(status);
    expect(originRejection(request, '192.168.0.7', { origins: '*', exposeHeaders: true })).toBeUndefined();
  });
});
