import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createEmulator, type EmulatorOptions } from '../src/index.js';
import { resolveSettings } from '../src/options.js';

test.each<{ options: unknown; says: string }>([
  { options: { latency: -1 }, says: 'latency: expected a number of at least 0, got -1' },
  { options: { maxFileSize: 0 }, says: 'maxFileSize: expected a number above 0' },
  { options: { maxTokens: '10' }, says: 'maxTokens: expected a number above 0' },
  { options: { pace: { tokensPerSecond: 0 } }, says: 'pace.tokensPerSecond: expected a number above 0' },
  { options: { pace: { lineEnd: '\n' } }, says: 'pace.lineEnd: expected one of lf, crlf, cr' },
  { options: { usage: { includedTokens: -1 } }, says: 'usage.includedTokens' },
  { options: { limits: { gateway: -1 } }, says: 'limits.gateway: expected a number of at least 0, got -1' },
  { options: { limits: { tokens: { requests: 1, windowMs: 0 } } }, says: 'limits.tokens.windowMs: expected a number ' },
  { options: { sessionHeader: { name: 'X Session' } }, says: 'sessionHeader.name: expected the name of' },
  { options: { sessionHeader: { name: 'x', scheme: '' } }, says: 'sessionHeader.scheme: expected one word' },
  { options: { cors: { origins: ['a.com'] } }, says: 'expected * or origins such as https://app.example.com, got ["a' },
  { options: { rateLimitReset: 'seconds' }, says: 'rateLimitReset: expected one of epoch-seconds, ' },
  { options: { listForm: 'array' }, says: 'listForm: expected one of data, bare, named, items' },
  { options: { plan: 'gold' }, says: 'plan: expected one of starter, agency, enterprise, got "gold"' },
  { options: { limits: { gatewy: 1 } }, says: 'limits.gatewy: unknown; did you mean gateway?' },
  { options: { strict: 'yes' }, says: 'strict: expected true or false, got "yes"' },
  { options: { plan: { id: 'own' } }, says: 'plan.gatewayAccess: expected true or false' },
  { options: { seed: 5n }, says: 'seed: ' },
  { options: { publishableEndpoints: ['GET /v9/nothing'] }, says: 'unknown endpoint GET /v9/nothing' },
  { options: { now: 'once' }, says: 'now: not a time from 1970 to 9999, such as 2026-01-15T10:00:00Z, got "once"' },
])('$options is refused with the name of the option and what it may be', ({ options, says }) => {
  const create = (): unknown => createEmulator(options as EmulatorOptions);

  expect(create).toThrow(RangeError);
  expect(create).toThrow(says);
});

test.each([{ upstream: { baseURL: 'https://models.example.com/v1', key: 'the-key' } }, { controlToken: ['the-key'] }])(
  'a secret in %o is not in the error',
  (options) => {
    const create = (): unknown => createEmulator(options as unknown as EmulatorOptions);

    expect(create).toThrow(/expected/);
    expect(create).not.toThrow('the-key');
  },
);

test('have the documented defaults', () => {
  const { clock: _, ...settings } = resolveSettings({});

  expect(settings).toMatchObject({
    ...{ plan: { id: 'agency' }, limits: {}, maxFileSize: 32 * 2 ** 20, maxBodySize: 8 * 2 ** 20, maxTokens: 4096 },
    ...{ sessionHeader: { name: 'authorization', scheme: 'Bearer' }, rateLimitReset: 'epoch-seconds' },
    ...{ cors: { exposeHeaders: true }, latency: 0, strict: false, summarizer: 'extractive', listForm: 'data' },
    ...{ presetsLimit: { default: 50, max: 100 }, pace: { ttft: 0, chunkBy: 'token', lineEnd: 'lf' } },
  });
  expect(settings.pace).toMatchObject({ tokensPerSecond: Infinity, splitBytes: Infinity, heartbeat: Infinity });
});

test('are all in the documentation', () => {
  const page = readFileSync(new URL('../docs/api.md', import.meta.url), 'utf8');
  const names = Object.keys(resolveSettings({ controlToken: 'a-token' }));

  expect(names.filter((name) => !new RegExp(`\`${name}\\b`).test(page))).toEqual([]);
});

test('may be given in part, as an unlimited number, and as a rate for another window', () => {
  const { pace, limits, sessionHeader, cors } = resolveSettings({
    pace: { ttft: 5, tokensPerSecond: Infinity },
    limits: { gateway: 7, compact: { requests: Infinity, windowMs: 1000 } },
    sessionHeader: { name: 'X-Session' },
    cors: false,
  });

  expect(pace).toMatchObject({ ttft: 5, chunkBy: 'token' });
  expect(limits).toEqual({
    gateway: { requests: 7, windowMs: 60_000 },
    compact: { requests: Infinity, windowMs: 1000 },
  });
  expect(sessionHeader).toEqual({ name: 'x-session', scheme: '' });
  expect(cors).toBeUndefined();
});
