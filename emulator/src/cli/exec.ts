import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** How a command is run beside the emulator. */
export interface ExecOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** Is there a terminal, which sends Ctrl+C to the command as well? */
  isInteractive: boolean;
  /** Called with a function that takes the signals sent to this process. */
  onSignal: (listener: (signal: NodeJS.Signals) => void) => void;
}

/** Run a command in the system's shell, pass signals on, and give its exit code. */
export function exec(command: string, { env, isInteractive, onSignal }: ExecOptions): Promise<number> {
  // A group of its own, so that a signal reaches what the shell has started too. A terminal's foreground group must stay one.
  const hasGroup = !isInteractive && process.platform !== 'win32';
  const child = spawn(command, { shell: true, stdio: 'inherit', env: { ...env }, detached: hasGroup });
  onSignal((signal) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    if (hasGroup) process.kill(-child.pid, signal);
    else if (signal !== 'SIGINT' || !isInteractive) child.kill(signal);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}
