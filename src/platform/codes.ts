import { ContextGatewayError } from '../errors/base.js';
import type { Progress } from './engine.js';
import type { Failure } from './failure.js';

/** What a code means, and what to do about it. */
export interface Entry {
  readonly what: string;
  /** It happens before the first byte of a request is sent. */
  readonly unsent?: true;
  /** A response arrived that cannot be read. */
  readonly responded?: true;
  /** A retry would fail too. */
  readonly final?: true;
  /** Of several causes with this code, only the error itself says which. */
  readonly quotes?: true;
  /** Nothing at the address answers: it may be wrong, or the network lets nothing out but through its proxy. */
  readonly unreachable?: true;
  /** What a port that expects TLS does with plain HTTP. */
  readonly likeTLS?: true;
}

/** Our own requests have no such limit. */
const OWN_LIMIT =
  'the limit of fetch or the dispatcher itself (300 s by default), which is not the timeout of this client';
const REFUSED: Entry = { what: 'the connection was refused', unsent: true, unreachable: true };
const UNRESOLVED: Entry = { what: 'the host name could not be resolved', unsent: true, unreachable: true };
const NO_ROUTE: Entry = { what: 'the network has no way to the host', unsent: true, unreachable: true };
const RESET: Entry = { what: 'the connection was reset', likeTLS: true };
const CLOSED: Entry = { what: 'the server closed the connection', likeTLS: true };
const ENDED: Entry = {
  what: 'fetch or the dispatcher ended the request by a limit of its own, which is not the timeout of this client',
  quotes: true,
};
const UNSUITABLE: Entry = { what: 'the request could not be made', final: true, quotes: true };
const FORBIDDEN: Entry = {
  what: 'this program may not use the network; run it with --allow-net',
  unsent: true,
  final: true,
};
const BLOCKED: Entry = {
  what: 'the system does not allow this connection; look for a firewall or a sandbox on this machine',
  unsent: true,
  final: true,
};
const HEADERS_TOO_LARGE: Entry = {
  what: 'the headers of the response are larger than Node accepts (16 KB by default); let the service or the proxy send less, or start Node with --max-http-header-size=65536',
  responded: true,
  final: true,
};
const DISPATCHER_CLOSED: Entry = {
  what: 'the dispatcher is closed; close it only after the last call',
  final: true,
};
const NO_MOCK: Entry = { what: 'no mock matches the request; add one for it', unsent: true, final: true, quotes: true };
const NOT_ENCODED: Entry = {
  what: 'the body is not encoded as its content-encoding says; let the service or the proxy send the right header',
  responded: true,
  final: true,
  quotes: true,
};
const DAMAGED: Entry = { what: 'the compressed body is damaged', responded: true, quotes: true };
const NOT_HTTP: Entry = { what: 'the response is not valid HTTP', responded: true, quotes: true };
const NO_TLS: Entry = {
  what: 'the server does not use TLS; for a service on localhost, use http:// in baseURL',
  unsent: true,
  final: true,
};

/** What undici says of a response that it cannot read, under the code of any other end of a connection. */
const OF_UNDICI: Readonly<Record<string, Entry>> = {
  'bad response': {
    what: 'the response begins with "100 Continue", which no request asked for; the proxy or the service must not send it',
    final: true,
  },
  'bad upgrade': {
    what: 'the response switches to another protocol (101), which no request asked for; the proxy or the service must not do this',
    final: true,
  },
};

