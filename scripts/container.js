/**
 * Builds, starts and calls the emulator's container: `npm run container`. Without a docker daemon, it runs the commands
 * of the Dockerfile directly, each stage in an empty folder.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join, posix } from 'node:path';
import { DockerfileParser } from 'dockerfile-ast';

const DOCKERFILE = 'emulator/Dockerfile';
const TOKEN = 'token-of-the-check';
const port = await freePort();
const settings = {
  CONTEXT_GATEWAY_EMULATOR_PORT: String(port),
  CONTEXT_GATEWAY_EMULATOR_CONTROL_TOKEN: TOKEN,
  CONTEXT_GATEWAY_EMULATOR_DATA: 'data',
};

const hasDocker = spawnSync('docker', ['info'], { stdio: 'ignore' }).status === 0;
console.log(hasDocker ? 'with docker' : 'no docker daemon: the commands by themselves');
const container = hasDocker ? inDocker() : inFolders();
try {
  await answers(container);
  console.log('the container answers, is healthy, and ends when it is told to');
} finally {
  container.remove();
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
  if (String(seen) !== '401,200,200') throw new Error(`not 401, 200 and 200 but ${seen}`);
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

function inFolders() {
  const home = mkdtempSync(join(tmpdir(), 'container-'));
  const stages = [];
  for (const instruction of DockerfileParser.parse(readFileSync(DOCKERFILE, 'utf8')).getInstructions()) {
    const keyword = instruction.getKeyword();
    const text = instruction.getArgumentsContent() ?? '';
    const words = instruction.getArguments().map((argument) => argument.getValue());
    if (keyword === 'FROM') {
      const root = join(home, String(stages.length));
      mkdirSync(root);
      stages.push({ name: words[2], root, directory: root, env: {} });
      continue;
    }
    const stage = stages.at(-1);
    const within = (path) => join(stage.root, posix.resolve(`/${stage.directory.slice(stage.root.length)}`, path));
    if (keyword === 'WORKDIR') {
      stage.directory = within(text);
      mkdirSync(stage.directory, { recursive: true });
    } else if (keyword === 'ENV') {
      const [, name, value] = /^(\w+)=(.*)$/.exec(text);
      stage.env[name] =
        name === 'PATH' ? value.replace(/^\//, `${stage.root}/`).replace('$PATH', process.env.PATH) : value;
    } else if (keyword === 'COPY') {
      const from = instruction
        .getFlags()
        .find((flag) => flag.getName() === 'from')
        ?.getValue();
      const source = from === undefined ? undefined : stages.find(({ name }) => name === from).root;
      copy(source, words.slice(0, -1), within(words.at(-1)), words.at(-1).endsWith('/'));
    } else if (keyword === 'RUN') {
      console.log(`  RUN ${text}`);
      run('sh', ['-c', text], stage);
    } else if (keyword === 'HEALTHCHECK' || keyword === 'ENTRYPOINT') {
      stage[keyword] = JSON.parse(text.replace(/^CMD /, ''));
    } else if (!['USER', 'EXPOSE'].includes(keyword)) {
      throw new Error(`this does not know ${keyword}`);
    }
  }
  const last = stages.at(-1);
  const [command, ...args] = last.ENTRYPOINT;
  // The container listens on all addresses. Here, loopback is enough.
  const env = { ...process.env, ...last.env, ...settings, CONTEXT_GATEWAY_EMULATOR_HOST: '127.0.0.1' };
  const child = spawn(command, args, { cwd: last.directory, env });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      text += data;
    });
  }
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const [check, ...checkArgs] = last.HEALTHCHECK;
  return {
    isHealthy: () => spawnSync(check, checkArgs, { env }).status === 0,
    said: () => text,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
    remove: () => {
      child.kill('SIGKILL');
      rmSync(home, { recursive: true });
    },
  };
}

/** Copies like COPY: files into the target folder, and the contents of a folder instead of the folder itself. */
function copy(stageRoot, sources, target, isFolder) {
  for (const source of sources) {
    if (stageRoot !== undefined) {
      for (const file of matches(stageRoot, source)) cpSync(file, join(target, basename(file)));
    } else if (source === '.') {
      for (const file of files()) cpSync(file, join(target, file));
    } else {
      cpSync(source, isFolder ? join(target, basename(source)) : target);
    }
  }
}

/** The files of a stage that match `pattern`, which may have a `*` in its last segment. */
function matches(stageRoot, pattern) {
  const folder = join(stageRoot, posix.dirname(pattern));
  const name = new RegExp(`^${posix.basename(pattern).replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
  return readdirSync(folder)
    .filter((file) => name.test(file))
    .map((file) => join(folder, file));
}

/** The files of the repository that .dockerignore does not exclude. */
function files() {
  const ignored = readFileSync(`${DOCKERFILE}.dockerignore`, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('**'));
  const all = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  });
  return all.split('\0').filter((file) => file !== '' && !ignored.some((folder) => file.startsWith(`${folder}/`)));
}

function run(command, args, { directory, env }) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: directory,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
}

function freePort() {
  return new Promise((settle) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => settle(port));
    });
  });
}
