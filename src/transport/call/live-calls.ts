/** A call in flight that can be ended. */
export interface LiveCall {
  abort(reason: unknown): void;
  close(): void;
}

/** The calls of a client in flight, including streams. Clients that share connections share this. */
export class LiveCalls {
  readonly #calls = new Set<LiveCall>();
  #closed = false;
  #count = 0;
  /** One listener for each signal, however many calls share it, because platforms warn about many listeners. */
  readonly #bySignal = new Map<AbortSignal, { readonly calls: Set<LiveCall>; readonly onAbort: () => void }>();

  add(call: LiveCall, signal: AbortSignal | undefined): void {
    this.#calls.add(call);
    if (signal === undefined) return;
    let sharing = this.#bySignal.get(signal);
    if (sharing === undefined) {
      const calls = new Set<LiveCall>();
      sharing = {
        calls,
        onAbort: () => {
          for (const each of [...calls]) each.abort(signal.reason);
        },
      };
      this.#bySignal.set(signal, sharing);
      signal.addEventListener('abort', sharing.onAbort);
    }
    sharing.calls.add(call);
  }

  delete(call: LiveCall, signal: AbortSignal | undefined): void {
    this.#calls.delete(call);
    const sharing = signal === undefined ? undefined : this.#bySignal.get(signal);
    if (signal === undefined || sharing === undefined) return;
    sharing.calls.delete(call);
    if (sharing.calls.size > 0) return;
    signal.removeEventListener('abort', sharing.onAbort);
    this.#bySignal.delete(signal);
  }

  /** Whether the client was closed. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Numbers calls, from 1. */
  nextNumber(): number {
    this.#count += 1;
    return this.#count;
  }

  closeAll(): void {
    this.#closed = true;
    for (const call of this.#calls) call.close();
  }
}