/** By code, or by name for errors without one. */
const ENTRIES: Readonly<Record<string, Entry>> = {
  ECONNREFUSED: REFUSED,
  ConnectionRefused: REFUSED, // Bun
  ENOTFOUND: { ...UNRESOLVED, what: 'the host was not found' },
  EHOSTUNREACH: NO_ROUTE,
  ENETUNREACH: NO_ROUTE,
  EHOSTDOWN: NO_ROUTE,
  ENETDOWN: { what: 'the network of this machine is down', unsent: true },
  UND_ERR_CONNECT_TIMEOUT: {
    what: 'connecting took longer than its limit (10 s by default)',
    unsent: true,
    unreachable: true,
  },
  ETIMEDOUT: { what: 'the connection timed out' },
  EADDRNOTAVAIL: {
    what: 'this machine has no free port for another connection; send fewer calls at once',
    unsent: true,
  },
  EMFILE: {
    what: 'this process may not open more files and connections; raise its limit (ulimit -n, or LimitNOFILE of systemd), or send fewer calls at once, as mapCalls does',
    unsent: true,
  },
  ENFILE: {
    what: 'this machine may not open more files and connections; raise its limit (fs.file-max of sysctl), or send fewer calls at once',
    unsent: true,
  },
  ENOBUFS: { what: 'the system has no memory for another connection; send fewer calls at once' },
  ENOMEM: { what: 'the system has no memory left' },
  EACCES: BLOCKED,
  EPERM: BLOCKED,
  NotCapable: FORBIDDEN, // Deno
  PermissionDenied: FORBIDDEN,
  ERR_ACCESS_DENIED: FORBIDDEN,
  'bad port': {
    what: 'fetch connects to no port that another protocol uses, such as 6667; let the service listen on another port, or leave out the option fetch',
    unsent: true,
    final: true,
  },

  ECONNRESET: RESET,
  ECONNABORTED: RESET,
  EPIPE: { what: 'the connection closed while the request was being sent', likeTLS: true },
  UND_ERR_SOCKET: CLOSED,
  UND_ERR_INFO: { what: 'the connection was closed', quotes: true },
  ERR_STREAM_PREMATURE_CLOSE: { what: 'the server closed the connection' },
  ETIMEOUT: UNRESOLVED, // of the name server
  ESERVFAIL: UNRESOLVED,
  ENODATA: UNRESOLVED,

  UND_ERR_HEADERS_TIMEOUT: { what: `no headers arrived within ${OWN_LIMIT}` },
  UND_ERR_BODY_TIMEOUT: { what: `nothing more of the response arrived within ${OWN_LIMIT}` },
  UND_ERR_ABORTED: ENDED,
  UND_ERR_ABORT: ENDED,
  ABORT_ERR: ENDED,
  AbortError: ENDED,
  TimeoutError: ENDED,

  UND_ERR_HEADERS_OVERFLOW: HEADERS_TOO_LARGE,
  HPE_HEADER_OVERFLOW: HEADERS_TOO_LARGE,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: {
    what: 'the length of the body differs from its content-length',
    responded: true,
  },
  UND_ERR_RES_EXCEEDED_MAX_SIZE: {
    what: 'the response is larger than maxResponseSize of the dispatcher',
    responded: true,
    final: true,
  },
  Z_BUF_ERROR: { what: 'the compressed body was cut off' },
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: { what: 'the file changed size while it was being sent', final: true },
  NotReadableError: { what: 'the file was deleted or changed after its Blob was created', final: true },

  UND_ERR_CLOSED: DISPATCHER_CLOSED,
  UND_ERR_DESTROYED: DISPATCHER_CLOSED,
  UND_ERR_REQ_RETRY: { what: 'the dispatcher could not resume the response', quotes: true },
  UND_ERR_BPL_MISSING_UPSTREAM: {
    what: 'the BalancedPool of the dispatcher has no address',
    unsent: true,
    final: true,
  },
  UND_ERR_MAX_ORIGINS_REACHED: {
    what: 'the dispatcher may connect to no more hosts; raise its maxOrigins',
    unsent: true,
    final: true,
  },
  UND_ERR_INVALID_ARG: UNSUITABLE,
  UND_ERR_INVALID_RETURN_VALUE: UNSUITABLE,
  UND_ERR_NOT_SUPPORTED: UNSUITABLE,
  UND_ERR_PRX_CONN: { what: 'the proxy rejected the connection', unsent: true, quotes: true },
  UND_ERR_PRX_TLS: {
    what: 'the certificate of the proxy is not trusted, or is for another host',
    unsent: true,
    final: true,
    quotes: true,
  },
  UND_MOCK_ERR_MOCK_NOT_MATCHED: NO_MOCK,
  ERR_NOCK_NO_MATCH: NO_MOCK,
};

/** Of a certificate that is not trusted. */
const CERTIFICATE = { unsent: true, final: true } as const;

