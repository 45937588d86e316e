import { StreamTruncatedError } from '../errors.js';
import { TRUNCATED } from './chunk.js';
import { visibleError } from './error-response.js';
import type { ChatCompletionChunk } from './schemas.js';

/** Chunks as server-sent events again, each taken when its event is asked for. An error becomes the last event. */
export function eventStreamOf(chunks: AsyncIterator<ChatCompletionChunk, undefined>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let left = false;
  return new ReadableStream(
    {
      async pull(controller) {
        const { event, last } = await nextEvent(chunks);
        if (left) return;
        controller.enqueue(encoder.encode(event));
        if (last) controller.close();
      },
      async cancel() {
        left = true;
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

async function nextEvent(
  chunks: AsyncIterator<ChatCompletionChunk, undefined>,
): Promise<{ event: string; last: boolean }> {
  try {
    const { value, done } = await chunks.next();
    return { event: `data: ${done ? '[DONE]' : JSON.stringify(value)}\n\n`, last: done === true };
  } catch (error) {
    await chunks.return?.(); // where it is the chunk that cannot be written, the stream is still open
    return { event: `event: error\ndata: ${JSON.stringify({ error: relayed(error) })}\n\n`, last: true };
  }
}

/** What a reader in a browser may know: the service's own words, or what happened to its stream. */
function relayed(error: unknown): object {
  const { status, told } = visibleError(error);
  if (told !== undefined) return told;
  const message = status === 500 ? 'The stream failed.' : 'The stream was interrupted.';
  return { message, type: StreamTruncatedError.is(error) ? TRUNCATED : 'stream_error' };
}
