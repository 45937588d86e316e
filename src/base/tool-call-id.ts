import { systemRuntime } from './runtime.js';

/** An id for a tool call that the service sent without one: the next request names it. */
export function newToolCallId(): string {
  return `call_${Math.floor(systemRuntime.random() * Number.MAX_SAFE_INTEGER).toString(36)}`;
}
