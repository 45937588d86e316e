import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { addSampleConversation, createEmulator } from 'context-gateway-emulator';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FOR_NODE } from './helpers/built.js';
import { AT_LENGTH } from './helpers/endurance.js';
import { runNode, runPrograms, runVitest, USER_PROGRAM } from './helpers/programs.js';
import { INSIDE, SOURCES } from './helpers/sources.js';
import { plain, startReceiver } from './otel/receiver.js';

const PAGES = ['docs', 'emulator/docs']
  .flatMap((at) => readdirSync(at, { recursive: true, encoding: 'utf8' }).map((file) => `${at}/${file}`))
  .concat('README.md', 'SKILL.md', 'emulator/README.md')
  .filter((file) => file.endsWith('.md'))
  .sort();
/** The address of a file in the repository. Pages of the package link to files outside it by their address. */
const REPOSITORY = 'https://github.com/context-gateway/context-gateway/blob/main/';
/** A block of TypeScript, and the output shown right below it. */
const BLOCK = /^```ts\n([\s\S]*?)^```\n(?:\n```(?:text)?\n([\s\S]*?)^```$)?/gm;
const blocks = PAGES.flatMap((page) =>
  [...readFileSync(page, 'utf8').matchAll(BLOCK)].map(([, code = '', output], at) => ({
    page,
    name: `${page}, block ${at + 1}`,
    /** A block that begins with its name, such as `// store.ts`, can be imported by the others of its page. */
    file: `${page.replace(/\W/g, '-')}/${/^\/\/ ([\w/[\]-]+)\.ts\n/.exec(code)?.[1] ?? at + 1}`,
    code,
    output,
    /** The test runner, if the block is a test. */
    runner: /from '(vitest|node:test)'/.exec(code)?.[1],
  })),
);

let folder: string;
let collector: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  collector = await startReceiver();
  // Inside the project, so that its dependencies resolve.
  folder = await mkdtemp(resolve('node_modules/.docs-'));
  for (const { file, code } of blocks) {
    mkdirSync(join(folder, 'src', dirname(file)), { recursive: true });
    writeFileSync(join(folder, 'src', `${file}.ts`), code);
  }
  await build({
    entryPoints: blocks.map(({ file }) => join(folder, 'src', `${file}.ts`)),
    ...{ outbase: join(folder, 'src'), outdir: folder },
    ...USER_PROGRAM,
  });
});
afterAll(async () => {
  await collector.close();
  await rm(folder, { recursive: true });
});

describe('the documentation', () => {
  const tests = (runner: string) => blocks.filter((block) => block.runner === runner).map(({ file }) => file);

  test.runIf(AT_LENGTH)(
    'its tests for Vitest pass unchanged',
    async () => {
      const files = tests('vitest');
      const { code, text } = await runVitest(join(folder, 'src'), `{${files}}.ts`);

      expect(code, text).toBe(0);
      expect(text).toMatch(new RegExp(`Test Files +${files.length} passed`));
    },
    180_000,
  );

  test.runIf(AT_LENGTH)(
    "its tests for Node's runner pass unchanged",
    async () => {
      const files = tests('node:test');
      const { code, text } = await runNode(['--test', ...files.map((file) => join(folder, `${file}.mjs`))], folder); // they may write files

      expect(code, text).toBe(0);
      expect(text).toContain(`pass ${files.length}`);
    },
    180_000,
  );

  const programs = blocks.filter(({ runner }) => runner === undefined);
  /** What each block printed, against an emulator of its own. */
  const printed = new Map<string, { stdout: string; stderr: string } | undefined>();
  beforeAll(async () => {
    const services = programs.map(() => createEmulator({ seed: 'dev', setup: addSampleConversation }));
    const environments = services.map(async (emulator) => ({
      CONTEXT_GATEWAY_BASE_URL: (await emulator.listen({ port: 0 })).url,
      CONTEXT_GATEWAY_API_KEY: emulator.apiKeys.secret,
      CONTEXT_GATEWAY_SESSION_TOKEN: emulator.sessionToken,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    }));
    const env = await Promise.all(environments);
    const all = await runPrograms(
      programs.map(({ file }, at) => ({ program: join(folder, `${file}.mjs`), env: env[at] })),
      folder,
    );
    await Promise.all(services.map((emulator) => emulator.close()));
    for (const [at, { name }] of programs.entries()) printed.set(name, all[at]);
  });

  test.for([...new Set(programs.map(({ page }) => page))])('the code of %s runs unchanged', (page) => {
    const ofPage = programs.filter((block) => block.page === page);
    const results = ofPage.map(({ name, output }) => ({
      ...{ name, stderr: printed.get(name)?.stderr },
      ...(output !== undefined && { stdout: printed.get(name)?.stdout.trimEnd() }),
    }));
    expect(results).toEqual(
      ofPage.map(({ name, output }) => ({
        ...{ name, stderr: '' },
        ...(output !== undefined && { stdout: output.trimEnd() }),
      })),
    );
  });

  test('has a program that exports to a collector, and reaches it', () => {
    const { spans, metrics, services } = collector;

    expect(spans.map(({ name, attributes }) => [name, plain(attributes)['gen_ai.usage.input_tokens']])).toEqual([
      ['chat atlas-small', 16],
    ]);
    expect(metrics.map(({ name }) => name)).toContain('gen_ai.client.token.usage');
    expect([...services]).toEqual(['harbour-chat']);
  });

  test('has the files of the page with useChat, as they are among the examples', () => {
    const guide = readFileSync('docs/guides/chat-page.md', 'utf8');
    const files = [...guide.matchAll(/^```tsx?\n\/\/ (.*)\n([\s\S]*?)^```$/gm)]
      .map(([, path = '', code]) => ({ path: `examples/use-chat/${path}`, code }))
      .filter(({ path }) => existsSync(path));

    expect(files).toHaveLength(10);
    for (const { path, code } of files) expect(readFileSync(path, 'utf8'), path).toBe(code);
  });

  test('has guides of at most 600 words, a README of 900 and a SKILL.md of 700, besides their code', () => {
    const most = new Map([
      ...PAGES.filter((page) => page.startsWith('docs/guides/')).map((page) => [page, 600] as const),
      ['README.md', 900],
      ['SKILL.md', 700],
    ]);
    const words = (page: string) =>
      readFileSync(page, 'utf8')
        .replace(/^```[\s\S]*?^```$/gm, '')
        .split(/\s+/).length;

    expect(
      [...most].filter(([page, limit]) => words(page) > limit),
      'say it in a guide, and link it',
    ).toEqual([]);
  });

  test('has a README in lines of at most 160 characters', () => {
    const lines = readFileSync('README.md', 'utf8').split('\n');

    expect(lines.filter((line) => line.length > 160)).toEqual([]);
  });

  test('links only to existing files and headings', () => {
    const broken = PAGES.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/\]\(([^)\s]+)[^)]*\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => target.startsWith(REPOSITORY) || !/^[a-z]+:/.test(target))
        .filter((target) => !leadsSomewhere(page, target))
        .map((target) => `${page}: ${target}`),
    );

    expect(broken).toEqual([]);
  });
});

