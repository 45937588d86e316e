/**
 * Writes what is published into `packed`, a folder for each package: `npm run pack`. The package.json files of the repository
 * are private, so that npm refuses to publish anything else.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** The folders of the packages in the repository. */
export const PACKAGES = ['.', 'emulator'];
/** A part of the README for those who have cloned the repository. */
const FOR_CLONES = /<!-- clone -->\n[\s\S]*?<!-- \/clone -->\n+/g;

/** Packs a package that is built, and returns its folder. */
export function stage(folder) {
  const source = join(ROOT, folder);
  const manifest = publishedManifest(folder);
  const target = join(ROOT, 'packed', manifest.name);
  const [{ files }] = JSON.parse(npm(source, 'pack', '--dry-run', '--json', '--ignore-scripts'));
  rmSync(target, { recursive: true, force: true });
  for (const { path } of files) cpSync(join(source, path), join(target, path));
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(target, 'README.md'), publishedReadme(folder));
  return target;
}

/** A package.json without what only its developers need. */
export function publishedManifest(folder) {
  const {
    private: _,
    workspaces,
    scripts,
    devDependencies,
    overrides,
    allowScripts,
    ...manifest
  } = JSON.parse(read(folder, 'package.json'));
  return manifest;
}

export function publishedReadme(folder) {
  return read(folder, 'README.md').replace(FOR_CLONES, '');
}

function read(...path) {
  return readFileSync(join(ROOT, ...path), 'utf8');
}

function npm(cwd, ...args) {
  return execFileSync('npm', args, { cwd, encoding: 'utf8' });
}

// As a program, not as an import: also the files to install.
if (process.argv[1] === import.meta.filename)
  for (const folder of PACKAGES) console.log(npm(ROOT, 'pack', stage(folder)).trim());
