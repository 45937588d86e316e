/**
 * Everything that takes longer than the gate, or needs more than `npm ci`: `npm run verify`. Installs what is missing,
 * where it can. A step that fails is repeated once, and the others still run. The output of each is kept in a file.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { stripVTControlCharacters } from 'node:util';

const LOGS = 'node_modules/.verify';
/** Packages of Debian that system tests and compat use, and the programs of which one is needed. */
const NEEDS = {
  chromium: ['chromium', 'google-chrome'],
  'firefox-esr': ['firefox', 'firefox-esr'],
  'webkit2gtk-driver': ['WebKitWebDriver'],
  xvfb: ['Xvfb'],
  'nginx-light': ['nginx'],
  haproxy: ['haproxy'],
  varnish: ['varnishd'],
  'redis-server': ['redis-server'],
  postgresql: ['postgres', 'pg_ctlcluster'],
};
/** Installs what is missing, one by one: a distribution that lacks one of them has the others. */
const INSTALL = [
  'PATH=$PATH:/usr/sbin; apt-get update',
  ...Object.entries(NEEDS).map(([name, programs]) => {
    const isInstalled = programs.map((program) => `command -v ${program}`).join(' || ');
    return `${isInstalled} || apt-get install -y --no-install-recommends ${name} || failed=1`;
  }),
  'exit $failed',
].join('\n');
/** With these, a test fails, and is not skipped, where what it needs is missing. */
const REQUIRED = { REQUIRE_BROWSERS: '1', REQUIRE_PROXIES: '1', REQUIRE_REDIS: '1', REQUIRE_POSTGRES: '1' };
const NODES = ['20.18.1', '22.23.3', '24.21.0', '26.10.0'];
const NODE_PACKAGE = `node-${process.platform}-${process.arch}`;
const STEPS = [
  ...NODES.map((version) => [`tests on Node ${version}`, on(version, 'npm test')]),
  ...[NODES[0], NODES[2]].map((version) => [`system tests on Node ${version}`, on(version, 'npm run test:system')]),
  ['time and memory', 'npm run test:perf'],
  ['chaos and endurance', 'npm run chaos'],
  ['site', 'npm run docs'],
  ['container', 'node scripts/container.js'],
  ['runtimes, projects, bundlers', 'npm run compat'],
];

function on(version, command) {
  return `npx --yes -p ${NODE_PACKAGE}@${version} -c '${command}'`;
}

mkdirSync(LOGS, { recursive: true });
const env = { ...process.env, NO_COLOR: '1' };
if (run('install', INSTALL)) Object.assign(env, REQUIRED);
else console.log('             tests that need what is missing are skipped');
const failed = STEPS.filter(([name, command]) => !run(name, command) && !run(`${name}, again`, command));
console.log(failed.length === 0 ? '\nAll steps passed.' : `\n${failed.length} of ${STEPS.length} steps failed twice.`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** Runs one step, and prints a line and, if it fails, the lines of its output that say why. Returns whether it passed. */
function run(name, command) {
  const log = join(LOGS, `${name.replace(/\W+/g, '-')}.log`);
  const file = openSync(log, 'w');
  const since = performance.now();
  const { status } = spawnSync(command, { shell: true, stdio: ['ignore', file, file], env });
  const seconds = Math.round((performance.now() - since) / 1000);
  closeSync(file);
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${String(seconds).padStart(5)} s  ${name}`);
  if (status !== 0) for (const line of [...reasons(log), `all of it: ${log}`]) console.log(`       ${line}`);
  return status === 0;
}

function reasons(log) {
  const lines = stripVTControlCharacters(readFileSync(log, 'utf8')).trimEnd().split('\n');
  const marked = lines.filter((line) => /^ *(FAIL|✗|\| .*✗)|Error: /.test(line));
  const chosen = marked.length > 0 ? marked.slice(0, 30) : lines.slice(-20);
  return chosen.map((line) => line.slice(0, 200));
}
