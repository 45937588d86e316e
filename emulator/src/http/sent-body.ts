/** What was sent of a streamed body: its first bytes, and when each event left. */
export class SentBody {
  readonly #most: number;
  #parts: Uint8Array[] = [];
  #size = 0;
  /** Where each event ends in the bytes that are kept, and when it left, in turn. */
  readonly #marks: number[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  add(chunk: Uint8Array, at: number): void {
    if (this.#size >= this.#most) return;
    const part = chunk.subarray(0, this.#most - this.#size);
    // A part of a larger piece of memory would hold all of it.
    this.#parts.push(part.byteLength < part.buffer.byteLength ? new Uint8Array(part) : part);
    this.#size += part.byteLength;
    this.#marks.push(this.#size, at);
  }

  /** One piece of memory in place of many. */
  close(): void {
    if (this.#parts.length > 1) this.#parts = [new Uint8Array(Buffer.concat(this.#parts))];
  }

  text(): string {
    return Buffer.concat(this.#parts).toString();
  }

  /** Each chunk that was sent, with its time. */
  chunks(): { at: number; text: string }[] {
    const bytes = Buffer.concat(this.#parts);
    const found: { at: number; text: string }[] = [];
    let start = 0;
    for (let i = 0; i + 1 < this.#marks.length; i += 2) {
      const end = this.#marks[i] ?? start;
      found.push({ at: this.#marks[i + 1] ?? 0, text: bytes.toString('utf8', start, end) });
      start = end;
    }
    return found;
  }
}
