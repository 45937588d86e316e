import type { Attempt, HeaderSource, RateLimit } from './answer.js';

/** The two halves of the service: the Context API (`/api`) and the Gateway API (`/v1`). */
export type Area = 'context' | 'gateway';

/** How far a request had come when its connection failed. */
export type Phase = 'connect' | 'headers' | 'body' | 'stream';

/** Whether the service may have carried out the request: `no`, `maybe` or `yes`. */
export type Sent = 'no' | 'maybe' | 'yes';

/** Where a value is not what it has to be. `path` leads to the field; the value itself is never repeated. */
export interface ValidationIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** As much of a streamed completion as had arrived. `finish_reason` is `null` where the choice was still being written. */
export interface PartialChatCompletion {
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly created: number | undefined;
  readonly choices: ReadonlyArray<{
    readonly index: number;
    readonly message: { readonly role: string; readonly content: string };
    readonly finish_reason: string | null;
  }>;
}

/** Marks our errors for `is`, also those of a second copy of the package in the same program. */
const BRAND = Symbol.for('context-gateway.error');

/** The way in for `keepPartial`, and for nobody else. */
const KEEP = Symbol('keepPartial');
/** The same for `wordsOf`. */
const WORDS = Symbol('wordsOf');

/** The base class of every error of this package. Safe to log and serialise: that shows no credential and no payload. */
export class ContextGatewayError extends Error {
  /** What was tried before this error, in order. Empty when nothing was. */
  declare readonly attempts: readonly Attempt[];
  #partial: PartialChatCompletion | undefined;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    hide(this, BRAND, true);
    hide(this, 'attempts', []);
  }

  /** The name of the class, safe against minifiers. */
  override get name(): string {
    return 'ContextGatewayError';
  }

  /** The part of a streamed completion that arrived before this error. Never printed or serialised. */
  get partial(): PartialChatCompletion | undefined {
    return this.#partial;
  }

  /** @internal */
  [KEEP](partial: PartialChatCompletion): void {
    this.#partial = partial;
  }

  /** Whether the same call may succeed later. For a call with an effect, see also `sent`. */
  get retryable(): boolean {
    return false;
  }

  /** Like `instanceof`, and true for errors of another copy of this package too. */
  static is<Class extends abstract new (...args: never[]) => ContextGatewayError>(
    this: Class,
    value: unknown,
  ): value is InstanceType<Class> {
    if (!(value instanceof Error) || !(BRAND in value)) return false;
    const wanted: unknown = this.prototype.name;
    for (let proto: unknown = Object.getPrototypeOf(value); proto !== null; proto = Object.getPrototypeOf(proto)) {
      if (Object.hasOwn(proto as object, 'name') && (proto as Error).name === wanted) return true;
    }
    return false;
  }

  /** The facts of the error as plain JSON, for logs. */
  toJSON(): Record<string, unknown> {
    return {
      name: this.name,
      message: this.message,
      ...this.facts(),
      retryable: this.retryable,
      ...(this.attempts.length > 0 && { attempts: this.attempts }),
    };
  }

  /** What a class adds to `toJSON`. */
  protected facts(): Record<string, unknown> {
    return {};
  }
}

/** An option of a client is invalid. The message says how to fix it. */
export class ConfigurationError extends ContextGatewayError {
  override get name(): string {
    return 'ConfigurationError';
  }
}

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

/** What an `APIError` is made of. */
export interface APIErrorDetails {
  readonly message: string;
  /** The service's own words in the message, where the body was an error as it is documented. */
  readonly words?: string | undefined;
  readonly area: Area;
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  readonly param?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly rateLimit?: RateLimit | undefined;
  readonly headers: HeaderSource;
  readonly body: unknown;
}

/** Whether the same call may succeed after an answer with this status. */
export function isTemporary(status: number): boolean {
  return TEMPORARY.has(status);
}

const TEMPORARY = new Set([408, 425, 429, 500, 502, 503, 504]);

/** The service answered with an error. Its subclasses name the common statuses. */
export class APIError extends ContextGatewayError {
  /** The HTTP status. 200 when an error came inside a successful answer. */
  readonly status: number;
  /** Which half of the service answered. */
  readonly area: Area;
  /** The kind of error, such as `rate_limit_error`. Gateway only. */
  readonly type: string | undefined;
  /** The error's code, such as `model_not_found`. Gateway only. */
  readonly code: string | undefined;
  /** The parameter that is wrong, such as `model`. Gateway only. */
  readonly param: string | undefined;
  /** The id under which the service knows this request, if it sent one. */
  readonly requestId: string | undefined;
  /** Milliseconds the service asks to wait before the next try, if it said so. */
  readonly retryAfter: number | undefined;
  /** The rate limit as of this answer, if the service sent one. */
  readonly rateLimit: RateLimit | undefined;
  readonly #details: APIErrorDetails;

