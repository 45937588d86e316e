import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { addSampleConversation, createEmulator } from 'context-gateway-emulator';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AT_LENGTH } from './helpers/endurance.js';
import { type Program, runPrograms, USER_PROGRAM } from './helpers/programs.js';

const run = promisify(execFile);

/** What each example prints. The last test fails if an example is missing here. */
const PRINTS: Record<string, RegExp[]> = {
  'stream-chat': [/^The export is written as Parquet\.$/m, /^\d+ tokens, ended by stop$/m],
  'json-reply': [/^Parquet, at 2:00$/m],
  'ai-sdk': [/It runs every night at two\.$/m, /^\d+ tokens, ended by stop$/m, /limit: 1000, remaining: 999/],
  'ai-sdk-context': [/Parquet/, /^\d+ tokens were read, the context among them$/m],
  'pin-decision': [
    /^Pinned as decision: We decided to write Parquet/m,
    /^1 message pinned/m,
    /^No longer pinned: 404 /m,
  ],
  'compact-and-compare': [/^light +\d+ -> \d+ tokens/m, /^aggressive +\d+ -> \d+ tokens/m, /^ {2}decided: .*Parquet/m],
  'remember-preference': [/31 January 2026/],
  'upload-file': [/^0 of \d+ bytes$/m, /^Stored as file_\w+, \d+ bytes$/m],
  'handle-rate-limit': [/^\d+ of 1000 requests are left$/m, /^Used up\. Try again in \d+ s/m],
};

describe('examples', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(resolve('node_modules/.examples-'));
    const tasks = Object.keys(PRINTS).map((name) => `examples/${name}.ts`);
    const entryPoints = [...tasks, 'examples/demo/demo.ts', 'examples/chat/chat.ts'];
    await build({ ...USER_PROGRAM, entryPoints, outdir: folder, outbase: 'examples' });
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('do their tasks, each against an emulator', async () => {
    const names = Object.keys(PRINTS);
    const services = names.map(() => createEmulator({ setup: addSampleConversation }));
    const programs = names.map(async (name, at): Promise<Program> => {
      const emulator = services[at] as (typeof services)[number]; // one for each
      const { url } = await emulator.listen({ port: 0 });
      const keys = {
        CONTEXT_GATEWAY_API_KEY: emulator.apiKeys.secret,
        CONTEXT_GATEWAY_SESSION_TOKEN: emulator.sessionToken,
      };
      return { program: join(folder, `${name}.mjs`), env: { CONTEXT_GATEWAY_BASE_URL: url, ...keys } };
    });

    const printed = await runPrograms(await Promise.all(programs));
    await Promise.all(services.map((emulator) => emulator.close()));

    for (const [at, name] of names.entries()) {
      for (const line of PRINTS[name] ?? []) expect(printed[at]?.stdout, name).toMatch(line);
      expect(printed[at]?.stderr, name).toBe('');
    }
  });

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
    const chat = run(process.execPath, [join(folder, 'chat/chat.mjs')]);
    chat.child.stdin?.end(
      'Which database?\n/compact deep\n/lost\n/pin Postgres\n/memory style Short.\n/usage\n/exclude\n',
    );

    const { stdout, stderr } = await chat;

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
});

test.runIf(AT_LENGTH)('npm run example finds an example by its name', async () => {
  const { stdout } = await run(process.execPath, ['--import', 'tsx', 'scripts/example.ts', 'stream-chat']);

  expect(stdout).toMatch(/^\d+ tokens, ended by stop$/m);
});

test.runIf(AT_LENGTH)('the usage report shows the usage by day and by model', async () => {
  const report = ['--import', 'tsx', 'scripts/example.ts', 'usage-report', '7'];
  const { stdout } = await run(process.execPath, report, { env: { ...process.env, NO_COLOR: '1' } });

  const row = (name: string) => new RegExp(`^  ${name} +█+░* +[\\d,]+$`, 'gm');
  expect(stdout.match(row('\\d\\d-\\d\\d'))).toHaveLength(7);
  expect(stdout.match(row('atlas-small'))).toHaveLength(1);
  expect(stdout).toMatch(/[\d,]+ of 10,000,000\n {2}[\d,]+ left/);
});

test('every example has fewer than 40 lines, and is run here', () => {
  const files = readdirSync('examples').filter((file) => file.endsWith('.ts'));

  expect(files.map((file) => file.replace('.ts', '')).sort()).toEqual(Object.keys(PRINTS).sort());
  for (const file of files) expect(readFileSync(`examples/${file}`, 'utf8').split('\n').length, file).toBeLessThan(40);
});
