import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AT_LENGTH } from './helpers/endurance.js';
import { USER_PROGRAM } from './helpers/programs.js';

const run = promisify(execFile);

/** Starts a program with lines as its input. */
function runWith(input: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const program = run(process.execPath, args);
  program.child.stdin?.end(input);
  return program;
}

describe('examples', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(resolve('node_modules/.examples-'));
    const entryPoints = ['examples/demo/demo.ts', 'examples/chat/chat.ts'];
    await build({ ...USER_PROGRAM, entryPoints, outdir: folder, outbase: 'examples' });
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('the demo keeps the pinned decision, drops the password and recovers a lost decision', async () => {
    const { stdout } = await run(process.execPath, [join(folder, 'demo/demo.mjs')]);

    expect(stdout).toMatch(/pinned message +still there, word for word/);
    expect(stdout).toMatch(/the password +nowhere in it/);
    expect(stdout).toMatch(/the lost one +came back/);
    expect(stdout).toMatch(/and why\?\n.*Postgres for the new booking service/);
    expect(stdout).toMatch(/class +PermissionDeniedError/);
    expect(stdout).not.toContain('harbour-seal');
  });

  test.runIf(AT_LENGTH)('the chat replies, reports compactions, and runs its commands', async () => {
    const { stdout, stderr } = await runWith(
      'Which database?\n/compact deep\n/lost\n/pin Postgres\n/memory style Short.\n/usage\n/exclude\n',
      join(folder, 'chat/chat.mjs'),
    );

    expect(stdout).toMatch(/[█░]+ [\d,]+ of 1,750 tokens/);
    expect(stdout).toMatch(
      /compacted, deep: [\d,]+ -> [\d,]+ tokens, summary \d+ -> \d+\n +\d+ messages are only in the history now.*\n +statements: .* lost/,
    );
    expect(stdout).toMatch(/pinned: \S/);
    expect(stdout).toMatch(/preference style +Short\./);
    expect(stdout).toMatch(/tokens +[\d,]+ of 10,000,000/);
    expect(stdout).toMatch(/Which one\? Type some of its words\./);
    expect(stderr).toBe('');
  });

  test('the agent looks up an order by itself, and refunds it only after a yes', async () => {
    const questions = 'Refund order "B-2".\nno\nRefund order "A-7".\nyes\nLook up order "A-7".\n';
    const { stdout, stderr } = await runWith(questions, '--import', 'tsx', 'scripts/example.ts', 'agent');

    expect(stdout).toContain('refund {"order":"B-2"}: is that right? yes or no\n');
    expect(stdout).toContain('Not done. The person said: no\n');
    expect(stdout).toContain('Order A-7 is refunded.\n');
    expect(stdout).toContain('Order A-7 is a rope of 20 metres for 35 euros, which was refunded.\n');
    expect(stderr).toBe('');
  });
});
