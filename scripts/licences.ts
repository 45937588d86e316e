import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';

/** Fails a build that has the code of another package in it: our package has the licences of these alone. */
export function onlyBundles(names: readonly string[]): Plugin {
  return {
    name: 'only-bundles',
    setup: ({ initialOptions, onEnd }) => {
      initialOptions.metafile = true;
      onEnd(({ metafile }) => {
        for (const file of Object.keys(metafile?.inputs ?? {})) {
          const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
          if (name !== undefined && !names.includes(name)) throw new Error(`${name} is bundled, and not in BUNDLED`);
        }
      });
    },
  };
}

/** The text of `licenses.txt`. */
export async function licencesOf(names: readonly string[]): Promise<string> {
  return (await Promise.all(names.map(licenceOf))).join('\n\n');
}

async function licenceOf(name: string): Promise<string> {
  const entry = fileURLToPath(import.meta.resolve(name));
  const inside = `node_modules/${name}/`;
  const folder = entry.slice(0, entry.lastIndexOf(inside) + inside.length);
  return `${name}\n\n${(await readFile(`${folder}LICENSE`, 'utf8')).trim()}\n`;
}
