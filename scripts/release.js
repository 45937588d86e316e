/**
 * Publishes the package and the emulator, and writes an SBOM of each (CycloneDX) into this folder, to attach to the
 * release. `node scripts/release.js` shows what would happen; with `--publish` it publishes, from CI with provenance.
 * Rejects uncommitted changes, and a version that is missing from CHANGELOG.md.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { sbomOf } from './sbom.js';

const publish = process.argv.includes('--publish');
const run = (...args) => execFileSync(args[0], args.slice(1), { stdio: 'inherit' });
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));

const { version } = read('package.json');
const problems = [];
if (execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' }) !== '')
  problems.push('the working tree has changes');
if (read('emulator/package.json').version !== version) problems.push(`the emulator is not ${version}`);
if (!readFileSync('CHANGELOG.md', 'utf8').includes(`\n## ${version} `))
  problems.push(`CHANGELOG.md has no "## ${version} (date)"`);
if (publish && process.env.CI === undefined) problems.push('provenance needs CI');
for (const problem of problems) console.error(`Not ready: ${problem}.`);
if (problems.length > 0 && publish) process.exit(1);

run('npm', 'run', 'build', '--silent');
const how = publish ? ['--provenance'] : ['--dry-run'];
for (const [name, folder, workspace] of [
  ['context-gateway', '.', ['--workspaces=false']],
  ['context-gateway-emulator', 'emulator', ['-w', 'emulator']],
]) {
  writeFileSync(`${name}-${version}.cdx.json`, sbomOf(folder));
  run('npm', 'publish', '--ignore-scripts', '--access', 'public', ...how, ...workspace);
}
