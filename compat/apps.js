/** Runs the servers of the guide as they stand there. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../scripts/free-port.js';
import { install } from './package-file.js';
import { newProject } from './projects.js';

const GUIDE = readFileSync(join(import.meta.dirname, '../docs/guides/chat-app.md'), 'utf8');
const NODE = join(import.meta.dirname, 'node_modules/node20/bin/node');
const SERVERS = ['fastify', 'express'];

/** The packages of the guide's commands. */
const packages = [...GUIDE.matchAll(/^npm install ([^#\n]+)/gm)].flatMap(([, names]) => names.trim().split(' '));

/** Returns the checks as `[name, check]`. */
export function appChecks(file, folder, { env }) {
  const project = join(folder, 'apps');
  return [
    [
      'the packages of the guide: installed',
      async () => {
        newProject(folder, 'apps', 'module');
        await install([file, ...packages], project);
        for (const name of ['store.ts', 'server.ts']) writeFileSync(join(project, name), codeOf(name));
        return '';
      },
    ],
    ...SERVERS.map((name) => [
      `the guide's server with ${name}: a turn, one that its visitor leaves, and SIGTERM`,
      () => checkServer(project, name, env),
    ]),
  ];
}

/** Starts the guide's server on a free port, asks it, and leaves in the middle of a second reply. */
async function checkServer(project, name, env) {
  const port = await freePort();
  const program = `serve-${name}.ts`;
  writeFileSync(join(project, program), codeOf('serve.js', `from '${name}'`).replace('3000', port));
  const child = spawn(NODE, ['--import', 'tsx', program], { cwd: project, env: { ...process.env, ...env } });
  let printed = '';
  child.stderr.on('data', (data) => {
    printed += data;
  });
  const ask = (question, signal) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ conversationId: name, question });
    return fetch(`http://127.0.0.1:${port}/chat`, { method: 'POST', headers, body, signal });
  };
  const checkReply = async (question) => {
    const text = await read(await ask(question));
    if (!text.includes('Oslo') || printed !== '') throw new Error(`the reply: ${text}${printed}`);
  };
  try {
    await untilListening(port, child);
    await checkReply('We keep the manifests in Oslo. Where do we keep the manifests?');
    const left = new AbortController();
    await (await ask('And where else?', left.signal)).body.getReader().read();
    left.abort();
    await checkReply('Where do we keep the manifests?');
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`after SIGTERM, the server ended with ${code}: ${printed}`);
    return '';
  } finally {
    child.kill('SIGKILL');
  }
}

/** The text of a turn, read with the package's own function. */
async function read(response) {
  const { readTurn } = await import('context-gateway/conversation');
  let text = '';
  for await (const event of readTurn(response)) {
    if (event.type === 'text') text += event.text;
    if (event.type === 'error') throw new Error(event.error.message);
  }
  return text;
}

async function untilListening(port, child) {
  while (!(await fetch(`http://127.0.0.1:${port}`).catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The code of the guide that begins with `// name` and contains `mark`. */
function codeOf(name, mark = '') {
  const codes = [...GUIDE.matchAll(/^```\w+\n(\/\/ (\S+)\n[\s\S]*?)^```$/gm)];
  const found = codes.find(([, code, title]) => title === name && code.includes(mark));
  if (found === undefined) throw new Error(`the guide has no ${name} with ${mark}`);
  return found[1];
}
