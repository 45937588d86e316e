/** Notifies listeners of changes in an emulator. One per emulator. */
export class Changes {
  readonly #listeners = new Set<(topic: string) => void>();

  /**
   * `topic` is a kind of record (`memory`), one conversation (`conversations/conv_1`), `faults`, `clock` or
   * `everything`.
   */
  notify(topic: string): void {
    for (const listener of this.#listeners) listener(topic);
  }

  /** Adds a listener. Returns a function that removes it. */
  listen(listener: (topic: string) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
