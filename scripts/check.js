/** Runs every check that a change must pass besides the tests, with one line of output per check: `npm run check`. */
import { exec } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { promisify } from 'node:util';

const run = promisify(exec);

const ATTW = '--profile node16 --format ascii --no-color --no-emoji';
/** What needs no build. */
const OF_SOURCES = [
  ['format and lint', 'biome check --error-on-warnings .'],
  ['build', 'npm run pack --silent'],
  ['types', 'tsc -p . && tsc -p examples/use-chat'],
  ['layers', 'node scripts/check-layers.js'],
  ['regular expressions', 'node scripts/check-expressions.js'],
  ['unused code', 'knip'],
];
const OF_THE_BUILD = [
  ['reference pages', 'tsx --import ./scripts/import-lua.js scripts/reference.ts --check'],
  ['public types', 'node scripts/api-report.js'],
  ['package lint', 'publint --strict packed/context-gateway && publint --strict packed/context-gateway-emulator'],
  ['package types', `attw --pack packed/context-gateway ${ATTW}`],
  // Its entry for Vitest is an ES module alone, as Vitest is.
  ['package types, emulator', `attw --pack packed/context-gateway-emulator --ignore-rules cjs-resolves-to-esm ${ATTW}`],
  ['declarations, in a browser project', 'tsc -p scripts/tsconfig.consumer.json'],
  ['declarations, in a Node project', 'tsc -p scripts/tsconfig.consumer.json --lib es2022 --types node'],
  ['types of the code in the docs', 'node scripts/check-doc-types.js'],
  ['package contents', 'node scripts/tarball.js'],
  ['size', 'node scripts/size.js'],
];
/** Checks whose output is shown even when they pass. */
const MEASURES = ['package contents', 'size'];

const env = { ...process.env, PATH: `node_modules/.bin:${process.env.PATH}` };
let failures = 0;

async function check([name, command]) {
  const since = performance.now();
  const { code = 0, stdout, stderr } = await run(command, { env, maxBuffer: 1e9 }).catch((error) => error);
  const seconds = ((performance.now() - since) / 1000).toFixed(1).padStart(5);
  console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${seconds} s  ${name}`);
  if (code !== 0) failures += 1;
  const shown = code !== 0 ? `${stdout}${stderr}` : MEASURES.includes(name) ? stdout : '';
  if (shown !== '') console.log(shown.trimEnd().replace(/^/gm, '       '));
}

/** Two at a time. */
async function runAll(checks) {
  const left = checks.values();
  const worker = async () => {
    for (const one of left) await check(one);
  };
  await Promise.all([worker(), worker()]);
}

await runAll(OF_SOURCES);
await runAll(OF_THE_BUILD);
const total = OF_SOURCES.length + OF_THE_BUILD.length;
console.log(failures === 0 ? '\nAll checks passed.' : `\n${failures} of ${total} checks fail.`);
process.exitCode = failures === 0 ? 0 : 1;
