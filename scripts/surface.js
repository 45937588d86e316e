/**
 * What programs can name and see of this package, held against the snapshot in test/package/surface, so that a change of it
 * is a change that a review sees. `node scripts/surface.js --write` renews the snapshot. Both read `dist`: build first.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readDeclarations } from './declarations.js';
import { checkDeclarations, checkFiles, compareWithModules, findUntried } from './surface-rules.js';

const SNAPSHOT = 'test/package/surface';

const entries = ['index', 'schemas'];
const read = readDeclarations(entries.map((entry) => `dist/${entry}.d.ts`));
const surface = new Map(entries.map((entry, at) => [entry, read[at]]));

if (process.argv.includes('--write')) {
  writeTo(SNAPSHOT);
  console.log(`Written to ${SNAPSHOT}. Commit it, and say in CHANGELOG.md what changed.`);
} else {
  const rules = [...findUntried(surface), ...checkDeclarations(surface), ...checkFiles()];
  const problems = [...changes(), ...(await compareWithModules(surface)), ...rules];
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

function writeTo(folder) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'names.txt'), printNames());
  for (const entry of entries) writeFileSync(join(folder, `${entry}.d.ts`), printDeclarations(entry));
}

/** The difference to the snapshot, in git's form without its headers. */
function changes() {
  const folder = mkdtempSync(join(tmpdir(), 'surface-'));
  writeTo(folder);
  const options = ['--no-index', '--no-color', '--unified=1'];
  const { stdout } = spawnSync('git', ['diff', ...options, resolve(SNAPSHOT), folder], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  if (stdout === '') return [];
  const lines = stdout.split('\n').filter((line) => !/^(diff|index|---|new file|deleted file) /.test(line));
  const shown = lines.map((line) => line.replace(/^\+\+\+ .*\//, 'in ').replace(/^@@.*/, '...'));
  return [
    `The public surface is not what ${SNAPSHOT} says (- in the snapshot, + in dist):`,
    ...shown,
    'If this is meant: node scripts/surface.js --write, commit what it writes, and say in CHANGELOG.md what changed.',
  ];
}

/** One line for each name: what can be imported, and what can be seen without. */
function printNames() {
  const exported = new Set(read.flatMap(({ exports }) => [...exports.keys()]));
  const lines = [];
  for (const [entry, { exports }] of surface) {
    lines.push(entry === 'index' ? 'context-gateway' : `context-gateway/${entry}`);
    for (const [name, kind] of sorted(exports)) lines.push(`  ${kind.padEnd(8)} ${name}`);
  }
  lines.push('in reach, and not exported');
  for (const { declarations } of surface.values())
    for (const [name] of sorted(declarations)) if (!exported.has(name)) lines.push(`           ${name}`);
  return `${lines.join('\n')}\n`;
}

/** By name, whatever files and order the bundler chose, so that only what programs see makes a difference. */
function printDeclarations(entry) {
  const { exports, declarations, imports } = surface.get(entry);
  const parts = [`// What dist/${entry}.d.ts declares, sorted. Written by scripts/surface.js.`, ...[...imports].sort()];
  for (const [name, { text }] of sorted(declarations)) {
    parts.push(exports.has(name) ? text.replace(/^(?=declare |interface |type )/m, 'export ') : text);
  }
  return `${parts.join('\n\n')}\n`;
}

function sorted(map) {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
