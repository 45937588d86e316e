/** Tells those who watch an emulator what has changed. Lives as long as the emulator; a listener until it is taken off. */
export class Changes {
  readonly #listeners = new Set<(topic: string) => void>();

  /** `topic` is a kind of record (`memory`), one conversation (`conversations/conv_1`), `faults`, `clock` or `everything`. */
  tell(topic: string): void {
    for (const listener of this.#listeners) listener(topic);
  }

  /** Gives the function that takes the listener off. */
  listen(listener: (topic: string) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
