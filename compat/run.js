/** The same suite on every runtime, with the package as its users get it: npm run compat */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from './server.js';

const bin = (path) => new URL(`node_modules/${path}`, import.meta.url).pathname;
const node = (version) => bin(`node${version}/bin/node`);

const RUNTIMES = [
  ...[20, 22, 24, 26].flatMap((version) => [
    { name: `Node ${version}, import`, command: [node(version), 'run-esm.js'] },
    { name: `Node ${version}, require`, command: [node(version), 'run-cjs.cjs'] },
  ]),
  { name: 'Bun', command: [bin('@oven/bun-linux-x64/bin/bun'), 'run-esm.js'] },
  {
    name: 'Deno',
    command: [
      bin('@deno/linux-x64-glibc/deno'),
      'run',
      '--allow-all',
      '--no-lock',
      '--node-modules-dir=manual',
      'run-esm.js',
    ],
  },
  { name: 'workerd', command: [node(22), 'run-worker.js'] },
];

installPackage();

let failures = 0;
let names;
const rows = [];
for (const { name, command } of RUNTIMES) {
  const { version, results, problem } = await runOn(command);
  names ??= results?.map((result) => result.name.replace(/:.*/, ''));
  failures += problem === undefined ? results.filter((result) => result.problem !== undefined).length : 1;
  rows.push(
    `| ${name}${version} | ${(results ?? []).map((result) => (result.problem === undefined ? '✓' : '✗')).join(' | ')} |`,
  );
  console.error(
    `${problem === undefined ? 'ran ' : 'FAIL'} ${name}${version}${problem === undefined ? '' : `: ${problem}`}`,
  );
  for (const result of results ?? [])
    if (result.problem !== undefined) console.error(`     ✗ ${result.name}: ${result.problem}`);
}
console.log(`| | ${names?.join(' | ')} |\n|---${'|---'.repeat(names?.length ?? 1)}|\n${rows.join('\n')}`);
process.exitCode = failures === 0 ? 0 : 1;

/** As users get it: packed, and installed with its dependencies. */
function installPackage() {
  const folder = mkdtempSync(join(tmpdir(), 'context-gateway-'));
  const options = { cwd: join(import.meta.dirname, '..'), encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] };
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], options),
  );
  const quiet = ['--no-save', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'];
  execFileSync('npm', ['install', ...quiet, join(folder, filename)], { ...options, cwd: import.meta.dirname });
}

async function runOn(command) {
  const [binary, ...args] = command;
  if (!existsSync(binary)) return { version: '', problem: `not installed (${binary}); run npm ci in compat` };
  const version = (await run([binary, '--version'])).out.match(/\d+\.\d+\.\d+/)?.[0] ?? '';
  const server = await startServer();
  const { out, error, code } = await run([binary, ...args, server.url]);
  server.stop();
  const line = out.split('\n').findLast((one) => one.startsWith('['));
  const shown = command[1] === 'run-worker.js' ? '' : ` (${version})`;
  if (code !== 0 || line === undefined)
    return { version: shown, problem: `exit ${code}: ${error.trim().split('\n').slice(-5).join(' ')}` };
  return { version: shown, results: JSON.parse(line) };
}

function run([binary, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(binary, args, { cwd: import.meta.dirname, timeout: 120_000 });
    let out = '';
    let error = '';
    child.stdout.on('data', (data) => {
      out += data;
    });
    child.stderr.on('data', (data) => {
      error += data;
    });
    child.on('close', (code) => resolve({ out, error, code }));
    child.on('error', (cause) => resolve({ out, error: String(cause), code: -1 }));
  });
}
