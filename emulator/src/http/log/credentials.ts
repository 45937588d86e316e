import { redact, SHORTEST_SECRET } from '../../base/redact.js';
import type { LogEntry } from './log-entry.js';

/**
 * The secrets in the headers of a request that `redact` does not know by their form, such as the token of another
 * service.
 */
export function credentialsOf({ headers }: Pick<LogEntry, 'headers'>): string[] {
  const found: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    if (!isSecretHeader(headers[i] ?? '')) continue;
    const value = (headers[i + 1] ?? '').replace(SCHEME, '');
    if (value.length >= SHORTEST_SECRET && redact(value) === value) found.push(value);
  }
  return found;
}

/** Whether a header has a key or a token. */
export function isSecretHeader(name: string): boolean {
  return /authorization|cookie|token|session|api-?key|secret/i.test(name);
}

/** The scheme of a credential, such as `Bearer`, with the space after it. */
export const SCHEME = /^[A-Za-z]+ /;
