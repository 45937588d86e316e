import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../scripts/free-port.js';

const KINDS = [
  /** A minimal configuration, without limits that a slow machine would reach. */
  'plain',
  /** Compresses responses. */
  'compressing',
  /** Times out if the service is silent. */
  'impatient',
  /** Forwards to a service that is not running. */
  'stopped',
] as const;
/** The configurations of a proxy, each on its own port. */
export type Kind = (typeof KINDS)[number];
type Ports = Readonly<Record<Kind | 'service' | 'nothing', number>>;

export interface RunningProxy {
  url(kind: Kind): string;
  stop(): Promise<void>;
}

interface Setup {
  readonly binary: string;
  /** Arguments. The configuration is the file `config` in `folder`. */
  readonly args: (folder: string, ports: Ports, idle: number) => string[];
  readonly config: (folder: string, ports: Ports, idle: number) => string;
}

/** How long an impatient proxy waits for the first byte, and between bytes, in ms. With 700, a busy one gave up on requests that it had not passed on. */
const PATIENCE = 1_500;

/**
 * `X-Proxy-Request` is the proxy's id of a request. Two arrivals with one id mean that the proxy repeated it. No proxy
 * repeats a POST with its default settings: nginx only does so with `proxy_next_upstream non_idempotent`,
 * haproxy with a `retry-on` beyond `conn-failure`, and varnish with a `retry` or a cached request body in its VCL.
 */
const SETUPS = {
  nginx: nginx(),
  'nginx that keeps connections': nginx({ keeps: true }),
  haproxy: {
    binary: 'haproxy',
    args: (folder) => ['-db', '-f', join(folder, 'config')],
    // Without `http-no-delay` it would delay each event of a stream by 40 ms or more.
    // It does not compress streams, because it would buffer them until they are complete.
    config: (_, ports, idle) => `
      global
        noreuseport
      defaults
        mode http
        option abortonclose
        option http-no-delay
        timeout connect 10s
        timeout client 60s
        timeout server 60s
        timeout http-keep-alive ${idle}ms
      frontend plain
        bind 127.0.0.1:${ports.plain}
        default_backend service
      frontend compressing
        bind 127.0.0.1:${ports.compressing}
        compression algo gzip
        compression type application/json
        default_backend service
      frontend impatient
        bind 127.0.0.1:${ports.impatient}
        default_backend impatient
      frontend stopped
        bind 127.0.0.1:${ports.stopped}
        default_backend nothing
      backend service
        http-request set-header X-Proxy-Request %[uuid()]
        server one 127.0.0.1:${ports.service}
      backend impatient
        timeout server ${PATIENCE}ms
        http-request set-header X-Proxy-Request %[uuid()]
        server one 127.0.0.1:${ports.service}
      backend nothing
        timeout connect 100ms
        retries 1
        server one 127.0.0.1:${ports.nothing}
    `,
  },
  varnish: {
    binary: 'varnishd',
    args: (folder, ports, idle) => [
      ...['-F', '-j', 'none', '-n', join(folder, 'state'), '-f', join(folder, 'config'), '-s', 'malloc,16m'],
      ...['-p', `timeout_idle=${idle / 1_000}`],
      ...KINDS.flatMap((kind) => ['-a', `${kind}=127.0.0.1:${ports[kind]}`]),
    ],
    // It does not compress streams, because it would buffer them until they are complete.
    config: (_, ports) => `
      vcl 4.1;
      backend service { .host = "127.0.0.1"; .port = "${ports.service}"; }
      backend impatient {
        .host = "127.0.0.1"; .port = "${ports.service}";
        .first_byte_timeout = ${PATIENCE}ms; .between_bytes_timeout = ${PATIENCE}ms;
      }
      backend nothing { .host = "127.0.0.1"; .port = "${ports.nothing}"; }
      sub vcl_recv {
        set req.http.X-Proxy-Request = req.xid;
        set req.backend_hint = service;
        if (local.socket == "compressing") { set req.http.X-Compress = "yes"; }
        if (local.socket == "impatient") { set req.backend_hint = impatient; }
        if (local.socket == "stopped") { set req.backend_hint = nothing; }
      }
      sub vcl_backend_response {
        if (bereq.http.X-Compress && beresp.http.Content-Type ~ "json") { set beresp.do_gzip = true; }
      }
    `,
  },
} satisfies Record<string, Setup>;

