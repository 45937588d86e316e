/**
 * Tests the packed package on every runtime, in every kind of project and in bundlers: `npm run compat`. Some groups
 * alone: `npm run compat -- servers peers`. Those with large installs run when asked, and every night in CI:
 * `npm run compat -- weekly`. Packages of others are those of one day, so that the same commit gets the same ones;
 * `npm run compat -- --newest` takes today's.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aiSdkChecks } from './ai-sdk.js';
import { appChecks } from './apps.js';
import { bundlerChecks } from './bundlers.js';
import { runChecks } from './checks.js';
import { checkColdImport } from './cold-import.js';
import { startEmulator } from './emulator.js';
import { metroChecks } from './metro.js';
import { nextChecks } from './next.js';
import { unbundledChecks } from './no-bundler.js';
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
const next = nextChecks(file, folder);
const bundlers = await bundlerChecks(file, join(folder, 'esm'), emulator);
/** Those of a lane run in this order. */
const GROUPS = {
  projects: () => runChecks(projectChecks(file, emulatorFile, folder, emulator)),
  types: () => runChecks(typeChecks(folder), 2),
  'ai-sdk': () => runChecks(aiSdkChecks(file, folder, emulator)),
  bundlers: () => runChecks(bundlers.checks),
  unbundled: () => runChecks(unbundledChecks(join(folder, 'esm'), emulator)),
  next: () => runChecks(next.app),
  'next-processes': () => runChecks(isAsked('next') ? next.processes : [...next.app.slice(0, 1), ...next.processes]),
  servers: () => runChecks(serverChecks(file, folder, emulator)),
  peers: () => runChecks(peerChecks(file, emulatorFile, folder, emulator)),
  apps: () => runChecks(appChecks(file, folder, emulator)),
  metro: () => runChecks(metroChecks(file, folder)),
  import: () => runChecks([['cold import on Node', checkColdImport]]),
  'react-native': () => runChecks(reactNativeChecks(file, folder, emulator)),
};
/** Groups that use the projects of the first. They are one lane, and all others are another, which runs at the same time. */
const OF_PROJECTS = ['projects', 'types', 'ai-sdk', 'bundlers', 'unbundled'];
/** It is timed, so it runs alone. */
const ALONE = ['import'];
/** Groups with large installs, or long waits. */
const WEEKLY = ['metro', 'next-processes', 'react-native'];

const asked = process.argv
  .slice(2)
  .filter((arg) => arg !== '--newest')
  .flatMap((name) => (name === 'weekly' ? WEEKLY : name));
const isAsked = (name) => (asked.length === 0 ? !WEEKLY.includes(name) : asked.includes(name));
const unknown = asked.find((name) => name !== 'runtimes' && !Object.hasOwn(GROUPS, name));
if (unknown !== undefined)
  throw new Error(`there is no ${unknown}: weekly, runtimes, ${Object.keys(GROUPS).join(', ')}`);

let runtimes = { table: '', failures: 0 };
const names = Object.keys(GROUPS).filter(isAsked);
const results = {};
async function runGroups(groups) {
  for (const name of groups) results[name] = await GROUPS[name]();
}
try {
  const first = async () => {
    if (isAsked('runtimes')) runtimes = await checkRuntimes();
    await runGroups(names.filter((name) => OF_PROJECTS.includes(name)));
  };
  const others = names.filter((name) => ![...OF_PROJECTS, ...ALONE].includes(name));
  await Promise.all([first(), runGroups(others)]);
  await runGroups(names.filter((name) => ALONE.includes(name)));
} finally {
  await bundlers.end();
  emulator.stop();
  rmSync(folder, { recursive: true });
}

const uses = names.flatMap((name) => results[name]);
const rows = uses.map(({ name, problem, detail }) => `| ${name} | ${problem === undefined ? '✓' : '✗'} | ${detail} |`);
console.log(`${runtimes.table}\n\n| projects and bundlers | | |\n|---|---|---|\n${rows.join('\n')}`);
const failures = runtimes.failures + uses.filter(({ problem }) => problem !== undefined).length;
if (failures > 0) console.error(`\n${failures} ${failures === 1 ? 'case fails' : 'cases fail'}; why is written above.`);
process.exitCode = failures === 0 ? 0 : 1;
