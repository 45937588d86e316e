import type { ChatCompletionChunk } from './completions.js';

/** One server-sent event. */
export type ServerSentEvent = {
  /** The `event` field, if present. */
  readonly event?: string | undefined;
  readonly data: string;
};

/**
 * Decodes a stream event into a chunk, for services whose events have another form. Return `'done'` to end the
 * completion, `undefined` to skip the event. Not called for `[DONE]` and `event: error`. If it throws, the stream ends
 * with a `ResponseValidationError` whose `cause` is the error.
 */
export type DecodeChunk = (event: ServerSentEvent) => ChatCompletionChunk | 'done' | undefined;
