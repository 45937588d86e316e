import type { Area, ValidationIssue } from '../errors.js';
import { quietly } from './quietly.js';

/** Why a failed call is not tried again. */
export type StopReason = 'not-repeatable' | 'retries-used-up' | 'hint-too-long' | 'no-time-left' | 'budget-empty';

/** What every event says. Paths are written as in the interface (`/api/memory/{memoryId}`): ids, keys and texts are in none. */
interface CallFacts {
  /** Numbers the calls of one client from 1, to tell which events belong together. */
  readonly call: number;
  readonly area: Area;
  readonly method: string;
  readonly path: string;
}

/** One attempt is about to be sent. `attempt` counts from 1. */
export interface RequestEvent extends CallFacts {
  readonly type: 'request';
  readonly attempt: number;
}

/** Status and headers of an attempt are here. `duration` in ms. */
export interface ResponseEvent extends CallFacts {
  readonly type: 'response';
  readonly attempt: number;
  readonly status: number;
  readonly duration: number;
  readonly requestId: string | undefined;
}

/** The call begins to wait because the service would refuse it now: the limit of this bucket is used up. */
export interface QueuedEvent extends CallFacts {
  readonly type: 'queued';
  readonly bucket: string;
}

/** The call waited `waited` ms because the service would have refused it. */
export interface PacedEvent extends CallFacts {
  readonly type: 'paced';
  readonly bucket: string;
  readonly waited: number;
}

/** An attempt failed and is followed by another one after `wait` ms. `reason` is the status, or the name of the error. */
export interface RetryEvent extends CallFacts {
  readonly type: 'retry';
  readonly attempt: number;
  readonly reason: number | string;
  readonly wait: number;
}

/** The call failed for good, or its stream ended badly. `stop` says why it is not tried again. */
export interface FailureEvent extends CallFacts {
  readonly type: 'failure';
  readonly attempt: number;
  readonly reason: number | string;
  readonly stop: StopReason;
}

/** An answer is not what is documented, and `validation` is `'report'`. */
export interface ValidationEvent extends CallFacts {
  readonly type: 'validation';
  readonly issues: readonly ValidationIssue[];
}

/** What `onEvent` receives. */
export type ClientEvent =
  | (RequestEvent | ResponseEvent | RetryEvent | FailureEvent)
  | (QueuedEvent | PacedEvent | ValidationEvent);

/** An event without the facts its call adds. */
export type EventBody<E extends ClientEvent = ClientEvent> = E extends ClientEvent ? Omit<E, keyof CallFacts> : never;

/** Tells a listener of what happens in one call. `undefined` without a listener, so that nothing is made for nobody. */
export function emitterOf(
  onEvent: ((event: ClientEvent) => void) | undefined,
  facts: CallFacts,
): ((event: EventBody) => void) | undefined {
  if (onEvent === undefined) return undefined;
  // The cast is true by construction: every event is its own part and the facts of its call.
  return (event) => quietly(() => onEvent({ ...facts, ...event } as ClientEvent));
}
