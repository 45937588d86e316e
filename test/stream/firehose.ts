import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A server that sends the same events to every request, as fast as they are read. */
export class Firehose {
  /** Body bytes that the operating system has accepted for sending. */
  accepted = 0;
  requests = 0;
  /** Open connections that have carried a request. */
  readonly used = new Set<Socket>();
  /** All connections. A client may open some in advance. */
  readonly #sockets = new Set<Socket>();
  readonly #piece: Buffer;
  readonly #pieces: number;
  readonly #end: Buffer;
  readonly #header: string;
  readonly #server = createServer({ noDelay: true }, (socket) => this.#accept(socket));

  /** Sends `piece` `pieces` times, then `end`, and closes the connection. Without `end` the connection stays open. */
  constructor(piece: string, pieces: number, end = '', header = 'connection: close') {
    this.#header = header;
    this.#piece = Buffer.from(piece);
    this.#pieces = pieces;
    this.#end = Buffer.from(end);
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // it listens on a port, not on a pipe
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Waits until no more bytes are accepted, and returns their number. */
  async standstill(): Promise<number> {
    for (let before = -1; before !== this.accepted; ) {
      before = this.accepted;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return this.accepted;
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket
      .on('error', () => {})
      .on('close', () => {
        this.used.delete(socket);
        this.#sockets.delete(socket);
      });
    let seen = '';
    socket.on('data', (bytes) => {
      seen = (seen + bytes.toString('latin1')).slice(-4_096);
      if (!seen.endsWith('}')) return; // the end of the request's JSON
      seen = '';
      this.requests += 1;
      this.used.add(socket);
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n${this.#header}\r\n\r\n`);
      this.#send(socket, this.#pieces);
    });
  }

  #send(socket: Socket, left: number): void {
    if (socket.destroyed) return;
    if (left === 0) {
      if (this.#end.length > 0) socket.end(this.#end);
      return;
    }
    socket.write(this.#piece, () => {
      this.accepted += this.#piece.length;
      this.#send(socket, left - 1);
    });
  }
}
