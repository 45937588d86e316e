import type { Socket } from 'node:net';
import type { Dispatch } from './dispatch.js';
import { loadUndici } from './is-ours.js';

export interface Agent extends Dispatch {
  destroy(): Promise<void>;
}

/** Milliseconds for connecting to each address of a host. Node's 250 ms are too short for a slow handshake, as on mobile networks. */
const ATTEMPT = 1_500;

/**
 * Opens our own pool. `connecting` holds the sockets that are still connecting, which undici does not close.
 *
 * @throws if undici is not installed, is of another major version, or has moved its files
 */
export function createAgent(connecting: Set<Socket>): Agent {
  const [Pool, connector] = loadUndici();
  // Without a prototype: a polluted Object.prototype with a `socketPath` would send the credential to another process.
  const open = connector({ __proto__: null, timeout: 10_000, autoSelectFamilyAttemptTimeout: ATTEMPT } as object);
  const connect: typeof open = (options, callback) => {
    const socket = open(options, (...result) => {
      connecting.delete(socket);
      callback(...result);
    });
    connecting.add(socket);
    // A server may end TLS after the handshake, such as without a client certificate. undici would report the end of the
    // socket that follows in place of this error.
    socket.on('error', (error) => socket.destroy(error));
    // A waiting call has a timer. A connection without one must not keep the process alive.
    return socket.unref();
  };
  // Timeouts are in timeouts.ts. undici keeps only its connect timeout.
  return new Pool({ __proto__: null, headersTimeout: 0, bodyTimeout: 0, connect } as object) as Agent;
}
