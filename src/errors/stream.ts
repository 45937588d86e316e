import { APIError } from './api.js';
import { ContextGatewayError } from './base.js';

/** The stream ended before the completion did: no `[DONE]`, and not every choice had its `finish_reason`. See `partial`. */
export class StreamTruncatedError extends ContextGatewayError {
  constructor(message = 'The stream ended before the completion was complete. What had arrived is in `partial`.') {
    super(message);
  }

  override get name(): string {
    return 'StreamTruncatedError';
  }

  override get retryable(): boolean {
    return true;
  }
}

/** The service reported an error inside a stream that had begun well. See `partial` for what had arrived. */
export class StreamError extends APIError {
  override get name(): string {
    return 'StreamError';
  }
}

/** A stream was read a second time. */
export class StreamConsumedError extends ContextGatewayError {
  constructor() {
    super(
      'A stream can be read once, and this one has been, by a loop or by finalCompletion(). Collect its chunks in the loop, ' +
        'or begin the loop first. What was read is in `partial`.',
    );
  }

  override get name(): string {
    return 'StreamConsumedError';
  }
}