/** Families of codes, the first that matches. */
const FAMILIES: readonly (readonly [codes: RegExp, entry: Entry])[] = [
  [
    /^(UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)|SELF_SIGNED_|DEPTH_ZERO_|CERT_(UNTRUSTED|REJECTED)|INVALID_CA)/,
    {
      ...CERTIFICATE,
      what: "the certificate is not trusted, because this program does not know who signed it; set NODE_EXTRA_CA_CERTS to the file of the signer's certificate before Node starts",
    },
  ],
  [
    /^(CERT_HAS_EXPIRED|CERT_NOT_YET_VALID)/,
    {
      ...CERTIFICATE,
      what: 'the certificate is not trusted, because it has expired or is not valid yet; renew it, or set the clock of this machine',
    },
  ],
  [
    /^(ERR_TLS_CERT_ALTNAME|HOSTNAME_MISMATCH)/,
    {
      ...CERTIFICATE,
      what: 'the certificate is not trusted, because it is for another host; correct the host in baseURL',
      quotes: true,
    },
  ],
  [
    /^(CERT_|CRL_|UNABLE_TO_|ERROR_IN_C|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|ERR_TLS_CERT|UNSPECIFIED|OUT_OF_MEM)/,
    { ...CERTIFICATE, what: 'the certificate is not trusted', quotes: true },
  ],
  [/^(HPE_|HTTPParserError)/, NOT_HTTP],
  [/^(ERR__ERROR_|ERR_BROTLI|ZSTD_error_prefix_unknown)/, NOT_ENCODED], // brotli has no header that tells it from damage
  [/^(Z_|ERR_ZSTD|ZSTD_error)/, DAMAGED],
  [/^EAI_/, UNRESOLVED],
  [/^UND_ERR_SOCKS5_AUTH/, { what: 'the SOCKS5 proxy does not accept the credentials', unsent: true, final: true }],
  [/^UND_ERR_SOCKS5/, { what: 'the SOCKS5 proxy rejected the connection', unsent: true, quotes: true }],
  [/^ERR_(INVALID_|UNESCAPED_|HTTP_INVALID_|MISSING_|OUT_OF_RANGE|UNSUPPORTED_)/, UNSUITABLE],
];

/**
 * What OpenSSL says, in capitals: an alert, by which the other side ends a handshake, or why this side ends it. Node gives it
 * as a code when it reads, and only in the message of an `EPROTO` when it writes.
 */
const TLS: readonly (readonly [said: RegExp, entry: Entry])[] = [
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNKNOWN_PROTOCOL/, NO_TLS],
  [
    /CERTIFICATE_REQUIRED|(BAD|UNSUPPORTED)_CERTIFICATE|CERTIFICATE_(REVOKED|EXPIRED|UNKNOWN)|ALERT_UNKNOWN_CA|ACCESS_DENIED/,
    {
      what: 'the server wants a client certificate, or does not accept the one that it got; pass one with dispatcher: new Agent({ connect: { cert, key } }), from undici',
      final: true,
    },
  ],
  [
    /HANDSHAKE_FAILURE/,
    {
      what: 'the server ended the TLS handshake; it may want a client certificate (dispatcher: new Agent({ connect: { cert, key } }), from undici), or has no cipher in common with this program',
      unsent: true,
      final: true,
    },
  ],
  [
    /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|INSUFFICIENT_SECURITY|NO_PROTOCOLS_AVAILABLE|NO_SHARED_CIPHER|_TOO_(SMALL|WEAK)|LEGACY_RENEGOTIATION/,
    {
      what: "the server and this program have no version of TLS, or no cipher, in common; update the server's TLS",
      unsent: true,
      final: true,
    },
  ],
  [
    /UNRECOGNIZED_NAME/,
    { what: 'the server does not know this host name; correct the host in baseURL', unsent: true, final: true },
  ],
  [
    /NO_APPLICATION_PROTOCOL/,
    { what: 'the server does not speak HTTP/1.1 on this port; correct the port in baseURL', unsent: true, final: true },
  ],
  [/./, { what: 'TLS failed', quotes: true }],
];

