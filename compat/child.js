/** Runs a program until it exits and returns its output. */
import { spawn } from 'node:child_process';

/** npm and npx install what was published until this day, so that the same commit gets the same packages. */
const UNTIL = '2026-11-26';
/** The environment at the start. A build by Vite sets `NODE_ENV` in this process, with which npm omits development packages. */
export const environment = {
  ...process.env,
  ...(!process.argv.includes('--newest') && { npm_config_before: UNTIL }),
};

export function run([command, ...args], { cwd = import.meta.dirname, env = {}, timeout = 120_000 } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, timeout, env: { ...environment, ...env } });
    let out = '';
    let error = '';
    child.stdout.on('data', (data) => {
      out += data;
    });
    child.stderr.on('data', (data) => {
      error += data;
    });
    child.on('close', (code) => resolve({ out, error, code }));
    child.on('error', (cause) => resolve({ out, error: String(cause), code: -1 }));
  });
}

/** Runs a program that must succeed, and returns its stdout. */
export async function runWell(command, options) {
  const { out, error, code } = await run(command, options);
  if (code === 0) return out;
  throw new Error(`${command.join(' ')}: exit ${code}: ${`${out}${error}`.trim().split('\n').slice(-8).join('\n')}`);
}
