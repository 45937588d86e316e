/** Installs the package file into empty projects of every kind, which then make calls, read streams and compile. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { run, runWell } from './child.js';
import { install } from './package-file.js';

const PROGRAMS = join(import.meta.dirname, 'projects');
const TSC = join(import.meta.dirname, '../node_modules/typescript/bin/tsc');
const NODE_TYPES = join(import.meta.dirname, '../node_modules/@types');
const YARN = join(import.meta.dirname, 'node_modules/@yarnpkg/cli-dist/bin/yarn.js');
const MOST_PACKAGES = 4;
/** The oldest TypeScript that is supported, and newer ones than the project's own. */
const TYPESCRIPTS = ['5.4', '6', '7'];

/**
 * The strictest options a user can have. All declarations of packages are checked, and no types are available except
 * those of the package and of `lib`.
 */
const STRICT = {
  target: 'es2022',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  skipLibCheck: false,
  skipDefaultLibCheck: true,
  noEmit: true,
  allowJs: true,
  checkJs: true,
  types: [],
};
/** The program to compile in each project. */
const PROGRAM_OF = { esm: 'every-name.ts', cjs: 'every-name.ts', tested: 'in-process.js' };
const RESOLUTIONS = {
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
  node16: { module: 'node16', moduleResolution: 'node16' },
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
};
/** Knows no `exports`. TypeScript 6 warns about it, and 7 does not have it. */
const CLASSIC = { module: 'commonjs', moduleResolution: 'node', esModuleInterop: true };

/** Creates the projects below `folder` and returns their checks as `[name, check]`. */
export function projectChecks(file, emulatorFile, folder, emulator) {
  const esm = newProject(folder, 'esm', 'module');
  const cjs = newProject(folder, 'cjs', 'commonjs');
  const tested = newProject(folder, 'tested', 'module');
  return [
    ['installed in an empty ES module project', () => checkInstall(file, esm)],
    ['installed in an empty CommonJS project', () => checkInstall(file, cjs)],
    ['import: a call and a stream', () => checkCalls(esm, 'calls.js', emulator)],
    ['require: a call and a stream', () => checkCalls(cjs, 'calls.cjs', emulator)],
    ["schemas in the project's own zod", () => checkSchemas(esm)],
    ['require: every error is an instance of its class', () => checkErrors(cjs, emulator)],
    ['the emulator beside it, in process: a call and a stream', () => checkInProcess([file, emulatorFile], tested)],
    ['with zod 4.0, which the web build shares: a call and a stream', () => checkOldestZod(file, folder, emulator)],
    ['beside zod 3: its schemas validate responses', () => checkZod3(file, folder, emulator)],
    ['msw 3 answers, on Node 22', () => checkMsw(file, folder)],
    ["Yarn 4 with Plug'n'Play: a call and a stream, import and require", () => checkPnp(file, folder, emulator)],
  ];
}

/** The type checks, which are independent of each other. */
export function typeChecks(folder) {
  const dom = ['es2022', 'dom'];
  const kinds = Object.entries(RESOLUTIONS).flatMap(([name, resolution]) => [
    [`TypeScript, ${name}, ES module`, 'esm', { ...resolution, lib: dom }],
    [`TypeScript, ${name}, CommonJS`, 'cjs', { ...resolution, lib: dom }],
  ]);
  const onNode = { ...RESOLUTIONS.nodenext, lib: ['es2022'], types: ['node'], typeRoots: [NODE_TYPES] };
  kinds.push(["TypeScript, nodenext, Node's types instead of dom", 'esm', onNode]);
  kinds.push(["TypeScript, the emulator, Node's types instead of dom", 'tested', onNode]);
  kinds.push(['TypeScript, the emulator, dom', 'tested', { ...RESOLUTIONS.bundler, lib: dom }]);
  const own = kinds.map(([name, project, options]) => [
    name,
    () => checkTypes(join(folder, project), name, options, TSC),
  ]);
  const others = TYPESCRIPTS.flatMap((version) => {
    const tsc = join(import.meta.dirname, `node_modules/typescript${version.replace('.', '')}/bin/tsc`);
    const silenced = version === '6' ? { ignoreDeprecations: '6.0' } : {};
    return [
      ['bundler', 'esm', RESOLUTIONS.bundler],
      ['node16', 'esm', RESOLUTIONS.node16],
      ["nodenext, Node's types instead of dom", 'esm', onNode],
      ...(version === '7' ? [] : [['node', 'cjs', { ...CLASSIC, ...silenced }]]),
    ].map(([resolution, project, options]) => {
      const name = `TypeScript ${version}, ${resolution}`;
      return [name, () => checkTypes(join(folder, project), name, { lib: dom, ...options }, tsc)];
    });
  });
  return [...own, ...others];
}

export function newProject(folder, name, type, settings = {}) {
  const project = join(folder, name);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name, private: true, type, ...settings }));
  cpSync(PROGRAMS, project, { recursive: true });
  return project;
}

