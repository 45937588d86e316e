import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { ControlAccess } from '../src/control/access.js';
import { createEmulator, type Emulator } from '../src/index.js';
import { answerAt, testEmulator } from './support.js';

const TOKEN = 'a-token-of-some-length';
const ELSEWHERE = 'http://emulator.test:4010';

const reset = (emulator: Emulator, headers: Record<string, string>, base = ELSEWHERE) =>
  emulator.fetch(`${base}/_emulator/reset`, { method: 'POST', headers });

const signIn = (emulator: Emulator, token: string) =>
  emulator.fetch(`${ELSEWHERE}/_emulator/sign-in`, { method: 'POST', body: new URLSearchParams({ token }) });

const cookieFor = async (emulator: Emulator, token: string) =>
  (await signIn(emulator, token)).headers.get('set-cookie')?.split(';')[0] ?? '';

describe('the control plane with a token', () => {
  test('accepts a request to any host with the token, and none without it', async () => {
    const emulator = testEmulator({ controlToken: TOKEN });

    expect((await reset(emulator, { authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    for (const headers of [{}, { authorization: 'Bearer another-token-here' }, { authorization: TOKEN }]) {
      const response = await reset(emulator, headers);
      expect(response.status).toBe(401);
      expect(await response.json()).toEqual({ error: expect.stringContaining('Authorization: Bearer') });
    }
    expect((await reset(emulator, {}, 'http://127.0.0.1:4010')).status).toBe(401);
  });

  test('signs a browser in with a form, and sets a cookie that is not the token', async () => {
    const emulator = testEmulator({ controlToken: TOKEN });
    const page = await emulator.fetch(`${ELSEWHERE}/_emulator`, { headers: { accept: 'text/html' } });

    const wrong = await signIn(emulator, 'another-token-here');
    const right = await signIn(emulator, TOKEN);

    expect(page.status).toBe(401);
    expect(await page.text()).toContain('action="/_emulator/sign-in"');
    expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([401, null]);
    expect([right.status, right.headers.get('location')]).toEqual([303, '/_emulator']);
    const kept = right.headers.get('set-cookie') ?? '';
    expect(kept).toMatch(/; Path=\/_emulator; HttpOnly; SameSite=Strict$/);
    expect(kept).not.toContain(TOKEN);
    const cookie = `theme=dark; ${kept.split(';')[0]}`;
    expect((await reset(emulator, { cookie, origin: ELSEWHERE })).status).toBe(200);
    const inspector = await emulator.fetch(`${ELSEWHERE}/_emulator`, { headers: { accept: 'text/html', cookie } });
    expect(await inspector.text()).toContain('/_emulator/inspector/app.js');
    // The cookie is only valid for its own token.
    expect((await reset(testEmulator({ controlToken: `${TOKEN}!` }), { cookie })).status).toBe(401);
  });

  test('keeps a browser signed in to several emulators on one host', async () => {
    const tokens = [TOKEN, 'another-token-here'];
    const emulators = tokens.map((controlToken) => testEmulator({ controlToken }));
    const cookies = await Promise.all(emulators.map((emulator, i) => cookieFor(emulator, tokens[i] ?? '')));

    expect(new Set(cookies.map((cookie) => cookie.split('=')[0])).size).toBe(2);
    for (const emulator of emulators) expect((await reset(emulator, { cookie: cookies.join('; ') })).status).toBe(200);
  });

  test('accepts its own page behind an HTTPS proxy', async () => {
    const page = { origin: 'https://emulator.test', 'sec-fetch-site': 'same-origin' };
    const headers = { authorization: `Bearer ${TOKEN}`, ...page };

    expect((await reset(testEmulator({ controlToken: TOKEN }), headers)).status).toBe(200);
  });

  const address = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal)?.address;
  const title = 'can be reached from another machine, and otherwise the error names --control-token';
  test.skipIf(address === undefined)(title, async () => {
    const from = async (emulator: Emulator, host: string, headers: Record<string, string>) =>
      answerAt((await emulator.listen({ host: '0.0.0.0' })).port, '/_emulator/state', headers, host);
    await using closed = createEmulator();
    await using open = createEmulator({ controlToken: TOKEN });

    const refused = await from(closed, String(address), { host: '127.0.0.1' });
    expect(refused).toMatchObject({ status: 403, text: expect.stringContaining('--control-token') });
    expect((await from(closed, '127.0.0.1', {})).status).toBe(200);
    expect((await from(open, String(address), {})).status).toBe(401);
    expect((await from(open, String(address), { authorization: `Bearer ${TOKEN}` })).status).toBe(200);
  });

  test.each(['short', 'tökentökentöken'])('rejects the token %j', (controlToken) => {
    expect(() => createEmulator({ controlToken })).toThrow('controlToken');
  });

  test('brakes a caller that guesses tokens, for the rest of a minute, and no one else', () => {
    let now = 0;
    const access = new ControlAccess(TOKEN, () => now);
    const check = (token: string, caller: string) =>
      access.check(new Request(ELSEWHERE, { headers: { authorization: `Bearer ${token}` } }), caller)?.status;
    for (let i = 0; i < 20; i += 1) expect(check(`guess-number-${i}`, '10.0.0.1')).toBe(401);

    expect(check(TOKEN, '10.0.0.1')).toBe(429);
    expect(check(TOKEN, '10.0.0.2')).toBeUndefined();
    now = 60_000;
    expect(check(TOKEN, '10.0.0.1')).toBeUndefined();
  });

  test('brakes the form, too', async () => {
    const emulator = testEmulator({ controlToken: TOKEN });
    for (let i = 0; i < 20; i += 1) await signIn(emulator, `guess-number-${i}`);
    // A new minute may just have begun.
    for (let i = 0; i < 20; i += 1) await signIn(emulator, `guess-number-${i}`);

    const answer = await signIn(emulator, TOKEN);
    expect(answer.status).toBe(429);
    expect(await answer.text()).toContain('Too many wrong tokens');
  });

  test('reports its health without a token', async () => {
    for (const emulator of [testEmulator(), testEmulator({ controlToken: TOKEN })]) {
      const response = await emulator.fetch(`${ELSEWHERE}/_emulator/health`);
      expect([response.status, await response.json()]).toEqual([200, { ok: true }]);
    }
  });
});

describe('the control plane without a token', () => {
  test.each([
    { because: 'a name that may resolve to loopback', host: 'evil.example:4010' },
    { because: 'a name that only starts like an address', host: '127.0.0.1.evil.example' },
  ])('rejects $because', async ({ host }) => {
    await using emulator = createEmulator();
    const { port } = await emulator.listen();

    expect((await answerAt(port, '/_emulator/state', { host })).status).toBe(403);
  });

  test.each(['http://emulator', 'http://localhost:4010', 'http://[::1]:4010'])(
    'accepts its own page at %s',
    async (url) => {
      expect((await reset(testEmulator(), { origin: url }, url)).status).toBe(200);
      expect((await reset(testEmulator(), {}, url)).status).toBe(200);
    },
  );
});

test.each([
  { because: 'a page of another site', headers: { origin: 'https://evil.example' } },
  { because: 'a page without an origin', headers: { origin: 'null' } },
  { because: 'a page on this machine at another port', headers: { origin: 'http://localhost:3000' } },
  { because: 'a page with another scheme', headers: { origin: 'https://localhost:4010' } },
  { because: 'a request across sites', headers: { 'sec-fetch-site': 'cross-site' } },
  { because: 'a request from another port', headers: { 'sec-fetch-site': 'same-site' } },
])('the control plane rejects $because, with or without a valid cookie', async ({ headers }) => {
  const guarded = testEmulator({ controlToken: TOKEN });
  const cookie = await cookieFor(guarded, TOKEN);
  const open = testEmulator();
  open.conversations.create({ id: 'kept' });

  expect((await reset(guarded, { cookie, ...headers }, 'http://localhost:4010')).status).toBe(403);
  expect((await reset(open, headers, 'http://localhost:4010')).status).toBe(403);
  expect(open.conversations.list()).toHaveLength(1);
});
