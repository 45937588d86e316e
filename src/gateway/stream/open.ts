import { ResponseValidationError } from '../../errors/validation.js';
import type { ByteSource, ResponseHead } from '../../platform/engine.js';
import { mediaType, readError } from '../../transport/response/body.js';
import type { ServiceResponse } from '../../transport/response/service-response.js';
import type { CompletionForm, Undocumented } from '../extended.js';
import type { ChatCompletionChunk } from '../schemas.js';
import { type DecodeChunk, useDelta } from './chunk.js';
import { ChatCompletionStream } from './completion-stream.js';

const EVENTS = 'text/event-stream';
const DONE = 'data: [DONE]\n\n';

/**
 * Opens the response to a streamed request: usually events, but also an error or a whole completion as JSON, or a page.
 */
export async function openStream<Sent extends Undocumented>(
  response: ServiceResponse,
  form: CompletionForm,
  decode: DecodeChunk | undefined,
): Promise<ChatCompletionStream<Sent>> {
  const { timeouts, idleTimeout, runtime } = response.context;
  // From its headers on, a stream has its own timeout, so that an unread one does not hold its connection forever.
  timeouts.startIdle(idleTimeout);
  if (typeOf(response.head) !== EVENTS) timeouts.progressed(); // it is read here
  const head = response.head.headers.get('content-type') ? response.head : await sniff(response.head);
  const type = typeOf(head);
  if (head.status === 200 && type === EVENTS) return new ChatCompletionStream(response.withHead(head), form, decode);
  if (head.status === 200 && type === 'application/json') {
    const only = asChunk(await response.withHead(head).json(), response, form);
    timeouts.startIdle(idleTimeout); // from now on, the caller reads
    const rest = { ...head, body: prefixed(new TextEncoder().encode(DONE)) };
    return new ChatCompletionStream(response.withHead(rest), form, decode, only);
  }
  const { text } = await readError(head.body, runtime);
  timeouts.check();
  throw notAStream(head.status, type, text);
}

interface SniffedHead extends ResponseHead {
  readonly sniffed?: string;
}

function typeOf({ headers, sniffed }: SniffedHead): string | undefined {
  return sniffed ?? mediaType(headers);
}

/** Without a content type, the first bytes of the body decide. */
async function sniff(head: ResponseHead): Promise<SniffedHead> {
  const first = await head.body.read();
  const start = new TextDecoder().decode(first).trimStart();
  const sniffed = start.startsWith('{') ? 'application/json' : start.startsWith('<') ? 'text/html' : EVENTS;
  return { ...head, sniffed, body: prefixed(first, head.body) };
}

/** A whole completion is delivered as one chunk. */
function asChunk(body: unknown, response: ServiceResponse, { completion }: CompletionForm): ChatCompletionChunk {
  response.check(completion, body);
  const chunk = { ...(body as object), object: 'chat.completion.chunk' };
  useDelta(chunk);
  return chunk as ChatCompletionChunk; // checked two lines above, or reported and returned unchanged
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
