import { StreamTruncatedError } from '../../errors/stream.js';
import type { ChatCompletionChunk } from '../schemas.js';
import { TRUNCATED } from './chunk.js';
import { visibleError } from './error-response.js';

/** Writes chunks as server-sent events, each when the reader asks for it. An error becomes the last event. */
export function eventStreamOf(chunks: AsyncIterator<ChatCompletionChunk, undefined>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const events = eventsOf({ [Symbol.asyncIterator]: () => chunks });
  return new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await events.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        await chunks.return?.(); // a pending `pull` fails then, which a cancelled stream ignores
      },
    },
    { highWaterMark: 0 },
  );
}

async function* eventsOf(chunks: AsyncIterable<ChatCompletionChunk>): AsyncGenerator<string, undefined> {
  try {
    // A chunk that cannot be written ends the loop, which closes the stream.
    for await (const chunk of chunks) yield `data: ${JSON.stringify(chunk)}\n\n`;
    yield 'data: [DONE]\n\n';
  } catch (error) {
    yield `event: error\ndata: ${JSON.stringify({ error: relayed(error) })}\n\n`;
  }
}

/** The error that a browser may see: the service's message, or how the stream ended. */
function relayed(error: unknown): object {
  const { status, body } = visibleError(error);
  if (body !== undefined) return body;
  const message = status === 500 ? 'The stream failed.' : 'The stream was interrupted.';
  return { message, type: StreamTruncatedError.is(error) ? TRUNCATED : 'stream_error' };
}
