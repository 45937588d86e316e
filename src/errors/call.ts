import type { Attempt } from '../api-promise.js';
import { ContextGatewayError, hide, KEEP_PARTIAL, type PartialChatCompletion } from './base.js';
import { APIConnectionError, type Sent } from './connection.js';

/** What is written on the error of a call. */
export interface CallRecord {
  /** Method and path as the interface writes them, and the service's id of the request where there is one. */
  readonly where: string;
  readonly attempts: readonly Attempt[];
  /** Whether the service can have carried out an attempt before the last one. */
  readonly sent: Sent;
  /** Masks the call's credential in a text that the service may have worded. */
  readonly clean: (text: string) => string;
}

/**
 * Writes on an error which call it ended, and what a stream had delivered by then. In one place, where the call ends: timers,
 * sockets and parsers, which make the errors, do not know whose call they serve.
 */
export function endCallWith(error: ContextGatewayError, call: CallRecord, partial?: PartialChatCompletion): void {
  if (partial !== undefined) error[KEEP_PARTIAL](partial);
  // The error of another call that failed inside this one keeps its own facts, and a frozen one cannot take any.
  if (error.attempts.length > 0 || !Object.isExtensible(error)) return;
  const { where, attempts, sent, clean } = call;
  hide(error, 'attempts', attempts);
  if (error instanceof APIConnectionError) Object.assign(error, { sent: mostSent(error.sent, sent) });
  const message = clean(error.message);
  error.message = message.includes(where) ? message : message.replace(/\.?$/, (end) => ` (${where})${end}`);
  captureCallSite(error, endCallWith);
}

/** Points the stack at the code that awaits the call: the stack of a timer or a socket leads nowhere. */
export function captureCallSite(error: Error, above: (...given: never) => void = captureCallSite): void {
  if (!(error instanceof ContextGatewayError) || !Object.isExtensible(error)) return;
  (Error as { captureStackTrace?: (error: Error, above: unknown) => void }).captureStackTrace?.(error, above);
}

/** Of several attempts, the one that came furthest decides whether the work can have been done. */
export function mostSent(one: Sent, other: Sent): Sent {
  return ORDER[Math.max(ORDER.indexOf(one), ORDER.indexOf(other))] as Sent; // one of the two
}

const ORDER: readonly Sent[] = ['no', 'maybe', 'yes'];
