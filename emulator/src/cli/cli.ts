#!/usr/bin/env node
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import { createEmulator, type Emulator } from '../emulator.js';
import { readFlags } from './flags.js';
import { greeting, HELP } from './texts.js';

/** Where the command writes, and how it is told to stop. */
export interface CommandSurroundings {
  out: (text: string) => void;
  err: (text: string) => void;
  onStop: (stop: () => void) => void;
}

/** Run the command; gives its exit code once it has ended. */
export async function runCommand(args: readonly string[], { out, err, onStop }: CommandSurroundings): Promise<number> {
  let flags: ReturnType<typeof readFlags>;
  let emulator: Emulator;
  try {
    flags = readFlags(args);
    if (flags.help) {
      out(HELP);
      return 0;
    }
    if (flags.version) {
      out(`${packageJson.version}\n`);
      return 0;
    }
    emulator = createEmulator(flags.options);
  } catch (error) {
    err(`context-gateway-emulator: ${error instanceof Error ? firstLine(error.message) : String(error)}\n`);
    return 2;
  }

  try {
    const { url } = await emulator.listen(flags);
    out(greeting(url, emulator, flags));
  } catch (error) {
    err(`context-gateway-emulator: ${listenProblem(error, flags)}\n`);
    await emulator.close();
    return 1;
  }
  await new Promise<void>((resolve) => onStop(resolve));
  await emulator.close();
  return 0;
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
