/**
 * The last step of the build. For a class that `src` exports only as a type (`export type { Files }`), the declaration
 * bundler emits a value export: `instanceof Files` would compile and fail at run time. This turns every export that
 * does not exist at run time back into a type. (API Extractor's rollup loses the `type` as well.)
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';

const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
for (const entry of Object.values(exports).filter((target) => typeof target === 'object')) {
  const values = Object.keys(await import(resolve(entry.import.node)));
  for (const { types } of Object.values(entry)) {
    let text = readFileSync(types, 'utf8');
    const source = ts.createSourceFile(types, text, ts.ScriptTarget.ES2022);
    const named = source.statements.filter((one) => ts.isExportDeclaration(one) && !one.isTypeOnly);
    const names = named.flatMap((one) => one.exportClause?.elements ?? []);
    for (const name of names.reverse()) {
      if (name.isTypeOnly || values.includes(name.name.text)) continue;
      const at = name.getStart(source);
      text = `${text.slice(0, at)}type ${text.slice(at)}`;
    }
    writeFileSync(types, text);
  }
}
