import { mayHaveKey } from './keys.js';
import { Scanner } from './scanner.js';
import type { Secrets } from './secrets.js';

/**
 * Hides keys and tokens in a text: each is cut to its prefix. Everything that leaves the emulator about a request passes
 * here, through `redacted` or through `redactEvents`. `secrets` are others, such as those that the request was sent with.
 * At the end of a cut text, what may be the beginning of one is hidden.
 */
export function redact(text: string, secrets?: Secrets | undefined, isCut = false): string {
  if (secrets === undefined && !mayHaveKey(text)) return text;
  const scanner = new Scanner(secrets);
  scanner.push(text);
  scanner.end(isCut);
  return scanner.hidden.in(text);
}

/** A copy of a JSON value with keys and tokens hidden in all its texts and in the names of its fields. */
export function redacted<T>(value: T, secrets?: Secrets | undefined): T {
  // Every branch returns what it was given, with other texts in it.
  if (typeof value === 'string') return redact(value, secrets) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redacted(item, secrets)) as T;
  const fields = Object.entries(value).map(([name, field]) => [redact(name, secrets), redacted(field, secrets)]);
  return Object.fromEntries(fields) as T;
}
