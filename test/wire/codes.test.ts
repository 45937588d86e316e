import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { describe, expect, test } from 'vitest';
import { type APIConnectionError, GatewayClient } from '../../src/index.js';
import { eager, failureOf, GET, KEY } from './world.js';

const baseURL = 'https://service.test';
const SAID = 'what the platform says';

/** The error of a call whose `fetch` fails as the platform's does. */
async function failureWith(fields: object, message = SAID): Promise<APIConnectionError> {
  const cause = Object.assign(new Error(message), fields);
  const fetch = () => Promise.reject(new TypeError('fetch failed', { cause }));
  const gateway = new GatewayClient({ baseURL, apiKey: KEY, fetch, maxRetries: 0 }, undefined, eager);
  return (await failureOf(gateway.request(GET))) as APIConnectionError;
}

describe('a cause of this kind is named, with what to do', () => {
  test.each<{ code: string; says: string; again?: true; message?: string }>([
    { code: 'EMFILE', says: 'raise its limit (ulimit -n', again: true },
    { code: 'ENFILE', says: 'fs.file-max', again: true },
    { code: 'EADDRNOTAVAIL', says: 'send fewer calls at once', again: true },
    { code: 'ENETUNREACH', says: 'the network has no way to the host; check baseURL', again: true },
    { code: 'EAI_FAIL', says: 'the host name could not be resolved', again: true },
    { code: 'EACCES', says: 'a firewall or a sandbox' },
    { code: 'Z_DATA_ERROR', says: 'not encoded as its content-encoding says', message: 'incorrect header check' },
    { code: 'Z_DATA_ERROR', says: 'not encoded as its content-encoding says', message: 'unknown compression method' },
    { code: 'Z_DATA_ERROR', says: 'the compressed body is damaged', message: 'invalid distance code', again: true },
    { code: 'ZSTD_error_corruption_detected', says: 'the compressed body is damaged', again: true },
    { code: 'Z_BUF_ERROR', says: 'the compressed body was cut off', again: true },
    { code: 'ERR__ERROR_FORMAT_SIMPLE_HUFFMAN_SAME', says: 'not encoded as its content-encoding says' },
    { code: 'ZSTD_error_prefix_unknown', says: 'not encoded as its content-encoding says' },
    { code: 'UND_ERR_HEADERS_OVERFLOW', says: '--max-http-header-size' },
    { code: 'HPE_HEADER_OVERFLOW', says: '--max-http-header-size' },
    { code: 'HPE_INVALID_HEADER_TOKEN', says: `valid HTTP (HPE_INVALID_HEADER_TOKEN). The cause is`, again: true },
    { code: 'UND_ERR_CLOSED', says: 'the dispatcher is closed' },
    { code: 'UND_ERR_DESTROYED', says: 'the dispatcher is closed' },
    { code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE', says: 'maxResponseSize of the dispatcher' },
    { code: 'UND_ERR_ABORTED', says: `a limit of its own`, again: true },
    { code: 'UND_MOCK_ERR_MOCK_NOT_MATCHED', says: 'no mock matches the request' },
    { code: 'ERR_PROXY_TUNNEL', says: 'the proxy rejected the connection with status 407; it wants credentials' },
    { code: 'UND_ERR_SOCKS5_AUTH_FAILED', says: 'the SOCKS5 proxy does not accept the credentials' },
    { code: 'SELF_SIGNED_CERT_IN_CHAIN', says: 'set NODE_EXTRA_CA_CERTS' },
    { code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', says: 'set NODE_EXTRA_CA_CERTS' },
    { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', says: 'set NODE_EXTRA_CA_CERTS' },
    { code: 'DEPTH_ZERO_SELF_SIGNED_CERT', says: 'set NODE_EXTRA_CA_CERTS' },
    { code: 'CERT_HAS_EXPIRED', says: 'it has expired' },
    { code: 'ERR_TLS_CERT_ALTNAME_INVALID', says: 'it is for another host' },
    { code: 'CERT_REVOKED', says: 'the certificate is not trusted (CERT_REVOKED). The cause is' },
    { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', says: 'wants a client certificate' },
    { code: 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', says: 'a client certificate, or does not accept the one' },
    { code: 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', says: 'may want a client certificate' },
    { code: 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', says: '(ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE)' },
    { code: 'EPROTO', says: 'may want a client certificate', message: 'SSL routines:sslv3 alert handshake failure:40' },
    { code: 'EPROTO', says: 'does not use TLS', message: 'SSL routines:ssl3_get_record:wrong version number' },
    { code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', says: 'no version of TLS' },
    { code: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME', says: 'does not know this host name' },
    { code: 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', says: 'TLS failed', again: true },
    { code: 'ERR_INVALID_CHAR', says: 'the request could not be made' },
  ])('$code: $says', async ({ code, says, again = false, message }) => {
    const error = await failureWith({ code, statusCode: 407 }, message);

    expect(error.message).toContain(says);
    expect(error.message).toContain(`(${code})`);
    expect(error.retryable).toBe(again);
  });

  test.each([
    { name: 'TimeoutError', message: 'The operation was aborted due to timeout', says: 'a limit of its own' },
    { name: 'AbortError', message: 'This operation was aborted', says: 'a limit of its own' },
    { name: 'Error', message: 'bad port', says: 'let the service listen on another port' },
  ])('$name, $message: $says', async ({ name, message, says }) => {
    expect((await failureWith({ name }, message)).message).toContain(says);
  });
});

test.each([
  { thrown: new RangeError('no handler for this'), says: 'The cause is RangeError: no handler for this (GET' },
  { thrown: 'Timed out after 3 s', says: 'The cause is Error: Timed out after 3 s (GET' },
  { thrown: { message: 'no error' }, says: 'The cause is Error: no error (GET' },
  {
    thrown: new AggregateError([new Error('first')], 'all failed'),
    says: 'The cause is AggregateError: all failed: first (GET',
  },
  { thrown: Object.assign(new Error('odd'), { code: 'ERR_ODD' }), says: '(ERR_ODD). The cause is Error: odd (GET' },
  { thrown: new Error(`with ${KEY}`), says: 'The cause is Error: with *** (GET' },
])('an unknown cause is quoted: $says', async ({ thrown, says }) => {
  const fetch = () => Promise.reject(thrown);
  const gateway = new GatewayClient({ baseURL, apiKey: KEY, fetch, maxRetries: 0 }, undefined, eager);

  expect((await failureOf(gateway.request(GET))).message).toContain(`the connection failed`);
  expect((await failureOf(gateway.request(GET))).message).toContain(says);
});

/** The codes of undici's errors. */
const ofUndici = Object.values(createRequire(import.meta.url)('undici').errors as Record<string, unknown>).flatMap(
  (type) => [...String(type).matchAll(/'(UND_\w+)'/g)].map(([, code = '']) => code),
);
const OF_CERTIFICATES =
  'UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_CRL UNABLE_TO_DECRYPT_CERT_SIGNATURE UNABLE_TO_DECRYPT_CRL_SIGNATURE UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY CERT_SIGNATURE_FAILURE CRL_SIGNATURE_FAILURE CERT_NOT_YET_VALID CRL_NOT_YET_VALID CRL_HAS_EXPIRED ERROR_IN_CERT_NOT_BEFORE_FIELD ERROR_IN_CRL_NEXT_UPDATE_FIELD OUT_OF_MEM CERT_CHAIN_TOO_LONG INVALID_CA PATH_LENGTH_EXCEEDED INVALID_PURPOSE CERT_UNTRUSTED CERT_REJECTED HOSTNAME_MISMATCH UNSPECIFIED'.split(
    ' ',
  );

test.each([
  { of: 'the system', codes: Object.keys(constants.errno) },
  { of: 'undici', codes: ofUndici },
  { of: 'name servers', codes: ['EAI_AGAIN', 'EAI_NODATA', 'ENODATA', 'ESERVFAIL', 'ENOTFOUND', 'ETIMEOUT'] },
  { of: 'certificates', codes: OF_CERTIFICATES },
])('no code of $of ends as a failure without a name', async ({ codes }) => {
  expect(codes.length).toBeGreaterThan(5);
  for (const code of codes) {
    const { message } = await failureWith({ code });

    expect(message).toContain(`(${code})`);
    if (message.includes('the connection failed')) expect(message).toContain(`fetch failed: ${SAID}`);
    if (OF_CERTIFICATES.includes(code)) expect(message).toContain('the certificate is not trusted');
  }
});
