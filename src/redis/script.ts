import type { WindowState } from './shared-window.js';
import SCRIPT from './window.lua';

export { SCRIPT };

/** A process's report on a bucket, and its request for permits. */
export interface StepRequest extends WindowState {
  /** The time, by the clock of Redis; 0 if it is not known yet. */
  readonly sentAt: number;
  /** How long the process waits for the reply (ms). */
  readonly timeout: number;
  /** Requests that wait in this process. */
  readonly wanted: number;
  /** Requests that were accepted since the last step. */
  readonly accepted: number;
  /** Whether the last step was made without Redis. */
  readonly wasAlone: boolean;
  /** The number of processes that Redis last reported. */
  readonly processes: number;
}

export interface StepReply extends Omit<WindowState, 'inFlight'> {
  /** The time, by the clock of Redis. */
  readonly now: number;
  /** How many requests may be sent, and after how many milliseconds to ask again for the others. */
  readonly granted: number;
  readonly askAfter: number;
  /** Processes that used this window or the last one. */
  readonly processes: number;
}

export function argumentsOf(process: string, request: StepRequest): string[] {
  const { sentAt, timeout, wanted, window, inFlight, accepted } = request;
  const { limit, remaining, resetAfter, retryAfter, wasAlone, processes } = request;
  const numbers = [sentAt, timeout, wanted, window, inFlight, accepted];
  numbers.push(limit, remaining, resetAfter, retryAfter, Number(wasAlone), processes);
  return [process, ...numbers.map((number) => String(Math.ceil(number)))];
}

export function readReply(reply: unknown): StepReply {
  const numbers = Array.isArray(reply) ? reply.map(Number) : [];
  if (numbers.length !== 9 || numbers.some(Number.isNaN))
    throw new TypeError('The Redis script returned an unexpected reply.');
  const [now = 0, granted = 0, askAfter = 0, window = 0, ...facts] = numbers; // no default is used: the length was checked
  const [limit = 0, remaining = 0, resetAfter = 0, retryAfter = 0, processes = 0] = facts;
  return { now, granted, askAfter, window, limit, remaining, resetAfter, retryAfter, processes };
}
