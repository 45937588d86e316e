import { StreamTruncatedError } from '../errors/stream.js';
import { TRUNCATED } from './chunk.js';
import { visibleError } from './error-response.js';
import type { ChatCompletionChunk } from './schemas.js';

/** Chunks as server-sent events again, each taken when its event is asked for. An error becomes the last event. */
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
        await chunks.return?.(); // a `pull` under way fails then, and a cancelled stream ignores that
      },
    },
    { highWaterMark: 0 },
  );
}

async function* eventsOf(chunks: AsyncIterable<ChatCompletionChunk>): AsyncGenerator<string, undefined> {
  try {
    // A chunk that cannot be written ends the loop, and the loop its stream.
    for await (const chunk of chunks) yield `data: ${JSON.stringify(chunk)}\n\n`;
    yield 'data: [DONE]\n\n';
  } catch (error) {
    yield `event: error\ndata: ${JSON.stringify({ error: relayed(error) })}\n\n`;
  }
}

/** What a reader in a browser may know: the service's own words, or what happened to its stream. */
function relayed(error: unknown): object {
  const { status, told } = visibleError(error);
  if (told !== undefined) return told;
  const message = status === 500 ? 'The stream failed.' : 'The stream was interrupted.';
  return { message, type: StreamTruncatedError.is(error) ? TRUNCATED : 'stream_error' };
}
