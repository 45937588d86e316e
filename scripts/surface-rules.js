/** What of the public surface is wrong however it came about: rules that no renewed snapshot makes right. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const PROGRAM = 'compat/projects/every-name.ts';
/** Seen through an exported name, and of no use to a program by a name of their own. */
const UNNAMED = {
  APIErrorDetails: 'an argument of the constructor of APIError',
  CallFacts: 'what every event says',
  ConnectionDetails: 'an argument of the constructor of APIConnectionError',
  HeaderSource: 'a field of APIErrorDetails',
  SHARED_OPTIONS: 'what DerivedOptions leaves out',
  ServiceClient: 'what both clients extend',
};
const LONGEST_HOVER = 300;
/** Bytes of all declarations together: editors load them on every start. */
const LARGEST = 80 * 1024;

/** Names that are declared and not there, or there and not declared, in the module as it is loaded. */
export async function compareWithModules(surface) {
  const problems = [];
  const require = createRequire(import.meta.url);
  for (const [entry, { exports }] of surface) {
    const values = [...exports].filter(([, kind]) => kind !== 'type').map(([name]) => name);
    for (const file of [`dist/${entry}.js`, `dist/${entry}.cjs`]) {
      const real = Object.keys(file.endsWith('.cjs') ? require(resolve(file)) : await import(resolve(file)));
      for (const name of values)
        if (!real.includes(name)) problems.push(`${name} is declared as a value, but ${file} has none`);
      for (const name of real)
        if (!values.includes(name)) problems.push(`${file} exports ${name}, which is not declared as a value`);
    }
  }
  return problems;
}

/** Names nobody tries out: the program that projects of every kind compile has to use each. */
export function findUntried(surface) {
  const imports = readFileSync(PROGRAM, 'utf8')
    .match(/^import[^;]*;/gm)
    .join('');
  return [...surface.values()]
    .flatMap(({ exports }) => [...exports.keys()])
    .filter((name) => !new RegExp(`\\b${name}\\b`).test(imports))
    .map((name) => `${PROGRAM} does not use ${name}, which is exported`);
}

/** Internals in reach of programs, and declarations that fill an editor's window. */
export function checkDeclarations(surface) {
  const problems = [];
  const exported = new Set([...surface.values()].flatMap(({ exports }) => [...exports.keys()]));
  for (const [name, { text, hovers }] of [...surface.values()].flatMap(({ declarations }) => [...declarations])) {
    if (!exported.has(name) && UNNAMED[name] === undefined)
      problems.push(`${name} is in reach of programs and not exported: export it, or keep it out of what is`);
    if (text.includes('@internal')) problems.push(`${name} is declared with something that is marked @internal`);
    for (const hover of hovers)
      if (hover.text.length > LONGEST_HOVER)
        problems.push(`${name}: an editor shows ${hover.text.length} characters over ${hover.name}: ${hover.text}`);
  }
  return problems;
}

/** What CommonJS programs see is what the others see. And all of it is small. */
export function checkFiles() {
  const problems = [];
  let bytes = 0;
  for (const file of readdirSync('dist').filter((name) => name.endsWith('.d.ts'))) {
    const text = readFileSync(`dist/${file}`, 'utf8');
    const twin = readFileSync(`dist/${file.replace('.d.ts', '.d.cts')}`, 'utf8');
    if (twin.replaceAll(".cjs'", ".js'") !== text) problems.push(`dist/${file} and its CommonJS twin differ`);
    bytes += text.length;
  }
  if (bytes > LARGEST) problems.push(`the declarations have ${bytes} bytes, more than ${LARGEST}`);
  return problems;
}
