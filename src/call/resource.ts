import type { Transport } from './transport.js';

/**
 * The base of clients and their resources. Its field is private, so that printing one never prints a key. In its own file,
 * so that a page which imports only schemas loads no client.
 */
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
