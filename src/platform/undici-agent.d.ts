/** undici's pool alone: the whole package takes three times as long to load and replaces Node 20's global fetch dispatcher. */
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}

/** How it makes a connection. What it returns is the socket that is being connected. */
declare module 'undici/lib/core/connect.js' {
  import type { Socket } from 'node:net';
  import type { buildConnector } from 'undici';

  export default function build(
    options: buildConnector.BuildOptions,
  ): (...given: Parameters<buildConnector.connector>) => Socket;
}
