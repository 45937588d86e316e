/** The parts of a text that are hidden. */
export class Hidden {
  /** In order, with something between them. */
  #parts: { from: number; to: number }[] = [];
  /** What is before this place has been shown. */
  shown = 0;

  get isEmpty(): boolean {
    return this.#parts.length === 0;
  }

  /** Hides a part. Those before it that it reaches become one with it. */
  add(from: number, to: number): void {
    const part = { from: Math.max(from, this.shown), to };
    if (part.from >= to) return;
    for (let last = this.#parts.at(-1); last !== undefined && part.from <= last.to; last = this.#parts.at(-1)) {
      if (last.from <= part.from) {
        last.to = Math.max(last.to, part.to);
        return;
      }
      part.to = Math.max(last.to, part.to);
      this.#parts.pop();
    }
    this.#parts.push(part);
  }

  /** A piece of the text that begins at `start`. What is hidden there is replaced where it begins. */
  in(piece: string, start = 0): string {
    let safe = '';
    let shown = start;
    const end = start + piece.length;
    for (const { from, to } of this.#parts) {
      if (to <= shown) continue;
      if (from >= end) break;
      safe += piece.slice(shown - start, Math.max(shown, from) - start);
      if (from >= start) safe += '***';
      shown = Math.min(to, end);
    }
    return safe + piece.slice(shown - start);
  }

  /** Forgets parts that end before a place. */
  forget(place: number): void {
    const left = this.#parts.findIndex(({ to }) => to >= place);
    this.#parts = left === -1 ? [] : this.#parts.slice(left);
  }
}
