import { withHeartbeats } from '../base/heartbeats.js';
import { streamOf } from '../base/stream-of.js';
import { StreamTruncatedError } from '../errors/stream.js';
import { visibleError } from '../errors/visible.js';
import type { ChatCompletionChunk } from '../wire/completions.js';
import { TRUNCATED } from './chunk.js';
import type { ChatCompletionStream } from './completion-stream.js';

/**
 * The stream as server-sent events, to relay it to a browser. There, `readChatCompletionStream` reads it. An error
 * becomes an error event. While the model is silent, a comment is sent every eight seconds, so that no proxy ends the
 * response. Cancelling the returned stream closes this one.
 *
 * @throws {StreamConsumedError} when the stream was read before
 * @example
 * ```ts
 * import { toEventStream } from 'context-gateway';
 * const stream = await gateway.chat.completions.create({
 *   model: 'atlas-small',
 *   messages: [{ role: 'user', content: 'The harbour opens at six. When does the harbour open?' }],
 *   stream: true,
 * });
 * const response = new Response(toEventStream(stream), { headers: { 'content-type': 'text/event-stream' } });
 * console.log((await response.text()).split('\n')[0]?.slice(0, 6));
 * ```
 */
export function toEventStream(stream: ChatCompletionStream): ReadableStream<Uint8Array> {
  const chunks = stream[Symbol.asyncIterator]();
  return streamOf(withHeartbeats(eventsOf(chunks)), () => chunks.return?.());
}

/** Chunks as server-sent events. An error becomes the last event. */
async function* eventsOf(chunks: AsyncIterator<ChatCompletionChunk, undefined>): AsyncGenerator<Uint8Array, undefined> {
  const encoder = new TextEncoder();
  try {
    // A chunk that cannot be written ends the loop, which closes the stream.
    for await (const chunk of { [Symbol.asyncIterator]: () => chunks })
      yield encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`);
    yield encoder.encode('data: [DONE]\n\n');
  } catch (error) {
    yield encoder.encode(`event: error\ndata: ${JSON.stringify({ error: relayed(error) })}\n\n`);
  }
}

/** The error that a browser may see: the service's message, or how the stream ended. */
function relayed(error: unknown): object {
  const { status, body } = visibleError(error);
  if (body !== undefined) return body;
  const message = status === 500 ? 'The stream failed.' : 'The stream was interrupted.';
  return { message, type: StreamTruncatedError.is(error) ? TRUNCATED : 'stream_error' };
}
