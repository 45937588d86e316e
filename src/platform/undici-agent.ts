/** Types of the two files of undici that `is-ours.ts` loads. */
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
