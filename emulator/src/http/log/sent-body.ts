import { startOfBytes } from '../../base/start-of.js';

/** Records the first bytes of a streamed body as it is sent, and the time of each event. */
export class SentBody {
  #count = 0;
  #parts: (Uint8Array | string)[] = [];
  #size = 0;
  /** Whether more was sent than is recorded. */
  isCut = false;
  /** Two numbers per event: the offset of its end in the recorded bytes, and the time it was sent. */
  readonly #marks: number[] = [];

  /** `watch` is called for every event, also for those that are not recorded. */
  constructor(
    private readonly most: number,
    private readonly watch?: (index: number, at: number, event: string | Uint8Array) => void,
  ) {}

  /** Adds text, which is not encoded until it is read. */
  addText(text: string, at: number): void {
    this.#announce(text, at);
    const size = Buffer.byteLength(text);
    if (this.isCut || this.#size + size > this.most) {
      this.#addBytes(Buffer.from(text), at);
      return;
    }
    this.#parts.push(text);
    this.#size += size;
    this.#marks.push(this.#size, at);
  }

  add(chunk: Uint8Array, at: number): void {
    this.#announce(chunk, at);
    this.#addBytes(chunk, at);
  }

  #announce(event: string | Uint8Array, at: number): void {
    this.watch?.(this.#count, at, event);
    this.#count += 1;
  }

  #addBytes(chunk: Uint8Array, at: number): void {
    if (this.isCut) return;
    this.isCut = this.#size + chunk.byteLength > this.most;
    const part = startOfBytes(chunk, this.most - this.#size);
    if (part.byteLength === 0) return;
    // A view would keep its whole buffer in memory, so it is copied.
    this.#parts.push(part.byteLength < part.buffer.byteLength ? new Uint8Array(part) : part);
    this.#size += part.byteLength;
    this.#marks.push(this.#size, at);
  }

  /** Merges the parts into one buffer. */
  close(): void {
    if (this.#parts.length > 1) this.#parts = [new Uint8Array(this.#bytes())];
  }

  text(): string {
    return this.#bytes().toString();
  }

  /** The recorded chunks, each with the time it was sent. */
  chunks(): { at: number; text: string }[] {
    const bytes = this.#bytes();
    const found: { at: number; text: string }[] = [];
    let start = 0;
    for (let i = 0; i + 1 < this.#marks.length; i += 2) {
      const end = this.#marks[i] ?? start;
      found.push({ at: this.#marks[i + 1] ?? 0, text: bytes.toString('utf8', start, end) });
      start = end;
    }
    return found;
  }

  #bytes(): Buffer {
    // Usually all are texts, and then they are encoded at once.
    if (this.#parts.every((part) => typeof part === 'string')) return Buffer.from(this.#parts.join(''));
    return Buffer.concat(this.#parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  }
}
