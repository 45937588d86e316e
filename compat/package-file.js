/** The package as its users get it: packed into a file, and installed from there. */
import { join } from 'node:path';
import { runWell } from './child.js';

const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];

/** Packs what is built, the SDK or a workspace of it, and gives the path of the file. */
export async function pack(folder, workspace) {
  const command = ['npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  if (workspace !== undefined) command.push('--workspace', workspace);
  const [{ filename }] = JSON.parse(await runWell(command, { cwd: join(import.meta.dirname, '..') }));
  return join(folder, filename);
}

/** Into a project of its own, with scripts allowed, as anybody would. */
export async function install(files, project) {
  await runWell(['npm', 'install', ...quiet, ...files], { cwd: project });
}

/** Into this folder, beside the other runtimes. */
export async function installHere(file) {
  await runWell(['npm', 'install', ...quiet, '--no-save', '--no-package-lock', '--ignore-scripts', file]);
}
