import type { ServerSentEvent } from '../../src/wire/decode-chunk.js';

/**
 * Decodes server-sent events as the HTML standard says, from a whole body and without code of the package.
 * Three things differ on purpose: the last event needs no blank line, `id` and `retry` are ignored, and a line of JSON that is
 * in no event is one.
 */
export function referenceEvents(body: Uint8Array): ServerSentEvent[] {
  const events: ServerSentEvent[] = [];
  let data: string | undefined;
  let type = '';
  for (const line of [...linesOf(body), '', '']) {
    if (line === '') {
      if (data !== undefined) events.push(type === '' ? { data } : { event: type, data });
      data = undefined;
      type = '';
      continue;
    }
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const rest = colon === -1 ? '' : line.slice(colon + 1);
    const value = rest.startsWith(' ') ? rest.slice(1) : rest;
    const bare = line.replace(/^(?:error:)?\s*/, '');
    if (bare.startsWith('{') && bare.endsWith('}')) events.push({ event: 'bare line', data: bare });
    if (name === 'data') data = data === undefined ? value : `${data}\n${value}`;
    if (name === 'event') type = value;
  }
  return events;
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
