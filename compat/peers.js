/** Installs both packages beside versions of their optional peers that they do not use: an install must not be refused. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { runWell } from './child.js';
import { install, versionOf } from './package-file.js';
import { checkTexts, newProject } from './projects.js';

/** What a project may have already, for a reason of its own. */
const OLD = ['ai@4', '@modelcontextprotocol/sdk@1.17', '@opentelemetry/api@1.8'];
const OLDEST = ['@opentelemetry/api@1.0'];
/** The AI SDK before it checked the version of a model. */
const UNCHECKED = ['ai@4.2'];
/** The newest Vitest, which needs Node 22. */
const VITEST = ['vitest@5'];
const NODE_22 = join(import.meta.dirname, 'node_modules/node22/bin/node');

/** Returns the checks as `[name, check]`. */
export function peerChecks(file, emulatorFile, folder, { env }) {
  const installed = (name, peers) => async () => {
    const project = newProject(folder, name, 'module');
    await install(peers, project);
    await install([file], project);
    return project;
  };
  const run = async (project, ...args) => (await runWell([process.execPath, ...args], { cwd: project, env })).trim();
  const old = installed('peers', OLD);
  const oldest = installed('peers-oldest', OLDEST);
  const unchecked = installed('peers-ai', UNCHECKED);
  const project = join(folder, 'peers');
  return [
    [`beside ${OLD.join(', ')}: a call and a stream`, async () => checkTexts(await run(await old(), 'calls.js'))],
    [
      'its spans with @opentelemetry/api 1.8',
      async () => expectLine(await run(project, 'peers.js', 'otel'), 'observed'),
    ],
    [
      'its provider with ai 4: the AI SDK says which version it needs',
      async () => expectLine(await run(project, 'peers.js', 'ai'), /upgrade to AI SDK 5/),
    ],
    [
      'its provider with ai 4.2 says which versions it needs',
      async () => expectLine(await run(await unchecked(), 'peers.js', 'ai'), /needs ai 5, 6 or 7, .*npm install ai@7/),
    ],
    [
      `the emulator beside ${VITEST}: its fixtures`,
      async () => {
        const tested = newProject(folder, 'peers-vitest', 'module');
        const npm = { PATH: `${join(NODE_22, '..')}:${process.env.PATH}` };
        await install(VITEST, tested, npm);
        await install([file, emulatorFile], tested, npm);
        cpSync(join(import.meta.dirname, 'projects/fixtures.js'), join(tested, 'fixtures.test.js'));
        await runWell([NODE_22, 'node_modules/vitest/vitest.mjs', 'run', '--test-timeout=60000'], { cwd: tested });
        return versionOf(tested, 'vitest');
      },
    ],
    [
      'its MCP server with @modelcontextprotocol/sdk 1.17',
      async () => expectLine(await run(project, 'peers.js', 'mcp'), /^\d+ tools$/),
    ],
    [
      'its spans with @opentelemetry/api 1.0 say which versions they need',
      async () => expectLine(await run(await oldest(), 'peers.js', 'otel'), /needs @opentelemetry\/api from 1\.3/),
    ],
  ];
}

function expectLine(line, expected) {
  if (!new RegExp(expected).test(line)) throw new Error(line);
  return typeof expected === 'string' || line.endsWith('tools') ? line : '';
}
