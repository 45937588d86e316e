import type { Progress } from './engine.js';
import type { Meaning } from './failure.js';

/** Failures before the first byte of a request is sent. */
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

/** Failures that a retry does not fix: a certificate that is not trusted, or not for this host. */
const CERTIFICATE =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

/** Failures that show that an unreadable response arrived. */
const RESPONDED = /^(HPE_|HTTPParserError|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_)/;

/** Our own requests have no such limit. */
const OWN_LIMIT =
  'the limit of fetch or the dispatcher itself (300 s by default), which is not the timeout of this client';

const EXPLAINED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused; check baseURL',
  ConnectionRefused: 'the connection was refused; check baseURL',
  ENOTFOUND: 'the host was not found; check baseURL',
  EAI_AGAIN: 'the host name could not be resolved',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection closed while the request was being sent',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not use TLS; for a service on localhost, use http:// in baseURL',
  UND_ERR_ABORTED: 'the request was aborted in transit; a proxy may have rejected it',
  UND_ERR_PRX_CONN: 'the proxy rejected the connection',
  UND_ERR_SOCKET: 'the server closed the connection',
  UNASKED_100_CONTINUE:
    'the response begins with "100 Continue", which no request asked for; the proxy or the service must not send it',
  UND_ERR_CONNECT_TIMEOUT: 'connecting took longer than 10 s',
  UND_ERR_HEADERS_TIMEOUT: `no headers arrived within ${OWN_LIMIT}`,
  UND_ERR_BODY_TIMEOUT: `nothing more of the response arrived within ${OWN_LIMIT}`,
  UND_ERR_HEADERS_OVERFLOW: 'the headers are too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the length of the body differs from its content-length',
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: 'the file changed size while it was being sent',
  NotReadableError: 'the file was deleted or changed after its Blob was created',
  NotCapable: 'this program may not use the network; run it with --allow-net',
  PermissionDenied: 'this program may not use the network; run it with --allow-net',
  ERR_ACCESS_DENIED: 'this program may not use the network; run it with --allow-net',
};

/** Node tries the addresses of a host one after the other. */
const GIVEN_UP = 'connecting was given up: no address of the host answered in time';

const FORBIDDEN = ['NotCapable', 'PermissionDenied', 'ERR_ACCESS_DENIED'];
/** A retry would fail too: the file has changed, or the program may not use the network. */
const UNSENDABLE = new Set([
  'UNASKED_100_CONTINUE',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
  'NotReadableError',
  ...FORBIDDEN,
]);

/** The meaning of error codes of the system and undici. Browsers have no codes, and do not load this file. */
export function meaningOf(code: string, progress: Progress): Meaning {
  const untrusted = CERTIFICATE.test(code);
  const responded = RESPONDED.test(code);
  const what =
    (code === 'ETIMEDOUT' && progress.phase === 'connect' ? GIVEN_UP : EXPLAINED[code]) ??
    (responded ? 'the response is not valid HTTP' : untrusted ? 'the certificate is not trusted' : undefined);
  return {
    reached: progressAt(progress, untrusted || BEFORE_SENDING.has(code) || FORBIDDEN.includes(code), responded),
    what,
    retryable: !untrusted && !UNSENDABLE.has(code),
  };
}

/** With `fetch`, a code may say more than the engine knows. */
function progressAt(progress: Progress, unsent: boolean, responded: boolean): Progress {
  if (progress.sent === 'yes') return progress;
  if (unsent) return { phase: 'connect', sent: 'no' };
  // A response from a proxy before the request is sent is not a response to it.
  return responded && progress.sent !== 'no' ? { phase: 'headers', sent: 'yes' } : progress;
}
