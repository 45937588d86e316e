import { badArgument, ContextGatewayError, recordCall, StreamConsumedError } from '../errors.js';
import type { ResponseHead } from '../platform/engine.js';
import { FetchHeaders } from '../platform/fetch.js';
import { StreamSource } from '../platform/stream-source.js';
import { readErrorText } from '../transport/body.js';
import { Answered, type OpenedStream } from '../transport/call.js';
import { LiveCalls } from '../transport/live-calls.js';
import { checkRequestOptions, readStreamOptionsSchema } from '../transport/options.js';
import { isThenable } from '../transport/quietly.js';
import { ServerClock } from '../transport/rate-limit.js';
import { type RefusalContext, refusal, refusalDetails } from '../transport/refusal.js';
import { CallTimeouts, systemRuntime } from '../transport/timeouts.js';
import { findIssues, unexpectedAnswer } from '../transport/validation.js';
import type { ChatCompletionStream } from './completion-stream.js';
import { openStream } from './open-stream.js';

/** Options of `readChatCompletionStream`. */
export interface ReadStreamOptions {
  /** Ends the stream. */
  signal?: AbortSignal | undefined;
  /** Milliseconds the stream may stay silent while it is read. @default 120_000 */
  streamIdleTimeout?: number | undefined;
}

/**
 * Reads a completion that a server of yours relays with `toReadableStream()`: in a browser, without a client or a key.
 * Give it the `Response` of your `fetch`, or a body alone.
 *
 * @throws {RequestValidationError} when it is given neither
 * @throws {APIError} when the response is not a success
 * @throws {ResponseValidationError} when it is not a stream of events
 */
export async function readChatCompletionStream(
  source: Response | ReadableStream<Uint8Array>,
  options: ReadStreamOptions = {},
): Promise<ChatCompletionStream> {
  const { signal, streamIdleTimeout = 120_000 } = checkRequestOptions(options, readStreamOptionsSchema);
  const answer = answerOf(source);
  if (answer.body?.locked) throw new StreamConsumedError();
  const runtime = systemRuntime;
  const headers = new FetchHeaders(answer.headers);
  const head: ResponseHead = { status: answer.status, headers, body: new StreamSource(answer.body?.getReader()) };
  const context: RefusalContext = {
    area: 'gateway',
    credential: '',
    requestId: undefined,
    rateLimit: undefined,
    serverTime: new ServerClock().read(headers, runtime.wallClock()),
    explain: () => undefined,
  };
  const call = { where: 'relayed stream', attempts: [], clean: String };
  const timeouts = new CallTimeouts(runtime, new LiveCalls(), signal, undefined);
  timeouts.follow({ progress: { phase: 'body', sent: 'yes' }, cancel: (error) => head.body.cancel(error) });
  const opened: OpenedStream = {
    head,
    runtime,
    timeouts,
    call,
    response: new Answered(head, [], context),
    startedAt: runtime.now(),
    idleTimeout: streamIdleTimeout,
    refuse: (body) => refusalDetails(head, body, context),
    failed: () => {},
    check: (schema, value) => {
      const issues = findIssues(schema, value);
      if (issues !== undefined) throw unexpectedAnswer(issues, value);
      return true;
    },
  };
  try {
    if (answer.status < 200 || answer.status > 299)
      throw refusal(head, await readErrorText(head.body, runtime), context);
    return await openStream(opened, undefined);
  } catch (error) {
    if (error instanceof ContextGatewayError) recordCall(error, call);
    timeouts.end();
    throw error;
  }
}

type Answer = Pick<Response, 'status' | 'headers'> & { readonly body: ReadableStream<Uint8Array> | null };

/** By its form: the `Response` of a polyfill or of a test will do as well. */
function answerOf(source: unknown): Answer {
  if (isBody(source)) {
    return { status: 200, headers: new Headers({ 'content-type': 'text/event-stream' }), body: source };
  }
  const { status, headers, body } = Object(source) as Partial<Response>;
  if (typeof status === 'number' && typeof headers?.get === 'function' && (!body || isBody(body))) {
    return source as Response;
  }
  const message = isThenable(source)
    ? 'is a promise: await it first'
    : 'expected a Response, or its body (a ReadableStream)';
  throw badArgument(['source'], message);
}

function isBody(value: unknown): value is ReadableStream<Uint8Array> {
  return typeof (value as Partial<ReadableStream> | null | undefined)?.getReader === 'function';
}
