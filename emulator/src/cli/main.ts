#!/usr/bin/env node
import { constants } from 'node:os';

const args = process.argv.slice(2);
/** In ms. */
const LOOK_FOR_SHELL = 200;

// Set before the other modules load, which takes most of the start, so that an early Ctrl+C also ends with 0. `exec` ends
// with the signal's code, because its command has not run.
let onSignal = (signal: NodeJS.Signals): void => {
  process.exit(args[0] === 'exec' ? 128 + constants.signals[signal] : 0);
};
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, (signal) => onSignal(signal));
// npm has a shell start this process, and passes signals only to the shell, which ends without passing them on.
if (process.env.npm_command !== undefined) {
  const shell = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    onSignal('SIGTERM');
  }, LOOK_FOR_SHELL);
  watch.unref();
}
// A reader that closes the pipe, such as `head`, must not end the service.
process.stdout.on('error', () => {});

const { runCommand } = await import('./cli.js');
process.exitCode = await runCommand(args, {
  env: process.env,
  directory: process.cwd(),
  isTerminal: process.stdout.isTTY ?? false,
  isInteractive: process.stdin.isTTY ?? false,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  onSignal: (listener) => {
    onSignal = listener;
  },
});
