import { readFile } from 'node:fs/promises';
import { build } from 'esbuild';

/** Bundles the page, as the build of any web project does. Serves its document, its styles and its one script. */
export async function buildPage(): Promise<(path: string) => Response> {
  const files = new Map([
    ['/', { type: 'text/html', text: await fileOf('index.html') }],
    ['/page.css', { type: 'text/css', text: await fileOf('page.css') }],
    ['/app.js', { type: 'text/javascript', text: await bundle() }],
  ]);
  return (path) => {
    const { type, text } = files.get(path) ?? { type: 'text/plain', text: 'Not found' };
    const headers = { 'content-type': `${type}; charset=utf-8` };
    return new Response(text, { status: files.has(path) ? 200 : 404, headers });
  };
}

const pathOf = (file: string): string => new URL(file, import.meta.url).pathname;
const fileOf = (file: string): Promise<string> => readFile(pathOf(file), 'utf8');

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [pathOf('app.ts')],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    alias: { '#platform': pathOf('../../src/platform/browser.ts') }, // the sources of this repository
  });
  return outputFiles[0]?.text ?? '';
}
