/**
 * Type-checks every TypeScript block of the documentation and of each `@example` in a doc comment against the built
 * package, in strict mode.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const pages = ['docs', 'emulator/docs']
  .flatMap((at) => readdirSync(at, { recursive: true }).map((file) => `${at}/${file}`))
  .concat('README.md', 'emulator/README.md');
// Inside node_modules, so that imports resolve.
const folder = mkdtempSync(resolve('node_modules/.doc-types-'));
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
    writeFileSync(join(folder, `${file.replace(/\W/g, '-')}-${count}.ts`), preambleOf(code) + code);
  }
}
const compilerOptions = {
  ...{ target: 'es2022', module: 'esnext', moduleResolution: 'bundler', types: ['node'] },
  ...{ strict: true, noUncheckedIndexedAccess: true, noEmit: true, skipLibCheck: true },
};
writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['**/*.ts'] }));
const { status, stdout } = spawnSync('tsc', ['-p', folder], { encoding: 'utf8' });
console.log(status === 0 ? `${count} blocks` : stdout.replace(/^node_modules\/[^/]+\//gm, ''));
rmSync(folder, { recursive: true });
process.exitCode = count > 0 && status === 0 ? 0 : 1;

/** What an example uses and does not declare: its imports, and the objects of the reader. */
function preambleOf(code) {
  const imports = {
    'context-gateway': ['GatewayClient', 'ContextClient', 'readChatCompletionStream'],
    'context-gateway/conversation': ['createConversation', 'type Conversation'],
    'context-gateway/ai-sdk': ['createAiSdkProvider', 'contextMiddleware'],
    'context-gateway/otel': ['observeCalls'],
    'context-gateway/redis': ['redisLimiter'],
    'context-gateway/stores': ['postgresStore', 'sqliteStore'],
    ai: ['generateText', 'wrapLanguageModel'],
    redis: ['createClient'],
  };
  const objects = {
    gateway: 'GatewayClient',
    context: 'ContextClient',
    conversation: 'Conversation',
    readSession: '() => Promise<string>',
  };
  const declared = Object.entries(objects).filter(([name]) => !code.includes(`const ${name} =`));
  return [
    ...Object.entries(imports).map(([from, names]) => `import { ${names.join(', ')} } from '${from}';`),
    ...declared.map(([name, type]) => `declare const ${name}: ${type};`),
    '',
  ].join('\n');
}
