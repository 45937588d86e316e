import { execFileSync, spawn } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import Sqlite from 'libsql';
import { describe, expect, test } from 'vitest';
import { atLength } from '../../test/helpers/endurance.js';
import { builtURL } from '../../test/helpers/programs.js';
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
      // Checks a copy of what the killed process left, because opening the file would repair it.
      const copy = dataDirectory();
      cpSync(data, copy, { recursive: true });
      const file = new Sqlite(join(copy, 'emulator.db'));
      expect(file.pragma('integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      file.close();
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
    writeFileSync(join(data, 'emulator.db'), 'somebody else wrote this, and it is long enough to be read as a header');

    expect(() => createEmulator({ data })).toThrow('not a data file');
    expect(readFileSync(join(data, 'emulator.db'), 'utf8')).toContain('somebody else');
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

  test('is the only reason to load the native library', async () => {
    const cwd = fileURLToPath(new URL('..', import.meta.url));
    const args = ['--input-type=module', '-e', LOOK_FOR_LIBSQL, builtURL('context-gateway-emulator')];
    const loaded = execFileSync(process.execPath, args, { cwd, encoding: 'utf8' });

    expect(loaded.trim()).toBe('false true');
  });
});

const POST = { action: 'post_message', channel: '#a', text: 'b' };
const LOOK_FOR_LIBSQL = `
  import { createRequire } from 'node:module';
  import { mkdtempSync } from 'node:fs';
  const { createEmulator } = await import(process.argv[1]);
  const { cache } = createRequire(process.cwd() + '/package.json');
  const loaded = () => Object.keys(cache).some((file) => file.includes('libsql'));
  createEmulator();
  const before = loaded();
  const emulator = createEmulator({ data: mkdtempSync('/tmp/emulator-') });
  console.log(before, loaded());
  await emulator.close();
`;
