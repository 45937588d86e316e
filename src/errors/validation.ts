import { ContextGatewayError, hide } from './base.js';
import { boundIssues, describeIssues, type ValidationIssue } from './issues.js';

/** The arguments of a call are not valid. Nothing was sent. */
export class RequestValidationError extends ContextGatewayError {
  /** Which argument, and what it has to be. */
  readonly issues: readonly ValidationIssue[];

  constructor(issues: readonly ValidationIssue[], options?: { cause?: unknown }) {
    super(`The request was not sent: ${describeIssues(issues)}`, options);
    this.issues = boundIssues(issues);
    hide(this, 'issues', this.issues);
  }

  override get name(): string {
    return 'RequestValidationError';
  }

  protected override facts(): Record<string, unknown> {
    return { issues: this.issues };
  }
}

/** The one thing that is wrong with the arguments of a call. */
export function badArgument(
  path: ValidationIssue['path'],
  message: string,
  options?: { cause?: unknown },
): RequestValidationError {
  return new RequestValidationError([{ path, message }], options);
}

/** A success whose body is not what the interface documents. The response is in `body`. */
export class ResponseValidationError extends ContextGatewayError {
  /** Where the response differs. */
  readonly issues: readonly ValidationIssue[];
  readonly #body: unknown;
  readonly #retryable: boolean;

  constructor(
    message: string,
    details: { issues?: readonly ValidationIssue[]; body: unknown; retryable?: boolean; cause?: unknown },
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.issues = boundIssues(details.issues ?? []);
    hide(this, 'issues', this.issues);
    this.#body = details.body;
    this.#retryable = details.retryable ?? false;
  }

  override get name(): string {
    return 'ResponseValidationError';
  }

  override get retryable(): boolean {
    return this.#retryable;
  }

  /** The whole response as it came. Not part of any printed form. */
  get body(): unknown {
    return this.#body;
  }

  protected override facts(): Record<string, unknown> {
    return { issues: this.issues };
  }
}
