import { readFile } from 'node:fs/promises';
import { Refusal } from '../base/errors.js';

/** A file of the inspector's page. */
export async function inspectorFile(name: string): Promise<Response> {
  const type = TYPES[name];
  if (type === undefined) throw new Refusal(404, `there is no file ${name}`);
  const headers = {
    'content-type': `${type}; charset=utf-8`,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    // The page talks to the emulator that serves it, and to no other host.
    'content-security-policy': "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'",
  };
  return new Response((await files())[name], { headers });
}

const TYPES: Record<string, string> = {
  'index.html': 'text/html',
  'app.css': 'text/css',
  'app.js': 'text/javascript',
};

/** The page lies built beside the package's code. In a clone, where this file is TypeScript, it is built when it is first asked for. */
async function files(): Promise<Record<string, string>> {
  if (!import.meta.url.endsWith('.ts')) {
    const folder = new URL('inspector/', import.meta.url);
    const read = async (name: string): Promise<[string, string]> => [
      name,
      await readFile(new URL(name, folder), 'utf8'),
    ];
    return Object.fromEntries(await Promise.all(Object.keys(TYPES).map(read)));
  }
  // A variable, so that no bundler takes it into the package.
  const builder = new URL('../../inspector/build.ts', import.meta.url).href;
  const { buildInspector } = (await import(builder)) as { buildInspector: () => Promise<Record<string, string>> };
  return buildInspector();
}
