import type { PartialChatCompletion } from '../base/completion.js';
import type { Attempt } from '../base/response-info.js';
import { APIError } from './api.js';
import { ContextGatewayError, hide, KEEP_PARTIAL } from './base.js';
import { APIConnectionError, type Sent } from './connection.js';

/** The facts that are added to the error of a call. */
export interface CallRecord {
  /** The method, the path as documented, and the service's request id if there is one. */
  readonly where: string;
  readonly attempts: readonly Attempt[];
  /** Whether the service may have carried out an attempt before the last one. */
  readonly sent: Sent;
  /** Masks the call's credential in a text that may come from the service. */
  readonly clean: (text: string) => string;
}

/**
 * Adds to an error the call that it ended, and what a stream has delivered so far. This happens in one place, where the
 * call ends: the timers, sockets and parsers that create the errors do not know which call they serve.
 */
export function endCallWith(error: ContextGatewayError, call: CallRecord, partial?: () => PartialChatCompletion): void {
  if (partial !== undefined) error[KEEP_PARTIAL](partial);
  // An error of another call that failed inside this one keeps its own facts. A frozen error cannot take any.
  if (error.attempts.length > 0 || !Object.isExtensible(error)) return;
  const { where, attempts, sent, clean } = call;
  hide(error, 'attempts', attempts);
  if (error instanceof APIConnectionError || error instanceof APIError)
    Object.assign(error, { sent: mostSent(error.sent, sent) });
  const message = clean(error.message);
  error.message = message.includes(where) ? message : message.replace(/\.?$/, (end) => ` (${where})${end}`);
  captureCallSite(error, endCallWith);
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

const ORDER: readonly Sent[] = ['no', 'maybe', 'yes'];
