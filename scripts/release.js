/**
 * Releases both packages: `npm run release -- --dry-run` does everything but publish, `--publish` publishes, in CI and with
 * provenance. Both run what the workflow `release.yml` runs before; `--no-verify` leaves out the gate and `npm run verify`. Writes an SBOM of each package (CycloneDX) into this folder, to
 * attach to the release.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { sbomOf } from './sbom.js';

const { values } = parseArgs({
  options: { publish: { type: 'boolean' }, 'dry-run': { type: 'boolean' }, 'no-verify': { type: 'boolean' } },
});
const { publish = false } = values;
if (publish === (values['dry-run'] ?? false)) throw new Error('Pass either --dry-run or --publish.');
/** Stands in package.json and in the pages until an organisation owns the repository. */
const PLACEHOLDERS = ['context-gateway/context-gateway', 'context-gateway.github.io'];
const run = (...args) => execFileSync(args[0], args.slice(1), { stdio: 'inherit' });
const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));

const { version, repository } = read('package.json');
const tags = git('tag', '--points-at', 'HEAD').split('\n');
const tagged = git('tag', '--list', `v${version}`) !== '';
/** Files that still name the placeholder, although package.json names another repository. */
const elsewhere = repository.url.includes(`/${PLACEHOLDERS[0]}.git`) ? [] : filesWith(PLACEHOLDERS);
const problems = [
  git('status', '--porcelain') !== '' && 'the working tree has changes',
  read('emulator/package.json').version !== version && `the emulator is not ${version}`,
  !new RegExp(`^## ${version.replaceAll('.', '\\.')} \\(\\d{4}-\\d{2}-\\d{2}\\)$`, 'm').test(
    readFileSync('CHANGELOG.md', 'utf8'),
  ) && `CHANGELOG.md has no "## ${version} (date)"`,
  (publish || tagged) && !tags.includes(`v${version}`) && `the tag v${version} is not this commit's`,
  publish && !process.env.GITHUB_REPOSITORY && 'provenance needs GitHub Actions',
  publish &&
    !repository.url.includes(`/${process.env.GITHUB_REPOSITORY}`) &&
    `the repository in package.json is ${repository.url}`,
  ...elsewhere.map((file) => `${file} names the placeholder of the repository`),
].filter(Boolean);
for (const problem of problems) console.error(`Not ready: ${problem}.`);
if (problems.length > 0) process.exit(1);

if (!values['no-verify']) {
  run('bash', '.ci/run');
  run('npm', 'run', 'verify');
}
run('npm', 'run', 'build', '--silent');
run('node', 'scripts/tarball.js');
const how = publish ? ['--provenance'] : ['--dry-run'];
for (const [name, folder, workspace] of [
  ['context-gateway', '.', ['--workspaces=false']],
  ['context-gateway-emulator', 'emulator', ['-w', 'emulator']],
]) {
  writeFileSync(`${name}-${version}.cdx.json`, sbomOf(folder));
  run('npm', 'publish', '--ignore-scripts', '--access', 'public', ...how, ...workspace);
}

function filesWith(texts) {
  const patterns = texts.flatMap((one) => ['-e', one]);
  const { stdout } = spawnSync('git', ['grep', '-lF', ...patterns, '--', ':!scripts/release.js'], { encoding: 'utf8' });
  return stdout.split('\n').filter(Boolean); // none is no error
}
