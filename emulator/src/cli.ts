#!/usr/bin/env node
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };
import { createEmulator } from './emulator.js';
import { addSampleConversation } from './sample.js';

const HELP = `context-gateway-emulator: the context and gateway service on this machine

  --port NUMBER   where to listen (4010)
  --host ADDRESS  which address to listen on (127.0.0.1)
  --seed TEXT     the same keys and ids on every start
  --help          this text
  --version       the version
`;

/** Where the command writes, and how it is told to stop. */
export interface CommandSurroundings {
  out: (text: string) => void;
  err: (text: string) => void;
  onStop: (stop: () => void) => void;
}

/** Run the command; gives its exit code once it has ended. */
export async function runCommand(args: readonly string[], { out, err, onStop }: CommandSurroundings): Promise<number> {
  let flags: ReturnType<typeof parseFlags>;
  try {
    flags = parseFlags(args);
  } catch (error) {
    err(`context-gateway-emulator: ${error instanceof Error ? firstLine(error.message) : String(error)}\n`);
    return 2;
  }
  if (flags.help) {
    out(HELP);
    return 0;
  }
  if (flags.version) {
    out(`${packageJson.version}\n`);
    return 0;
  }

  const emulator = createEmulator({ seed: flags.seed, setup: addSampleConversation });
  try {
    const { url } = await emulator.listen({ port: flags.port, host: flags.host });
    out(greeting(url, emulator.apiKeys.secret, emulator.apiKeys.publishable, emulator.sessionToken));
  } catch (error) {
    err(`context-gateway-emulator: ${listenProblem(error, flags)}\n`);
    return 1;
  }
  await new Promise<void>((resolve) => onStop(resolve));
  await emulator.close();
  return 0;
}

function parseFlags(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: 'string', default: '4010' },
      host: { type: 'string', default: '127.0.0.1' },
      seed: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
      version: { type: 'boolean', short: 'v', default: false },
    },
  });
  const port = Number(values.port);
  if (!/^\d+$/.test(values.port) || port > 65_535) throw new Error(`--port is not a port number: ${values.port}`);
  return { ...values, port };
}

function greeting(url: string, secret: string, publishable: string, session: string): string {
  return `Listening on ${url}

  secret key       ${secret}
  publishable key  ${publishable}
  session token    ${session}

Try it:

  curl -N ${url}/v1/chat/completions \\
    -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' \\
    -d '{"model":"atlas-small","stream":true,"messages":[{"role":"system","content":"We decided to keep invoices in PostgreSQL."},{"role":"user","content":"Where do we keep invoices?"}]}'

  curl '${url}/api/context?conversationId=conv_sample' -H 'Authorization: Bearer ${session}'
  curl ${url}/api/context/compact -H 'Authorization: Bearer ${session}' -H 'Content-Type: application/json' \\
    -d '{"conversationId":"conv_sample","level":"deep"}'

Ctrl+C stops it.
`;
}

function listenProblem(error: unknown, { port, host }: { port: number; host: string }): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is taken; choose another with --port`;
  if (code === 'EACCES') return `not allowed to listen on port ${port}`;
  return `cannot listen on ${host}:${port}: ${error instanceof Error ? firstLine(error.message) : String(error)}`;
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? text;
}

/** npm starts commands through links, so both names of the file are looked at. */
function isMain(): boolean {
  const started = process.argv[1];
  return started !== undefined && realpathSync(started) === fileURLToPath(import.meta.url);
}

if (isMain()) {
  process.exitCode = await runCommand(process.argv.slice(2), {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    onStop: (stop) => {
      process.once('SIGINT', stop);
      process.once('SIGTERM', stop);
    },
  });
}
