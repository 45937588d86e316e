import type { Socket } from 'node:net';

/** As much of undici's pool as is used. */
export interface Dispatch {
  dispatch(options: object, handler: DispatchHandler): boolean;
}

export interface Agent extends Dispatch {
  destroy(): Promise<void>;
}

/**
 * undici's handler as all of undici 7 calls it. The newer form of it is adapted to this one inside undici, which takes an object
 * more and reads every header: 3 µs of the 50 that a call takes.
 */
export interface DispatchHandler {
  onConnect(abort: (reason: Error) => void): void;
  /** `false` holds the body back until `resume`. */
  onHeaders(status: number, headers: RawHeaders, resume: () => void): boolean;
  onData(chunk: Uint8Array): boolean;
  onComplete(): void;
  onError(error: Error): void;
}

/** Names and values in turn, as they came. */
export type RawHeaders = ReadonlyArray<Buffer | string>;

/** Loads undici and opens a pool of ours. `connecting` holds the sockets that are being connected: undici lets go of the others. */
export async function createAgent(connecting: Set<Socket>): Promise<Agent> {
  const [{ default: AgentClass }, { default: buildConnector }] = await Promise.all([
    import('undici/lib/dispatcher/agent.js'),
    import('undici/lib/core/connect.js'),
  ]);
  const open = buildConnector({ timeout: 10_000 });
  const connect: typeof open = (options, callback) => {
    const socket = open(options, (...result) => {
      connecting.delete(socket);
      callback(...result);
    });
    connecting.add(socket);
    // A call that waits has a timer: a connection that nobody waits for any more keeps no program alive.
    return socket.unref();
  };
  // Timeouts are ours, see timeouts.ts; undici keeps only the one for connecting.
  return new AgentClass({ headersTimeout: 0, bodyTimeout: 0, connect }) as Agent;
}
