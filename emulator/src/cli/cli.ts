import packageJson from '../../package.json' with { type: 'json' };
import { isLoopback } from '../base/loopback.js';
import { createEmulator, type Emulator, type ListeningEmulator } from '../emulator.js';
import { requestLine } from '../http/log/request-line.js';
import { exec } from './exec.js';
import { DEFAULT_HOST, DEFAULT_PORT } from './options.js';
import { type CommandLine, readOptions } from './read-options.js';
import { replaceFile } from './replace-file.js';
import { emulatorOptions } from './setup.js';
import { greeting, help, variables } from './texts.js';

/** The process of the command. */
export interface CommandContext {
  env: Readonly<Record<string, string | undefined>>;
  /** The working directory. */
  directory: string;
  /** Whether output goes to a terminal. */
  isTerminal: boolean;
  /** Whether input comes from a terminal. A terminal sends Ctrl+C to all its processes. */
  isInteractive: boolean;
  out: (text: string) => void;
  err: (text: string) => void;
  /** Sets the listener for termination signals. */
  onSignal: (listener: (signal: NodeJS.Signals) => void) => void;
}

/** Runs the command. Resolves with its exit code. */
export async function runCommand(args: readonly string[], context: CommandContext): Promise<number> {
  const { out, err, env, directory } = context;
  let line: CommandLine;
  let emulator: Emulator;
  let stopped: Promise<void> | undefined;
  try {
    line = readOptions(args, env, directory);
    if (line.help) {
      out(help());
      return 0;
    }
    if (line.version) {
      out(`${packageJson.version}\n`);
      return 0;
    }
    // Before anything is started or printed, so that no signal comes too early.
    if (line.run === undefined) stopped = new Promise((resolve) => context.onSignal(() => resolve()));
    emulator = createEmulator(emulatorOptions(line.options));
  } catch (error) {
    err(`context-gateway-emulator: ${error instanceof Error ? firstLine(error.message) : String(error)}\n`);
    return 2;
  }

  const { options, run } = line;
  const { port = run === undefined ? DEFAULT_PORT : 0, host = DEFAULT_HOST } = options;
  try {
    let listening: ListeningEmulator;
    try {
      listening = await emulator.listen({ port, host });
    } catch (error) {
      err(`context-gateway-emulator: ${listenErrorMessage(error, port, host)}\n`);
      return 1;
    }
    let code = 0;
    if (run !== undefined) code = await runWithEmulator(listening, run, line, context);
    else {
      serve(emulator, listening, line, context);
      await stopped;
    }
    const problem = exportTo(options.exportOnExit, emulator);
    if (problem === undefined) return code;
    err(`context-gateway-emulator: ${problem}\n`);
    return code === 0 ? 1 : code;
  } finally {
    await emulator.close();
  }
}

/** Writes the snapshot. Returns the problem if it cannot. */
function exportTo(file: string | undefined, emulator: Emulator): string | undefined {
  if (file === undefined) return undefined;
  try {
    // It contains the seed, from which the first keys are derived.
    replaceFile(file, JSON.stringify(emulator.state()));
    return undefined;
  } catch (error) {
    return `cannot write ${file}: ${error instanceof Error ? firstLine(error.message) : String(error)}`;
  }
}

/** Prints the greeting, and each request. */
function serve(
  emulator: Emulator,
  { url }: ListeningEmulator,
  { options }: CommandLine,
  { out, env, isTerminal }: CommandContext,
): void {
  const { host = DEFAULT_HOST, controlToken } = options;
  const isClosed = controlToken === undefined && !isLoopback(host);
  out(greeting(url, emulator, { hasSample: options.seedFile === undefined, isClosed }));
  const isColored = isTerminal && !env.NO_COLOR;
  if (!options.quiet) emulator.onRequest((request) => out(`${requestLine(request, isColored)}\n`));
}

function runWithEmulator(
  listening: ListeningEmulator,
  command: string,
  { options }: CommandLine,
  { err, env, isInteractive, onSignal }: CommandContext,
): Promise<number> {
  if (!options.quiet) err(`context-gateway-emulator: listening on ${listening.url} while running: ${command}\n`);
  return exec(command, { env: { ...env, ...variables(listening) }, isInteractive, onSignal });
}

function listenErrorMessage(error: unknown, port: number, host: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is in use; choose another with --port`;
  if (code === 'EACCES') return `not allowed to listen on port ${port}`;
  return `cannot listen on ${host}:${port}: ${error instanceof Error ? firstLine(error.message) : String(error)}`;
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? text;
}
