import type { RequestRecord } from '../../src/http/request-log.js';
import { quoted } from '../playground/code.js';

/** A request as it can be sent again. Credentials come from the environment. */
export function requestAsCurl({ method, path, headers, body }: RequestRecord, origin: string): string {
  const lines = [`curl${method === 'GET' ? '' : ` -X ${method}`} ${quoted(origin + path)}`];
  for (const [name, value] of Object.entries(headers)) {
    if (UNSENT.has(name) || name.startsWith('sec-')) continue;
    const variable = path.startsWith('/api') ? 'CONTEXT_GATEWAY_SESSION_TOKEN' : 'CONTEXT_GATEWAY_API_KEY';
    // A credential is logged without itself.
    if (value.includes('***'))
      lines.push(`-H "${name}: ${value.includes(' ') ? `${value.split(' ')[0]} ` : ''}$${variable}"`);
    else lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  }
  if (body !== undefined && body !== '') lines.push(`-d ${quoted(body)}`);
  return lines.join(' \\\n  ');
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
