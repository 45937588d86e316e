import { redact } from '../../base/redact.js';
import { startOf } from '../../base/start-of.js';
import { credentialsOf } from './credentials.js';
import type { LogEntry } from './log-entry.js';

/** The beginning of what a completion was asked: its last message of the user. */
export function askedIn(
  entry: LogEntry,
  { messages, input }: { messages?: unknown; input?: unknown },
): string | undefined {
  const list: unknown[] = Array.isArray(messages) ? messages : [];
  const { content = input } = Object(list.findLast((each) => Object(each).role === 'user'));
  const texts = Array.isArray(content) ? content.map((part) => Object(part).text ?? '') : [content];
  return beginning(entry, texts.filter((text) => typeof text === 'string').join(' '));
}

/** The beginning of a reply or of an error, once it has ended. Of a reply without a text, the names of the tools it calls. */
export function repliedIn(entry: LogEntry): string | undefined {
  const { body } = entry.response ?? {};
  const text = typeof body === 'string' ? body : (body?.text() ?? '');
  const isError = (entry.status ?? 0) >= 400;
  if (!isError && entry.prompt === undefined) return undefined; // no completion
  const names = isError ? ['message', 'error'] : ['content', 'output', 'name'];
  for (const name of names) {
    const found = beginning(entry, textsOf(text, name));
    if (found !== undefined) return name === 'name' ? `calls ${found}` : found;
  }
  return undefined;
}

/** The texts that JSON, or the events of a stream, has under a name, joined. The body may be cut, so that it is no JSON. */
function textsOf(json: string, name: string): string {
  let all = '';
  // linear: at most 64 KB, and where it begins again, the last text has ended
  for (const [, text] of json.matchAll(new RegExp(`"${name}":\\s*("(?:[^"\\\\]|\\\\.)*")`, 'g'))) {
    all += decoded(text ?? '');
    if (all.length > SCANNED) break;
  }
  return all;
}

/** A body may be malformed, on purpose or not. */
function decoded(quoted: string): string {
  try {
    return JSON.parse(quoted);
  } catch {
    return quoted.slice(1, -1);
  }
}

/** Without keys, on one line, and in a string of its own: a part of another would keep that in memory. */
function beginning(entry: LogEntry, text: string): string | undefined {
  const part = startOf(text, SCANNED);
  const safe = redact(part, credentialsOf(entry), part.length < text.length);
  const line = startOf(safe.replace(/\s+/g, ' ').trim(), SHOWN);
  return line === '' ? undefined : Buffer.from(line).toString();
}

/** In characters. */
const SHOWN = 160;
const SCANNED = 2 * SHOWN;
