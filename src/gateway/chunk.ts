import { ResponseValidationError, StreamError, StreamTruncatedError } from '../errors.js';
import type { OpenedStream } from '../transport/call.js';
import { reportsError } from '../transport/refusal.js';
import type { ServerSentEvent } from '../transport/sse.js';
import { type ChatCompletionChunk, chatCompletionChunkSchema } from './schemas.js';

/**
 * Turns an event into a chunk, for services whose events have another form (A7): `'done'` ends the completion, `undefined`
 * skips the event. `[DONE]` and error events are recognised before it is asked.
 */
export type DecodeChunk = (event: ServerSentEvent) => ChatCompletionChunk | 'done' | undefined;

/** One event as a checked chunk. @throws {StreamError} for an error event, {ResponseValidationError} for anything unreadable */
export function readChunk(
  event: ServerSentEvent,
  opened: OpenedStream,
  decode: DecodeChunk | undefined,
  atEnd: boolean,
): ChatCompletionChunk | 'done' | undefined {
  if (event.data.trim() === '[DONE]') return 'done';
  if (event.event === 'error') throw streamError(parse(event.data) ?? event.data, opened);
  if (decode !== undefined) return checked(decode(event), opened);
  const value = parse(event.data);
  if (value === undefined) throw unreadable(event.data, atEnd);
  if (reportsError(value)) throw streamError(value, opened);
  return checked(withDelta(value), opened);
}

function checked(chunk: unknown, opened: OpenedStream): ChatCompletionChunk | 'done' | undefined {
  if (chunk === 'done' || chunk === undefined) return chunk;
  opened.check(chatCompletionChunkSchema, chunk);
  return chunk as ChatCompletionChunk; // checked in the line above
}

/** JSON, or `undefined`, which no JSON is. */
function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

function streamError(body: unknown, opened: OpenedStream): StreamError {
  const details = opened.refuse(body);
  return new StreamError(opened.head.status, details);
}

/** An event that the end of the body cut in two is a truncated stream, not a malformed one. */
function unreadable(data: string, atEnd: boolean): Error {
  if (atEnd) return new StreamTruncatedError();
  return new ResponseValidationError('The stream has an event that is not JSON.', { body: data });
}

/** Some services stream `message` where the widespread form has `delta` (A7). */
function withDelta(value: unknown): unknown {
  const choices = (value as { choices?: unknown } | null)?.choices;
  if (!Array.isArray(choices)) return value;
  for (const choice of choices) {
    if (typeof choice === 'object' && choice !== null && choice.delta === undefined && choice.message !== undefined) {
      choice.delta = choice.message;
    }
  }
  return value;
}
