import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { exec as execute } from '../src/cli/exec.js';
import { CONFIG_FILE, readOptions } from '../src/cli/read-options.js';
import { launch } from './command.js';
import { dataDirectory } from './support.js';

/** Runs the command in its own process until it ends. */
async function exec(...args: string[]) {
  const { said, ended } = launch(['exec', ...args]);
  return { code: await ended, ...said };
}

/** Writes a program into a file and returns the shell command that runs it. */
function program(source: string): string {
  const file = join(dataDirectory(), 'program.mjs');
  writeFileSync(file, source);
  return `"${process.execPath}" "${file}"`;
}

describe('exec', () => {
  test('runs a command with the emulator in its environment, and exits with its code', async () => {
    const ask = program(`
      const { CONTEXT_GATEWAY_BASE_URL: url, CONTEXT_GATEWAY_API_KEY: key, CONTEXT_GATEWAY_SESSION_TOKEN: token } = process.env;
      const get = (path, credential) => fetch(url + path, { headers: { authorization: 'Bearer ' + credential } });
      console.log((await get('/v1/presets', key)).status, (await get('/api/memory', token)).status, url);
      process.exit(7);
    `);

    const { code, out, err } = await exec(ask);

    expect(out).toMatch(/^200 200 http:\/\/127\.0\.0\.1:\d+\n$/);
    expect(err).toContain('context-gateway-emulator: listening on http://127.0.0.1:');
    expect(code).toBe(7);
    const [, , url = ''] = out.trim().split(' ');
    await expect(fetch(url)).rejects.toThrow();
  });

  test('runs a shell command line, after its own flags', async () => {
    const { code, out, err } = await exec('--quiet', '--seed', 'x', 'echo one && echo two && exit 3');

    expect({ code, out, err }).toEqual({ code: 3, out: 'one\ntwo\n', err: '' });
  });

  test('forwards signals to all processes of the shell', async () => {
    const file = join(dataDirectory(), 'ended');
    const wait = program(`
      import { writeFileSync } from 'node:fs';
      process.once('SIGTERM', () => setTimeout(() => { writeFileSync(${JSON.stringify(file)}, 'well'); process.exit(5); }, 50));
      setInterval(() => {}, 1000);
      console.log('ready');
    `);

    const { child, until, ended } = launch(['exec', `${wait}; exit $?`]);
    await until('ready\n');
    child.kill('SIGTERM');

    // 5 if the shell waits for the program, 143 if the signal ends the shell first.
    expect([5, 143]).toContain(await ended);
    expect(readFileSync(file, 'utf8')).toBe('well');
  });

  test.skipIf(process.platform === 'win32')('forwards signals in a terminal too, without a process group', async () => {
    const file = join(dataDirectory(), 'ended');
    const wait = program(`
      import { writeFileSync } from 'node:fs';
      process.once('SIGTERM', () => { writeFileSync(${JSON.stringify(file)}, 'well'); process.exit(5); });
      setInterval(() => {}, 1000);
      writeFileSync(${JSON.stringify(`${file}.ready`)}, '');
    `);
    let send: (signal: NodeJS.Signals) => void = () => {};
    const code = execute(`${wait}; exit $?`, {
      env: process.env,
      isInteractive: true,
      onSignal: (listener) => {
        send = listener;
      },
    });
    await vi.waitUntil(() => existsSync(`${file}.ready`), 20_000);

    send('SIGTERM');

    await vi.waitUntil(() => existsSync(file), 20_000);
    expect([5, 143]).toContain(await code);
  });

  test('uses a free port, whatever port the variable or the config file sets', () => {
    const directory = dataDirectory();
    writeFileSync(join(directory, CONFIG_FILE), '{"port":4555,"seed":"mine"}');
    const env = { CONTEXT_GATEWAY_EMULATOR_PORT: '4556' };

    expect(readOptions(['exec', 'true'], env, directory).options).toEqual({ seed: 'mine' });
    expect(readOptions(['exec', '--port', '4557', 'true'], env, directory).options.port).toBe(4557);
    expect(readOptions([], env, directory).options.port).toBe(4556);
  });

  test('exits as a shell does if the command is killed or does not exist', async () => {
    expect((await exec(program("process.kill(process.pid, 'SIGKILL');"))).code).toBe(137);
    expect((await exec('no-such-command-here')).code).toBe(127);
  });
});
