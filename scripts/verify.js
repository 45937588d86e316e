/**
 * Everything that takes longer than the gate, or needs more than `npm ci`: `npm run verify`. Installs what is missing,
 * where it can. A step that fails is repeated once, and the others still run. The output of each is kept in a file.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { stripVTControlCharacters } from 'node:util';

const LOGS = 'node_modules/.verify';
/** What system tests and compat use: programs of which one is needed, Debian's packages, and the variable that requires it. */
const NEEDS = [
  { programs: ['chromium', 'google-chrome'], packages: ['chromium'], requires: 'REQUIRE_BROWSERS' },
  { programs: ['firefox', 'firefox-esr'], packages: ['firefox-esr'], requires: 'REQUIRE_BROWSERS' },
  { programs: ['WebKitWebDriver'], packages: ['webkit2gtk-driver'], requires: 'REQUIRE_BROWSERS' },
  { programs: ['Xvfb'], packages: ['xvfb'], requires: 'REQUIRE_BROWSERS' },
  { programs: ['nginx'], packages: ['nginx-light'], requires: 'REQUIRE_PROXIES' },
  { programs: ['haproxy'], packages: ['haproxy'], requires: 'REQUIRE_PROXIES' },
  { programs: ['varnishd'], packages: ['varnish'], requires: 'REQUIRE_PROXIES' },
  { programs: ['redis-server'], packages: ['redis-server'], requires: 'REQUIRE_REDIS' },
  { programs: ['postgres', 'pg_ctlcluster'], packages: ['postgresql'], requires: 'REQUIRE_POSTGRES' },
];
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
Object.assign(env, install());
const failed = STEPS.filter(([name, command]) => !run(name, command) && !run(`${name}, again`, command));
console.log(failed.length === 0 ? '\nAll steps passed.' : `\n${failed.length} of ${STEPS.length} steps failed twice.`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** Returns the variables that make a test fail, and not be skipped, where what it needs is missing. */
function install() {
  const missing = () => NEEDS.filter(({ programs }) => !programs.some(isInstalled));
  const packages = missing().flatMap(({ packages }) => packages);
  if (packages.length > 0 && process.getuid?.() === 0 && isInstalled('apt-get')) {
    // One by one: a distribution that lacks one of them has the others.
    const each = packages.map((name) => `apt-get install -y --no-install-recommends ${name} || failed=1`);
    run('install', ['failed=0', 'apt-get update', ...each, 'exit $failed'].join('; '));
  }
  const still = missing();
  for (const { programs } of still)
    console.log(`skip         tests that need ${programs.join(' or ')}, which is not installed`);
  const variables = NEEDS.map(({ requires }) => requires).filter(
    (name) => !still.some(({ requires }) => requires === name),
  );
  return Object.fromEntries(variables.map((name) => [name, '1']));
}

/** Debian installs servers in folders that are not in every PATH. */
function isInstalled(program) {
  return [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'].some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Runs one step, and prints a line and, if it fails, the lines of its output that say why. Returns whether it passed. */
function run(name, command) {
  const since = performance.now();
  const options = { shell: true, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 512 * 1024 ** 2 };
  const { status, stdout, stderr } = spawnSync(command, { ...options, env });
  const seconds = Math.round((performance.now() - since) / 1000);
  const output = stripVTControlCharacters(`${stdout}${stderr}`);
  const log = join(LOGS, `${name.replace(/\W+/g, '-')}.log`);
  writeFileSync(log, output);
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${String(seconds).padStart(5)} s  ${name}`);
  if (status !== 0) console.log(`${reasons(output).join('\n').replace(/^/gm, '       ')}\n       all of it: ${log}`);
  return status === 0;
}

function reasons(output) {
  const marked = output.split('\n').filter((line) => /^ *(FAIL|✗|\| .*✗)|Error: /.test(line));
  const chosen = marked.length > 0 ? marked.slice(0, 30) : output.trimEnd().split('\n').slice(-20);
  return chosen.map((line) => line.slice(0, 200));
}
