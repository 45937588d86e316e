/**
 * undici's pool alone. The whole package takes three times as long to load, and replaces the global dispatcher of
 * Node 20's `fetch`.
 */
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}

/** undici's connector. Opens a connection and returns its socket, which is still connecting. */
declare module 'undici/lib/core/connect.js' {
  import type { Socket } from 'node:net';
  import type { buildConnector } from 'undici';

  export default function build(
    options: buildConnector.BuildOptions,
  ): (...given: Parameters<buildConnector.connector>) => Socket;
}
