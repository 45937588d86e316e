/** Builds, starts and calls the emulator's container: `node scripts/container.js`. Does nothing without a docker daemon. */
import { execFileSync, spawnSync } from 'node:child_process';
import { freePort } from './free-port.js';

const IMAGE = `context-gateway-emulator-check-${process.pid}`;
const TOKEN = 'token-of-the-check';
const port = await freePort();
const url = `http://127.0.0.1:${port}/_emulator`;

if (spawnSync('docker', ['info'], { stdio: 'ignore' }).status === 0) await check();
else console.log('skipped: there is no docker daemon');

/** Checks that the container becomes healthy, requires its token, and exits with 0. */
async function check() {
  docker('build', '--quiet', '--file', 'emulator/Dockerfile', '--tag', IMAGE, '.');
  docker('run', '--detach', '--name', IMAGE, '--publish', `127.0.0.1:${port}:${port}`, ...environment(), IMAGE);
  try {
    for (let left = 600; state('.State.Health.Status') !== 'healthy'; left -= 1) {
      if (left === 0) throw new Error(`it does not become healthy: ${docker('logs', IMAGE)}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const authorization = `Bearer ${TOKEN}`;
    const responses = [
      await fetch(`${url}/limits`),
      await fetch(`${url}/limits`, { headers: { authorization } }),
      await fetch(url, { headers: { accept: 'text/html', authorization } }),
    ];
    const seen = String(responses.map(({ status }) => status));
    if (seen !== '401,200,200') throw new Error(`expected 401,200,200, got ${seen}`);
    docker('stop', IMAGE);
    if (state('.State.ExitCode') !== '0') throw new Error(`it did not end with 0: ${docker('logs', IMAGE)}`);
    console.log('the container responds, is healthy, and stops on SIGTERM');
  } finally {
    docker('rm', '--force', IMAGE);
    docker('rmi', '--force', IMAGE);
  }
}

function environment() {
  const settings = { PORT: port, CONTROL_TOKEN: TOKEN, DATA: 'data' };
  return Object.entries(settings).flatMap(([name, value]) => ['--env', `CONTEXT_GATEWAY_EMULATOR_${name}=${value}`]);
}

function state(format) {
  return docker('inspect', '--format', `{{${format}}}`, IMAGE);
}

function docker(...args) {
  return execFileSync('docker', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}
