/** Installs both packages beside the oldest versions of their optional peers, and with the newest Vitest. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { runWell } from './child.js';
import { install, versionOf } from './package-file.js';
import { checkTexts, newProject } from './projects.js';

/** The lower bounds in package.json. The upper ones are in `ai-sdk`, and in the tests. */
const OLDEST = ['ai@5.0.0', '@modelcontextprotocol/sdk@1.17', '@opentelemetry/api@1.3'];
/** The newest Vitest, which needs Node 22. */
const VITEST = ['vitest@5'];
const NODE_22 = join(import.meta.dirname, 'node_modules/node22/bin/node');

/** Returns the checks as `[name, check]`. */
export function peerChecks(file, emulatorFile, folder, { env }) {
  const run = async (project, ...args) => (await runWell([process.execPath, ...args], { cwd: project, env })).trim();
  const installed = async () => {
    const created = newProject(folder, 'peers', 'module');
    await install(OLDEST, created);
    await install([file], created);
    return created;
  };
  const project = join(folder, 'peers');
  return [
    [
      `beside ${OLDEST.join(', ')}: a call and a stream`,
      async () => checkTexts(await run(await installed(), 'calls.js')),
    ],
    [
      'its spans with the oldest @opentelemetry/api',
      async () => expectLine(await run(project, 'peers.js', 'otel'), 'observed'),
    ],
    [
      'its provider with the oldest ai',
      async () => expectLine(await run(project, 'peers.js', 'ai'), /^(?!\w*Error: )./),
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
      'its MCP server with the oldest SDK',
      async () => expectLine(await run(project, 'peers.js', 'mcp'), /^\d+ tools$/),
    ],
  ];
}

function expectLine(line, expected) {
  if (!new RegExp(expected).test(line)) throw new Error(line);
  return typeof expected === 'string' || line.endsWith('tools') ? line : '';
}
