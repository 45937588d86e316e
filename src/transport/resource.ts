import type { Transport } from './call/transport.js';

/** The base of a client's resources. Its field is private, so that printing a resource never prints a key. */
export class Resource {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** @internal */
  protected get transport(): Transport {
    return this.#transport;
  }
}
