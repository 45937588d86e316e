import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { builtFile } from '../../test/helpers/programs.js';

/**
 * Runs the command in its own process, which is killed after the test. `within` are the words before Node, and `node`
 * are options of Node.
 */
export function launch(args: readonly string[], { within = [] as string[], node = [] as string[] } = {}) {
  const words = [...within, process.execPath, ...node, builtFile('emulator-cli'), ...args];
  const child = spawn(words[0] as string, words.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said = { out: '', err: '' };
  for (const [name, stream] of [['out', child.stdout] as const, ['err', child.stderr] as const]) {
    stream.on('data', (text) => {
      said[name] += text;
    });
  }
  /** Its exit code, or the signal that ended it. */
  const ended = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? `${signal}`)),
  );
  /** Resolves when it has printed this text, or with what ended it before. */
  const until = (text: string) => {
    const printed = new Promise<void>((resolve) => {
      child.stdout.on('data', () => said.out.includes(text) && resolve());
    });
    return Promise.race([printed, ended]);
  };
  return { child, said, ended, until };
}

/** Starts the emulator at a free port, and waits until it listens. */
export async function start(args: readonly string[], how: Parameters<typeof launch>[1] = {}) {
  const { child, said, ended, until } = launch(['--port', '0', ...args], how);
  const code = await until('Ctrl+C');
  const exported = (name: string) => new RegExp(`^ {2}export ${name}=(\\S+)$`, 'm').exec(said.out)?.[1] ?? '';
  return {
    child,
    said,
    /** What ended it, if it did not begin to listen. */
    code,
    url: exported('CONTEXT_GATEWAY_BASE_URL'),
    secret: exported('CONTEXT_GATEWAY_API_KEY'),
    token: exported('CONTEXT_GATEWAY_SESSION_TOKEN'),
    interrupt: () => {
      child.kill('SIGINT');
      return ended;
    },
  };
}
