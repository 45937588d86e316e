import { APIError } from './api.js';
import { ContextGatewayError } from './base.js';

/** @internal Tells the reader of a message where the text is. */
export const PARTIAL_HINT = '. error.partial holds the text so far';

/**
 * The stream ended before the completion was complete: without `[DONE]`, and without a `finish_reason` for every
 * choice. See `partial`.
 */
export class StreamTruncatedError extends ContextGatewayError {
  static override readonly errorName: string = 'StreamTruncatedError';

  constructor(message = '') {
    super(message || `The stream ended before the completion was complete${PARTIAL_HINT}.`, {
      retryable: true,
    });
  }
}

/** The service reported an error inside a stream. `partial` holds what arrived before it. */
export class StreamError extends APIError {
  static override readonly errorName: string = 'StreamError';
}

/** A stream was read twice. */
export class StreamConsumedError extends ContextGatewayError {
  static override readonly errorName: string = 'StreamConsumedError';

  constructor() {
    super(
      'A stream can be read only once, and this one was read by a loop or by finalCompletion(). Collect its chunks in the ' +
        `loop, or start the loop first${PARTIAL_HINT}.`,
    );
  }
}
