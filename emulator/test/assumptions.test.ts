import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ContextClient } from 'context-gateway';
import { describe, expect, test } from 'vitest';
import assumptions from '../assumptions.json' with { type: 'json' };
import { assumed, createEmulator, seedFrom } from '../src/index.js';
import { callsTo, dataDirectory, testEmulator } from './support.js';

describe('an assumption', () => {
  test('is in docs/reference/assumptions.md and in assumptions.json, with a gap and a choice', () => {
    const page = readFileSync(new URL('../../docs/reference/assumptions.md', import.meta.url), 'utf8');
    const known = [...page.matchAll(/^\| (A\d+) \|/gm)].map(([, id]) => id);

    const sorted = [...new Set(known)].sort((a, b) => Number(a?.slice(1)) - Number(b?.slice(1)));
    expect(assumptions.map(({ id }) => id)).toEqual(sorted);
    for (const { gap, chosen } of assumptions) expect([gap.length > 0, chosen.length > 0]).toEqual([true, true]);
  });

  test('can be switched by exactly the names that --assume accepts', () => {
    const switches = assumptions.flatMap((assumption) => assumption.switch ?? []).sort();

    expect(() => assumed(['x=y'])).toThrow(new RegExp(switches.map((name) => `(?=.*\\b${name}\\b)`).join('')));
    expect(switches).toEqual(['list-form', 'publishable', 'rate-limit-reset', 'session-header']);
  });

  test.each([
    { text: 'session-header=X-Session', header: 'x-session', value: (token: string) => token },
    { text: 'session-header=Authorization:Token', header: 'authorization', value: (token: string) => `Token ${token}` },
  ])('can be switched with --assume $text', async ({ text, header, value }) => {
    const emulator = testEmulator(assumed([text]));
    const ask = (headers: Record<string, string>) => callsTo(emulator).bare('GET', '/api/memory', undefined, headers);

    expect((await ask({ [header]: value(emulator.sessionToken) })).status).toBe(200);
    expect((await ask({ 'x-other': emulator.sessionToken })).status).toBe(401);
  });

  test.each([
    { name: 'X-Session' },
    { name: 'X-Session', scheme: 'Token' },
    { name: 'Authorization' },
    { name: 'authorization', scheme: 'Session' },
  ])('sessionHeader %j means the same to the client and to the emulator', async (sessionHeader) => {
    const { fetch, sessionToken } = testEmulator({ sessionHeader });
    await using client = new ContextClient({ baseURL: 'http://localhost', sessionToken, sessionHeader, fetch });

    expect(await client.memory.list()).toEqual([]);
  });

  test('publishable, rate-limit-reset and list-form work together', async () => {
    const publishable = 'publishable=GET /v1/usage, GET /v1/presets, POST /v1/presets/:presetId/execute';
    const emulator = testEmulator(assumed([publishable, 'rate-limit-reset=epoch-milliseconds', 'list-form=bare']));
    const authorization = `Bearer ${emulator.apiKeys.publishable}`;
    const ask = (path: string, body?: object) =>
      callsTo(emulator).bare(body === undefined ? 'GET' : 'POST', path, body, { authorization });
    const run = { input: 'x', model: 'atlas-large' };

    expect((await ask('/v1/usage')).status).toBe(200);
    expect((await ask('/v1/integrations')).status).toBe(403);
    expect((await ask('/v1/presets/summarize/execute', run)).status).toBe(200);
    const presets = await ask('/v1/presets');
    expect(Array.isArray(presets.body)).toBe(true);
    expect(presets.headers.get('x-ratelimit-reset')).toBe(String(Date.parse('2026-01-15T10:01:00Z')));
  });
});

describe('strict mode', () => {
  const messages = [{ role: 'user', content: 'x', name: 'y' }];
  const post = { action: 'post_message', channel: 'a', text: 'b', loud: true };
  test.each<[param: string, path: string, area: 'context' | 'gateway', body: object]>([
    ['colour', '/api/memory', 'context', { type: 'fact', key: 'a', content: 'b', colour: 1 }],
    ['messages.0.name', '/v1/chat/completions', 'gateway', { model: 'atlas-small', messages }],
    ['loud', '/v1/integrations/team-chat/execute', 'gateway', post],
  ])('rejects %s at %s, which is accepted otherwise', async (param, path, area, body) => {
    const refused = await callsTo(testEmulator({ strict: true }))[area]('POST', path, body);

    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain(param);
    expect((await callsTo(testEmulator())[area]('POST', path, body)).status).toBe(200);
  });
});

describe('a seed file', () => {
  const seedFile = (seed: unknown) => {
    const file = join(dataDirectory(), 'seed.json');
    writeFileSync(file, typeof seed === 'string' ? seed : JSON.stringify(seed));
    return file;
  };

  test('fills an emulator, also after a reset', async () => {
    const setup = seedFrom(
      seedFile({
        workspaces: [{ id: 'team', members: [] }],
        conversations: [{ id: 'talk', messages: [{ role: 'user', content: 'Hello.' }] }],
        memory: [{ type: 'fact', key: 'city', content: 'Oslo' }],
        presets: [{ id: 'mine', name: 'Mine', template: 'Say: {{input}}' }],
        replies: [
          { match: 'ping', reply: 'first' },
          { match: 'ping', reply: 'second' },
        ],
      }),
    );
    const emulator = testEmulator({ setup });
    const before = emulator.state();
    emulator.conversations.create();

    emulator.reset();

    expect(emulator.state()).toEqual(before);
    const { context, gateway } = callsTo(emulator);
    expect((await context('GET', '/api/memory')).body.memories[0].content).toBe('Oslo');
    const run = { input: 'ping', model: 'atlas-small' };
    expect((await gateway('POST', '/v1/presets/mine/execute', run)).body.output).toBe('second');
  });

  test('tries the last of its replies first, as if they were added in code', async () => {
    const replies = [
      { match: 'ping', reply: 'general' },
      { match: 'ping twice', reply: 'special' },
    ];
    const inCode = testEmulator();
    for (const { match, reply } of replies) inCode.chat.on(match, reply);
    const fromFile = testEmulator({ setup: seedFrom(seedFile({ replies })) });

    for (const emulator of [inCode, fromFile])
      for (const [question, reply] of [
        ['ping twice', 'special'],
        ['ping', 'general'],
      ] as const)
        expect((await callsTo(emulator).ask(question)).body.choices[0].message.content).toBe(reply);
  });

  test('sets its replies at every start, also when the data already exists', async () => {
    const data = dataDirectory();
    const memory = [{ type: 'fact', key: 'a', content: 'b' }];
    const setup = seedFrom(seedFile({ memory, replies: [{ match: 'ping', reply: 'pong' }] }));
    for (const start of ['first', 'second']) {
      await using emulator = createEmulator({ data, setup });
      const { body } = await callsTo(emulator).ask('ping');

      expect([start, body.choices[0].message.content]).toEqual([start, 'pong']);
      expect(emulator.memory.all()).toHaveLength(1);
    }
  });

  test.each([
    { seed: '{', says: 'not valid JSON' },
    { seed: { memory: [{ type: 'rumour', key: 'a', content: 'b' }] }, says: 'memory.0.type' },
  ])('with $seed is rejected with a message that contains $says', ({ seed, says }) => {
    expect(() => seedFrom(seedFile(seed))).toThrow(says);
  });
});
