import type { Socket } from 'node:net';

/** The used part of undici's pool. */
export interface Dispatch {
  dispatch(options: object, handler: DispatchHandler): boolean;
}

export interface Agent extends Dispatch {
  destroy(): Promise<void>;
}

/** The handler methods that undici 7 and 8 call. undici 6 uses another form. */
export interface DispatchHandler {
  onRequestStart(controller: Controller): void;
  onResponseStart(controller: Controller, status: number, headers: ResponseFields): void;
  onResponseData(controller: Controller, chunk: Uint8Array): void;
  onResponseEnd(): void;
  onResponseError(controller: Controller | undefined, error: Error): void;
}

/** Controls a request. A dispatcher that retries passes a new controller for each attempt. */
export interface Controller {
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/** Headers by lower-case name. A repeated header is an array. */
export type ResponseFields = Readonly<Record<string, string | readonly string[]>>;

/**
 * Loads undici and opens our own pool. `connecting` holds the sockets that are still connecting, which undici does not
 * close.
 */
export async function createAgent(connecting: Set<Socket>): Promise<Agent> {
  const [{ default: AgentClass }, { default: buildConnector }] = await Promise.all([
    import('undici/lib/dispatcher/agent.js'),
    import('undici/lib/core/connect.js'),
  ]);
  // Without a prototype: a polluted Object.prototype with a `socketPath` would send the credential to another process.
  const open = buildConnector({ __proto__: null, timeout: 10_000 } as object);
  const connect: typeof open = (options, callback) => {
    const socket = open(options, (...result) => {
      connecting.delete(socket);
      callback(...result);
    });
    connecting.add(socket);
    // A waiting call has a timer. A connection without one must not keep the process alive.
    return socket.unref();
  };
  // Timeouts are in timeouts.ts. undici keeps only its connect timeout.
  return new AgentClass({ __proto__: null, headersTimeout: 0, bodyTimeout: 0, connect } as object) as Agent;
}
