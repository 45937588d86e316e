/** Installs other clients, in the oldest and the newest version that the guide names, and lets them send through `gateway.fetch`. */
import { join } from 'node:path';
import { runWell } from './child.js';
import { install } from './package-file.js';
import { newProject } from './projects.js';

/** The newest of these need Node 22. */
const NODE_22 = join(import.meta.dirname, 'node_modules/node22/bin/node');
const CLIENTS = {
  openai: [['openai@4.13.0'], ['openai@7']],
  langchain: [
    ['@langchain/openai@0.3.0', '@langchain/core@0.3'],
    ['@langchain/openai@1', '@langchain/core@1'],
  ],
  'ai-sdk': [
    ['@ai-sdk/openai-compatible@1.0.0', 'ai@5.0.0'],
    ['@ai-sdk/openai-compatible@3', 'ai@7'],
  ],
};

/** Returns the checks as `[name, check]`. */
export function clientChecks(file, folder, { env }) {
  const npm = { PATH: `${join(NODE_22, '..')}:${process.env.PATH}` };
  return Object.entries(CLIENTS).flatMap(([client, versions]) =>
    versions.map((packages, at) => [
      `gateway.fetch for ${packages.join(', ')}: a call, a stream, a lost response, a cut stream`,
      async () => {
        const project = newProject(folder, `clients-${client}-${at}`, 'module');
        await install(packages, project, npm);
        await install([file], project, npm);
        await runWell([NODE_22, 'clients.js', client], { cwd: project, env });
        return '';
      },
    ]),
  );
}
