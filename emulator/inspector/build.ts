import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Builds the page as three files: `index.html`, one script and one stylesheet. */
export async function buildInspector(): Promise<Record<string, string>> {
  const { outputFiles } = await build({
    entryPoints: { app: path('./main.tsx') },
    outdir: path('.'),
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    // The repository's own options are for Node.
    tsconfigRaw: { compilerOptions: { jsx: 'react-jsx', jsxImportSource: 'preact' } },
    // Resolves the SDK as a bundler does for browsers.
    alias: {
      'context-gateway': path('../../src/index.ts'),
      'context-gateway/conversation': path('../../src/conversation/index.ts'),
      '#platform': path('../../src/platform/browser.ts'),
    },
  });
  const files: Record<string, string> = { 'index.html': await readFile(path('./index.html'), 'utf8') };
  for (const file of outputFiles) files[file.path.endsWith('.css') ? 'app.css' : 'app.js'] = file.text;
  return files;
}
