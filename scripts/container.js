/** Builds, starts and calls the emulator's container: `node scripts/container.js`. Does nothing without a docker daemon. */
import { execFileSync, spawnSync } from 'node:child_process';
import { freePort } from './free-port.js';

const DOCKERFILE = 'emulator/Dockerfile';
const TOKEN = 'token-of-the-check';
const port = await freePort();
const settings = {
  CONTEXT_GATEWAY_EMULATOR_PORT: String(port),
  CONTEXT_GATEWAY_EMULATOR_CONTROL_TOKEN: TOKEN,
  CONTEXT_GATEWAY_EMULATOR_DATA: 'data',
};

if (spawnSync('docker', ['info'], { stdio: 'ignore' }).status === 0) await check(inDocker());
else console.log('skipped: there is no docker daemon');

async function check(container) {
  try {
    await answers(container);
    console.log('the container responds, is healthy, and stops on SIGTERM');
  } finally {
    container.remove();
  }
}

/** Checks that the container becomes healthy, requires its token, and exits with 0. */
async function answers({ isHealthy, stop, said }) {
  const url = `http://127.0.0.1:${port}/_emulator`;
  for (let left = 600; !isHealthy(); left -= 1) {
    if (left === 0) throw new Error(`it does not become healthy: ${said()}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const closed = await fetch(`${url}/overview`);
  const open = await fetch(`${url}/overview`, { headers: { authorization: `Bearer ${TOKEN}` } });
  const page = await fetch(url, { headers: { accept: 'text/html', authorization: `Bearer ${TOKEN}` } });
  const seen = [closed.status, open.status, page.status];
  if (String(seen) !== '401,200,200') throw new Error(`expected 401,200,200, got ${seen}`);
  const code = await stop();
  if (code !== 0) throw new Error(`it ended with ${code}: ${said()}`);
}

function inDocker() {
  const image = `context-gateway-emulator-check-${process.pid}`;
  const docker = (...args) =>
    execFileSync('docker', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
  docker('build', '--quiet', '--file', DOCKERFILE, '--tag', image, '.');
  const variables = Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  const id = docker('run', '--detach', '--publish', `127.0.0.1:${port}:${port}`, ...variables, image);
  const state = (format) => docker('inspect', '--format', `{{${format}}}`, id);
  return {
    isHealthy: () => state('.State.Health.Status') === 'healthy',
    said: () => docker('logs', id),
    stop: async () => {
      docker('stop', id);
      return Number(state('.State.ExitCode'));
    },
    remove: () => {
      docker('rm', '--force', id);
      docker('rmi', '--force', image);
    },
  };
}