  constructor(status: number, details: APIErrorDetails) {
    super(details.message);
    this.status = status;
    this.area = details.area;
    this.type = details.type;
    this.code = details.code;
    this.param = details.param;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
    this.rateLimit = details.rateLimit;
    this.#details = details;
  }

  override get name(): string {
    return 'APIError';
  }

  override get retryable(): boolean {
    return isTemporary(this.status);
  }

  /** The headers of the answer. Not part of any printed form. */
  get headers(): Headers {
    return this.#details.headers.toHeaders();
  }

  /** The body of the answer: parsed JSON, or text. Not part of any printed form. */
  get body(): unknown {
    return this.#details.body;
  }

  /** @internal */
  get [WORDS](): string | undefined {
    return this.#details.words;
  }

  protected override facts(): Record<string, unknown> {
    const { status, area, type, code, param, requestId, retryAfter, rateLimit } = this;
    return { status, area, type, code, param, requestId, retryAfter, rateLimit };
  }
}

/** 400: the service refuses the arguments. */
export class BadRequestError extends APIError {
  override get name(): string {
    return 'BadRequestError';
  }
}

/** 401: the credential is missing, wrong or expired. */
export class AuthenticationError extends APIError {
  override get name(): string {
    return 'AuthenticationError';
  }
}

/** 403: the credential may not do this. */
export class PermissionDeniedError extends APIError {
  override get name(): string {
    return 'PermissionDeniedError';
  }
}

/** 404: the conversation, message, model, preset or integration does not exist. */
export class NotFoundError extends APIError {
  override get name(): string {
    return 'NotFoundError';
  }
}

/** 429: too many requests. `retryAfter` says how many milliseconds to wait. */
export class RateLimitError extends APIError {
  override get name(): string {
    return 'RateLimitError';
  }
}

/** 5xx: the service failed. */
export class InternalServerError extends APIError {
  override get name(): string {
    return 'InternalServerError';
  }
}

/** 503: the service is not available for the moment. */
export class ServiceUnavailableError extends InternalServerError {
  override get name(): string {
    return 'ServiceUnavailableError';
  }
}

/** What an `APIConnectionError` is made of. */
export interface ConnectionDetails {
  readonly phase: Phase;
  readonly sent: Sent;
  readonly cause?: unknown;
  readonly retryable?: boolean;
}

/** No usable answer came back: refused, reset, cut off. */
export class APIConnectionError extends ContextGatewayError {
  /** How far the request had come. */
  readonly phase: Phase;
  /** Whether the service can have carried it out. */
  readonly sent: Sent;
  readonly #retryable: boolean;

  constructor(message: string, details: ConnectionDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.phase = details.phase;
    this.sent = details.sent;
    this.#retryable = details.retryable ?? true;
  }

  override get name(): string {
    return 'APIConnectionError';
  }

  override get retryable(): boolean {
    return this.#retryable;
  }

  protected override facts(): Record<string, unknown> {
    return { phase: this.phase, sent: this.sent };
  }
}

/** Time ran out. `kind` says which: one attempt (`'attempt'`), the whole call (`'deadline'`), or a silent stream (`'idle'`). */
export class APITimeoutError extends APIConnectionError {
  readonly kind: 'attempt' | 'deadline' | 'idle';

  constructor(message: string, details: ConnectionDetails & { kind: 'attempt' | 'deadline' | 'idle' }) {
    super(message, details);
    this.kind = details.kind;
  }

  override get name(): string {
    return 'APITimeoutError';
  }

  protected override facts(): Record<string, unknown> {
    return { kind: this.kind, ...super.facts() };
  }
}

/** A body or a streamed event is larger than this client reads. */
export class ResponseTooLargeError extends APIConnectionError {
  override get name(): string {
    return 'ResponseTooLargeError';
  }
}

/** The caller's signal ended the call. `cause` is the signal's reason. */
export class APIAbortError extends ContextGatewayError {
  constructor(options?: { cause?: unknown }) {
    super('The call was aborted by its signal.', options);
  }

  override get name(): string {
    return 'AbortError';
  }
}

/** The client was closed before or during the call. */
export class ClientClosedError extends ContextGatewayError {
  constructor() {
    super('This client is closed. Create a new client, or call close() only after the last call has finished.');
  }

  override get name(): string {
    return 'ClientClosedError';
  }
}

/** A successful response whose body does not match the documentation. The whole response is in `body`. */
export class ResponseValidationError extends ContextGatewayError {
  /** Where the answer differs. */
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