test('the recipe in CONTRIBUTING adds an endpoint to the client and to the emulator', async () => {
  const [resource = '', methods = ''] = [
    ...readFileSync('CONTRIBUTING.md', 'utf8').matchAll(/^ {3}```ts\n([\s\S]*?)^ {3}```$/gm),
  ].map(([, code = '']) => code.replace(/^ {3}/gm, ''));
  /** The new `models.ts` beside each of these files. */
  const added: Record<string, string> = {
    [resolve('src/gateway/client.ts')]: resource,
    [resolve('emulator/src/api/gateway-routes.ts')]: methods,
  };
  /** What its other steps do, in files that exist. */
  const after: Record<string, (text: string) => string> = {
    'src/gateway/client.ts': (text) =>
      `import { Models } from './models.js';\n${text}`
        .replace('this.usage = new', 'this.models = new Models(transport);\n$&')
        .replace('readonly usage: Usage;', '$&\nreadonly models: Models;'),
    'emulator/src/api/gateway-routes.ts': (text) =>
      `import { modelRoutes } from './models.js';\n${text}`.replace(
        'usageRoutes(area',
        'modelRoutes(area, state);\n$&',
      ),
  };
  const program = `import { GatewayClient } from 'context-gateway';
    import { createEmulator } from 'context-gateway-emulator';
    const emulator = createEmulator({ seed: 'dev' });
    const fetch = (...call) => emulator.fetch(new Request(...call));
    const gateway = new GatewayClient({ baseURL: 'https://service.test', apiKey: emulator.apiKeys.secret, fetch });
    console.log(JSON.stringify(await gateway.models.list({ family: 'atlas' })));`;
  const outfile = join(folder, 'recipe.mjs');
  await build({
    ...FOR_NODE,
    stdin: { contents: program, resolveDir: '.' },
    packages: 'external',
    outfile,
    alias: Object.fromEntries(Object.entries({ ...INSIDE, ...SOURCES }).map(([name, file]) => [name, resolve(file)])),
    plugins: [
      {
        name: 'recipe',
        setup: ({ onResolve, onLoad }) => {
          for (const [importer, contents] of Object.entries(added)) {
            const path = join(dirname(importer), 'models.ts');
            onResolve({ filter: /^\.\/models\.js$/ }, (one) => (one.importer === importer ? { path } : undefined));
            onLoad({ filter: new RegExp(`^${path}$`) }, () => ({ contents, loader: 'ts' }));
          }
          for (const [file, change] of Object.entries(after))
            onLoad({ filter: new RegExp(`^${resolve(file)}$`) }, () => ({
              contents: change(readFileSync(file, 'utf8')),
              loader: 'ts',
            }));
        },
      },
    ],
  });
  const [printed] = await runPrograms([{ program: outfile }]);

  expect(printed).toEqual({ stderr: '', stdout: expect.stringContaining('"id":"atlas-small","context_window":') });
});

function leadsSomewhere(page: string, target: string): boolean {
  const [file, heading] = target.split('#', 2);
  const inRepository = file?.startsWith(REPOSITORY) ? file.slice(REPOSITORY.length) : undefined;
  const path = inRepository ?? (file ? join(dirname(page), file) : page);
  if (!existsSync(path)) return false;
  const headings = [...readFileSync(path, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, words = '']) => slugOf(words));
  return heading === undefined || headings.includes(heading);
}

/** The fragment of a heading on GitHub. */
const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
