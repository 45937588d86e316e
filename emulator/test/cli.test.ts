import { execFile, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../src/cli.js';

const command = [
  createRequire(import.meta.url).resolve('tsx/cli'),
  fileURLToPath(new URL('../src/cli.ts', import.meta.url)),
];

const run = (...args: string[]) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(process.execPath, [...command, ...args], (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    );
  });

const runHere = async (...args: string[]) => {
  const said = { out: '', err: '' };
  const code = await runCommand(args, {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    onStop: (stop) => stop(),
  });
  return { code, ...said };
};

describe('the command', () => {
  test('prints address, keys and examples that work, has a sample conversation, and ends well when interrupted', async () => {
    const child = spawn(process.execPath, [...command, '--port', '0', '--seed', 'demo'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    let out = '';
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (data) => {
        out += data;
        if (out.includes('Ctrl+C')) resolve();
      });
    });
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(out)?.[0] ?? '';
    const secret = /secret key +(svc_sk_local_\w+)/.exec(out)?.[1] ?? '';
    const token = /session token +(\w+)/.exec(out)?.[1] ?? '';

    const body = /-d '(\{"model".*\})'/.exec(out)?.[1] ?? '';
    const stream = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body,
    });
    const context = await fetch(`${url}/api/context?conversationId=conv_sample`, {
      headers: { authorization: `Bearer ${token}` },
    });

    const said = [...(await stream.text()).matchAll(/"content":"(.*?)"/g)].map(([, piece]) => piece).join('');
    expect(said).toBe('We decided to keep invoices in PostgreSQL.');
    expect((await context.json()).context.metadata.recentMessageCount).toBe(12);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
  });

  test('tells a taken port in one line and ends with 1', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;

    const { code, out, err } = await run('--port', String(port));

    taken.close();
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe(`context-gateway-emulator: port ${port} on 127.0.0.1 is taken; choose another with --port\n`);
  });

  test.each([
    { args: ['--nope'], says: '--nope' },
    { args: ['--port', 'http'], says: '--port' },
    { args: ['--port', '70000'], says: '--port' },
    { args: ['extra'], says: 'extra' },
  ])('refuses $args in one line and ends with 2', async ({ args, says }) => {
    const { code, err } = await runHere(...args);

    expect(code).toBe(2);
    expect(err).toContain(says);
    expect(err.trimEnd()).not.toContain('\n');
  });

  test('has a help and a version', async () => {
    expect(await runHere('--help')).toMatchObject({ code: 0, out: expect.stringContaining('--seed TEXT') });
    expect(await runHere('--version')).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});
