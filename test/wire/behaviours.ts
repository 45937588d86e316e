import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd, atHead, type Behaviour, type Turn } from './fault-server.js';

export type HeaderList = Readonly<Record<string, string | number | undefined>>;

/** A head as it goes over the wire. */
export function headOf(status: number | string, headers: HeaderList): string {
  const lines = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
  return `HTTP/1.1 ${status}${typeof status === 'number' ? ' Status' : ''}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
}

/** A complete answer. */
export function bytesOf(status: number, body: string | Uint8Array, headers: HeaderList = {}): Buffer {
  const content = Buffer.from(body as Uint8Array);
  const type = { 'content-type': 'application/json', 'content-length': content.length };
  return Buffer.concat([Buffer.from(headOf(status, { ...type, ...headers })), content]);
}

/** Answers as it is right to, and keeps the connection. */
export const answer = (status: number, body: string | Uint8Array = '{}', headers: HeaderList = {}): Behaviour =>
  atEnd(({ socket }) => void socket.write(bytesOf(status, body, headers)));

/** A refusal in the form the service documents: it did nothing. */
export const refused = (status: number, headers: HeaderList = {}): Behaviour =>
  answer(status, '{"error":{"message":"not now","type":"service_unavailable"}}', headers);

export const json = (body: unknown, headers: HeaderList = {}): Behaviour => answer(200, JSON.stringify(body), headers);

/** Sends these bytes, whatever they are, and then nothing. */
export const raw = (...parts: (string | Uint8Array)[]): Behaviour =>
  atEnd(({ socket }) => {
    for (const part of parts) socket.write(part);
  });

/** Sends these bytes and closes the connection in good order. */
export const rawThenEnd = (...parts: (string | Uint8Array)[]): Behaviour =>
  atEnd(({ socket }) => void socket.end(Buffer.concat(parts.map((part) => Buffer.from(part as Uint8Array)))));

/** Sends these bytes and, when they have left, tears the connection down. */
export const rawThenReset = (...parts: (string | Uint8Array)[]): Behaviour =>
  atEnd(({ socket }) => {
    for (const part of parts) socket.write(part);
    setTimeout(() => socket.resetAndDestroy(), 20);
  });

/** Tears the connection down once the head is read, in the middle of the request's body if it has one. */
export const resetAtHead = (): Behaviour => atHead(({ socket }) => void socket.resetAndDestroy());
/** Tears it down after the whole request, before the status line. */
export const resetAtEnd = (): Behaviour => atEnd(({ socket }) => void socket.resetAndDestroy());
/** Closes it in good order instead of answering. */
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

/** Repeats a part until nobody takes it any more, or `limit` bytes have left. */
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

/** Server-sent events, one chunk of a completion each. */
export function eventOf(content: string, finish: string | null = null): string {
  const chunk = { id: 'c', model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: finish }] };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** A stream that has begun and goes on for ever. */
export const openStream = (...events: string[]): Behaviour =>
  raw(headOf(200, { 'content-type': 'text/event-stream' }), ...events);
