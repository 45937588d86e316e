import type { ServerSentEvent } from '../../src/wire/decode-chunk.js';

/**
 * Decodes server-sent events as the HTML standard says, from a whole body and without code of the package.
 * Three things differ on purpose: the last event needs no blank line, `id` and `retry` are ignored, and JSON that is in no
 * event is one: a line of it, or what the lines after the last event are together.
 */
export function referenceEvents(body: Uint8Array): ServerSentEvent[] {
  const events: ServerSentEvent[] = [];
  let data: string | undefined;
  let type = '';
  let unread = '';
  for (const line of [...linesOf(body), '', '']) {
    if (line === '') {
      if (data !== undefined) {
        events.push(type === '' ? { data } : { event: type, data });
        unread = '';
      }
      data = undefined;
      type = '';
      continue;
    }
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const rest = colon === -1 ? '' : line.slice(colon + 1);
    const value = rest.startsWith(' ') ? rest.slice(1) : rest;
    const bare = line.replace(/^(?:error:)?\s*/, '');
    const isKnown = ['data', 'event', 'id', 'retry', ''].includes(name);
    if (bare.startsWith('{') && bare.endsWith('}')) events.push({ event: 'bare', data: bare });
    else if (!isKnown) unread += `${line}\n`;
    if (name === 'data') data = data === undefined ? value : `${data}\n${value}`;
    if (name === 'event') type = value;
  }
  const json = objectIn(unread);
  if (json !== undefined) events.push({ event: 'bare', data: json });
  return events;
}

function objectIn(text: string): string | undefined {
  try {
    const [value] = [JSON.parse(text.replace(/^(?:error:)?\s*/, ''))].flat();
    return value instanceof Object ? JSON.stringify(value) : undefined;
  } catch {
    return undefined;
  }
}

/** Splits at CR LF, LF or CR, on the bytes before they are decoded. */
function linesOf(body: Uint8Array): string[] {
  const lines: string[] = [];
  const marked = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  let start = marked ? 3 : 0;
  for (let at = start; at <= body.length; at += 1) {
    const byte = body[at];
    if (at < body.length && byte !== 0x0a && byte !== 0x0d) continue;
    lines.push(new TextDecoder('utf-8', { ignoreBOM: true }).decode(body.subarray(start, at)));
    if (byte === 0x0d && body[at + 1] === 0x0a) at += 1;
    start = at + 1;
  }
  return lines;
}
