/** The service, in a process of its own: the emulator as it is built. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const CLI = join(import.meta.dirname, '../emulator/dist/cli.js');

/** Starts it on a free port. `env` is what a program needs to find it; `publishable` a key that a page may have. */
export async function startEmulator() {
  const child = spawn(process.execPath, [CLI, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const part of child.stdout) {
    text += part;
    if (text.includes('Ctrl+C')) break;
  }
  const env = Object.fromEntries([...text.matchAll(/export (\w+)=(\S+)/g)].map(([, name, value]) => [name, value]));
  const publishable = text.match(/svc_pk_\w+/)?.[0];
  if (publishable === undefined) throw new Error(`the emulator did not start: ${text}`);
  return { env, url: env.CONTEXT_GATEWAY_BASE_URL, publishable, stop: () => child.kill() };
}
