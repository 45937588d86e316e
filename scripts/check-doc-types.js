/** Type-checks every TypeScript block of the README and the guides against the built package, in strict mode. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const pages = ['README.md', ...readdirSync('docs', { recursive: true }).map((file) => `docs/${file}`)];
// Inside node_modules, so that imports resolve.
const folder = mkdtempSync(resolve('node_modules/.doc-types-'));
let count = 0;
for (const page of pages.filter((name) => name.endsWith('.md'))) {
  for (const [, code] of readFileSync(page, 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)) {
    count += 1;
    writeFileSync(join(folder, `${page.replace(/\W/g, '-')}-${count}.ts`), `${code}\nexport {};\n`);
  }
}
const compilerOptions = {
  ...{ target: 'es2022', module: 'esnext', moduleResolution: 'bundler', types: ['node'] },
  ...{ strict: true, noEmit: true, skipLibCheck: true },
};
writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
const { status, stdout } = spawnSync('tsc', ['-p', folder], { encoding: 'utf8' });
console.log(status === 0 ? `${count} blocks` : stdout.replace(/^node_modules\/[^/]+\//gm, ''));
rmSync(folder, { recursive: true });
process.exitCode = count > 0 && status === 0 ? 0 : 1;
