import { ContextGatewayError } from '../errors/base.js';
import { causesOf, codeIn } from '../errors/cause.js';
import { APIAbortError, APIConnectionError } from '../errors/connection.js';
import { RequestValidationError } from '../errors/validation.js';
import type { OutgoingRequest, Progress } from './engine.js';

/** The meaning of an error code: how far the request got, the explanation, and whether a retry may help. */
export interface Meaning {
  readonly reached: Progress;
  readonly what: string | undefined;
  readonly retryable: boolean;
}

/** The facts of a request for its error. */
export interface FailedRequest extends Pick<OutgoingRequest, 'origin'> {
  /** Explains the error codes of the platform, if it has any. */
  readonly meaningOf?: ((code: string, progress: Progress) => Meaning) | undefined;
  /**
   * Whether an error code may prove that nothing was sent. True for a `fetch` that sends once, whose progress is
   * unknown.
   */
  readonly sendsOnce?: boolean | undefined;
  /** The explanation if the platform has no error code. */
  readonly unexplained?: string | undefined;
}

/**
 * Converts a foreign error to an `APIConnectionError`, with the original as its cause. An error of this package inside
 * it, such as that of a failed upload source, is returned unchanged, unless it belongs to another call, which a given
 * `fetch` may have made.
 */
export function connectionError(failure: unknown, progress: Progress, request?: FailedRequest): ContextGatewayError {
  const chain = causesOf(failure);
  // A relayed stream, whose `fetch` the page itself has aborted.
  if (request === undefined && chain[0]?.name === 'AbortError') return new APIAbortError({ cause: failure });
  const last = chain[chain.length - 1]; // Hermes 0.12 has no `at`
  if (last instanceof ContextGatewayError && (request === undefined || isOfThisCall(last))) return last;
  const code = codeIn(failure);
  const meaning = code === undefined ? undefined : request?.meaningOf?.(code, progress);
  const what = meaning?.what ?? (code === undefined ? request?.unexplained : undefined) ?? 'the connection failed';
  const from = request === undefined ? '' : ` from ${request.origin}`;
  const reached = meaning?.reached ?? progress;
  const lost =
    reached.phase === 'body' || reached.phase === 'stream'
      ? `The response${from} did not arrive in full`
      : `No usable response${from}`;
  const message = `${lost}: ${what}${code === undefined ? '' : ` (${code})`}.`;
  // When the network goes down, open connections fail with the codes of connections that were never opened.
  const mayBeOpen = !request?.sendsOnce || chain.some(({ syscall }) => /^(read|write)/.test(String(syscall)));
  return new APIConnectionError(message, {
    ...(reached.sent === 'no' && mayBeOpen ? progress : reached),
    cause: failure,
    retryable: meaning?.retryable ?? true,
  });
}

/** An error gets its attempts when its call is over. Then it is too late to claim that nothing was sent. */
function isOfThisCall(error: ContextGatewayError): boolean {
  return error.attempts.length === 0 && !(error instanceof RequestValidationError);
}