/** Deno's errors have no codes. Their words are those of its HTTP client. */
const OF_DENO: readonly (readonly [code: string, RegExp])[] = [
  ['CERT_INVALID', /invalid peer certificate/],
  ['ECONNREFUSED', /tcp connect error.*refused/is],
  ['ENOTFOUND', /\(Connect\): dns error/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /\(Connect\): received corrupt message/],
  ['ECONNRESET', /connection reset by peer \(os error/i],
  ['UND_ERR_SOCKET', /connection closed before message completed/],
];

/** The most characters of an error's words that are searched. */
const MAX_WORDS = 500;

/** Gives an error of Deno the code that its words mean, so that all later readers find it. */
export function addCode({ code, chain }: Failure): string | undefined {
  if (code !== undefined) return code;
  for (const error of chain) {
    const words = error.message.slice(0, MAX_WORDS);
    const found = OF_DENO.find(([, said]) => said.test(words))?.[0];
    if (found === undefined || error instanceof ContextGatewayError) continue;
    Reflect.set(error, 'code', found);
    return found;
  }
  return undefined;
}

/** The entry of a failure, if its cause is known. Browsers have no codes, and do not load this file. */
export function entryOf({ code, chain }: Failure): Entry | undefined {
  const tunnel = chain.map(refusedTunnel).find((entry) => entry !== undefined);
  if (tunnel !== undefined) return tunnel;
  for (const { message, name } of chain) {
    const entry = Object.hasOwn(OF_UNDICI, message) ? OF_UNDICI[message] : undefined;
    if (entry !== undefined && code === 'UND_ERR_SOCKET') return entry;
    const named = code === undefined ? ([name, message].find((one) => Object.hasOwn(ENTRIES, one)) ?? '') : '';
    if (named !== '') return ENTRIES[named];
  }
  if (code === undefined) return undefined;
  if (Object.hasOwn(ENTRIES, code)) return ENTRIES[code];
  const said = [code, ...chain.map(({ message }) => message.slice(0, MAX_WORDS))].join(' ').toUpperCase();
  if (/^(ERR_(SSL|OSSL)_|EPROTO)/.test(code)) return firstOf(TLS, said.replace(/\W+/g, '_'));
  const entry = firstOf(FAMILIES, code);
  // What does not even begin as the encoding was never encoded. Damage behind that may be the network's.
  if (entry === DAMAGED && /INCORRECT HEADER CHECK|UNKNOWN COMPRESSION METHOD/.test(said)) return NOT_ENCODED;
  // Of all that is not valid HTTP, only what does not even begin as HTTP may be TLS.
  return entry === NOT_HTTP && /EXPECTED HTTP\//.test(said) ? { ...entry, likeTLS: true } : entry;
}

function firstOf(entries: readonly (readonly [RegExp, Entry])[], text: string): Entry | undefined {
  return entries.find(([pattern]) => pattern.test(text))?.[1];
}

/** What a proxy answered to CONNECT, by the message of undici or the fields of Node's own error. */
function refusedTunnel(error: { message: string; code?: unknown; statusCode?: unknown }): Entry | undefined {
  const status = Number(
    error.code === 'ERR_PROXY_TUNNEL' ? error.statusCode : /^Proxy response \((\d{3})\)/.exec(error.message)?.[1],
  );
  if (!(status > 200)) return undefined;
  const advice =
    status === 407
      ? 'it wants credentials: pass them with its address, as in http://user:password@proxy.example.com'
      : status < 500
        ? 'it allows no connection to this host'
        : 'it cannot reach the service';
  const what = `the proxy rejected the connection with status ${status}; ${advice}`;
  const mayPass = status >= 500 || status === 408 || status === 429;
  return mayPass ? { what, unsent: true } : { what, unsent: true, final: true };
}

/** How far a request got. With `fetch`, a code may say more than the engine knows. */
export function progressAt(progress: Progress, { unsent, responded }: Entry): Progress {
  if (progress.sent === 'yes') return progress;
  if (unsent) return { phase: 'connect', sent: 'no' };
  // A response from a proxy before the request is sent is not a response to it.
  return responded && progress.sent !== 'no' ? { phase: 'headers', sent: 'yes' } : progress;
}
