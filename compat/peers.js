/** Installs both packages beside the oldest and the newest versions of their optional peers, and beside the newest Vitest. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { runWell } from './child.js';
import { install, versionOf } from './package-file.js';
import { checkTexts, newProject } from './projects.js';

/** The newest of these need Node 22. */
const NODE_22 = join(import.meta.dirname, 'node_modules/node22/bin/node');
/** The bounds in package.json. The majors in between are in the tests. */
const BOUNDS = {
  oldest: { peers: ['ai@5.0.0', '@opentelemetry/api@1.3'], specification: 'v2' },
  newest: { peers: ['ai@7', '@opentelemetry/api@1'], specification: 'v4' },
};

/** Returns the checks as `[name, check]`. */
export function peerChecks(file, emulatorFile, folder, { env }) {
  const npm = { PATH: `${join(NODE_22, '..')}:${process.env.PATH}` };
  const beside = Object.entries(BOUNDS).map(([bound, { peers, specification }]) => [
    `beside the ${bound} ${peers.join(', ')}: a call and a stream, spans, the provider`,
    async () => {
      const project = newProject(folder, `peers-${bound}`, 'module');
      await install(peers, project, npm);
      await install([file], project, npm);
      const run = (...args) => runWell([NODE_22, ...args], { cwd: project, env });
      checkTexts(await run('calls.js'));
      await run('peers.js', specification);
      return '';
    },
  ]);
  return [
    ...beside,
    [
      'the emulator beside the newest Vitest: its fixtures',
      async () => {
        const project = newProject(folder, 'peers-vitest', 'module');
        await install(['vitest@5'], project, npm);
        await install([file, emulatorFile], project, npm);
        cpSync(join(import.meta.dirname, 'projects/fixtures.js'), join(project, 'fixtures.test.js'));
        await runWell([NODE_22, 'node_modules/vitest/vitest.mjs', 'run', '--test-timeout=60000'], { cwd: project });
        return versionOf(project, 'vitest');
      },
    ],
  ];
}
