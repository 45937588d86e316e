import { execFile } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../../scripts/free-port.js';
import { builtFile } from '../../test/helpers/programs.js';
import { dataDirectory } from './support.js';

test.skipIf(process.platform === 'win32')('the GitHub Action starts the emulator, and sets its variables', async () => {
  const action = parse(readFileSync(new URL('../action.yml', import.meta.url), 'utf8'));
  const [step] = action.runs.steps;
  const folder = dataDirectory();
  const port = await freePort();
  // In place of npx, which would download the package; it notes its process for the end of the test.
  writeFileSync(
    join(folder, 'npx'),
    `#!/bin/sh\necho $$ >"${folder}/pid"\nshift 2\nexec "${process.execPath}" "${builtFile('emulator-cli')}" "$@"\n`,
  );
  chmodSync(join(folder, 'npx'), 0o755);
  const env = {
    ...process.env,
    PATH: `${folder}:${process.env.PATH}`,
    RUNNER_TEMP: folder,
    GITHUB_ENV: join(folder, 'env'),
    EMULATOR_VERSION: 'latest',
    EMULATOR_ARGUMENTS: '--seed action --strict',
    EMULATOR_PORT: String(port),
  };

  await promisify(execFile)('bash', ['-e', '-c', step.run], { env });

  const lines = readFileSync(env.GITHUB_ENV, 'utf8').trim().split('\n');
  const variables = Object.fromEntries(lines.map((line) => line.split('=')));
  process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), 0);
  const response = await fetch(`${variables.CONTEXT_GATEWAY_BASE_URL}/v1/presets`, {
    headers: { authorization: `Bearer ${variables.CONTEXT_GATEWAY_API_KEY}` },
  });
  expect(response.status).toBe(200);
  process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), 'SIGINT');
});
