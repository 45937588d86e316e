import { spawn, spawnSync } from 'node:child_process';
import { constants } from 'node:os';

/** Options of `exec`. */
export interface ExecOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** Whether there is a terminal, which sends Ctrl+C to the command as well. */
  isInteractive: boolean;
  /** Sets the listener for signals sent to this process. */
  onSignal: (listener: (signal: NodeJS.Signals) => void) => void;
}

/** Runs a command in the system's shell, and forwards signals to it. Resolves with its exit code. */
export function exec(command: string, { env, isInteractive, onSignal }: ExecOptions): Promise<number> {
  // In its own process group, so that signals also reach the children of the shell. In a terminal it must stay in the
  // foreground group.
  const hasGroup = !isInteractive && process.platform !== 'win32';
  const child = spawn(command, { shell: true, stdio: 'inherit', env: { ...env }, detached: hasGroup });
  onSignal((signal) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    if (hasGroup) process.kill(-child.pid, signal);
    else if (signal !== 'SIGINT' || !isInteractive) {
      for (const pid of startedBy(child.pid)) sendTo(pid, signal);
      child.kill(signal);
    }
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}

/** All descendants of a process. Empty if there is no `ps`. */
function startedBy(parent: number): number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const all = (stdout ?? '').split('\n').map((line) => line.trim().split(/ +/).map(Number));
  const below = (pid: number): number[] =>
    all.flatMap(([child, of]) => (of === pid && child !== undefined ? [child, ...below(child)] : []));
  return below(parent);
}

function sendTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already ended.
  }
}
