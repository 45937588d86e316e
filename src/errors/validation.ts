import { boundIssues, describeIssues, type ValidationIssue } from '../base/issues.js';
import { ContextGatewayError, hide } from './base.js';

/** The arguments of a call are invalid. Nothing was sent. */
export class RequestValidationError extends ContextGatewayError {
  static override readonly errorName: string = 'RequestValidationError';

  /** Which arguments are invalid, and what was expected. */
  readonly issues: readonly ValidationIssue[];

  constructor(issues: readonly ValidationIssue[], options?: { cause?: unknown }) {
    super(`The request was not sent: ${describeIssues(issues)}`, options);
    this.issues = boundIssues(issues);
    hide(this, 'issues', this.issues);
  }

  protected override facts(): Record<string, unknown> {
    return { issues: this.issues };
  }
}

/** An error about one argument of a call. */
export function badArgument(
  path: ValidationIssue['path'],
  message: string,
  options?: { cause?: unknown },
): RequestValidationError {
  return new RequestValidationError([{ path, message }], options);
}

/** A successful response that does not match the documentation. `body` holds the response. */
export class ResponseValidationError extends ContextGatewayError {
  static override readonly errorName: string = 'ResponseValidationError';

  /** Which fields differ. */
  readonly issues: readonly ValidationIssue[];
  readonly #body: unknown;

  constructor(
    message: string,
    details: { issues?: readonly ValidationIssue[]; body: unknown; retryable?: boolean; cause?: unknown },
  ) {
    super(message, details);
    this.issues = boundIssues(details.issues ?? []);
    hide(this, 'issues', this.issues);
    this.#body = details.body;
  }

  /** The whole response as received. Never printed. */
  get body(): unknown {
    return this.#body;
  }

  protected override facts(): Record<string, unknown> {
    return { issues: this.issues };
  }
}
