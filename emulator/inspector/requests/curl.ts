import type { RequestRecord } from '../../src/http/request-log.js';
import { quoted } from '../playground/code.js';

/** A curl command that repeats a request. Credentials come from environment variables. */
export function requestAsCurl({ method, path, headers, body }: RequestRecord, origin: string): string {
  const lines = [`curl${method === 'GET' ? '' : ` -X ${quoted(method)}`} ${quoted(origin + path)}`];
  for (const [name, value] of Object.entries(headers)) {
    if (UNSENT.has(name) || name.startsWith('sec-')) continue;
    // The log hides some values. These headers are left out, except for the credential, which has a variable.
    if (!value.includes('***')) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
    else if (isCredential(name, value)) lines.push(`-H "${name}: ${schemeOf(value)}$${variableFor(path)}"`);
  }
  // `-d` would read a file if the body starts with @.
  if (body !== undefined && body !== '') lines.push(`--data-raw ${quoted(body)}`);
  return lines.join(' \\\n  ');
}

/**
 * Any page may send headers, and a credential's header is not single-quoted, so it must contain nothing that a shell
 * interprets.
 */
function isCredential(name: string, value: string): boolean {
  if (name === 'authorization') return /^([a-z]+ )?(svc_[sp]k_|session_local_)?\*\*\*$/i.test(value);
  // The header of session tokens is configurable.
  return /^[a-z0-9-]+$/.test(name) && /^([a-z]+ )?session_local_\*\*\*$/i.test(value);
}

function schemeOf(value: string): string {
  return value.slice(0, value.indexOf(' ') + 1);
}

function variableFor(path: string): string {
  return path.startsWith('/api') ? 'CONTEXT_GATEWAY_SESSION_TOKEN' : 'CONTEXT_GATEWAY_API_KEY';
}

/** Headers that curl sends by itself. */
const UNSENT = new Set([
  'host',
  'content-length',
  'connection',
  'accept-encoding',
  'user-agent',
  'accept-language',
  'origin',
  'referer',
]);
