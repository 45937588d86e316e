import type { RequestRecord } from '../../src/http/log/request-record.js';

/**
 * A curl command that repeats a request. Credentials come from environment variables. Comments say in what it is not the
 * same request.
 */
export function requestAsCurl(record: RequestRecord, origin: string): string {
  const { method, path, headers, body = '', isBodyCut, isBodyExact } = record;
  const notes: string[] = [];
  // Without `-g`, curl takes [] and {} for ranges and lists. With `-X HEAD`, it would wait for a body.
  const how = method === 'HEAD' ? ' -I' : method === 'GET' && body === '' ? '' : ` -X ${quoted(method)}`;
  const lines = [`curl -g${how} ${quoted(origin + path)}`];
  for (const [name, value] of Object.entries(headers)) {
    if (UNSENT.has(name) || name.startsWith('sec-')) continue;
    // The log hides some values. These headers are left out, except for the credential, which has a variable.
    if (!value.includes('***')) lines.push(`-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`);
    else if (isCredential(name, value)) lines.push(`-H "${name}: ${schemeOf(value)}$${variableFor(path)}"`);
    else notes.push(`without the header ${name.replace(/[^\w-]/g, '?')}, whose value the log hides`);
  }
  if (isBodyExact && !body.includes('\0')) {
    // `-d` would read a file if the body starts with @. By itself, it would name a type.
    if (body !== '' && headers['content-type'] === undefined) lines.push("-H 'content-type:'");
    if (body !== '') lines.push(`--data-raw ${quoted(body)}`);
  } else {
    const reason = isBodyCut ? 'of which the log has only a part' : 'which the log cannot show as it was sent';
    notes.push(`without the body, ${reason}; add it with --data-binary @FILE`);
  }
  return [...notes.map((note) => `# Not the same request: ${note}`), lines.join(' \\\n  ')].join('\n');
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
const UNSENT = new Set(
  'host content-length connection accept-encoding user-agent accept-language origin referer'.split(' '),
);

/** Quotes a text for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
