import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createEmulator, type Emulator } from '../src/index.js';
import { start } from './command.js';
import { callsTo, dataDirectory, testEmulator } from './support.js';

/** Starts the command with a data directory. `blocks` is the largest file size, in blocks of `ulimit -f`. */
function started(data: string, { blocks, uid }: { blocks?: number; uid?: number }) {
  return start(['--seed', 'disk', '--limits', 'context=1000000', '--data', data], {
    within: blocks === undefined ? [] : ['sh', '-c', `ulimit -f ${blocks}; exec "$@"`, 'sh'],
    // Once it runs: another user may not read the folder in which Node is.
    node: uid === undefined ? [] : ['--import', `data:text/javascript,process.setuid(${uid})`],
  });
}

const fact = (content: string) => ({ type: 'fact' as const, key: 'k', content });

describe.skipIf(process.platform === 'win32')('a data directory', () => {
  test('on a full disk rejects writes with 507, serves reads, and keeps memory and file in sync', async () => {
    const data = dataDirectory();
    const { url, token, interrupt } = await started(data, { blocks: 1200 });
    const call = async (method: string, path: string, body?: unknown) => {
      const response = await fetch(url + path, {
        method,
        signal: AbortSignal.timeout(60_000),
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, text: await response.text() };
    };
    const written: string[] = [];
    let refused = { status: 0, text: '' };
    for (let i = 0; i < 3000 && refused.status === 0; i += 1) {
      const answer = await call('POST', '/api/memory', fact(`${i} ${'x'.repeat(5000)}`));
      if (answer.status === 200) written.push(JSON.parse(answer.text).memory.id);
      else refused = answer;
    }

    expect(written.length).toBeGreaterThan(10);
    expect(refused.status).toBe(507);
    expect(JSON.parse(refused.text).error).toContain('cannot write its data file');
    const state = (await call('GET', '/_emulator/state')).text;
    for (let i = 0; i < 20; i += 1) {
      const messages = Array.from({ length: 30 }, () => ({ role: 'user', content: 'y'.repeat(3000) }));
      expect((await call('POST', '/_emulator/conversations', { id: `c${i}`, messages })).status).toBe(507);
    }
    expect((await call('POST', '/_emulator/reset')).status).toBe(507);
    const larger = { ...JSON.parse(state), presets: Array(900).fill(PRESET) };
    expect((await call('PUT', '/_emulator/state', larger)).status).toBe(507);
    expect((await call('GET', '/api/context?conversationId=conv_sample')).status).toBe(200);
    const stored = (text: string) => ({ ...JSON.parse(text), clock: undefined });
    const last = (await call('GET', '/_emulator/state')).text;
    // Ids of what was refused are not used again, and their sequences may still have fitted.
    expect({ ...stored(last), sequences: [] }).toEqual({ ...stored(state), sequences: [] });
    expect(await interrupt()).toBe(0);

    const again = createEmulator({ data });
    expect(stored(JSON.stringify(again.state()))).toEqual(stored(last));
    expect(again.memory.all().map(({ item }) => item.id)).toEqual(written);
    await again.close();
  });

  test('on a full disk can still be started, to read', async () => {
    const data = dataDirectory();
    const before = createEmulator({ data, seed: 'disk' });
    before.memory.create(fact('kept'));
    await before.close();

    const { url, token, interrupt } = await started(data, { blocks: 0 });
    const memory = (init: RequestInit = {}) =>
      fetch(`${url}/api/memory`, { ...init, headers: { authorization: `Bearer ${token}` } });

    expect((await (await memory()).json()).memories[0].content).toBe('kept');
    expect((await memory({ method: 'POST', body: JSON.stringify(fact('lost')) })).status).toBe(507);
    expect(await interrupt()).toBe(0);
    const after = createEmulator({ data });
    expect(after.memory.all().map(({ item }) => item.content)).toEqual(['kept']);
    await after.close();
  });

  test('is not written to by requests that only read', async () => {
    const data = dataDirectory();
    const emulator = testEmulator({ data });
    const { gateway, context } = callsTo(emulator);
    const size = () => statSync(join(data, 'emulator.jsonl')).size;
    const before = size();

    for (let i = 0; i < 50; i += 1) {
      await gateway('GET', '/v1/presets');
      await context('GET', '/api/memory');
    }

    expect(size()).toEqual(before);
    expect(emulator.state().sequences.map(({ label }) => label)).not.toContain('req');
    await emulator.close();
  });

  test('does not store request ids, yet they do not repeat after it is reopened', async () => {
    const data = dataDirectory();
    const ids = new Set<string | null>();
    for (let start = 0; start < 3; start += 1) {
      const emulator = testEmulator({ data });
      for (let i = 0; i < 5; i += 1) {
        ids.add((await callsTo(emulator).gateway('GET', '/v1/presets')).headers.get('x-request-id'));
      }
      await emulator.close();
    }
    expect(ids.size).toBe(15);
  });
});

const PRESET = { id: 'p', object: 'preset', name: 'n', description: '', category: 'c', template: 'z'.repeat(3000) };

test.skipIf(process.platform === 'win32')('an export to a full disk leaves the last one as it was', async () => {
  const directory = dataDirectory();
  const file = join(directory, 'state.json');
  for (const last of [undefined, '{"the":"last export"}']) {
    if (last !== undefined) writeFileSync(file, last);
    const { said, interrupt } = await start(['--export-on-exit', file], {
      within: ['sh', '-c', 'ulimit -f 1; exec "$@"', 'sh'],
    });

    expect(await interrupt()).toBe(1);
    const end = last === undefined ? '' : '; the file is as it was';
    expect(said.err).toBe(`context-gateway-emulator: cannot write ${file}: EFBIG: file too large, write${end}\n`);
    expect(readdirSync(directory)).toEqual(last === undefined ? [] : ['state.json']);
  }
  expect(readFileSync(file, 'utf8')).toBe('{"the":"last export"}');
});

describe('an unusable data directory', () => {
  test.skipIf(process.platform === 'win32')('is reported in one line if it is read-only', async () => {
    const data = dataDirectory();
    chmodSync(dirname(data), 0o755);
    chmodSync(data, 0o555);
    // root may write anywhere, so the command runs as another user.
    const uid = process.getuid?.() === 0 ? 65534 : undefined;

    for (const directory of [data, join(data, 'inner')]) {
      const { code, said } = await started(directory, uid === undefined ? {} : { uid });

      expect(code).toBe(2);
      expect(said.err).toMatch(/^context-gateway-emulator: cannot write to .*emulator\.jsonl \(\w+\); check .*\n$/);
    }
  });

  test('is reported in one line if its file is damaged', async () => {
    const data = dataDirectory();
    const emulator = createEmulator({ data });
    for (let i = 0; i < 20; i += 1) emulator.memory.create(fact(`here are letters ${i}`));
    await emulator.close();
    const file = join(data, 'emulator.jsonl');
    const good = readFileSync(file);
    const everywhere = (bytes: Buffer, text: string, byte: number): void => {
      for (let at = good.indexOf(text); at !== -1; at = good.indexOf(text, at + 1)) bytes.fill(byte, at, at + 4);
    };
    const damages: ((bytes: Buffer) => void)[] = [
      (bytes) => everywhere(bytes, 'here are letters 5', 0xff), // not UTF-8
      (bytes) => everywhere(bytes, 'here are letters 5', 0x22), // not JSON
      (bytes) => everywhere(bytes, 'memory', 0xff),
      (bytes) => bytes.fill(0xff, 1000, 1100),
    ];

    for (const damage of damages) {
      const directory = dataDirectory();
      const bytes = Buffer.from(good);
      damage(bytes);
      writeFileSync(join(directory, 'emulator.jsonl'), bytes);
      expect(() => createEmulator({ data: directory })).toThrow(/^.*emulator\.jsonl is damaged; .*$/);
    }
  });
});

describe.each(['memory', 'file'])('with its state in %s', (kind) => {
  const opened: Emulator[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((emulator) => emulator.close()));
  });
  const emulatorWith = (options: Parameters<typeof testEmulator>[0]) => {
    const emulator = testEmulator({ ...options, ...(kind === 'file' ? { data: dataDirectory() } : {}) });
    opened.push(emulator);
    return emulator;
  };

  test('a reset with a failing setup changes nothing', async () => {
    let starts = 0;
    const emulator = emulatorWith({
      setup: (one) => {
        one.conversations.create({ id: `start ${starts}` });
        one.chat.on('first', `reply ${starts}`);
        one.faults.add({ match: { path: `/${starts}` }, respond: { status: 500 } });
        starts += 1;
        if (starts === 2) throw new Error('the seed file is gone');
      },
    });
    emulator.memory.create(fact('mine'));
    await callsTo(emulator).gateway('GET', '/v1/presets');
    const before = { state: emulator.state(), faults: emulator.faults.list(), requests: emulator.requests };

    expect(() => emulator.reset()).toThrow('the seed file is gone');

    expect({ state: emulator.state(), faults: emulator.faults.list(), requests: emulator.requests }).toEqual(before);
    const reply = await callsTo(emulator).ask('first?');
    expect(reply.body.choices[0].message.content).toBe('reply 0');
    expect(emulator.memory.create(fact('next')).id).not.toBe(before.state.memory[0]?.id);
  });

  test.each(['..', 'a\u0000b', '\ud800'])('the id %j is rejected with 400', async (id) => {
    const emulator = emulatorWith({});
    const { control } = callsTo(emulator);
    const state = emulator.state();
    const attempts: [string, string, unknown][] = [
      ['POST', '/conversations', { id }],
      ['POST', '/conversations', { messages: [{ id, role: 'user', content: 'x' }] }],
      ['POST', '/workspaces', { id }],
      ['POST', '/workspaces', { members: [id] }],
      ['POST', '/sessions', { userId: id }],
      ['PUT', '/state', { ...state, workspaces: [{ id, name: 'x', members: [] }] }],
    ];
    for (const [method, path, body] of attempts) {
      const { status, body: answer } = await control(method, path, body);
      expect({ path, status }).toEqual({ path, status: 400 });
      expect(answer.error).toMatch(/lone surrogate|no URL could contain it/);
    }
    // The sequences may differ: ids generated for rejected requests are not reused.
    expect({ ...emulator.state(), sequences: [] }).toEqual({ ...state, sequences: [] });
  });
});
