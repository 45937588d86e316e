import { spawn } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { atLength } from '../../test/helpers/endurance.js';
import { createEmulator, type Emulator } from '../src/index.js';
import { callsTo, dataDirectory, testEmulator } from './support.js';

/** `npm run chaos` kills the writer 20 times. */
const KILLS = atLength(3, 20);

interface Acknowledged {
  kind: string;
  id: string;
  value: string;
}

/** Runs the writer until it has acknowledged `enough` writes, kills it with SIGKILL, and returns these writes. */
function killedWriter(program: string, data: string, round: number, enough: number): Promise<Acknowledged[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, data, String(round)], { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.on('data', (text) => {
      out += text;
      if (out.split('\n').length > enough) child.kill('SIGKILL');
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (signal !== 'SIGKILL') return reject(new Error(`the writer ended by itself: ${code}`));
      // An incomplete last line does not count as acknowledged.
      const lines = out.slice(0, out.lastIndexOf('\n')).split('\n');
      resolve(lines.map((line) => JSON.parse(line) as Acknowledged));
    });
  });
}

/** The content of all records by id, read at once because there are many. */
function contents(emulator: Emulator): Map<string, string> {
  const state = emulator.state();
  const texts = [...state.memory, ...state.conversations.flatMap(({ messages }) => messages)];
  return new Map([
    ...texts.map(({ id, content }): [string, string] => [id, content]),
    ...emulator.integrations.postedMessages().map(({ id, text }): [string, string] => [id, text]),
    ...state.files.map(({ id, content }): [string, string] => [id, Buffer.from(content, 'base64').toString()]),
  ]);
}

