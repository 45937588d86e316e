import { StreamTruncatedError } from '../errors/stream.js';
import { ResponseValidationError } from '../errors/validation.js';
import type { ByteSource } from '../platform/engine.js';
import { mediaType, readError, readJson } from '../response/body.js';
import type { ServiceResponse } from '../response/service-response.js';
import { type ChatCompletionChunk, chatCompletionSchema } from '../wire/completions.js';
import type { DecodeChunk } from '../wire/decode-chunk.js';
import { addMissing, tidyCompletion } from '../wire/tidy.js';
import { type ChunkSource, EventChunks, tidy } from './chunk.js';
import { ChatCompletionStream } from './completion-stream.js';
import { StreamOwner } from './stream-owner.js';

const EVENTS = 'text/event-stream';

/**
 * Opens the response to a streamed request: usually events, but also an error or a whole completion as JSON, or a page.
 */
export async function openStream(
  response: ServiceResponse,
  decodeChunk: DecodeChunk | undefined,
): Promise<ChatCompletionStream> {
  const { timeouts } = response.source;
  const { status, headers } = response.head;
  // From its headers on, a stream has its own timeout, so that an unread one does not hold its connection forever.
  timeouts.startIdle();
  const said = mediaType(headers);
  if (said !== EVENTS) timeouts.progressed(); // it is read here
  const type = status !== 200 || said === EVENTS ? said : await sniff(response, said);
  const read = (chunks: ChunkSource) => new ChatCompletionStream(new StreamOwner(response, chunks));
  if (status === 200 && type === EVENTS) return read(new EventChunks(response, decodeChunk));
  if (status === 200 && type === 'application/json') {
    const chunk = await readChunk(response);
    timeouts.startIdle(); // from now on, the caller reads
    return read(once(chunk));
  }
  const { text } = await readError(response.head.body, timeouts.runtime);
  timeouts.check();
  throw notAStream(status, type, text);
}

/** With another content type or none, the first bytes of the body decide: proxies may change it. */
async function sniff(response: ServiceResponse, said: string | undefined): Promise<string | undefined> {
  const { body } = response.head;
  const read: Uint8Array[] = [];
  const decoder = new TextDecoder();
  let start = '';
  for (let bytes = await body.read(); bytes !== undefined; bytes = await body.read()) {
    read.push(bytes);
    start = (start + decoder.decode(bytes, { stream: true })).trimStart();
    if (start.length >= 'event:'.length) break;
  }
  response.replaceBody(prefixed(read, body));
  if (start.startsWith('{')) return 'application/json';
  if (/^(?:data|event|id|retry)? *:/.test(start)) return EVENTS;
  return said ?? (start.startsWith('<') ? 'text/html' : EVENTS);
}

/** Reads a whole completion as one chunk. */
async function readChunk(response: ServiceResponse): Promise<ChatCompletionChunk> {
  const body = await readJson(response);
  response.check(chatCompletionSchema, body, tidyCompletion);
  addMissing(body);
  const chunk = { ...(body as object), object: 'chat.completion.chunk' };
  tidy(chunk);
  return chunk as unknown as ChatCompletionChunk; // checked four lines above, or reported and returned as it is
}

/** One chunk, from a body that was read. */
function once(chunk: ChatCompletionChunk): ChunkSource {
  const chunks = [chunk];
  return { next: () => chunks.pop() ?? 'done', feed: () => {}, endedEarly: () => new StreamTruncatedError() };
}

function notAStream(status: number, type: string | undefined, text: string): ResponseValidationError {
  const what = text === '' ? 'is empty' : `is ${type ?? 'of unknown type'}`;
  const message = `Expected an event stream, but the response ${what} (status ${status}). Check baseURL.`;
  return new ResponseValidationError(message, { body: text });
}

/** The bytes that were already read, then the rest. */
function prefixed(pending: Uint8Array[], rest: ByteSource): ByteSource {
  return {
    read: () => pending.shift() ?? rest.read(),
    cancel: (error) => {
      pending.length = 0;
      rest.cancel(error);
    },
  };
}
