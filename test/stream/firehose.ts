import type { Socket } from 'node:net';
import { atEnd, FaultServer } from '../wire/fault-server.js';

/** A server that sends the same events to every request, as fast as they are read. */
export class Firehose {
  /** Body bytes that the operating system has accepted for sending. */
  accepted = 0;
  readonly #piece: Buffer;
  readonly #pieces: number;
  readonly #end: Buffer;
  readonly #header: string;
  #server: FaultServer | undefined;

  /** Sends `piece` `pieces` times, then `end`, and closes the connection. Without `end` the connection stays open. */
  constructor(piece: string, pieces: number, end = '', header = 'connection: close') {
    this.#header = header;
    this.#piece = Buffer.from(piece);
    this.#pieces = pieces;
    this.#end = Buffer.from(end);
  }

  async start(): Promise<string> {
    this.#server = await FaultServer.start();
    this.#server.decides(() =>
      atEnd(({ socket }) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n${this.#header}\r\n\r\n`);
        this.#send(socket, this.#pieces);
      }),
    );
    return `http://127.0.0.1:${this.#server.port}`;
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  /** Waits until no more bytes are accepted, and returns their number. */
  async standstill(): Promise<number> {
    for (let before = -1; before !== this.accepted; ) {
      before = this.accepted;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return this.accepted;
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
