import type { ClientOptions } from 'context-gateway';

/** The two ways requests leave on Node: undici by default, the platform's fetch where the user passes one. */
export const engines: readonly { engine: string; options: Pick<ClientOptions, 'fetch'> }[] = [
  { engine: 'undici', options: {} },
  { engine: 'fetch', options: { fetch: globalThis.fetch } },
];
