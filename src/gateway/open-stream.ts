import { apiError, ResponseValidationError } from '../errors.js';
import type { ByteSource, ResponseHead } from '../platform/engine.js';
import { MAX_JSON_BYTES, parseJson, readText } from '../transport/body.js';
import type { OpenedStream } from '../transport/call.js';
import { reportsError } from '../transport/refusal.js';
import type { DecodeChunk } from './chunk.js';
import { ChatCompletionStream } from './completion-stream.js';
import { type ChatCompletion, chatCompletionSchema } from './schemas.js';

/** An answer to a streamed request: usually events; an error or a whole completion as JSON; or something else entirely. */
export async function openStream(opened: OpenedStream, decode: DecodeChunk | undefined): Promise<ChatCompletionStream> {
  const { status, headers } = opened.head;
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  const head: SniffedHead = type ? opened.head : await sniff(opened.head);
  const form = type || head.sniffed;
  if (status === 200 && form === 'text/event-stream') return new ChatCompletionStream({ ...opened, head }, decode);
  const text = await readText(head, MAX_JSON_BYTES);
  if (status !== 200 || form !== 'application/json') throw notAStream(status, form, text);
  return new ChatCompletionStream({ ...opened, head: { ...head, body: asEvents(text, opened) } }, decode);
}

interface SniffedHead extends ResponseHead {
  readonly sniffed?: string;
}

/** A service that names no content type: what the body begins with tells (S40). */
async function sniff(head: ResponseHead): Promise<SniffedHead> {
  const first = await head.body.read();
  const start = new TextDecoder().decode(first).trimStart();
  const sniffed = start.startsWith('{')
    ? 'application/json'
    : start.startsWith('<')
      ? 'text/html'
      : 'text/event-stream';
  return { ...head, sniffed, body: new PrefixedSource(first, head.body) };
}

/** A whole completion although a stream was asked for is delivered as one chunk. An error is thrown. */
function asEvents(text: string, opened: OpenedStream): ByteSource {
  const body = parseJson(text, 'application/json');
  if (reportsError(body)) throw apiError(opened.head.status, opened.refuse(body));
  opened.check(chatCompletionSchema, body);
  const { choices, ...rest } = body as ChatCompletion; // checked in the line above
  const deltas = choices.map(({ message, ...choice }) => ({ ...choice, delta: message }));
  const chunk = JSON.stringify({ ...rest, object: 'chat.completion.chunk', choices: deltas });
  return new PrefixedSource(new TextEncoder().encode(`data: ${chunk}\n\ndata: [DONE]\n\n`), undefined);
}

function notAStream(status: number, type: string | undefined, text: string): ResponseValidationError {
  const what = text === '' ? 'it is empty' : `it is ${type ?? 'of no known type'}`;
  return new ResponseValidationError(
    `A stream of events was asked for, but ${what} (status ${status}). Does baseURL lead to the service?`,
    {
      body: text,
    },
  );
}

/** Bytes that were read already, then the rest. */
class PrefixedSource implements ByteSource {
  #first: Uint8Array | undefined;
  readonly #rest: ByteSource | undefined;

  constructor(first: Uint8Array | undefined, rest: ByteSource | undefined) {
    this.#first = first;
    this.#rest = rest;
  }

  read(): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? this.#rest?.read();
  }

  cancel(error: Error): void {
    this.#first = undefined;
    this.#rest?.cancel(error);
  }
}
