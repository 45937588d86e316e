import { isThenable } from '../base/ignore-errors.js';
import { systemRuntime } from '../base/runtime.js';
import { ContextGatewayError } from '../errors/base.js';
import { addCallDetails } from '../errors/call.js';
import { Redactor } from '../errors/redactor.js';
import { StreamConsumedError } from '../errors/stream.js';
import { badArgument } from '../errors/validation.js';
import { fetchHeaders, streamSource } from '../platform/fetch.js';
import { DEFAULTS } from '../request/client-options.js';
import { checkRequestOptions, readStreamOptionsSchema } from '../request/request-options.js';
import { CallTimeouts, LiveCalls } from '../request/timeouts.js';
import { parseError, readError } from '../response/body.js';
import { errorIn } from '../response/error-details.js';
import { ServiceResponse } from '../response/service-response.js';
import type { DecodeChunk } from '../wire/decode-chunk.js';
import type { ChatCompletionStream } from './completion-stream.js';
import { openStream } from './open.js';

/** Options of `readChatCompletionStream`. */
export type ReadStreamOptions = {
  /** Aborts the stream. */
  signal?: AbortSignal | undefined;
  /** The longest wait for an event with data, in milliseconds. @default 120_000 */
  streamIdleTimeout?: number | undefined;
  /** Reads events that have another form. Not for those of `toEventStream`: they are chunks, whatever the service sends. */
  decodeChunk?: DecodeChunk | undefined;
};

/**
 * Reads a completion that your server relays with `toEventStream(stream)`. Works in a browser without a client or a key.
 * Pass the `Response` of your `fetch`, or its body.
 *
 * @throws {RequestValidationError} when `source` is neither a `Response` nor a stream
 * @throws {APIError} when the response has an error status
 * @throws {ResponseValidationError} when the response is not an event stream
 *
 * @example
 * ```ts
 * import { readChatCompletionStream, toEventStream } from 'context-gateway';
 * const stream = await gateway.chat.completions.create({
 *   model: 'atlas-small',
 *   messages: [{ role: 'user', content: 'The harbour opens at six. When does the harbour open?' }],
 *   stream: true,
 * });
 * const response = new Response(toEventStream(stream), { headers: { 'content-type': 'text/event-stream' } });
 * for await (const text of (await readChatCompletionStream(response)).textStream) process.stdout.write(text);
 * ```
 */
export async function readChatCompletionStream(
  source: Response | ReadableStream<Uint8Array>,
  options: ReadStreamOptions = {},
): Promise<ChatCompletionStream> {
  const checked = checkRequestOptions(options, readStreamOptionsSchema);
  const { signal, streamIdleTimeout = DEFAULTS.streamIdleTimeout, decodeChunk } = checked;
  const { status, headers, body } = responseFrom(source);
  if (body?.locked) throw new StreamConsumedError();
  const head = { status, headers: fetchHeaders(headers), body: streamSource(body?.getReader()) };
  const timeouts = new CallTimeouts(systemRuntime, new LiveCalls(), signal, streamIdleTimeout);
  timeouts.follow({ progress: { phase: 'body', sent: 'yes' }, cancel: (error) => head.body.cancel(error) });
  const details = {
    description: 'relayed stream',
    redactor: new Redactor(),
    startedAt: systemRuntime.now(),
    timeouts,
  };
  try {
    const received = new ServiceResponse(head, details);
    if (status >= 200 && status <= 299) return await openStream(received, decodeChunk);
    const { text } = await readError(head.body, systemRuntime);
    timeouts.check(); // an abort takes precedence over the status
    throw errorIn(received, parseError(text));
  } catch (error) {
    if (error instanceof ContextGatewayError) addCallDetails(error, details);
    timeouts.end();
    throw error;
  }
}

type Source = Pick<Response, 'status' | 'headers'> & { readonly body: ReadableStream<Uint8Array> | null };

/** A structural check, so that the `Response` of a polyfill or a test works too. */
function responseFrom(source: unknown): Source {
  if (isBody(source)) {
    return { status: 200, headers: new Headers({ 'content-type': 'text/event-stream' }), body: source };
  }
  const { status, headers, body } = Object(source) as Partial<Response>;
  if (typeof status === 'number' && typeof headers?.get === 'function' && (!body || isBody(body))) {
    return source as Response;
  }
  const message = isThenable(source)
    ? 'is a promise; await it first'
    : 'expected a Response, or its body (a ReadableStream)';
  throw badArgument(['source'], message);
}

function isBody(value: unknown): value is ReadableStream<Uint8Array> {
  return typeof (value as Partial<ReadableStream> | null | undefined)?.getReader === 'function';
}