  /** The whole answer as it came. Not part of any printed form. */
  get body(): unknown {
    return this.#body;
  }

  protected override facts(): Record<string, unknown> {
    return { issues: this.issues };
  }
}

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
      'A stream can be read only once, and a loop or finalCompletion() has already read this one. Collect the chunks in ' +
        'your loop, or start the loop before you await finalCompletion(). What was read is in `partial`.',
    );
  }

  override get name(): string {
    return 'StreamConsumedError';
  }
}

/** Error classes with a status of their own; the other 5xx are `InternalServerError`. */
const ERROR_BY_STATUS: Readonly<Record<number, typeof APIError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  429: RateLimitError,
  503: ServiceUnavailableError,
};

/** The one place that picks a class by status. */
export function apiError(status: number, details: APIErrorDetails): APIError {
  const ErrorClass = ERROR_BY_STATUS[status] ?? (status >= 500 ? InternalServerError : APIError);
  return new ErrorClass(status, details);
}

/** How a call is written on its error: which one it was, what was sent for it, and what must not be read of it. */
export interface CallRecord {
  /** Method and path as the interface writes them, and the service's id of the request where there is one. */
  readonly where: string;
  readonly attempts: readonly Attempt[];
  /** Masks the call's credential in a text that the service may have worded. */
  readonly clean: (text: string) => string;
}

/** Writes on an error which call it ended and what was sent for it. */
export function recordCall(error: ContextGatewayError, { where, attempts, clean }: CallRecord): void {
  // One of another call, which failed inside this one, or one that somebody has frozen.
  if (error.attempts.length > 0 || !Object.isExtensible(error)) return;
  hide(error, 'attempts', attempts);
  const message = clean(error.message);
  error.message = message.includes(where) ? message : message.replace(/\.?$/, (end) => ` (${where})${end}`);
  leadHere(error, recordCall);
}

/** Leads the stack to whoever waits for the call now: an error made in a timer or by a socket leads nowhere. */
export function leadHere(error: Error, above: (...given: never) => void = leadHere): void {
  // Of an error that is not ours the stack is nobody else's to change.
  if (!(error instanceof ContextGatewayError) || !Object.isExtensible(error)) return;
  (Error as { captureStackTrace?: (error: Error, above: unknown) => void }).captureStackTrace?.(error, above);
}

/** An earlier attempt may have been carried out, so the call as a whole may have been, whatever became of the last one. */
export function growSent(error: APIConnectionError, sent: Sent): void {
  if (error.sent !== sent) Object.assign(error, { sent });
}

/** Keeps with an error what a stream had delivered before it. Out of sight of every printer: it is the user's text. */
export function keepPartial(error: ContextGatewayError, partial: PartialChatCompletion): void {
  error[KEEP](partial);
}

/** What the service said of an error, without what we added to it; `undefined` for a page of a proxy. */
export function wordsOf(error: APIError): string | undefined {
  return error[WORDS];
}

/** Issues that are looked for, kept and printed at the most. Where there are so many, there may be more. */
export const MAX_ISSUES = 50;
/** Of each: the steps of its path, and the characters of a step and of its message. */
const MAX_STEPS = 16;
const MAX_KEY = 100;
const MAX_WORDS = 500;

/** As much of issues as an error keeps: an answer with half a million mistakes must not become megabytes of a log. */
export function boundIssues(issues: readonly ValidationIssue[]): readonly ValidationIssue[] {
  return issues.slice(0, MAX_ISSUES).map(({ path, message }) => {
    const steps = path.slice(0, MAX_STEPS).map((key) => (typeof key === 'string' ? cut(key, MAX_KEY) : key));
    return { path: path.length > MAX_STEPS ? [...steps, '…'] : steps, message: cut(message, MAX_WORDS) };
  });
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** One line for people: the first issues with their paths. */
export function describeIssues(issues: readonly ValidationIssue[]): string {
  const shown = boundIssues(issues.slice(0, 5)).map(({ path, message }) => `${describePath(path)}${message}`);
  const rest = issues.length - shown.length;
  const text = shown.join('; ');
  if (rest > 0) return `${text}; and ${issues.length < MAX_ISSUES ? `${rest} ` : ''}more.`;
  return text.replace(/[^?]$/, '$&.');
}

function describePath(path: ValidationIssue['path']): string {
  if (path.length === 0) return '';
  return `${path.map((key, at) => (typeof key === 'number' ? `[${key}]` : at === 0 ? key : `.${key}`)).join('')}: `;
}

/** A readable property that `console.log(error)` does not repeat below the stack, where `toJSON` and the message have it. */
function hide(target: object, key: PropertyKey, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: false, configurable: true, writable: false });
}
