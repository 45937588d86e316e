import type { PartialChatCompletion } from '../base/completion.js';
import type { Attempt } from '../base/response-info.js';
import { APIError } from './api.js';
import { ContextGatewayError, hide, QUOTES_CAUSE, SET_PARTIAL } from './base.js';
import { safeCause } from './cause.js';
import { APIConnectionError, type Sent } from './connection.js';
import type { Redactor } from './redactor.js';

/** The facts that are added to the error of a call. */
export interface CallDetails {
  /** The method, the path as documented, and the service's request id if there is one. */
  readonly description: string;
  readonly redactor: Redactor;
  readonly call?: {
    readonly attempts: readonly Attempt[];
    /** Whether the service may have carried out an attempt before the last one. */
    readonly sent: Sent;
  };
}

const ORDER: readonly Sent[] = ['no', 'maybe', 'yes'];

/**
 * Adds to an error the call that it ended, and what a stream has delivered so far, and makes it safe to print. This
 * happens in one place, where the call ends: the timers, sockets and parsers that create the errors do not know which
 * call they serve.
 */
export function addCallDetails(
  error: ContextGatewayError,
  { description, redactor, call }: CallDetails,
  partial?: () => PartialChatCompletion,
): void {
  if (partial !== undefined) error[SET_PARTIAL](partial);
  // An error of another call that failed inside this one keeps its own facts. A frozen error cannot take any.
  if (error.attempts.length > 0 || !Object.isExtensible(error)) return;
  if (error instanceof APIConnectionError || error instanceof APIError) {
    if (call !== undefined) hide(error, 'sent', mostSent(error.sent, call.sent), true);
  }
  let message = redactor.mask(error.message);
  if (error instanceof APIConnectionError && error.cause !== undefined) {
    const cause = safeCause(error.cause, redactor);
    hide(error, 'cause', cause);
    if (QUOTES_CAUSE in error && cause !== undefined)
      message += ` The cause is ${cause.name}: ${cause.message.replace(/\.?$/, '.')}`;
  }
  hide(error, 'attempts', call?.attempts ?? []);
  error.message = message.includes(description) ? message : message.replace(/\.?$/, (end) => ` (${description})${end}`);
  captureCallSite(error, addCallDetails);
}

/** Points the stack at the code that awaits the call. The stack of a timer or a socket would not show it. */
export function captureCallSite(error: Error, above: (...given: never) => void = captureCallSite): void {
  if (!(error instanceof ContextGatewayError) || !Object.isExtensible(error)) return;
  (Error as { captureStackTrace?: (error: Error, above: unknown) => void }).captureStackTrace?.(error, above);
}

/** The attempt that got furthest decides whether the work may have been done. */
export function mostSent(one: Sent, other: Sent): Sent {
  return ORDER[Math.max(ORDER.indexOf(one), ORDER.indexOf(other))] as Sent; // one of the two
}
