/** Builds a route with Nitro, with which Nuxt builds its servers, and runs it as Cloudflare and AWS Lambda do. */
import { cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runWell } from './child.js';
import { install } from './package-file.js';
import { checkTexts } from './projects.js';

/** The Nitro of Nuxt 4. */
const NITRO = 'nitropack@2.13';
const PRESETS = {
  aws_lambda: { runner: 'run-lambda.js', node: 'node20', sentThrough: 'undici' },
  cloudflare_module: { runner: 'run-nitro-worker.js', node: 'node22', sentThrough: 'fetch' }, // miniflare needs Node 22
};

/** Returns the checks as `[name, check]`. */
export function nitroChecks(file, folder, emulator) {
  const project = join(folder, 'nitro');
  const query = new URLSearchParams({ baseURL: emulator.url, apiKey: emulator.env.CONTEXT_GATEWAY_API_KEY });
  return [
    [
      `${NITRO}: installed`,
      async () => {
        mkdirSync(join(project, 'routes'), { recursive: true });
        writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'nitro-app', private: true }));
        writeFileSync(join(project, 'nitro.config.js'), "export default { compatibilityDate: '2026-01-01' };");
        cpSync(join(import.meta.dirname, 'projects/nitro-route.js'), join(project, 'routes/index.js'));
        await install([file, NITRO], project);
        return '';
      },
    ],
    ...Object.entries(PRESETS).map(([preset, { runner, node, sentThrough }]) => [
      `Nitro for ${preset}: a call and a stream`,
      async () => {
        const cli = join(project, 'node_modules/.bin/nitropack');
        await runWell([cli, 'build'], { cwd: project, env: { NITRO_PRESET: preset } });
        const output = join(folder, preset); // away from the project's node_modules
        renameSync(join(project, '.output/server'), output);
        const program = [join(import.meta.dirname, `node_modules/${node}/bin/node`), runner, output, String(query)];
        return checkTexts(await runWell(program), sentThrough);
      },
    ]),
  ];
}
