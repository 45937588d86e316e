import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { build } from 'esbuild';

const folder = new URL('.', import.meta.url);
type Page = (path: string) => Response;

/**
 * Bundles the page of an app, as the build of any web project does. Serves its document, its styles and its one script.
 * What the folder of the app does not have is the same for every chat.
 */
export async function buildPage(app: string): Promise<Page> {
  const own = (file: string): boolean => existsSync(new URL(`${app}/${file}`, folder));
  const read = (file: string): Promise<string> => fileOf(`${own(file) ? app : 'chat-ui'}/${file}`);
  return serve({
    '/': await read('index.html'),
    '/chat.css': await read('chat.css'),
    ...(own('page.css') && { '/page.css': await read('page.css') }),
    '/app.js': await bundle(`${app}/app.ts`),
  });
}

/** Serves the files of `no-bundler` unchanged, and the package's file for browsers beside them. */
export async function unbundledPage(): Promise<Page> {
  return serve({
    '/': await fileOf('no-bundler/index.html'),
    '/page.js': await fileOf('no-bundler/page.js'),
    '/context-gateway.js': await bundle('../../src/index.ts'), // in the package: dist/browser.js
  });
}

const fileOf = (path: string): Promise<string> => readFile(new URL(path, folder), 'utf8');

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [new URL(entry, folder).pathname],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    alias: { '#platform': new URL('../../src/platform/browser.ts', folder).pathname }, // the sources of this repository
  });
  return outputFiles[0]?.text ?? '';
}

const TYPES: Record<string, string> = { js: 'text/javascript', css: 'text/css', '/': 'text/html' };

function serve(files: Record<string, string>): Page {
  return (path) => {
    const file = Object.hasOwn(files, path) ? files[path] : undefined;
    const type = file === undefined ? 'text/plain' : TYPES[path.split('.').at(-1) ?? ''];
    return new Response(file ?? 'Not found', {
      status: file === undefined ? 404 : 200,
      headers: { 'content-type': `${type}; charset=utf-8` },
    });
  };
}
