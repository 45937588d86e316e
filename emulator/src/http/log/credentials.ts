import { redact } from '../../base/redact.js';
import { type Secrets, secretsFrom } from '../../base/secrets.js';
import type { LogEntry } from './log-entry.js';

/**
 * The secrets in the headers of a request that `redact` does not know by their form, such as the token of another service.
 */
export function credentialsOf({
  headers,
  sessionHeader,
}: Pick<LogEntry, 'headers' | 'sessionHeader'>): Secrets | undefined {
  const found = new Set<string>();
  for (let i = 0; i + 1 < headers.length; i += 2) {
    if (!CREDENTIAL.test(headers[i] ?? '') && headers[i]?.toLowerCase() !== sessionHeader) continue;
    const value = headers[i + 1] ?? '';
    const isCookie = /cookie$/i.test(headers[i] ?? '');
    const secrets = isCookie
      ? value.split(/; */).map((one) => one.slice(one.indexOf('=') + 1))
      : [value.replace(SCHEME, '')];
    for (const secret of secrets) if (!isCutToPrefix(redact(secret))) found.add(secret);
  }
  return secretsFrom(found);
}

/** Whether a redacted text was a key of a known kind, and nothing else. */
export function isCutToPrefix(safe: string): boolean {
  return /^(?:svc_[sp]k_|session_local_|sk-|gsk_|hf_|xai-|AIza|eyJ)\*\*\*$/.test(safe);
}

/** Whether a header may have a key or a token, so that its value is hidden. */
export function isSecretHeader(name: string, sessionHeader?: string | undefined): boolean {
  if (name.toLowerCase() === sessionHeader) return true;
  return /auth|cookie|token|session|api-?key|secret|password|(?:access|subscription|functions)-key|signature/i.test(
    name,
  );
}

/** A header whose value is a secret, and is hidden elsewhere, too. Others only belong to one, such as `x-session-state`. */
const CREDENTIAL = /(?:auth|authorization|cookie|token|session|key|secret|password|signature)$/i;

/** The scheme of a credential, such as `Bearer`, with the space after it. */
export const SCHEME = /^[A-Za-z]+ /;
