import { isBrowser, readEnvironment } from '#platform';
import { ConfigurationError } from '../errors/base.js';
import type { ClientOptions } from './client-options.js';

const BASE_URL = 'CONTEXT_GATEWAY_BASE_URL';

/** The parts of `baseURL`. */
export interface Base {
  readonly origin: string;
  /** The path before `/v1` or `/api`: empty, or with a leading and no trailing slash. */
  readonly prefix: string;
}

/**
 * Returns a function that returns the parsed `baseURL`. If there is none, the first call reads the environment again.
 * @throws {ConfigurationError} when it is wrong; when it is missing, the returned function does
 */
export function baseURLReader({ baseURL, dangerouslyAllowHTTP = false }: ClientOptions): () => Base {
  const parse = (value: unknown): Base => parseBaseURL(value, dangerouslyAllowHTTP);
  const value: unknown = baseURL ?? readEnvironment(BASE_URL);
  let base = value === undefined ? undefined : parse(value);
  return () => {
    base ??= parse(readEnvironment(BASE_URL));
    return base;
  };
}

function parseBaseURL(value: unknown, dangerouslyAllowHTTP: boolean): Base {
  if (value === undefined) {
    throw new ConfigurationError(`baseURL is missing. Pass { baseURL: 'https://…' }${environmentHint(BASE_URL)}.`);
  }
  const url = typeof value === 'string' ? parseURL(value) : undefined;
  const prefix = url?.pathname.replace(/\/{2,}/g, '/').replace(/\/$/, '') ?? '';
  const problem = findBadURL(url, prefix, dangerouslyAllowHTTP);
  if (url === undefined || problem !== undefined) throw new ConfigurationError(`baseURL must ${problem}.`);
  return { origin: url.origin, prefix };
}

/** Suggests the environment variable, except in a page, which has no environment. */
export function environmentHint(variable: string): string {
  const toRead = 'Deno' in globalThis ? ', and run with --allow-env' : '';
  return isBrowser() ? '' : `, or set ${variable}${toRead}`;
}

function findBadURL(url: URL | undefined, prefix: string, allowsHTTP: boolean): string | undefined {
  if (url === undefined) return 'be a complete URL without quotes, such as https://gateway.example.com';
  const { protocol, username, password, search, hash, hostname } = url;
  if (protocol !== 'https:' && !(protocol === 'http:' && (allowsHTTP || isLoopback(hostname))))
    return (
      'begin with https://: over http://, anyone on the network path can read the credential. ' +
      'http:// is allowed for localhost; for another host in a trusted network, set dangerouslyAllowHTTP: true'
    );
  if (username || password || search || hash)
    return 'not contain a user name, password, query or fragment; pass the credential as apiKey or sessionToken';
  const version = /\/(v1|api)$/.exec(prefix)?.[1];
  return version && `not end in /${version}: the client adds it`;
}

/** Checks the parsed host: there `127.1` is 127.0.0.1, and `localhost.example.com` is not localhost. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** `URL.parse`, which React Native and browsers of 2023 do not have: `undefined` if the text is not a complete URL. */
function parseURL(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
