/** Packs the package into a file and installs it from there, as users get it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stage } from '../scripts/pack.js';
import { runWell } from './child.js';

const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];

/** Packs a package that is built, `.` or `emulator`, as it is published, and returns the path of the file. */
export async function pack(folder, source = '.') {
  const [{ filename }] = JSON.parse(
    await runWell(['npm', 'pack', '--json', '--pack-destination', folder, stage(source)]),
  );
  return join(folder, filename);
}

/** Installs into a project with install scripts enabled, as users do. */
export async function install(files, project, env) {
  await runWell(['npm', 'install', ...quiet, ...files], { cwd: project, env, timeout: 300_000 });
}

/** The installed version of a package. */
export function versionOf(project, name) {
  return JSON.parse(readFileSync(join(project, 'node_modules', name, 'package.json'), 'utf8')).version;
}

/** Installs into this folder, where the runtimes are installed. */
export async function installHere(file) {
  await runWell(['npm', 'install', ...quiet, '--no-save', '--no-package-lock', '--ignore-scripts', file]);
}
