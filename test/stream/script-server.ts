import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createBrotliCompress, createDeflate, createGzip } from 'node:zlib';
import { atEnd, FaultServer, type Turn } from '../wire/fault-server.js';
import type { Report, Script, Step } from './script.js';

/**
 * A server on raw sockets that plays scripts, byte for byte. Tests control it over HTTP with CORS, so that they can run
 * in a browser. `PUT /scripts` takes a list of scripts, one per request, and returns an id. The last script repeats. A
 * client gets `/{id}` as its baseURL. `POST /{id}/go` ends a wait, and `GET /{id}/report` returns what the server saw.
 */
export class ScriptServer {
  readonly #runs = new Map<string, Run>();
  readonly #server: FaultServer;

  private constructor(server: FaultServer) {
    this.#server = server;
    server.decides(() => atEnd((turn) => this.#answer(turn)));
  }

  static async start(): Promise<ScriptServer> {
    return new ScriptServer(await FaultServer.start());
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  #answer({ socket, method, path, body }: Turn): void {
    const [, id = '', ...rest] = path.split('/');
    const run = this.#runs.get(id);
    if (method === 'OPTIONS') reply(socket, '');
    else if (method === 'PUT') reply(socket, this.#add(JSON.parse(body.toString()) as Script[]));
    else if (run === undefined) reply(socket, 'no such script');
    else if (rest[0] === 'go') reply(socket, run.go());
    else if (rest[0] === 'report') reply(socket, JSON.stringify(run.report()));
    else void run.play(socket);
  }

  #add(scripts: readonly Script[]): string {
    const id = `s${this.#runs.size}`;
    this.#runs.set(id, new Run(scripts));
    return id;
  }
}

class Run {
  readonly #scripts: readonly Script[];
  readonly #sockets = new Set<Socket>();
  #requests = 0;
  /** The number of `go` requests that no wait has used yet. */
  #passes = 0;
  #waiting: (() => void)[] = [];

  constructor(scripts: readonly Script[]) {
    this.#scripts = scripts;
  }

  go(): string {
    const next = this.#waiting.shift();
    if (next === undefined) this.#passes += 1;
    else next();
    return '';
  }

  report(): Report {
    const open = [...this.#sockets].filter((socket) => !socket.destroyed).length;
    return { requests: this.#requests, connections: this.#sockets.size, open };
  }

  async play(socket: Socket): Promise<void> {
    const script = this.#scripts[Math.min(this.#requests, this.#scripts.length - 1)];
    this.#requests += 1;
    this.#sockets.add(socket);
    if (script === undefined) return;
    const writer = new BodyWriter(socket, script);
    for (const step of script.steps) {
      if (socket.destroyed) return;
      if ('wait' in step) await this.#wait();
      else await writer.write(step);
    }
  }

  async #wait(): Promise<void> {
    if (this.#passes > 0) this.#passes -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

const COMPRESSORS = { gzip: createGzip, deflate: createDeflate, br: createBrotliCompress };

/** Writes the status line and headers, then each step with the framing and compression of the body. */
class BodyWriter {
  readonly #socket: Socket;
  readonly #chunked: boolean;
  readonly #compressor: ReturnType<typeof createGzip> | ReturnType<typeof createBrotliCompress> | undefined;
  /** Compressed bytes that have not been sent yet. */
  #compressed: Buffer[] = [];

  constructor(socket: Socket, script: Script) {
    const { status = 200, headers = { 'content-type': 'text/event-stream' }, framing = 'chunked', compress } = script;
    const bodiless = status === 204 || status === 205;
    this.#socket = socket;
    this.#chunked = framing === 'chunked' && !bodiless;
    this.#compressor = compress && COMPRESSORS[compress]();
    // Read all the time: from Node 26 on, `flush` waits for a reader.
    this.#compressor?.on('data', (bytes: Buffer) => this.#compressed.push(bytes));
    const all = {
      ...CORS,
      ...headers,
      ...(compress && { 'content-encoding': compress }),
      ...(this.#chunked ? { 'transfer-encoding': 'chunked' } : bodiless ? {} : { connection: 'close' }),
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`${script.before ?? ''}HTTP/1.1 ${status} Fine\r\n${lines.join('')}\r\n`, 'latin1');
  }

  async write(step: Exclude<Step, { wait: true }>): Promise<void> {
    if ('end' in step) return this.#end(step.end, step.trailers ?? '');
    if ('bytes' in step) return this.#piece(Buffer.from(step.bytes));
    const text = step.send.repeat(step.times ?? 1);
    const compressor = this.#compressor;
    if (compressor === undefined) return this.#piece(Buffer.from(text));
    compressor.write(text);
    await new Promise<void>((resolve) => compressor.flush(resolve));
    return this.#piece(this.#takeCompressed());
  }

  #takeCompressed(): Buffer {
    return Buffer.concat(this.#compressed.splice(0));
  }

  /** Yields to the event loop after each piece, so that pieces can travel in separate packets. */
  async #piece(bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return;
    const socket = this.#socket;
    if (this.#chunked) socket.write(`${bytes.length.toString(16)}\r\n`);
    const writable = socket.write(bytes);
    if (this.#chunked) socket.write('\r\n');
    if (!writable && !socket.destroyed) {
      await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
    }
    await new Promise((resolve) => setImmediate(resolve));
  }

  async #end(how: 'whole' | 'short' | 'fin' | 'reset', trailers: string): Promise<void> {
    if (how === 'reset') this.#socket.resetAndDestroy();
    else if (how === 'fin' || (how === 'short' && !this.#chunked)) this.#socket.end();
    else {
      if (how === 'whole' && this.#compressor !== undefined) {
        await once(this.#compressor.end(), 'end');
        await this.#piece(this.#takeCompressed());
      }
      if (this.#chunked) this.#socket.write(`0\r\n${trailers}\r\n`);
      else this.#socket.end();
    }
  }
}

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*, authorization',
  'access-control-allow-methods': '*',
};

function reply(socket: Socket, body: string): void {
  const cors = Object.entries(CORS).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${cors.join('')}\r\n${body}`);
}
