import type { Socket } from 'node:net';

/** As much of undici's pool as is used. */
export interface Dispatch {
  dispatch(options: object, handler: DispatchHandler): boolean;
}

export interface Agent extends Dispatch {
  destroy(): Promise<void>;
}

export interface Controller {
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/** The part of undici's handler interface that is used. */
export interface DispatchHandler {
  onRequestStart(controller: Controller): void;
  onResponseStart(controller: Controller, status: number, headers: RawHeaders): void;
  onResponseData(controller: Controller, chunk: Uint8Array): void;
  onResponseEnd(): void;
  onResponseError(controller: Controller | undefined, error: Error): void;
}

export type RawHeaders = Record<string, string | string[] | undefined>;

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