describe('a data directory', () => {
  test('has every acknowledged write after each of many kills, in an intact file', async () => {
    const program = fileURLToPath(new URL('../../node_modules/.cache/emulator-writer.mjs', import.meta.url));
    const entry = fileURLToPath(new URL('write-until-killed.ts', import.meta.url));
    buildSync({
      entryPoints: [entry],
      outfile: program,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
    });
    const data = dataDirectory();
    const all: Acknowledged[] = [];

    for (let round = 0; round < KILLS; round += 1) {
      const written = await killedWriter(program, data, round, 10 + ((round * 37) % 120));
      all.push(...written);
      // All lines but the last one, which may be incomplete, are whole.
      const lines = readFileSync(join(data, 'emulator.jsonl'), 'utf8').split('\n').slice(0, -1);
      expect(lines.map((line) => typeof JSON.parse(line))).toEqual(lines.map(() => 'object'));
      const emulator = createEmulator({ data });
      const kept = contents(emulator);
      const records = all.filter(({ kind }) => kind !== 'version');
      expect(records.filter(({ id, value }) => kept.get(id) !== value)).toEqual([]);
      expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
      const version = written.findLast((one) => one.kind === 'version')?.value ?? '0';
      const current = emulator.conversations.summaryVersions(`talk-${round}`).at(-1)?.summary.version ?? 0;
      expect(current).toBeGreaterThanOrEqual(Number(version));
      await emulator.close();
    }
    expect(all.length).toBeGreaterThan(KILLS * 10);
  }, 240_000);

  test('continues after a restart with the same keys, new ids and stored idempotent responses', async () => {
    const data = dataDirectory();
    const first = testEmulator({ data, setup: ({ conversations }) => void conversations.create({ id: 'seeded' }) });
    const send = (emulator: Emulator) =>
      callsTo(emulator).gateway('POST', '/v1/integrations/team-chat/execute', POST, { 'idempotency-key': 'k' });
    const before = await send(first);
    const extra = first.apiKeys.create('secret');
    first.apiKeys.delete(first.apiKeys.publishable);
    first.conversations.create({ id: 'talk', messages: [{ role: 'user', content: 'kept' }] });
    const state = first.state();
    await first.close();

    const second = testEmulator({ data, seed: 'another', setup: () => expect.unreachable('this is not new') });

    expect(second.state()).toEqual(state);
    expect(second.apiKeys.secret).toBe(first.apiKeys.secret);
    expect((await send(second)).body).toEqual(before.body);
    expect(second.apiKeys.create('secret')).not.toBe(extra);
    const withKey = (key: string) =>
      callsTo(second).bare('GET', '/v1/presets', undefined, { authorization: `Bearer ${key}` });
    expect((await withKey(extra)).status).toBe(200);
    expect((await withKey(second.apiKeys.publishable)).status).toBe(403);
    const [more] = second.conversations.append('talk', [{ role: 'user', content: 'more' }]);
    expect(more?.id).not.toBe(second.conversations.get('talk')?.messages[0]?.id);
    await second.close();
  });

  test('is locked by one emulator at a time, until it is closed', async () => {
    const data = dataDirectory();
    const first = createEmulator({ data });

    expect(() => createEmulator({ data })).toThrow('in use by another emulator');
    await first.close();
    await createEmulator({ data }).close();
  });

  test('with a foreign file is rejected and not changed', () => {
    const data = dataDirectory();
    for (const text of ['not a state', 'not a state\nin two lines\n', '{"file":"other"}\n']) {
      writeFileSync(join(data, 'emulator.jsonl'), text);

      expect(() => createEmulator({ data })).toThrow('not a data file');
      expect(readFileSync(join(data, 'emulator.jsonl'), 'utf8')).toBe(text);
    }
  });

  test('of version 0.1.0 is rejected, and one of a newer version', () => {
    const data = dataDirectory();
    writeFileSync(join(data, 'emulator.db'), 'SQLite');
    expect(() => createEmulator({ data })).toThrow('written by version 0.1.0');

    writeFileSync(join(data, 'emulator.jsonl'), '{"file":"context-gateway-emulator","format":2}\n');
    expect(() => createEmulator({ data })).toThrow('written by a newer version (format 2)');
  });

  test('ignores a last line that is incomplete, and writes over it', async () => {
    const data = dataDirectory();
    const file = join(data, 'emulator.jsonl');
    const first = createEmulator({ data });
    first.memory.create({ type: 'fact', key: 'a', content: 'kept' });
    const state = first.state();
    await first.close();
    appendFileSync(file, '[["memory","mem_9",{"item":{"id":"mem_9","content":"half');

    const second = createEmulator({ data });
    expect({ ...second.state(), clock: undefined }).toEqual({ ...state, clock: undefined });
    second.memory.create({ type: 'fact', key: 'b', content: 'short' });
    await second.close();

    const third = createEmulator({ data });
    expect(third.memory.all().map(({ item }) => item.content)).toEqual(['kept', 'short']);
    await third.close();
  });

  test('of a process that was killed is free, also if another process has its number now', () => {
    const data = dataDirectory();
    for (const lock of ['', `${hostname()}\n2147483646\n1`, `${hostname()}\n${process.pid}\n1`, 'elsewhere\n1\n1']) {
      writeFileSync(join(data, 'emulator.lock'), lock);
      void createEmulator({ data }).close();
    }
    writeFileSync(join(data, 'emulator.lock'), `${hostname()}\n${process.ppid}\n1`);

    expect(() => createEmulator({ data })).toThrow(`in use by another emulator: process ${process.ppid} has`);
  });

  test('rejects writes when another process has written to its file', async () => {
    const data = dataDirectory();
    const emulator = createEmulator({ data });
    emulator.memory.create({ type: 'fact', key: 'a', content: 'mine' });
    appendFileSync(join(data, 'emulator.jsonl'), '[]\n');

    expect(() => emulator.memory.create({ type: 'fact', key: 'b', content: 'lost' })).toThrow('another process');

    expect(emulator.memory.all().map(({ item }) => item.content)).toEqual(['mine']);
    await emulator.close();
  });

  test('is written anew when most of its file is outdated', async () => {
    const data = dataDirectory();
    const emulator = createEmulator({ data });
    const { id } = emulator.conversations.create({ messages: [{ role: 'user', content: 'first' }] });
    const item = emulator.memory.create({ type: 'fact', key: 'a', content: '' });
    let largest = 0;
    for (let i = 0; i < 200; i += 1) {
      emulator.memory.update(item.id, { content: `${i} ${'x'.repeat(100_000)}` });
      largest = Math.max(largest, statSync(join(data, 'emulator.jsonl')).size);
    }
    const state = emulator.state();
    await emulator.close();

    expect(largest).toBeLessThan(5_000_000);
    expect(readdirSync(data)).toEqual(['emulator.jsonl']);
    const again = createEmulator({ data });
    expect({ ...again.state(), clock: undefined }).toEqual({ ...state, clock: undefined });
    expect(again.conversations.get(id)?.messages).toHaveLength(1);
    await again.close();
  });

  test('keeps its previous state when a change of several records fails', async () => {
    const data = dataDirectory();
    const emulator = testEmulator({ data });
    emulator.conversations.create({ id: 'talk' });
    const before = emulator.state();
    const broken = { ...before, conversations: [...before.conversations, undefined] } as unknown as typeof before;

    expect(() => emulator.restore(broken)).toThrow();

    expect(emulator.state()).toEqual(before);
    await emulator.close();
    expect({ ...createEmulator({ data }).state(), clock: before.clock }).toEqual(before);
  });
});

const POST = { action: 'post_message', channel: '#a', text: 'b' };
