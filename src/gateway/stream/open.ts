import * as z from 'zod/mini';
import { ResponseValidationError } from '../../errors/validation.js';
import type { ByteSource } from '../../platform/engine.js';
import { mediaType, readError, readJson } from '../../transport/response/body.js';
import type { ServiceResponse } from '../../transport/response/service-response.js';
import type { CompletionForm, Undocumented } from '../extended.js';
import type { ChatCompletionChunk } from '../schemas.js';
import { type DecodeChunk, useDelta } from './chunk.js';
import { ChatCompletionStream } from './completion-stream.js';

const EVENTS = 'text/event-stream';
/** The body in place of a whole completion. */
const ONE_EVENT = 'data: {}\n\ndata: [DONE]\n\n';

/**
 * Opens the response to a streamed request: usually events, but also an error or a whole completion as JSON, or a page.
 */
export async function openStream<Sent extends Undocumented>(
  response: ServiceResponse,
  form: CompletionForm,
  decode: DecodeChunk | undefined,
): Promise<ChatCompletionStream<Sent>> {
  const { timeouts } = response.context;
  const { status, headers } = response.head;
  // From its headers on, a stream has its own timeout, so that an unread one does not hold its connection forever.
  timeouts.startIdle();
  if (mediaType(headers) !== EVENTS) timeouts.progressed(); // it is read here
  const type = headers.get('content-type') ? mediaType(headers) : await sniff(response);
  if (status === 200 && type === EVENTS) return new ChatCompletionStream(response, form, decode);
  if (status === 200 && type === 'application/json') {
    const chunk = await readChunk(response, form);
    timeouts.startIdle(); // from now on, the caller reads
    response.head = { ...response.head, body: prefixed(new TextEncoder().encode(ONE_EVENT)) };
    return new ChatCompletionStream(response, { ...form, chunk: z.unknown() }, () => chunk);
  }
  const { text } = await readError(response.head.body, timeouts.runtime);
  timeouts.check();
  throw notAStream(status, type, text);
}

/** Without a content type, the first bytes of the body decide. */
async function sniff(response: ServiceResponse): Promise<string> {
  const { body } = response.head;
  const first = await body.read();
  const start = new TextDecoder().decode(first).trimStart();
  response.head = { ...response.head, body: prefixed(first, body) };
  if (start.startsWith('{')) return 'application/json';
  return start.startsWith('<') ? 'text/html' : EVENTS;
}

/** Reads a whole completion as one chunk. */
async function readChunk(response: ServiceResponse, { completion }: CompletionForm): Promise<ChatCompletionChunk> {
  const body = await readJson(response);
  response.check(completion, body);
  const chunk = { ...(body as object), object: 'chat.completion.chunk' };
  useDelta(chunk);
  return chunk as ChatCompletionChunk; // checked three lines above, or reported and returned as it is
}

function notAStream(status: number, type: string | undefined, text: string): ResponseValidationError {
  const what = text === '' ? 'is empty' : `is ${type ?? 'of unknown type'}`;
  const message = `Expected an event stream, but the response ${what} (status ${status}). Check baseURL.`;
  return new ResponseValidationError(message, { body: text });
}

/** The bytes that were already read, then the rest. */
function prefixed(first: Uint8Array | undefined, rest?: ByteSource): ByteSource {
  let pending = first;
  return {
    read: () => {
      const bytes = pending;
      pending = undefined;
      return bytes ?? rest?.read();
    },
    cancel: (error) => {
      pending = undefined;
      rest?.cancel(error);
    },
  };
}
