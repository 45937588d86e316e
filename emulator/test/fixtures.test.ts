import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Emulator } from 'context-gateway-emulator';
import { assertReceived, useEmulator } from 'context-gateway-emulator/node-test';
import { type ExpectedRequest, test } from 'context-gateway-emulator/vitest';
import { build } from 'esbuild';
import { afterAll, describe, expect, test as plain } from 'vitest';
import { AT_LENGTH } from '../../test/helpers/endurance.js';
import { builtURL, runNode, runVitest, USER_PROGRAM } from '../../test/helpers/programs.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROMPT = { model: 'atlas-small', messages: [{ role: 'user' as const, content: 'The key is red. What is red?' }] };

describe('the fixtures of a test', () => {
  const seen = new Set<string>();

  test.for(['first', 'second'])('belong to that test alone: the %s', async (_, { emulator, context, gateway }) => {
    expect(seen.has(emulator.apiKeys.secret)).toBe(false);
    seen.add(emulator.apiKeys.secret);
    expect(emulator.requests).toEqual([]);

    await context.memory.list();
    await gateway.chat.completions.create(PROMPT);

    expect(emulator).toHaveReceived({ path: /^\/v1\/chat/, times: 1 });
    expect(emulator).toHaveReceived({ status: 200, times: 2 });
    expect(emulator).not.toHaveReceived({ method: 'DELETE' });
    expect(emulator).toHaveReceived({ path: '/v1/usage', times: 0 });
  });

  describe('with options', () => {
    test.override({ emulatorOptions: { seed: 'mine', plan: 'starter' } });

    test('use these options', async ({ emulator, gateway }) => {
      await expect(gateway.presets.list()).rejects.toThrow('plan');

      expect(emulator.account.plan.id).toBe('starter');
      expect(emulator).toHaveReceived({ path: '/v1/presets', status: 403, times: 1 });
    });
  });
});

/** Requests a completion with a body. */
const post = (emulator: Emulator, body: object, query = '') =>
  emulator.fetch(`https://emulator.test/v1/chat/completions${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${emulator.apiKeys.secret}` },
    body: JSON.stringify(body),
  });

