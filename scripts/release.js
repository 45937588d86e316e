/**
 * Releases both packages: `npm run release -- --dry-run` does everything but publish, `--publish` publishes, in CI and with
 * provenance. `--no-verify` leaves out `npm run verify`. Writes an SBOM of each package (CycloneDX) into this folder, to
 * attach to the release.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { sbomOf } from './sbom.js';

const publish = process.argv.includes('--publish');
const run = (...args) => execFileSync(args[0], args.slice(1), { stdio: 'inherit' });
const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));

const { version, repository } = read('package.json');
const address = /github\.com\/[\w.-]+\/[\w-]+/.exec(repository.url)[0];
const tags = git('tag', '--points-at', 'HEAD').split('\n');
const tagged = git('tag', '--list', `v${version}`) !== '';
const elsewhere = git('grep', '-lE', String.raw`github\.com/[A-Za-z0-9.-]+/context-gateway\b`)
  .split('\n')
  .filter((file) => {
    const all = readFileSync(file, 'utf8').match(/github\.com\/[\w.-]+\/context-gateway\b/g) ?? [];
    return all.some((one) => one !== address);
  });
const problems = [
  git('status', '--porcelain') !== '' && 'the working tree has changes',
  read('emulator/package.json').version !== version && `the emulator is not ${version}`,
  !new RegExp(`^## ${version.replaceAll('.', '\\.')} \\(\\d{4}-\\d{2}-\\d{2}\\)$`, 'm').test(
    readFileSync('CHANGELOG.md', 'utf8'),
  ) && `CHANGELOG.md has no "## ${version} (date)"`,
  (publish || tagged) && !tags.includes(`v${version}`) && `the tag v${version} is not this commit's`,
  publish && process.env.CI === undefined && 'provenance needs CI',
  publish &&
    process.env.GITHUB_REPOSITORY !== undefined &&
    !address.endsWith(`/${process.env.GITHUB_REPOSITORY}`) &&
    `the repository in package.json is ${address}`,
  ...elsewhere.map((file) => `${file} names another repository than package.json`),
].filter(Boolean);
for (const problem of problems) console.error(`Not ready: ${problem}.`);
if (problems.length > 0) process.exit(1);

if (!process.argv.includes('--no-verify')) run('npm', 'run', 'verify');
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
