import { describe, expect, onTestFinished, test, vi } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { userAgent } from '../../src/platform/environment.js';
import { engines } from '../helpers/engines.js';
import { chatParams } from '../helpers/samples.js';
import { emulatedService } from '../helpers/world.js';

describe.each(engines)('a request sent through $engine', ({ engine, options }) => {
  const world = emulatedService(options);
  const sent = () => world.emulator.requests.map(({ headers }) => headers);
  /** Headers that the platform's fetch adds to every request. */
  const platform =
    engine === 'fetch' ? ['accept-encoding', 'accept-language', 'cache-control', 'pragma', 'sec-fetch-mode'] : [];
  const always = ['accept', 'authorization', 'connection', 'host', 'user-agent', ...platform];

  test('has only authorization, accept and user-agent, and with a body its type and length', async () => {
    await world.context().memory.list();
    await world.gateway().chat.completions.create(chatParams);

    const [get, post] = sent();
    expect(Object.keys(get ?? {}).sort()).toEqual([...always].sort());
    expect(get).toMatchObject({ accept: 'application/json', authorization: 'Bearer session_local_***' });
    expect(Object.keys(post ?? {}).sort()).toEqual([...always, 'content-length', 'content-type'].sort());
    expect(post).toMatchObject({ 'content-type': 'application/json' });
  });

  test('names its call and its attempt if it is a retry, and not before', async () => {
    world.emulator.faults.add({ respond: { status: 503 }, times: 4 });
    const { memory } = world.context({ maxRetries: 2 });
    await memory.list().catch(() => {});
    await memory.list({}, { maxRetries: 0 }).catch(() => {});

    const retry = (attempt: number) => expect.stringMatching(new RegExp(`^[0-9a-z]+-\\d+\\.${attempt}$`));
    expect(sent().map((headers) => headers['x-call-attempt'])).toEqual([undefined, retry(2), retry(3), undefined]);
  });

  test('names this version and the runtime, unless the app names itself', async () => {
    const defaultHeaders = { 'User-Agent': 'our-app/2' };
    await world.gateway().presets.list();
    await world.gateway({ defaultHeaders }).presets.list();
    await world.gateway({ defaultHeaders }).presets.list({}, { headers: { 'user-agent': 'our-job/3' } });

    const [major] = process.versions.node.split('.');
    const own = `context-gateway/${manifest.version} node/${major}`;
    expect(sent().map((headers) => headers['user-agent'])).toEqual([own, 'our-app/2', 'our-job/3']);
  });
});

test('a page leaves the user agent to its browser, and a runtime without a version sends none', () => {
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.stubGlobal('process', { versions: { node: '24.3.0', bun: '1.3.1' } });
  expect(userAgent()).toMatch(/^context-gateway.* bun\/1$/);
  vi.stubGlobal('process', {});
  expect(userAgent()).toBeUndefined();
  vi.unstubAllGlobals();
  vi.stubGlobal('window', {});
  vi.stubGlobal('document', {});
  expect(userAgent()).toBeUndefined();
});
