import type { PartialChatCompletion } from '../base/completion.js';
import type { Attempt } from '../base/response-info.js';

/** Marks our errors for `is`, including those of a second copy of the package in the same program. */
const BRAND = Symbol.for('context-gateway.error');

/** Sets `partial`, which is a private field so that nothing prints it. */
export const SET_PARTIAL = Symbol('setPartial');

/** Marks an error whose message must also say what its cause says. */
export const QUOTES_CAUSE = Symbol('quotesCause');

/** The base class of every error of this package. Safe to log and serialise: it prints no credential or payload. */
export class ContextGatewayError extends Error {
  /** The `name` of its errors. Minifiers do not change it, as they change the name of the class. */
  static readonly errorName: string = 'ContextGatewayError';

  /** The attempts of the call, in order. Empty if nothing was sent. */
  declare readonly attempts: readonly Attempt[];
  /** Whether the same call may succeed later. This does not mean that it is safe to repeat; see `sent`. */
  declare readonly retryable: boolean;
  #partial: PartialChatCompletion | (() => PartialChatCompletion) | undefined;

  constructor(message: string, { cause, retryable = false }: { cause?: unknown; retryable?: boolean } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    hide(this, BRAND, true);
    hide(this, 'attempts', []);
    hide(this, 'retryable', retryable);
  }

  override get name(): string {
    return (this.constructor as typeof ContextGatewayError).errorName; // of this class, or of one that extends it
  }

  /** The part of a streamed completion that arrived before this error. Never printed. */
  get partial(): PartialChatCompletion | undefined {
    if (typeof this.#partial === 'function') this.#partial = this.#partial();
    return this.#partial;
  }

  /** @internal The completion is joined only if it is asked for. */
  [SET_PARTIAL](partial: () => PartialChatCompletion): void {
    this.#partial = partial;
  }

  /** Like `instanceof`, but also true for errors of another copy of this package. */
  static is<Class extends (abstract new (...args: never[]) => ContextGatewayError) & { readonly errorName: string }>(
    this: Class,
    value: unknown,
  ): value is InstanceType<Class> {
    if (!(value instanceof Error) || !(BRAND in value)) return false;
    let type: unknown = value.constructor;
    while (type !== null && (type as { errorName?: unknown }).errorName !== this.errorName)
      type = Object.getPrototypeOf(type);
    return type !== null;
  }

  /** The fields of the error as plain JSON, for logs. */
  toJSON(): Record<string, unknown> {
    return {
      name: this.name,
      message: this.message,
      ...this.facts(),
      retryable: this.retryable,
      ...(this.attempts.length > 0 && { attempts: this.attempts }),
    };
  }

  /** The fields that a subclass adds to `toJSON`. */
  protected facts(): Record<string, unknown> {
    return {};
  }
}

/** An option is invalid. Usually thrown by a constructor. The message says how to fix it. */
export class ConfigurationError extends ContextGatewayError {
  static override readonly errorName: string = 'ConfigurationError';
}

/** Sets a property that users only read. `console.log(error)` does not print it again below the stack. */
export function hide(target: object, key: PropertyKey, value: unknown, enumerable = false): void {
  Object.defineProperty(target, key, { value, enumerable, configurable: true, writable: false });
}
