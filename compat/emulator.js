/** Runs the built emulator in its own process. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const CLI = join(import.meta.dirname, '../emulator/dist/cli.js');

/** Starts it on a free port. `env` configures a client for it, and `publishable` is a key for a page. */
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
