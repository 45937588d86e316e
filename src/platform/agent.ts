import type { Socket } from 'node:net';

/** As much of undici's pool as is used. */
export interface Dispatch {
  dispatch(options: object, handler: DispatchHandler): boolean;
}

export interface Agent extends Dispatch {
  destroy(): Promise<void>;
}

/** What undici 7 and 8 call while a request is on its way. undici 6 knows another form only. */
export interface DispatchHandler {
  onRequestStart(controller: Controller): void;
  onResponseStart(controller: Controller, status: number, headers: ResponseFields): void;
  onResponseData(controller: Controller, chunk: Uint8Array): void;
  onResponseEnd(): void;
  onResponseError(controller: Controller | undefined, error: Error): void;
}

/** What steers a request. A dispatcher that repeats one gives another controller for each try. */
export interface Controller {
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/** Headers by their lower-case names. One that came several times has a list. */
export type ResponseFields = Readonly<Record<string, string | readonly string[]>>;

/** Loads undici and opens a pool of ours. `connecting` holds the sockets that are being connected: undici lets go of the others. */
export async function createAgent(connecting: Set<Socket>): Promise<Agent> {
  const [{ default: AgentClass }, { default: buildConnector }] = await Promise.all([
    import('undici/lib/dispatcher/agent.js'),
    import('undici/lib/core/connect.js'),
  ]);
  // Both inherit nothing: a polluted Object.prototype with a `socketPath` would send the credential to another process.
  const open = buildConnector({ __proto__: null, timeout: 10_000 } as object);
  const connect: typeof open = (options, callback) => {
    const socket = open(options, (...result) => {
      connecting.delete(socket);
      callback(...result);
    });
    connecting.add(socket);
    // A call that waits has a timer: a connection that no call waits for keeps no program alive.
    return socket.unref();
  };
  // Timeouts are ours, see timeouts.ts; undici keeps only the one for connecting.
  return new AgentClass({ __proto__: null, headersTimeout: 0, bodyTimeout: 0, connect } as object) as Agent;
}
