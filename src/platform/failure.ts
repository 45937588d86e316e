import { APIConnectionError } from '../errors.js';
import type { Progress } from './engine.js';

/** Failures that happen before the first byte of a request leaves. */
const BEFORE_SENDING = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'ConnectionRefused', // Bun
]);

/** Failures that another try does not mend: a certificate that is not trusted, or not for this host. */
const CERTIFICATE =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

const EXPLAINED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at this address; check baseURL',
  ENOTFOUND: 'the host is not known; check baseURL',
  EAI_AGAIN: 'the host name could not be looked up',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed while the request was sent',
  UND_ERR_SOCKET: 'the other side closed the connection',
  UND_ERR_CONNECT_TIMEOUT: 'connecting took longer than 10 s',
  UND_ERR_HEADERS_OVERFLOW: 'its headers are too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'its body is not as long as it says',
};

/** A foreign failure as an `APIConnectionError`: what happened and how far the request had come, nothing of its content. */
export function connectionError(failure: unknown, progress: Progress): APIConnectionError {
  const code = codeOf(failure);
  const untrusted = code !== undefined && CERTIFICATE.test(code);
  const unsent = untrusted || (code !== undefined && BEFORE_SENDING.has(code));
  const { phase, sent }: Progress = unsent && progress.sent !== 'yes' ? { phase: 'connect', sent: 'no' } : progress;
  const what =
    (code !== undefined && EXPLAINED[code]) ||
    (untrusted && 'its certificate is not trusted') ||
    'the connection failed';
  const message = `No usable answer: ${what}${code === undefined ? '' : ` (${code})`}.`;
  return new APIConnectionError(message, { phase, sent, cause: bareCause(failure, code), retryable: !untrusted });
}

/** The first error code in a chain of causes. */
function codeOf(failure: unknown): string | undefined {
  for (let error = failure, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth += 1) {
    const { code } = error as { code?: unknown };
    if (typeof code === 'string' && code !== '') return code;
  }
  return undefined;
}

/** Facts only: the platform's own errors may quote header values or hold the whole request. */
function bareCause(failure: unknown, code: string | undefined): Error | undefined {
  if (!(failure instanceof Error)) return undefined;
  const cause = new Error(code ?? failure.name);
  cause.name = failure.name;
  if (code !== undefined) Object.assign(cause, { code });
  return cause;
}
