import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../scripts/free-port.js';

/** The program: Debian's `redis-server`, or `valkey-server`. */
const BINARY = ['redis-server', 'valkey-server'].map(pathOf).find((path) => path !== undefined);
export const missing = BINARY === undefined;

/** A Redis without persistence on a free local port. */
export class RedisServer {
  readonly port: number;
  #child: ChildProcess | undefined;

  constructor(port: number) {
    this.port = port;
  }

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await freePort());
    await server.start();
    return server;
  }

  async start(): Promise<void> {
    const options = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const child = spawn(BINARY ?? 'redis-server', options, { stdio: 'ignore' });
    this.#child = child;
    process.once('exit', () => child.kill('SIGKILL'));
    for (let tries = 0; !(await isOpen(this.port)); tries += 1) {
      if (child.exitCode !== null || tries > 1_000) throw new Error(`redis-server did not start: ${child.exitCode}`);
      await sleep(10);
    }
  }

  /** Kills the server like a power cut. All its data is lost. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Suspends the server with its connections open. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }
}

/** A local port that forwards to `target` with a round trip of `latency` ms. */
export async function distant(target: number, latency: number): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on('data', (chunk) => setTimeout(() => to.writable && to.write(chunk), latency / 2));
      from.on('error', () => {});
      from.on('close', () => to.destroy());
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as { port: number }; // it listens on a port
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port, close };
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const open = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  });
  socket.destroy();
  return open;
}

function pathOf(binary: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, binary)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
