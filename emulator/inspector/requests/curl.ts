import type { RequestRecord } from '../../src/http/request-log.js';
import { quoted } from '../playground/code.js';

/** A request as it can be sent again. Credentials come from the environment. */
export function requestAsCurl({ method, path, headers, body }: RequestRecord, origin: string): string {
  const lines = [`curl${method === 'GET' ? '' : ` -X ${quoted(method)}`} ${quoted(origin + path)}`];
  for (const [name, value] of Object.entries(headers)) {
    if (UNSENT.has(name) || name.startsWith('sec-')) continue;
    // What is hidden in the log is left out, except the credential: it has a variable.
    if (!value.includes('***')) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
    else if (isCredential(name, value)) lines.push(`-H "${name}: ${schemeOf(value)}$${variableFor(path)}"`);
  }
  // `-d` would read a file where the body begins with @.
  if (body !== undefined && body !== '') lines.push(`--data-raw ${quoted(body)}`);
  return lines.join(' \\\n  ');
}

/** Any page may send headers, and these are written without quotes: nothing in them may mean something to a shell. */
function isCredential(name: string, value: string): boolean {
  if (name === 'authorization') return /^([a-z]+ )?(svc_[sp]k_|session_local_)?\*\*\*$/i.test(value);
  // The header of session tokens can be another.
  return /^[a-z0-9-]+$/.test(name) && /^([a-z]+ )?session_local_\*\*\*$/i.test(value);
}

function schemeOf(value: string): string {
  return value.slice(0, value.indexOf(' ') + 1);
}

function variableFor(path: string): string {
  return path.startsWith('/api') ? 'CONTEXT_GATEWAY_SESSION_TOKEN' : 'CONTEXT_GATEWAY_API_KEY';
}

/** What curl says by itself. */
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
