/** Finds the conversation that a prompt quotes. Which one has which text is collected when it is needed. */
export class Quotes {
  #holders: Map<string, Set<string>> | undefined;

  /** `all` yields the id of a conversation with the content of each of its messages. */
  constructor(private readonly all: () => Iterable<readonly [id: string, content: string]>) {}

  /** That of the newest message which only one conversation has, word for word, and which `exists`: others are being created. */
  find(messages: readonly { role: string; content: string }[], exists: (id: string) => boolean): string | undefined {
    if (this.#holders === undefined) {
      this.#holders = new Map();
      for (const [id, content] of this.all()) this.add(id, content);
    }
    for (const { role, content } of [...messages].reverse()) {
      if (role === 'system' || content === '') continue;
      const holders = this.#holders.get(content);
      const [id] = holders ?? [];
      if (holders?.size === 1 && id !== undefined && exists(id)) return id;
    }
    return undefined;
  }

  add(id: string, content: string): void {
    const holders = this.#holders?.get(content);
    if (holders === undefined) this.#holders?.set(content, new Set([id]));
    else holders.add(id);
  }

  /** Called when messages are deleted or replaced. */
  clear(): void {
    this.#holders = undefined;
  }
}
