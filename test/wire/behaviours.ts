import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd, atHead, type Behaviour, type Turn } from './fault-server.js';

export type HeaderList = Readonly<Record<string, string | number | undefined>>;

/** The status line and headers as sent over the wire. */
export function headOf(status: number | string, headers: HeaderList): string {
  const lines = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
  return `HTTP/1.1 ${status}${typeof status === 'number' ? ' Status' : ''}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
}

/** A complete response. */
export function bytesOf(status: number, body: string | Uint8Array, headers: HeaderList = {}): Buffer {
  const content = Buffer.from(body as Uint8Array);
  const type = { 'content-type': 'application/json', 'content-length': content.length };
  return Buffer.concat([Buffer.from(headOf(status, { ...type, ...headers })), content]);
}

/** Sends a correct response and keeps the connection open. */
export const answer = (status: number, body: string | Uint8Array = '{}', headers: HeaderList = {}): Behaviour =>
  atEnd(({ socket }) => void socket.write(bytesOf(status, body, headers)));

/** An error in the documented format. It says that the service did nothing. */
export const refused = (status: number, headers: HeaderList = {}): Behaviour =>
  answer(status, '{"error":{"message":"not now","type":"service_unavailable"}}', headers);

export const json = (body: unknown, headers: HeaderList = {}): Behaviour => answer(200, JSON.stringify(body), headers);

/** Sends these bytes unchanged, and then nothing. */
export const raw = (...parts: (string | Uint8Array)[]): Behaviour =>
  atEnd(({ socket }) => {
    for (const part of parts) socket.write(part);
  });

/** Sends these bytes and closes the connection with a FIN. */
export const rawThenEnd = (...parts: (string | Uint8Array)[]): Behaviour =>
  atEnd(({ socket }) => void socket.end(Buffer.concat(parts.map((part) => Buffer.from(part as Uint8Array)))));

/** Sends these bytes, then resets the connection 20 ms later. */
export const rawThenReset = (...parts: (string | Uint8Array)[]): Behaviour =>
  atEnd(({ socket }) => {
    for (const part of parts) socket.write(part);
    setTimeout(() => socket.resetAndDestroy(), 20);
  });

/** Resets the connection after the request's headers, so in the middle of its body if it has one. */
export const resetAtHead = (): Behaviour => atHead(({ socket }) => void socket.resetAndDestroy());
/** Resets the connection after the whole request, before the status line. */
export const resetAtEnd = (): Behaviour => atEnd(({ socket }) => void socket.resetAndDestroy());
/** Closes the connection with a FIN instead of responding. */
export const finAtEnd = (): Behaviour => atEnd(({ socket }) => void socket.end());

/** Sends a byte every `every` ms. */
export const drip = (bytes: string, every: number): Behaviour =>
  atEnd(async ({ socket }) => {
    for (const byte of Buffer.from(bytes)) {
      if (socket.destroyed) return;
      socket.write(Buffer.of(byte));
      await sleep(every);
    }
  });

/** Repeats a part until the connection closes or `limit` bytes are written. */
export const flood = (head: string, part: Uint8Array, limit: number): Behaviour =>
  atEnd(async ({ socket }: Turn) => {
    socket.write(head);
    let go = (): void => {};
    socket.on('drain', () => go()).on('close', () => go());
    for (let sent = 0; sent < limit && !socket.destroyed; sent += part.byteLength) {
      if (socket.write(part)) continue;
      await new Promise<void>((resolve) => {
        go = resolve;
      });
    }
    socket.end();
  });

/** A server-sent event with one chunk of a completion. */
export function eventOf(content: string, finish: string | null = null): string {
  const chunk = { id: 'c', model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: finish }] };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** A stream that sends these events and never ends. */
export const openStream = (...events: string[]): Behaviour =>
  raw(headOf(200, { 'content-type': 'text/event-stream' }), ...events);
