/**
 * Tests the packed package on every runtime, in every kind of project and in bundlers: `npm run compat`. Some groups
 * alone: `npm run compat -- servers peers`. React Native, a large install, runs when asked, and every night in CI:
 * `npm run compat -- react-native`. Packages of others are those of one day, so that the same commit gets the same ones;
 * `npm run compat -- --newest` takes today's.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appChecks } from './apps.js';
import { bundlerChecks } from './bundlers.js';
import { runChecks } from './checks.js';
import { clientChecks } from './clients.js';
import { startEmulator } from './emulator.js';
import { installHere, pack } from './package-file.js';
import { peerChecks } from './peers.js';
import { projectChecks, typeChecks } from './projects.js';
import { reactNativeChecks } from './react-native.js';
import { checkRuntimes } from './runtimes.js';
import { serverChecks } from './servers.js';

const folder = mkdtempSync(join(tmpdir(), 'context-gateway-'));
const file = await pack(folder);
const emulatorFile = await pack(folder, 'emulator');
await installHere(file);

const emulator = await startEmulator();
const bundlers = await bundlerChecks(file, join(folder, 'esm'), emulator);
/** The first three use the projects of the first, in this order. */
const GROUPS = {
  projects: () => runChecks(projectChecks(file, emulatorFile, folder, emulator)),
  types: () => runChecks(typeChecks(folder), 2),
  bundlers: () => runChecks(bundlers.checks),
  servers: () => runChecks(serverChecks(file, folder, emulator)),
  peers: () => runChecks(peerChecks(file, emulatorFile, folder, emulator)),
  clients: () => runChecks(clientChecks(file, folder, emulator)),
  apps: () => runChecks(appChecks(file, folder, emulator)),
  'react-native': () => runChecks(reactNativeChecks(file, folder, emulator)),
};

const asked = process.argv.slice(2).filter((arg) => arg !== '--newest');
const isAsked = (name) => (asked.length === 0 ? name !== 'react-native' : asked.includes(name));
const unknown = asked.find((name) => name !== 'runtimes' && !Object.hasOwn(GROUPS, name));
if (unknown !== undefined) throw new Error(`there is no ${unknown}: runtimes, ${Object.keys(GROUPS).join(', ')}`);

let runtimes = { table: '', failures: 0 };
const results = [];
try {
  if (isAsked('runtimes')) runtimes = await checkRuntimes();
  for (const name of Object.keys(GROUPS).filter(isAsked)) results.push(...(await GROUPS[name]()));
} finally {
  await bundlers.end();
  emulator.stop();
  rmSync(folder, { recursive: true });
}

const rows = results.map(
  ({ name, problem, detail }) => `| ${name} | ${problem === undefined ? '✓' : '✗'} | ${detail} |`,
);
console.log(`${runtimes.table}\n\n| projects and bundlers | | |\n|---|---|---|\n${rows.join('\n')}`);
const failures = runtimes.failures + results.filter(({ problem }) => problem !== undefined).length;
if (failures > 0) console.error(`\n${failures} ${failures === 1 ? 'case fails' : 'cases fail'}; why is written above.`);
process.exitCode = failures === 0 ? 0 : 1;
