/** Tests the packed package on every runtime, in every kind of project and in bundlers: `npm run compat` */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aiSdkChecks } from './ai-sdk.js';
import { bundlerChecks } from './bundlers.js';
import { runChecks } from './checks.js';
import { checkColdImport } from './cold-import.js';
import { startEmulator } from './emulator.js';
import { metroChecks } from './metro.js';
import { nextChecks } from './next.js';
import { unbundledChecks } from './no-bundler.js';
import { installHere, pack } from './package-file.js';
import { projectChecks, typeChecks } from './projects.js';
import { checkRuntimes } from './runtimes.js';

const folder = mkdtempSync(join(tmpdir(), 'context-gateway-'));
const file = await pack(folder);
const emulatorFile = await pack(folder, 'emulator');
await installHere(file);

const runtimes = await checkRuntimes();
const uses = await checkUses();
rmSync(folder, { recursive: true });

const rows = uses.map(({ name, problem, detail }) => `| ${name} | ${problem === undefined ? '✓' : '✗'} | ${detail} |`);
console.log(`${runtimes.table}\n\n| projects and bundlers | | |\n|---|---|---|\n${rows.join('\n')}`);
const failures = runtimes.failures + uses.filter(({ problem }) => problem !== undefined).length;
if (failures > 0) console.error(`\n${failures} ${failures === 1 ? 'case fails' : 'cases fail'}; why is written above.`);
process.exitCode = failures === 0 ? 0 : 1;

/** Runs in sequence, because later checks use the projects of earlier ones. Only the type checks run two at a time. */
async function checkUses() {
  const emulator = await startEmulator();
  const bundlers = await bundlerChecks(file, join(folder, 'esm'), emulator);
  try {
    return [
      ...(await runChecks(projectChecks(file, emulatorFile, folder, emulator))),
      ...(await runChecks(typeChecks(folder), 2)),
      ...(await runChecks(aiSdkChecks(file, folder, emulator))),
      ...(await runChecks(bundlers.checks)),
      ...(await runChecks(unbundledChecks(join(folder, 'esm'), emulator))),
      ...(await runChecks(nextChecks(file, folder))),
      ...(await runChecks(metroChecks(file, folder))),
      ...(await runChecks([['cold import on Node', checkColdImport]])),
    ];
  } finally {
    await bundlers.end();
    emulator.stop();
  }
}
