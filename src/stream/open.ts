import { ContextGatewayError } from '../errors/base.js';
import { addCallDetails } from '../errors/call.js';
import { StreamError } from '../errors/stream.js';
import { ResponseValidationError } from '../errors/validation.js';
import type { ByteSource } from '../platform/engine.js';
import { mediaType, readError, readJson } from '../response/body.js';
import type { ServiceResponse } from '../response/service-response.js';
import type { DecodeChunk } from '../wire/decode-chunk.js';
import { CompletionAccumulator } from './accumulator.js';
import { EventChunks, mayStream } from './chunk.js';
import { ChatCompletionStream } from './completion-stream.js';
import { passStream } from './passed.js';
import { StreamOwner } from './stream-owner.js';

/** Bytes of a whole text that are read at a time. */
const PART = 16 * 1024;

/**
 * Opens the response to a streamed request: usually events, but also an error or a whole completion as JSON, or a page.
 * `wanted`: how many choices were asked for.
 */
export async function openStream(
  response: ServiceResponse,
  decodeChunk: DecodeChunk | undefined,
  wanted?: number,
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
    const start = status === 200 ? await begin(chunks, body) : '';
    if (start !== undefined) {
      const text = start + (await readError(body, timeouts.runtime)).text;
      timeouts.check();
      throw notAStream(status, type, text);
    }
    timeouts.startIdle(); // from now on, the caller reads
  }
  const stream = new ChatCompletionStream(new StreamOwner(response, chunks, wanted));
  response.body = { type: 'text/event-stream', write: () => passStream(stream) };
  return stream;
}

async function begin(chunks: EventChunks, body: ByteSource): Promise<string | undefined> {
  try {
    return await chunks.begin(body);
  } catch (error) {
    body.cancel(error as Error); // the rest is not read
    throw error;
  }
}

/**
 * Reads the body of a completion: JSON, or what a stream consists of, whatever was asked for. It is not checked.
 * `wanted`: how many choices were asked for.
 */
export function readCompletion(
  response: ServiceResponse,
  decodeChunk: DecodeChunk | undefined,
  wanted: number,
): Promise<unknown> {
  return readJson(response, async (text) => {
    if (!mayStream(text)) return undefined;
    const source = new EventChunks(response, decodeChunk);
    const all = new CompletionAccumulator(wanted);
    const bytes = new TextEncoder().encode(text);
    try {
      for (let at = 0; ; ) {
        const next = source.next(all.isWhole);
        if (next === undefined) {
          // Other work goes on meanwhile, and the call can be ended.
          if (at > 0) await response.source.timeouts.sleep(0);
          source.feed(at < bytes.length ? bytes.subarray(at, at + PART) : undefined);
          at += PART;
        } else if (next === 'done' || next === 'ended') {
          if (all.finished || (next === 'done' && source.hasChunk)) return all.completion();
          if (!source.hasChunk && /^\s*[{[]/.test(text)) return undefined; // JSON that was cut
          throw source.endedEarly();
        } else if (next !== 'skipped') all.add(next);
      }
    } catch (error) {
      if (all.isWhole && !StreamError.is(error)) return all.completion();
      if (error instanceof ContextGatewayError) addCallDetails(error, response.source, () => all.partial());
      throw error;
    }
  });
}

function notAStream(status: number, type: string | undefined, text: string): ResponseValidationError {
  const what = text === '' ? 'is empty' : `is ${type ?? 'of unknown type'}`;
  const message = `Expected an event stream, but the response ${what} (status ${status}). Check baseURL.`;
  return new ResponseValidationError(message, { body: text, retryable: text === '' });
}
