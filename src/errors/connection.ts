import { ContextGatewayError } from './base.js';

/** How far a request got before its connection failed. */
export type Phase = 'connect' | 'headers' | 'body' | 'stream';

/** Whether the service may have carried out a request that got no usable response: `no`, `maybe` or `yes`. */
export type Sent = 'no' | 'maybe' | 'yes';

/** The fields of an `APIConnectionError`. */
export interface ConnectionDetails {
  readonly phase: Phase;
  readonly sent: Sent;
  readonly cause?: unknown;
  readonly retryable?: boolean;
}

/** No usable response arrived: the connection was refused, reset or cut off. */
export class APIConnectionError extends ContextGatewayError {
  static override readonly errorName: string = 'APIConnectionError';

  /** How far the request got. */
  readonly phase: Phase;
  /** Whether the service may have carried out the call, in any of its attempts. */
  readonly sent: Sent;

  constructor(message: string, details: ConnectionDetails) {
    super(message, { retryable: true, ...details });
    this.phase = details.phase;
    this.sent = details.sent;
  }

  protected override facts(): Record<string, unknown> {
    return { phase: this.phase, sent: this.sent };
  }
}

/**
 * A timeout. `kind` says which: of one attempt (`'attempt'`), of the whole call (`'deadline'`), or of a silent stream
 * (`'idle'`).
 */
export class APITimeoutError extends APIConnectionError {
  static override readonly errorName: string = 'APITimeoutError';

  readonly kind: 'attempt' | 'deadline' | 'idle';

  constructor(message: string, details: ConnectionDetails & { kind: 'attempt' | 'deadline' | 'idle' }) {
    super(message, details);
    this.kind = details.kind;
  }

  protected override facts(): Record<string, unknown> {
    return { kind: this.kind, ...super.facts() };
  }
}

/** A body or a streamed event exceeds the client's size limit. */
export class ResponseTooLargeError extends APIConnectionError {
  static override readonly errorName: string = 'ResponseTooLargeError';

  constructor(what: string, limit: number, phase: Phase) {
    super(`${what} exceeds the limit of ${limit} bytes.`, { phase, sent: 'yes', retryable: false });
  }
}

/** The caller's signal aborted the call. `cause` is the signal's reason. */
export class APIAbortError extends ContextGatewayError {
  /** As `fetch` names it: the AI SDK and other libraries know an abort by this name. */
  static override readonly errorName: string = 'AbortError';

  constructor(options?: { cause?: unknown }) {
    super('The call was aborted by its signal.', options);
  }
}

/** The client was closed before or during the call. */
export class ClientClosedError extends ContextGatewayError {
  static override readonly errorName: string = 'ClientClosedError';

  constructor() {
    super('This client is closed. Create a new client, or call close() after the last call.');
  }
}
