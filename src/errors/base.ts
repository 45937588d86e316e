import type { Attempt } from '../api-promise.js';

/** What a completion cost, in tokens. */
export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
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
  /** Tokens as the service counted them, if it had said so by then. */
  readonly usage: CompletionUsage | undefined;
}

/** Marks our errors for `is`, also those of a second copy of the package in the same program. */
const BRAND = Symbol.for('context-gateway.error');

/** Sets `partial`, which is a private field so that no printer shows it. */
export const KEEP_PARTIAL = Symbol('keepPartial');

/** What every error of this package extends. It can be logged and serialised: no credential or payload is in it. */
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

  /** What of a streamed completion had arrived before this error. Not part of any printed form. */
  get partial(): PartialChatCompletion | undefined {
    return this.#partial;
  }

  /** @internal */
  [KEEP_PARTIAL](partial: PartialChatCompletion): void {
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

/** A client was given an option that cannot work. Thrown by the constructors; the message says how to fix it. */
export class ConfigurationError extends ContextGatewayError {
  override get name(): string {
    return 'ConfigurationError';
  }
}

/** A readable property that `console.log(error)` does not repeat below the stack, where `toJSON` and the message have it. */
export function hide(target: object, key: PropertyKey, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: false, configurable: true, writable: false });
}
