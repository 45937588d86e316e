/** Tests the AI SDK adapter with each version of `ai`, both installed as users install them. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, runWell } from './child.js';
import { install } from './package-file.js';

const PROGRAMS = join(import.meta.dirname, 'projects');
const TSC = join(import.meta.dirname, '../node_modules/typescript/bin/tsc');
const NODE_20 = join(import.meta.dirname, 'node_modules/node20/bin/node');
const VERSIONS = [
  { ai: 'ai@5', specification: 'v2' },
  { ai: 'ai@6', specification: 'v3' },
  { ai: 'ai@7', specification: 'v4' },
];
/** `skipLibCheck`, because the declarations of `ai` are not ours. */
const COMPILER_OPTIONS = {
  target: 'es2022',
  module: 'nodenext',
  moduleResolution: 'nodenext',
  lib: ['es2023', 'dom', 'dom.iterable', 'esnext.disposable'],
  types: [],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
};

/** Returns `[name, check]` for each version. Each check creates its own project below `folder`. */
export function aiSdkChecks(file, folder, { env }) {
  return VERSIONS.map(({ ai, specification }) => [
    `${ai} on Node 20: a text, a streamed text, types`,
    async () => {
      const project = join(folder, ai);
      mkdirSync(project);
      writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }));
      for (const program of ['ai-sdk.js', 'ai-sdk.ts']) cpSync(join(PROGRAMS, program), join(project, program));
      writeFileSync(join(project, 'specification.ts'), `export const specification = '${specification}';\n`);
      await install([file, ai], project); // `@ai-sdk/provider` comes with `ai`
      await checkTexts(project, specification, env);
      await checkTypes(project);
      return '';
    },
  ]);
}

async function checkTexts(project, specification, env) {
  const { plain, streamed } = JSON.parse(await runWell([NODE_20, 'ai-sdk.js', specification], { cwd: project, env }));
  if (!plain.includes('PostgreSQL') || streamed !== plain)
    throw new Error(`answered "${plain}", streamed "${streamed}"`);
}

async function checkTypes(project) {
  const config = { compilerOptions: COMPILER_OPTIONS, files: ['ai-sdk.ts'] };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
  const { out, code } = await run([process.execPath, TSC, '-p', '.'], { cwd: project });
  if (code !== 0) throw new Error(out.trim());
}
