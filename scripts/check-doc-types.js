/**
 * Type-checks every TypeScript block of the documentation and of each `@example` in a doc comment against the built
 * package, in strict mode; and that the type of everything a user can reach can be written into the user's own declarations.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

/** What examples use and do not declare: their imports, and the objects of the reader. */
const PREAMBLE = `
  import { ContextClient, GatewayClient, readChatCompletionStream } from 'context-gateway';
  import { type Conversation, createConversation, readTurn, sources, toResponse } from 'context-gateway/conversation';
  import { contextMiddleware, createAiSdkProvider } from 'context-gateway/ai-sdk';
  import { observeCalls } from 'context-gateway/otel';
  import { redisLimiter } from 'context-gateway/redis';
  import { generateText, wrapLanguageModel } from 'ai';
  import { createClient } from 'redis';
  declare const gateway: GatewayClient;
  declare const context: ContextClient;
  declare const conversation: Conversation;
  declare function readSession(): Promise<string>;
`;

const pages = ['docs', 'emulator/docs']
  .flatMap((at) => readdirSync(at, { recursive: true }).map((file) => `${at}/${file}`))
  .concat('README.md', 'SKILL.md', 'emulator/README.md');
const declared = reachable();
// A project of its own, not in node_modules, whose files TypeScript lets name anything.
const folder = mkdtempSync(resolve('.doc-types-'));
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
let count = 0;
for (const page of pages.filter((name) => name.endsWith('.md'))) {
  for (const [, code] of readFileSync(page, 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)) {
    count += 1;
    const name = /^\/\/ ([\w/[\]-]+)\.ts\n/.exec(code)?.[1] ?? count; // other blocks of the page import it by its name
    const file = join(folder, page.replace(/\W/g, '-'), `${name}.ts`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${code}\nexport {};\n`);
  }
}
const sources = readdirSync('src', { recursive: true }).filter((file) => file.endsWith('.ts'));
for (const file of sources) {
  for (const [, commented] of readFileSync(`src/${file}`, 'utf8').matchAll(
    /@example\n *\* ```ts\n([\s\S]*?)^ *\* ```$/gm,
  )) {
    const code = commented.replace(/^ *\* ?/gm, '');
    if (/^import /m.test(code)) continue; // checked on its page in docs/reference
    count += 1;
    // In a block, an example may declare what the preamble has.
    writeFileSync(join(folder, `${file.replace(/\W/g, '-')}-${count}.ts`), `${PREAMBLE}{\n${code}}\n`);
  }
}
writeFileSync(join(folder, 'declared.ts'), declared);
// As in a project that installs both: what no entry exports is then out of reach of the user's declarations.
for (const [name, from] of Object.entries({ 'context-gateway': '.', 'context-gateway-emulator': 'emulator' }))
  for (const part of ['package.json', 'dist'])
    cpSync(join(from, part), join(folder, 'node_modules', name, part), { recursive: true });
const compilerOptions = {
  ...{ target: 'es2022', module: 'esnext', moduleResolution: 'bundler', types: ['node'] },
  ...{ strict: true, noUncheckedIndexedAccess: true, noEmit: true, skipLibCheck: true },
  declaration: true, // also reports types that have no name and cannot be written out
};
writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['**/*.ts'] }));
const { status, stdout } = spawnSync('tsc', ['-p', folder], { encoding: 'utf8' });
console.log(status === 0 ? `${count} blocks` : stdout.replace(/^\.doc-types-[^/]+\//gm, ''));
rmSync(folder, { recursive: true });
process.exitCode = count > 0 && status === 0 ? 0 : 1;

/** A module that exports each property of each exported type, and what each exported function returns, with inferred types. */
function reachable() {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
  const entries = Object.entries(exports).filter(([, target]) => typeof target === 'object');
  const program = ts.createProgram(
    entries.map(([, { import: target }]) => resolve(target.types)),
    { module: ts.ModuleKind.NodeNext, skipLibCheck: true },
  );
  const checker = program.getTypeChecker();
  const lines = entries.flatMap(([path, { import: target }], at) => {
    const symbol = checker.getSymbolAtLocation(program.getSourceFile(resolve(target.types)));
    const members = checker.getExportsOfModule(symbol).flatMap((name) => reachedFrom(checker, name, `entry${at}`));
    return [`import * as entry${at} from 'context-gateway${path.slice(1)}';`, ...members];
  });
  return lines.join('\n');
}

function reachedFrom(checker, exported, entry) {
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  const id = `${entry}${exported.name}`;
  if (symbol.flags & ts.SymbolFlags.Function)
    return [
      `export const ${id} = (...given: Parameters<typeof ${entry}.${exported.name}>) => ${entry}.${exported.name}(...given);`,
    ];
  if (!(symbol.flags & ts.SymbolFlags.Type)) return [];
  const parameters = symbol.declarations.find(({ typeParameters }) => typeParameters)?.typeParameters ?? [];
  const type = `${entry}.${exported.name}${parameters.length > 0 ? `<${parameters.map(() => 'any')}>` : ''}`;
  const declared = checker.getDeclaredTypeOfSymbol(symbol);
  const isPublic = (property) =>
    !(ts.getCombinedModifierFlags(property.declarations?.[0] ?? exported) & ts.ModifierFlags.Protected);
  const properties = (declared.flags & ts.TypeFlags.Object ? declared.getProperties() : []).filter(isPublic);
  return properties
    .filter(({ name }) => /^\w+$/.test(name))
    .map(({ name }) => `export const ${id}_${name} = (undefined as unknown as ${type}).${name};`);
}
