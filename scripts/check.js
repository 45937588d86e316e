/** Runs every check that a change must pass besides the tests, with one line of output per check: `npm run check`. */
import { spawnSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';

const CHECKS = [
  ['format and lint', 'biome check --error-on-warnings .'],
  ['types', 'tsc -p .'],
  ['layers and rings', 'node scripts/check-layers.js'],
  ['unused code', 'knip'],
  ['build', 'npm run build --silent'],
  ['public types', 'node scripts/api-report.js'],
  ['package lint', 'publint --strict'],
  ['package types', 'attw --pack . --format ascii --no-color --no-emoji'],
  ['package lint, emulator', 'publint --strict emulator'],
  [
    'package types, emulator',
    'attw --pack emulator --profile node16 --ignore-rules cjs-resolves-to-esm --format ascii --no-color --no-emoji',
  ],
  ['declarations, in a browser project', 'tsc -p scripts/tsconfig.consumer.json'],
  ['declarations, in a Node project', 'tsc -p scripts/tsconfig.consumer.json --lib es2022 --types node'],
  ['types of the code in the docs', 'node scripts/check-doc-types.js'],
  ['reference pages', 'npm run reference --silent -- --check'],
  ['package contents', 'node scripts/tarball.js'],
  ['size', 'node scripts/size.js'],
];
/** Checks whose output is shown even when they pass. */
const MEASURES = new Set(['package contents', 'size']);

let failures = 0;
for (const [name, command] of CHECKS) {
  const since = performance.now();
  const { status, stdout, stderr } = spawnSync(command, {
    shell: true,
    encoding: 'utf8',
    env: { ...process.env, PATH: `node_modules/.bin:${process.env.PATH}` },
  });
  const seconds = ((performance.now() - since) / 1000).toFixed(1).padStart(5);
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${seconds} s  ${name}`);
  if (status !== 0) {
    failures += 1;
    console.log(`${stdout}${stderr}`.trimEnd().replace(/^/gm, '       '));
  } else if (MEASURES.has(name)) {
    console.log(stdout.trimEnd().replace(/^/gm, '       '));
  }
}
console.log(failures === 0 ? '\nAll checks passed.' : `\n${failures} of ${CHECKS.length} checks fail.`);
process.exitCode = failures === 0 ? 0 : 1;
