/** Installs the package file into empty projects of every kind, which then make calls, read streams and compile. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, runWell } from './child.js';
import { install } from './package-file.js';

const PROGRAMS = join(import.meta.dirname, 'projects');
const NODE_TYPES = join(import.meta.dirname, '../node_modules/@types');
const MOST_PACKAGES = 4;

/**
 * The strictest options a user can have. All declarations of packages are checked, and no types are available except
 * those of the package and of `lib`.
 */
const STRICT = {
  target: 'es2022',
  lib: ['es2022', 'dom'],
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
const BUNDLER = { module: 'esnext', moduleResolution: 'bundler' };
const NODE16 = { module: 'node16', moduleResolution: 'node16' };
const NODENEXT = { module: 'nodenext', moduleResolution: 'nodenext' };
const ON_NODE = { ...NODENEXT, lib: ['es2022'], types: ['node'], typeRoots: [NODE_TYPES] };
/** The project's TypeScript, the oldest that is supported, and the newest. */
const OWN = join(import.meta.dirname, '../node_modules/typescript');
const OLDEST = join(import.meta.dirname, 'node_modules/typescript54');
const NEWEST = join(import.meta.dirname, 'node_modules/typescript7');
/** A compiler, the project, its program, and the options beside the strict ones. */
const TYPE_CHECKS = {
  'TypeScript, bundler, ES module': [OWN, 'esm', 'every-entry.ts', BUNDLER],
  'TypeScript, nodenext, ES module': [OWN, 'esm', 'every-entry.ts', NODENEXT],
  'TypeScript, nodenext, CommonJS': [OWN, 'cjs', 'every-entry.ts', NODENEXT],
  "TypeScript, the emulator, Node's types instead of dom": [OWN, 'tested', 'in-process.js', ON_NODE],
  'TypeScript, the emulator, dom': [OWN, 'tested', 'in-process.js', BUNDLER],
  'TypeScript 5.4, node16, ES module': [OLDEST, 'esm', 'every-entry.ts', NODE16],
  "TypeScript 5.4, nodenext, Node's types instead of dom": [OLDEST, 'esm', 'every-entry.ts', ON_NODE],
  'TypeScript 7, bundler, ES module': [NEWEST, 'esm', 'every-entry.ts', BUNDLER],
  "TypeScript 7, nodenext, Node's types instead of dom": [NEWEST, 'esm', 'every-entry.ts', ON_NODE],
};

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
    ['the MCP server, with nothing else installed', () => outputOf(esm, 'mcp.js')],
    ["schemas in the project's own zod", () => outputOf(esm, 'schemas.js')],
    ['require: every error is an instance of its class', () => outputOf(cjs, 'errors.cjs', emulator)],
    ['the emulator beside it, in process: a call and a stream', () => checkInProcess([file, emulatorFile], tested)],
    ['with zod 4.0, which the web build shares: a call and a stream', () => checkOldestZod(file, folder, emulator)],
  ];
}

/** The type checks, which are independent of each other. */
export function typeChecks(folder) {
  return Object.entries(TYPE_CHECKS).map(([name, [compiler, project, program, options]]) => [
    name,
    () => checkTypes(join(folder, project), name, { compiler, program, options }),
  ]);
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
  return checkTexts(await outputOf(project, 'in-process.js'), 'fetch');
}

async function checkCalls(project, program, emulator) {
  checkTexts(await outputOf(project, program, emulator));
  return '';
}

async function outputOf(project, program, { env } = {}) {
  return (await runWell([process.execPath, program], { cwd: project, env })).trim();
}

/** `printed` is the output of `calls.js`: a plain and a streamed reply, and what they were sent through, which it returns. */
export function checkTexts(printed, expected = 'undici') {
  const { plain, streamed, engine } = JSON.parse(printed);
  if (!plain.includes('PostgreSQL') || streamed !== plain)
    throw new Error(`answered "${plain}", streamed "${streamed}"`);
  if (!expected.includes(engine)) throw new Error(`sent through ${engine} instead of ${expected}`);
  return engine;
}

/** The web build imports the project's zod. The condition `worker` selects it on Node, too. */
async function checkOldestZod(file, folder, emulator) {
  const project = newProject(folder, 'zod40', 'module');
  await install([file, 'zod@4.0.0'], project);
  const versions = zodVersions(project);
  if (versions.join() !== '4.0.0') throw new Error(`installed zod ${versions.join(' and ')}`);
  const worker = [process.execPath, '--conditions=worker'];
  checkTexts(await runWell([...worker, 'calls.js'], { cwd: project, env: emulator.env }), 'fetch');
  const name = await runWell([...worker, 'bad-argument.js'], { cwd: project, env: emulator.env });
  if (name.trim() !== 'RequestValidationError') throw new Error(`a bad argument is a ${name}`);
  return 'one zod';
}

/** All versions of zod in a project. */
function zodVersions(project) {
  const { packages } = JSON.parse(readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8'));
  return Object.entries(packages).flatMap(([path, { version }]) => (path.endsWith('node_modules/zod') ? version : []));
}

async function checkTypes(project, name, { compiler, program, options }) {
  const config = join(project, `tsconfig.${name.replaceAll(/\W+/g, '-')}.json`);
  writeFileSync(config, JSON.stringify({ compilerOptions: { ...STRICT, ...options }, files: [program] }));
  const { out, code } = await run([process.execPath, join(compiler, 'bin/tsc'), '-p', config], { cwd: project });
  if (code !== 0) throw new Error(out.trim().split('\n').slice(0, 5).join('\n'));
  return '';
}
