import { StreamConsumedError } from '../errors.js';
import type { ResponseHead } from '../platform/engine.js';
import { FetchHeaders } from '../platform/fetch-engine.js';
import { StreamSource } from '../platform/stream-source.js';
import { readErrorText } from '../transport/body.js';
import { Answered, type OpenedStream } from '../transport/call.js';
import { LiveCalls } from '../transport/live-calls.js';
import { findIssues } from '../transport/matches.js';
import { checkRequestOptions } from '../transport/options.js';
import { ServerClock } from '../transport/rate-limit.js';
import { type RefusalContext, refusal, refusalDetails } from '../transport/refusal.js';
import { CallTimeouts, systemRuntime } from '../transport/timeouts.js';
import { unexpectedAnswer } from '../transport/validation.js';
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
 * @throws {APIError} when the response is not a success
 * @throws {ResponseValidationError} when it is not a stream of events
 */
export async function readChatCompletionStream(
  source: Response | ReadableStream<Uint8Array>,
  options: ReadStreamOptions = {},
): Promise<ChatCompletionStream> {
  const { signal, streamIdleTimeout = 120_000 } = checkRequestOptions(options);
  const answer = 'body' in source ? source : new Response(source, { headers: { 'content-type': 'text/event-stream' } });
  if (answer.body?.locked) throw new StreamConsumedError();
  const runtime = systemRuntime;
  const headers = new FetchHeaders(answer.headers);
  const head: ResponseHead = { status: answer.status, headers, body: new StreamSource(answer.body?.getReader()) };
  const context: RefusalContext = {
    area: 'gateway',
    route: 'relayed stream',
    credential: '',
    requestId: undefined,
    rateLimit: undefined,
    serverTime: new ServerClock().read(headers, runtime.wallClock()),
    explain: () => undefined,
  };
  if (!answer.ok) throw refusal(head, await readErrorText(head.body, runtime), context);
  const timeouts = new CallTimeouts(runtime, new LiveCalls(), signal, undefined);
  timeouts.follow({ progress: { phase: 'body', sent: 'yes' }, cancel: (error) => head.body.cancel(error) });
  const opened: OpenedStream = {
    head,
    runtime,
    timeouts,
    response: new Answered(head, [], context),
    startedAt: runtime.now(),
    idleTimeout: streamIdleTimeout,
    refuse: (body) => refusalDetails(head, body, context),
    failed: () => {},
    check: (schema, value) => {
      const issues = findIssues(schema, value);
      if (issues !== undefined) throw unexpectedAnswer(issues, value, context.route);
      return true;
    },
  };
  try {
    return await openStream(opened, undefined);
  } catch (error) {
    timeouts.end();
    throw error;
  }
}
