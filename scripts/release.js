/**
 * Rehearses the release of both packages: `npm run release`. With `--publish`, in CI, it publishes them, with provenance.
 * Writes an SBOM of each (CycloneDX) into this folder, to attach to the release. The workflow `release.yml` runs the gate and
 * `npm run verify` before.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { PACKAGES, publishedManifest, stage } from './pack.js';
import { sbomOf } from './sbom.js';

const publish = process.argv.includes('--publish');
const run = (...args) => execFileSync(args[0], args.slice(1), { stdio: 'inherit' });
const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();

const { version, repository } = publishedManifest('.');
const heading = new RegExp(`^## ${version.replaceAll('.', '\\.')} \\(\\d{4}-\\d{2}-\\d{2}\\)$`, 'm');
const mustBeTagged = publish || git('tag', '--list', `v${version}`) !== '';
const isTagged = git('tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`);
const problems = [
  git('status', '--porcelain') !== '' && 'the working tree has changes',
  publishedManifest('emulator').version !== version && `the emulator is not ${version}`,
  !heading.test(readFileSync('CHANGELOG.md', 'utf8')) && `CHANGELOG.md has no "## ${version} (date)"`,
  mustBeTagged && !isTagged && `the tag v${version} is not this commit's`,
  publish && !process.env.GITHUB_REPOSITORY && 'provenance needs GitHub Actions',
  publish &&
    !repository.url.includes(`/${process.env.GITHUB_REPOSITORY}.git`) &&
    `the repository in package.json is ${repository.url}`,
].filter(Boolean);
for (const problem of problems) console.error(`Not ready: ${problem}.`);
if (problems.length > 0) process.exit(1);

run('npm', 'run', 'pack');
run('node', 'scripts/tarball.js');
for (const folder of PACKAGES) {
  writeFileSync(`${publishedManifest(folder).name}-${version}.cdx.json`, sbomOf(folder));
  run('npm', 'publish', stage(folder), '--access', 'public', publish ? '--provenance' : '--dry-run');
}
