import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTLSServer, type TlsOptions } from 'node:tls';

/** A request as received, and the socket to misbehave on. */
export interface Turn {
  readonly socket: Socket;
  /** Both count from 1: among the requests of the server, and among those of this connection. */
  readonly number: number;
  readonly onConnection: number;
  readonly method: string;
  readonly path: string;
  /** Request line and headers, as received. */
  readonly head: string;
  readonly headers: ReadonlyMap<string, string>;
  /** The first megabyte of the body without its framing. Complete if `behaviour.at` is `'end'`. */
  body: Buffer;
  /** Bytes of the whole body. */
  bodySize: number;
  complete: boolean;
}

/** What the server does with one request. */
export interface Behaviour {
  /** Whether to act after the headers, or (usually) after the whole body. */
  readonly at: 'head' | 'end';
  readonly act: (turn: Turn) => void | Promise<void>;
}

export const atEnd = (act: Behaviour['act']): Behaviour => ({ at: 'end', act });
export const atHead = (act: Behaviour['act']): Behaviour => ({ at: 'head', act });

const KEPT = 1024 * 1024;

/** A server on raw sockets. It can send anything, even bytes that are not HTTP, and counts what it receives. */
export class FaultServer {
  connections = 0;
  readonly open = new Set<Socket>();
  readonly turns: Turn[] = [];
  /** Called for each new connection before anything is read. Returns `true` if it has handled the connection. */
  onConnection: ((socket: Socket, number: number) => boolean) | undefined;
  #script: (turn: Turn) => Behaviour = () => stall();
  readonly #server: Server;
  readonly #scheme: string;

  private constructor(tls: TlsOptions | undefined) {
    const accept = (socket: Socket): void => this.#accept(socket);
    this.#server = tls === undefined ? createServer({ noDelay: true }, accept) : createTLSServer(tls, accept);
    this.#server.on('tlsClientError', () => {});
    this.#scheme = tls === undefined ? 'http' : 'https';
  }

  static async start(tls?: TlsOptions): Promise<FaultServer> {
    for (;;) {
      const server = new FaultServer(tls);
      // Below the ports that systems choose: once it stops listening, no other server gets its port.
      server.#server.listen(10_000 + Math.floor(Math.random() * 20_000), '127.0.0.1');
      const isListening = once(server.#server, 'listening').then(
        () => true,
        () => false, // the port is in use
      );
      if (await isListening) return server;
    }
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port; // it listens on a port, not on a pipe
  }

  get url(): string {
    return `${this.#scheme}://localhost:${this.port}`;
  }

  get requests(): number {
    return this.turns.length;
  }

  /** Open connections that have carried a request. */
  get used(): number {
    return new Set(this.turns.map(({ socket }) => socket).filter((socket) => this.open.has(socket))).size;
  }

  /** One behaviour per request. The last one repeats. */
  answers(...script: Behaviour[]): void {
    let at = 0;
    this.#script = () => {
      const behaviour = script[Math.min(at, script.length - 1)] ?? stall();
      at += 1;
      return behaviour;
    };
  }

  decides(script: (turn: Turn) => Behaviour): void {
    this.#script = script;
  }

  /** Refuses new connections. Open ones stay open. */
  stopListening(): void {
    if (this.#server.listening) this.#server.close();
  }

  async close(): Promise<void> {
    for (const socket of this.open) socket.destroy();
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  #accept(socket: Socket): void {
    this.connections += 1;
    this.open.add(socket);
    socket.on('close', () => this.open.delete(socket)).on('error', () => {});
    if (this.onConnection?.(socket, this.connections)) return;
    this.#read(socket);
  }

  #read(socket: Socket): void {
    let pending: Buffer = Buffer.alloc(0);
    let turn: Turn | undefined;
    let behaviour: Behaviour | undefined;
    let body: BodyReader | undefined;
    let count = 0;
    socket.on('data', (chunk: Buffer) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      while (pending.length > 0) {
        if (turn === undefined) {
          const end = pending.indexOf('\r\n\r\n');
          if (end === -1) return;
          count += 1;
          turn = parseHead(socket, pending.subarray(0, end).toString('latin1'), this.turns.length + 1, count);
          pending = pending.subarray(end + 4);
          this.turns.push(turn);
          behaviour = this.#script(turn);
          body = new BodyReader(turn);
          if (behaviour.at === 'head') void behaviour.act(turn);
        }
        pending = body?.read(pending) ?? pending;
        if (!turn.complete) return;
        if (behaviour?.at === 'end') void behaviour.act(turn);
        turn = undefined;
      }
    });
  }
}

function parseHead(socket: Socket, head: string, number: number, onConnection: number): Turn {
  const [first = '', ...lines] = head.split('\r\n');
  const [method = '', path = ''] = first.split(' ');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return {
    socket,
    number,
    onConnection,
    method,
    path,
    head,
    headers,
    body: Buffer.alloc(0),
    bodySize: 0,
    complete: false,
  };
}

/** Removes the framing of a request's body. */
class BodyReader {
  readonly #turn: Turn;
  readonly #chunked: boolean;
  #left: number;
  #last = false;

  constructor(turn: Turn) {
    this.#turn = turn;
    this.#chunked = turn.headers.get('transfer-encoding') === 'chunked';
    this.#left = Number(turn.headers.get('content-length') ?? 0);
    if (!this.#chunked && this.#left === 0) turn.complete = true;
  }

  /** Consumes the bytes of the body and returns the rest. */
  read(given: Buffer): Buffer {
    let bytes: Buffer = given;
    while (!this.#turn.complete && bytes.length > 0) {
      if (this.#left > 0) {
        const part = bytes.subarray(0, this.#left);
        this.#left -= part.length;
        this.#keep(part);
        bytes = bytes.subarray(part.length);
        if (!this.#chunked && this.#left === 0) this.#turn.complete = true;
        continue;
      }
      const end = bytes.indexOf('\r\n');
      if (end === -1) return bytes;
      const line = bytes.subarray(0, end).toString('latin1');
      bytes = bytes.subarray(end + 2);
      if (this.#last) this.#turn.complete = true;
      if (line === '') continue;
      this.#left = Number.parseInt(line, 16);
      this.#last = this.#left === 0;
    }
    return bytes;
  }

  #keep(part: Buffer): void {
    const turn = this.#turn;
    if (turn.bodySize < KEPT) turn.body = Buffer.concat([turn.body, part.subarray(0, KEPT - turn.bodySize)]);
    turn.bodySize += part.length;
  }
}

/** Never responds. */
export const stall = (): Behaviour => atEnd(() => {});
