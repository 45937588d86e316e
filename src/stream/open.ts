import { ResponseValidationError } from '../errors/validation.js';
import { mediaType, readError, readJson } from '../response/body.js';
import type { ServiceResponse } from '../response/service-response.js';
import type { DecodeChunk } from '../wire/decode-chunk.js';
import { CompletionAccumulator } from './accumulator.js';
import { EventChunks, mayStream } from './chunk.js';
import { ChatCompletionStream } from './completion-stream.js';
import { StreamOwner } from './stream-owner.js';

/**
 * Opens the response to a streamed request: usually events, but also an error or a whole completion as JSON, or a page.
 * `isSingle`: one choice was asked for.
 */
export async function openStream(
  response: ServiceResponse,
  decodeChunk: DecodeChunk | undefined,
  isSingle = false,
): Promise<ChatCompletionStream> {
  const { timeouts } = response.source;
  const { status, headers, body } = response.head;
  const type = mediaType(headers);
  const chunks = new EventChunks(response, decodeChunk);
  // From its headers on, a stream has its own timeout, so that an unread one does not hold its connection forever.
  timeouts.startIdle();
  if (status !== 200 || type !== 'text/event-stream') {
    timeouts.progressed(); // it is read here
    // Proxies may change the content type, so what begins as a stream does, or is JSON, is read as one.
    const start = status !== 200 ? '' : await chunks.begin(body);
    if (start !== undefined) {
      const text = start + (await readError(body, timeouts.runtime)).text;
      timeouts.check();
      throw notAStream(status, type, text);
    }
    timeouts.startIdle(); // from now on, the caller reads
  }
  return new ChatCompletionStream(new StreamOwner(response, chunks, isSingle));
}

/** Reads the body of a completion: JSON, or what a stream consists of, whatever was asked for. It is not checked. */
export function readCompletion(response: ServiceResponse, decodeChunk: DecodeChunk | undefined): Promise<unknown> {
  return readJson(response, (text) => {
    if (!mayStream(text)) return undefined;
    const source = new EventChunks(response, decodeChunk);
    const all = new CompletionAccumulator();
    source.feed(new TextEncoder().encode(text));
    for (;;) {
      const next = source.next(all.finished);
      if (next === 'done' || (next === 'ended' && all.finished)) return all.completion();
      if (next === 'ended' && /^\s*[{[]/.test(text) && !source.hasChunk) return undefined; // JSON that was cut
      if (next === 'ended') throw source.endedEarly();
      if (next === undefined) source.feed(undefined);
      else if (next !== 'skipped') all.add(next);
    }
  });
}

function notAStream(status: number, type: string | undefined, text: string): ResponseValidationError {
  const what = text === '' ? 'is empty' : `is ${type ?? 'of unknown type'}`;
  const message = `Expected an event stream, but the response ${what} (status ${status}). Check baseURL.`;
  return new ResponseValidationError(message, { body: text });
}
