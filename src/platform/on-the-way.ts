import type { HeaderSource } from '../base/response-info.js';
import type { ResponseHead } from './engine.js';

/** What every platform has decoded, and what is no encoding. */
const DECODED = /^(?:x-gzip|gzip|deflate|identity|none|utf-?8)$/i;
/** Control characters that no text has. */
const CONTROL = /[\0-\x08]/;

/** What is wrong with a text that is still encoded, because this platform cannot decode it. `undefined` for any other text. */
export function stillEncoded(text: string, headers: HeaderSource): string | undefined {
  const [encoding] = /^[\w-]{1,20}/.exec(headers.get('content-encoding')?.trim() ?? '') ?? [];
  if (encoding === undefined || DECODED.test(encoding)) return undefined;
  const start = text.slice(0, 1000);
  const unreadable = start.split('\ufffd').length - 1; // a single one may be in a page in Latin-1
  if (!CONTROL.test(start) && unreadable < start.length / 10) return undefined;
  return `The response is encoded as ${encoding}, which this platform cannot read. Let the service or the proxy send gzip, or what the request's accept-encoding names.`;
}

/** Redirects are never followed. The message names the host, to help the user correct `baseURL`. */
export function redirectTarget({ status, headers }: Pick<ResponseHead, 'status' | 'headers'>): string | undefined {
  if (status < 300 || status > 399 || status === 304) return undefined;
  const location = headers.get('location');
  const host = location !== undefined && URL.canParse(location) ? new URL(location).host : undefined;
  const target = host === undefined ? 'to another address' : `to ${host}`;
  return `The service redirects ${target}. Redirects are not followed, to keep the credential on its host. Correct baseURL.`;
}
