/** A call that is not over, as far as ending it goes. */
export interface LiveCall {
  /** Its neighbours in the list. A list, because a Set that is filled and emptied all the time is built anew every few calls. */
  previous: LiveCall | undefined;
  next: LiveCall | undefined;
  abort(reason: unknown): void;
  close(): void;
}

/** The calls of a client that are not over, streams included. */
export class LiveCalls {
  #newest: LiveCall | undefined;
  /** One listener for each signal, however many calls share it: platforms take many of them for a leak and warn. */
  readonly #bySignal = new Map<AbortSignal, { readonly calls: Set<LiveCall>; readonly onAbort: () => void }>();

  add(call: LiveCall, signal: AbortSignal | undefined): void {
    call.next = this.#newest;
    if (this.#newest !== undefined) this.#newest.previous = call;
    this.#newest = call;
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
    this.#unlink(call);
    const sharing = signal === undefined ? undefined : this.#bySignal.get(signal);
    if (signal === undefined || sharing === undefined) return;
    sharing.calls.delete(call);
    if (sharing.calls.size > 0) return;
    signal.removeEventListener('abort', sharing.onAbort);
    this.#bySignal.delete(signal);
  }

  closeAll(): void {
    for (let call = this.#newest; call !== undefined; call = this.#newest) {
      this.#unlink(call);
      call.close();
    }
  }

  /** Does nothing to a call that is not in the list any more. */
  #unlink(call: LiveCall): void {
    const { previous, next } = call;
    if (this.#newest === call) this.#newest = next;
    if (previous !== undefined) previous.next = next;
    if (next !== undefined) next.previous = previous;
    call.previous = undefined;
    call.next = undefined;
  }
}