async function checkInstall(file, project) {
  await install([file], project);
  const { packages } = JSON.parse(readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8'));
  const names = Object.keys(packages).map((path) => path.replace('node_modules/', ''));
  if (names.length > MOST_PACKAGES) throw new Error(`${names.length} packages: ${names.join(', ')}`);
  const scripts = Object.entries(packages).filter(([, one]) => one.hasInstallScript);
  if (scripts.length > 0) throw new Error(`install scripts: ${scripts.map(([path]) => path).join(', ')}`);
  return `${names.length} packages, no install scripts`;
}

async function checkInProcess(files, project) {
  await install(files, project);
  return checkTexts(await runWell([process.execPath, 'in-process.js'], { cwd: project }), 'fetch');
}

async function checkCalls(project, program, { env }) {
  checkTexts(await runWell([process.execPath, program], { cwd: project, env }));
  return '';
}

/** `printed` is the output of `calls.js`. Returns what it sent through. */
export function checkTexts(printed, expected = 'undici') {
  checkPlain(printed);
  const { engine } = JSON.parse(printed);
  if (!expected.includes(engine)) throw new Error(`sent through ${engine} instead of ${expected}`);
  return engine;
}

/** `printed` has a plain and a streamed reply. */
function checkPlain(printed) {
  const { plain, streamed } = JSON.parse(printed);
  if (!plain.includes('PostgreSQL') || streamed !== plain)
    throw new Error(`answered "${plain}", streamed "${streamed}"`);
  return '';
}

async function checkSchemas(project) {
  const count = await runWell([process.execPath, 'schemas.js'], { cwd: project });
  return `${count.trim()} schemas`;
}

/** The web build imports the project's zod. The condition `worker` selects it on Node, too. */
async function checkOldestZod(file, folder, emulator) {
  const project = newProject(folder, 'zod40', 'module');
  await install([file, 'zod@4.0.0'], project);
  if (zodVersions(project).join() !== '4.0.0') throw new Error(`installed zod ${zodVersions(project).join(' and ')}`);
  const worker = [process.execPath, '--conditions=worker'];
  checkTexts(await runWell([...worker, 'calls.js'], { cwd: project, env: emulator.env }), 'fetch');
  const name = await runWell([...worker, 'bad-argument.js'], {
    cwd: project,
    env: emulator.env,
  });
  if (name.trim() !== 'RequestValidationError') throw new Error(`a bad argument is a ${name}`);
  return 'one zod';
}

async function checkZod3(file, folder, emulator) {
  const project = newProject(folder, 'zod3', 'module');
  await install([file, 'zod@3'], project);
  const count = await runWell([process.execPath, 'zod3.js'], { cwd: project, env: emulator.env });
  return `${zodVersions(project).join(' and ')}, ${count.trim()} records`;
}

async function checkMsw(file, folder) {
  const project = newProject(folder, 'msw', 'module');
  await install([file, 'msw@3', '--ignore-scripts'], project);
  const node22 = join(import.meta.dirname, 'node_modules/node22/bin/node');
  const text = await runWell([node22, 'msw.js'], { cwd: project });
  if (text.trim() !== 'Mocked.\nMocked.') throw new Error(`printed "${text}"`);
  return 'a client created before and after it';
}

/** Without `node_modules`: Yarn resolves every import, and rejects one that package.json does not declare. */
async function checkPnp(file, folder, { env }) {
  const project = newProject(folder, 'pnp', 'module', { dependencies: { 'context-gateway': `file:${file}` } });
  const settings = { nodeLinker: 'pnp', enableTelemetry: false, enableImmutableInstalls: false };
  writeFileSync(join(project, '.yarnrc.yml'), JSON.stringify(settings));
  writeFileSync(join(project, 'yarn.lock'), '');
  const yarn = [process.execPath, YARN];
  await runWell([...yarn, 'install'], { cwd: project });
  if (existsSync(join(project, 'node_modules'))) throw new Error('there is a node_modules');
  for (const program of ['calls.js', 'calls.cjs']) {
    checkTexts(await runWell([...yarn, 'node', program], { cwd: project, env }));
  }
  return (await runWell([...yarn, '--version'], { cwd: project })).trim();
}

/** All versions of zod in a project. */
function zodVersions(project) {
  const { packages } = JSON.parse(readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8'));
  return Object.entries(packages).flatMap(([path, { version }]) => (path.endsWith('node_modules/zod') ? version : []));
}

async function checkErrors(project, emulator) {
  const count = await runWell([process.execPath, 'errors.cjs'], { cwd: project, env: emulator.env });
  return `${count.trim()} classes`;
}

async function checkTypes(project, name, compilerOptions, tsc) {
  const config = join(project, `tsconfig.${name.replaceAll(/\W+/g, '-')}.json`);
  writeFileSync(
    config,
    JSON.stringify({ compilerOptions: { ...STRICT, ...compilerOptions }, files: [PROGRAM_OF[basename(project)]] }),
  );
  const { out, code } = await run([process.execPath, tsc, '-p', config], { cwd: project });
  if (code !== 0) throw new Error(out.trim().split('\n').slice(0, 5).join('\n'));
  return '';
}
