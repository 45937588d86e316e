import { describe, expect, test } from 'vitest';
import type { EmulatorOptions } from '../src/index.js';
import { standingEmulator } from './support.js';

const fromPage = (
  options: EmulatorOptions,
  init: RequestInit & { headers: Record<string, string> },
  path = '/v1/presets',
) => {
  const emulator = standingEmulator(options);
  const authorization = `Bearer ${emulator.apiKeys.publishable}`;
  return emulator.fetch(`http://emulator.test${path}`, { ...init, headers: { authorization, ...init.headers } });
};
const origin = 'https://app.example.com';
const preflight = {
  method: 'OPTIONS',
  headers: {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  },
};

describe('a page in a browser', () => {
  test('may ask first, without a key', async () => {
    const response = await fromPage({}, preflight, '/v1/chat/completions');

    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-methods')).toBe('GET, POST, PATCH, DELETE');
    expect(response.headers.get('access-control-allow-headers')).toBe('authorization,content-type');
  });

  test('may read answers and our headers, of errors too', async () => {
    for (const path of ['/v1/presets', '/v1/usage', '/api/memory']) {
      const { headers } = await fromPage({}, { headers: { origin } }, path);

      expect(headers.get('access-control-allow-origin')).toBe('*');
      const exposed = headers.get('access-control-expose-headers')?.toLowerCase().split(', ');
      expect(exposed).toEqual(
        expect.arrayContaining([
          'x-ratelimit-limit',
          'x-ratelimit-remaining',
          'x-ratelimit-reset',
          'retry-after',
          'x-request-id',
        ]),
      );
    }
  });

  test('does not see our headers when that is switched off', async () => {
    const { headers } = await fromPage({ cors: { exposeHeaders: false } }, { headers: { origin } });

    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.has('access-control-expose-headers')).toBe(false);
  });

  test('of another origin than those named is not let in', async () => {
    const named = { cors: { origins: [origin] } };

    expect((await fromPage(named, { headers: { origin } })).headers.get('access-control-allow-origin')).toBe(origin);
    const other = await fromPage(named, { headers: { origin: 'https://elsewhere.example' } });
    expect(other.headers.has('access-control-allow-origin')).toBe(false);
    expect(other.headers.get('vary')).toBe('Origin');
  });

  test('gets nothing of the kind without CORS', async () => {
    expect((await fromPage({ cors: false }, preflight)).headers.has('access-control-allow-origin')).toBe(false);
    expect((await fromPage({ cors: false }, { headers: { origin } })).headers.has('access-control-allow-origin')).toBe(
      false,
    );
  });
});
