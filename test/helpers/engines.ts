import type { ClientOptions } from 'context-gateway';

/** The two ways to send requests on Node: undici by default, and the platform's fetch if the user passes it. */
export const engines: readonly { engine: string; options: Pick<ClientOptions, 'fetch'> }[] = [
  { engine: 'undici', options: {} },
  { engine: 'fetch', options: { fetch: globalThis.fetch } },
];
