import { readFile } from 'node:fs/promises';
import { HttpError } from '../../base/errors.js';

/** Serves the files of the inspector. They are read, or built, on the first request. */
export function inspectorPage(): (name: string) => Promise<Response> {
  let files: Promise<Record<string, string>> | undefined;
  return async (name) => {
    const type = TYPES.get(name);
    if (type === undefined) throw new HttpError(404, `there is no file ${name}`);
    files ??= load();
    const headers = {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      // The page may talk only to the emulator that serves it.
      'content-security-policy': "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'",
    };
    return new Response((await files)[name], { headers });
  };
}

const TYPES = new Map([
  ['index.html', 'text/html'],
  ['app.css', 'text/css'],
  ['app.js', 'text/javascript'],
]);

/**
 * The package contains the built page next to the code. In a clone, where this file is TypeScript, it is built from
 * source.
 */
async function load(): Promise<Record<string, string>> {
  if (import.meta.url.endsWith('.ts')) {
    // In a variable, so that no bundler includes it in the package.
    const builder = new URL('../../../inspector/build.ts', import.meta.url).href;
    const { buildInspector } = (await import(builder)) as { buildInspector: () => Promise<Record<string, string>> };
    return buildInspector();
  }
  const folder = new URL('inspector/', import.meta.url);
  const read = async (name: string): Promise<[string, string]> => [name, await readFile(new URL(name, folder), 'utf8')];
  return Object.fromEntries(await Promise.all([...TYPES.keys()].map(read)));
}
