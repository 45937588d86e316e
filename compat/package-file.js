/** Packs the package into a file and installs it from there, as users get it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runWell } from './child.js';

const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];

/** Packs the built SDK, or one of its workspaces, and returns the path of the file. */
export async function pack(folder, workspace) {
  const command = ['npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  if (workspace !== undefined) command.push('--workspace', workspace);
  const [{ filename }] = JSON.parse(await runWell(command, { cwd: join(import.meta.dirname, '..') }));
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
