import { APIError } from './api.js';
import { ContextGatewayError } from './base.js';

/**
 * The stream ended before the completion was complete: without `[DONE]`, and without a `finish_reason` for every
 * choice. See `partial`.
 */
export class StreamTruncatedError extends ContextGatewayError {
  constructor(message = 'The stream ended before the completion was complete. error.partial holds the text so far.') {
    super(message);
  }

  override get name(): string {
    return 'StreamTruncatedError';
  }

  override get retryable(): boolean {
    return true;
  }
}

/** The service reported an error inside a stream. `partial` holds what arrived before it. */
export class StreamError extends APIError {
  override get name(): string {
    return 'StreamError';
  }
}

/** A stream was read twice. */
export class StreamConsumedError extends ContextGatewayError {
  constructor() {
    super(
      'A stream can be read only once, and this one was read by a loop or by finalCompletion(). Collect its chunks in the ' +
        'loop, or start the loop first. error.partial holds the text so far.',
    );
  }

  override get name(): string {
    return 'StreamConsumedError';
  }
}