describe('toHaveReceived', () => {
  const failure = (act: () => void): string => {
    try {
      act();
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error('it did not fail');
  };

  test('lists the requests, and how one to the same endpoint differs', async ({ emulator, context, gateway }) => {
    expect(failure(() => expect(emulator).toHaveReceived({}))).toBe(
      'Expected one or more × any request; received none.\n\nThe emulator received no requests.',
    );
    const { id } = emulator.conversations.create();
    await context.compact(id, { level: 'light' });
    await gateway.presets.list({ limit: 2 });
    const expected = { method: 'POST', path: '/api/context/compact', status: 200, body: { level: 'deep' } };

    const lines = failure(() => expect(emulator).toHaveReceived(expected)).split('\n');
    expect(lines.slice(0, 3)).toEqual([
      'Expected one or more × POST /api/context/compact with status 200 and body {"level":"deep"}; received none.',
      '',
      'The emulator received 2 requests:',
    ]);
    expect(lines[3]).toMatch(/^ {2}200 {2}POST .* \/api\/context\/compact {2}<- body\.level is "light"$/);
    expect(lines[4]).toMatch(/^ {2}200 {2}GET .* \/v1\/presets\?limit=2$/);
    expect(failure(() => expect(emulator).not.toHaveReceived({ method: 'GET' }))).toContain('Did not expect');
    expect(failure(() => expect(emulator).toHaveReceived({ status: 503 }))).toContain('<- status 200');
  });

  test('fails on a field that it does not have, such as a misspelt one', ({ emulator }) => {
    const misspelt = { path: '/v1/presets', time: 1 } as ExpectedRequest;

    const message = 'There is no field time. Use method, path, body, status, times.';
    expect(failure(() => expect(emulator).toHaveReceived(misspelt))).toBe(message);
    expect(failure(() => expect(emulator).not.toHaveReceived(misspelt))).toBe(message);
  });

  test('fails on a body that was cut at 64 KB, and matches one whose key was redacted', async ({ emulator }) => {
    const send = (content: string) => post(emulator, { messages: [{ role: 'user', content }], model: 'atlas-small' });
    const pasted = `Header:\nBearer abcdefghijk, and ${emulator.apiKeys.secret}`;
    await send(pasted);
    expect(emulator).toHaveReceived({ body: { messages: [{ content: pasted }] } });
    expect(emulator).not.toHaveReceived({ body: { messages: [{ content: 'another' }] } });

    await send('We decided it. '.repeat(6000));

    const cut = { path: '/v1/chat/completions', body: { model: 'birch-small' } };
    for (const act of [
      () => expect(emulator).toHaveReceived(cut),
      () => expect(emulator).not.toHaveReceived(cut),
      () => expect(emulator).toHaveReceived({ body: { model: 'atlas-small' }, times: 1 }),
    ]) {
      expect(failure(act)).toContain('POST /v1/chat/completions is not complete in the log, which keeps 64 KB');
    }
    expect(emulator).toHaveReceived({ path: '/v1/chat/completions', times: 2 });
    expect(emulator).not.toHaveReceived({ path: '/v1/usage', body: { model: 'birch-small' } });
    expect(emulator).toHaveReceived({ body: { model: 'atlas-small' } });
  });

  test.for<{ expected: ExpectedRequest; isThere: boolean; because: string }>([
    { expected: { method: 'post' }, isThere: true, because: 'the case of a method does not matter' },
    { expected: { path: '/v1/chat/completions' }, isThere: true, because: 'without a query, any query matches' },
    { expected: { path: '/v1/chat/completions?a=1' }, isThere: true, because: 'a given query must match' },
    { expected: { path: '/v1/chat/completions?a=2' }, isThere: false, because: 'a given query must match' },
    { expected: { path: '/v1/chat' }, isThere: false, because: 'a path must match completely' },
    { expected: { body: { model: 'atlas-small' } }, isThere: true, because: 'other fields are ignored' },
    { expected: { body: { model: undefined } }, isThere: false, because: 'undefined means absent' },
    { expected: { body: { seed: undefined } }, isThere: true, because: 'undefined means absent' },
    { expected: { body: { messages: [] } }, isThere: false, because: 'an array must match completely' },
    { expected: { body: { model: expect.stringMatching(/^atlas/) } }, isThere: true, because: 'matchers work' },
    { expected: { body: 'text' }, isThere: false, because: 'the body is an object' },
    { expected: { times: 2 }, isThere: false, because: 'there was one request' },
  ])('$expected: $isThere, because $because', async ({ expected, isThere }, { emulator }) => {
    await post(emulator, PROMPT, '?a=1');

    if (isThere) expect(emulator).toHaveReceived(expected);
    else expect(emulator).not.toHaveReceived(expected);
  });
});

describe('a finished test', async () => {
  const folder = await mkdtemp(join(ROOT, 'node_modules/.fixtures-'));
  afterAll(() => rm(folder, { recursive: true }));

  const body = `
    await gateway.presets.list();
    await gateway.chat.completions.create(${JSON.stringify(PROMPT)});
  `;

  plain.runIf(AT_LENGTH)('prints its requests in Vitest if it failed, without keys and bodies', async () => {
    await writeFile(
      join(folder, 'failing.test.ts'),
      `import { test } from 'context-gateway-emulator/vitest';
       test('fails', async ({ gateway }) => {${body} throw new Error('on purpose'); });
       test('passes', async ({ context }) => { await context.memory.list(); });`,
    );
    const { code, text } = await runVitest(folder, 'failing.test.ts');

    expect(code).toBe(1);
    expect(text).toMatch(/2 requests:\n {2}200 {2}GET .* \/v1\/presets\n {2}200 {2}POST .* \/v1\/chat\/completions\n/);
    expect(text).not.toMatch(/svc_sk_|The key is red|\/api\/memory/);
  });

  plain('prints its requests in node:test if it failed', async () => {
    const file = join(folder, 'failing.ts');
    await writeFile(
      file,
      `import { test } from 'node:test';
       import { assertReceived, useEmulator } from 'context-gateway-emulator/node-test';
       test('fails', async (t) => {
         const { emulator, gateway } = useEmulator(t, { seed: 'x' });${body}
         assertReceived(emulator, { path: '/v1/presets' });
         assertReceived(emulator, { path: '/v1/usage' });
       });
       test('passes', async (t) => { await useEmulator(t).context.memory.list(); });`,
    );

    await build({ entryPoints: [file], outdir: folder, ...USER_PROGRAM });

    const { code, text } = await runNode(['--test', '--test-reporter', 'spec', join(folder, 'failing.mjs')]);

    expect(code).toBe(1);
    expect(text).toContain('Expected one or more × /v1/usage; received none.');
    expect(text).toMatch(/2 requests:\n.*200 {2}GET .* \/v1\/presets\n.*200 {2}POST .* \/v1\/chat\/completions\n/);
    expect(text).toMatch(/pass 1\n.*fail 1\n/s);
    expect(text).not.toContain('/api/memory');
  });

  plain('closes its emulator in node:test', async () => {
    const hooks: (() => Promise<void>)[] = [];
    const { emulator, gateway } = useEmulator({ after: (hook) => hooks.push(hook), passed: true });
    await gateway.presets.list();
    assertReceived(emulator, { path: '/v1/presets', times: 1 });

    for (const hook of hooks) await hook();

    await expect(gateway.presets.list()).rejects.toThrow();
  });
});

plain('an emulator listens beside a Hono server that has replaced Response', async () => {
  const program = `
    const { getRequestListener } = await import('@hono/node-server');
    getRequestListener(() => new Response('ok'));
    const { createEmulator } = await import('${builtURL('context-gateway-emulator')}');
    const emulator = createEmulator();
    const { url } = await emulator.listen();
    const headers = { authorization: 'Bearer ' + emulator.apiKeys.secret };
    console.log(await (await fetch(url + '/v1/presets', { headers })).text());
    await emulator.close();`;

  const { text } = await runNode(['--input-type=module', '-e', program]);

  expect(text.trim()).toMatch(/^\{.*\}$/); // and no error beside it
});
