/**
 * The last step of the build: a class of which `src` exports the type alone (`export type { Files }`) leaves the bundler of
 * declarations as a value. A program could then write `instanceof Files`, compile, and fail where it runs. Put right here.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const LOCAL_EXPORTS = /^export \{ (.*) \};$/m;

for (const entry of ['index', 'schemas']) {
  const values = new Set(Object.keys(await import(new URL(`../dist/${entry}.js`, import.meta.url).href)));
  const mark = (one) => (one.startsWith('type ') || values.has(one.replace(/.* as /, '')) ? one : `type ${one}`);

  for (const file of [`dist/${entry}.d.ts`, `dist/${entry}.d.cts`]) {
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      text.replace(LOCAL_EXPORTS, (_, names) => `export { ${names.split(', ').map(mark).join(', ')} };`),
    );
  }
}
