/** Bundles the page of an app, as the build of any web project does. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { build } from 'esbuild';

/** Serves the page: its document, its style and its one script. */
export async function buildPage(app: string): Promise<(path: string) => Response> {
  const folder = new URL('.', import.meta.url);
  const { outputFiles } = await build({
    entryPoints: [new URL(`${app}/app.ts`, folder).pathname],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    alias: { '#platform': new URL('../../src/platform/browser.ts', folder).pathname }, // the sources of this repository
  });
  const own = (file: string) => new URL(`${app}/${file}`, folder);
  const read = (file: string) =>
    readFile(existsSync(own(file)) ? own(file) : new URL(`chat-ui/${file}`, folder), 'utf8');
  const files: Record<string, { type: string; body: string }> = {
    '/': { type: 'text/html', body: await read('index.html') },
    '/chat.css': { type: 'text/css', body: await read('chat.css') },
    ...(existsSync(own('page.css')) && { '/page.css': { type: 'text/css', body: await read('page.css') } }),
    '/app.js': { type: 'text/javascript', body: outputFiles[0]?.text ?? '' },
  };
  return (path) => {
    const file = Object.hasOwn(files, path) ? files[path] : undefined;
    return new Response(file?.body ?? 'Not found', {
      status: file === undefined ? 404 : 200,
      headers: { 'content-type': `${file?.type ?? 'text/plain'}; charset=utf-8` },
    });
  };
}
