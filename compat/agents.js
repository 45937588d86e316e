/** An agent framework beside the package, on Node 20. Its install is large, so this runs weekly. */
import { join } from 'node:path';
import { runWell } from './child.js';
import { install, versionOf } from './package-file.js';
import { checkPlain, newProject } from './projects.js';

const NODE = join(import.meta.dirname, 'node_modules/node20/bin/node');

/** Returns the checks as `[name, check]`. */
export function agentChecks(file, folder, { env }) {
  const project = join(folder, 'mastra');
  const run = (kind) => runWell([NODE, 'mastra.js', kind], { cwd: project, env });
  return [
    [
      '@mastra/core on Node 20: installed beside it',
      async () => {
        newProject(folder, 'mastra', 'module');
        // npm takes the newest version that allows the Node that runs it.
        const npm = { PATH: `${join(NODE, '..')}:${process.env.PATH}` };
        await install(['@mastra/core'], project, npm);
        await install([file], project, npm);
        return versionOf(project, '@mastra/core');
      },
    ],
    [
      'an agent of Mastra with the AI SDK provider: a text and a streamed one',
      async () => checkPlain(await run('provider')),
    ],
    [
      'an agent of Mastra with the address of the gateway: a text and a streamed one',
      async () => checkPlain(await run('url')),
    ],
  ];
}
