import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';

const run = promisify(execFile);

/** What each example prints when it does its task. A new example without a line here fails the last test. */
const PRINTS: Record<string, RegExp[]> = {
  'stream-chat': [/^The export is written as Parquet\.$/m, /^\d+ tokens, ended by stop$/m],
  'pin-decision': [
    /^Pinned as decision: We decided to write Parquet/m,
    /^1 message pinned/m,
    /^Not pinned any more: 404 /m,
  ],
  'compact-and-compare': [/^light +\d+ -> \d+ tokens/m, /^aggressive +\d+ -> \d+ tokens/m, /^ {2}decided: .*Parquet/m],
  'remember-preference': [/31 January 2026/],
  'upload-file': [/^0 of \d+ bytes$/m, /^Stored as file_\w+, \d+ bytes$/m],
  'handle-rate-limit': [/^\d+ of 1000 requests are left$/m, /^Used up\. Try again in \d+ s/m],
};

describe.concurrent('examples', () => {
  test.for(Object.entries(PRINTS))(
    '%s does its task against the emulator',
    { timeout: 60_000 },
    async ([name, lines]) => {
      const { stdout, stderr } = await run(process.execPath, ['--import', 'tsx', 'scripts/example.ts', name]);

      for (const line of lines) expect(stdout).toMatch(line);
      expect(stderr).toBe('');
    },
  );
});

test('the demo keeps the pinned decision, loses the password and ends well', { timeout: 60_000 }, async () => {
  const { stdout } = await run(process.execPath, ['--import', 'tsx', 'examples/demo/demo.ts']);

  expect(stdout).toMatch(/pinned message +still there, word for word/);
  expect(stdout).toMatch(/the password +nowhere in it/);
  expect(stdout).toMatch(/and why\?\n.*Postgres for the new booking service/);
  expect(stdout).toMatch(/class +PermissionDeniedError/);
  expect(stdout).not.toContain('harbour-seal');
});

test('the browser example builds without anything of Node in it', async () => {
  const { metafile, errors } = await build({
    entryPoints: ['examples/browser/app.ts'],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    alias: { '#platform': './src/platform/browser.ts' },
  });

  expect(errors).toEqual([]);
  expect(Object.keys(metafile.inputs).filter((path) => /undici|platform\/node|node:/.test(path))).toEqual([]);
});

test('every example is one task in under 40 lines, and is run here', () => {
  const files = readdirSync('examples').filter((file) => file.endsWith('.ts'));

  expect(files.map((file) => file.replace('.ts', '')).sort()).toEqual(Object.keys(PRINTS).sort());
  for (const file of files) expect(readFileSync(`examples/${file}`, 'utf8').split('\n').length, file).toBeLessThan(40);
});