/** nginx as in Debian: HTTP/1.0 to the service with one connection per request, unless it `keeps` them. */
function nginx({ keeps = false } = {}): Setup {
  const place = (target: string, more = ''): string => `
    location / {
      proxy_pass http://${target};
      proxy_buffering off;
      proxy_set_header X-Proxy-Request $request_id;
      ${keeps ? 'proxy_http_version 1.1; proxy_set_header Connection "";' : ''}
      ${more}
    }`;
  return {
    binary: 'nginx',
    args: (folder) => ['-p', folder, '-e', 'stderr', '-c', join(folder, 'config')],
    config: (folder, ports, idle) => `
      daemon off;
      master_process off;
      pid ${folder}/pid;
      events {}
      http {
        access_log off;
        ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((what) => `${what}_temp_path ${folder}/${what};`).join(' ')}
        keepalive_timeout ${idle}ms;
        upstream service { server 127.0.0.1:${ports.service}; ${keeps ? 'keepalive 8;' : ''} }
        server { listen 127.0.0.1:${ports.plain}; ${place('service')} }
        server {
          listen 127.0.0.1:${ports.compressing};
          gzip on; gzip_proxied any; gzip_types application/json text/event-stream;
          ${place('service')}
        }
        server { listen 127.0.0.1:${ports.impatient}; ${place('service', `proxy_read_timeout ${PATIENCE}ms;`)} }
        server { listen 127.0.0.1:${ports.stopped}; ${place(`127.0.0.1:${ports.nothing}`)} }
      }
    `,
  };
}

export type ProxyName = keyof typeof SETUPS;

export const proxyNames = Object.keys(SETUPS) as ProxyName[]; // its own keys

/** The missing program of a proxy, if it is not installed. */
export function missingBinary(name: ProxyName): string | undefined {
  const { binary } = SETUPS[name];
  return pathOf(binary) === undefined ? binary : undefined;
}

/** Starts a proxy in front of a service. It closes a connection that was idle for `idle` ms. */
export async function startProxy(name: ProxyName, service: number, idle = 60_000): Promise<RunningProxy> {
  const { binary, args, config }: Setup = SETUPS[name];
  const folder = await mkdtemp(join(tmpdir(), 'proxy-'));
  const ports = {
    plain: await freePort(),
    compressing: await freePort(),
    impatient: await freePort(),
    stopped: await freePort(),
    nothing: await freePort(),
    service,
  };
  await writeFile(join(folder, 'config'), `${config(folder, ports, idle)}\n`); // haproxy requires a final newline
  const child = spawn(pathOf(binary) ?? binary, args(folder, ports, idle), { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => (said += chunk));
  const kill = (): void => void child.kill();
  process.once('exit', kill);
  const stop = async (): Promise<void> => {
    process.off('exit', kill);
    if (child.exitCode === null) {
      kill();
      await once(child, 'exit');
    }
    await rm(folder, { recursive: true });
  };
  try {
    for (const kind of KINDS) await listening(ports[kind], child);
  } catch (cause) {
    await stop();
    throw new Error(`${name} did not start: ${said}`, { cause });
  }
  return { url: (kind) => `http://127.0.0.1:${ports[kind]}`, stop };
}

/** The path of a program. Debian installs servers in folders that are not in every PATH. */
function pathOf(binary: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, binary)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function listening(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 1_500; tries += 1) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await sleep(20);
  }
  throw new Error('it does not listen');
}
