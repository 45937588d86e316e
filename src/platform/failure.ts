import { ContextGatewayError, hide, QUOTES_CAUSE } from '../errors/base.js';
import { causesOf, codeIn, type ForeignError } from '../errors/cause.js';
import { APIAbortError, APIConnectionError } from '../errors/connection.js';
import { RequestValidationError } from '../errors/validation.js';
import type { OutgoingRequest, Progress } from './engine.js';

/** What is known of a foreign error. */
export interface Failure {
  /** The first code in the chain. */
  readonly code: string | undefined;
  /** The error and its causes. */
  readonly chain: readonly ForeignError[];
}

/** The meaning of a failure: how far the request got, the explanation, and whether a retry may help. */
interface Meaning {
  readonly reached: Progress;
  readonly what: string | undefined;
  readonly retryable: boolean;
  /** Whether the explanation needs the words of the error itself. */
  readonly quotes: boolean;
}

/** The facts of a request for its error. */
export interface FailedRequest extends Pick<OutgoingRequest, 'origin'> {
  /** What the request goes through, as in ` through the dispatcher`. */
  readonly through?: string | undefined;
  /** Explains the errors of the platform, if they have codes. */
  readonly meaningOf?: ((failure: Failure, progress: Progress, origin: string) => Meaning) | undefined;
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
  const meaning = request?.meaningOf?.({ code: codeIn(failure), chain }, progress, request.origin);
  const code = codeIn(failure); // the platform may have added one
  const what = meaning?.what ?? (code === undefined ? request?.unexplained : undefined);
  const from = request === undefined ? '' : ` from ${request.origin}${request.through ?? ''}`;
  const reached = meaning?.reached ?? progress;
  const lost =
    reached.phase === 'body' || reached.phase === 'stream'
      ? `The response${from} did not arrive in full`
      : `No usable response${from}`;
  const message = `${lost}: ${what ?? 'the connection failed'}${code === undefined ? '' : ` (${code})`}.`;
  const error = new APIConnectionError(message, {
    ...(reached.sent === 'no' && !request?.sendsOnce ? progress : reached),
    cause: failure,
    retryable: meaning?.retryable ?? true,
  });
  if (what === undefined || meaning?.quotes) hide(error, QUOTES_CAUSE, true);
  return error;
}

/** An error gets its attempts when its call is over. Then it is too late to claim that nothing was sent. */
function isOfThisCall(error: ContextGatewayError): boolean {
  return error.attempts.length === 0 && !(error instanceof RequestValidationError);
}
