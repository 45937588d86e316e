import { isUtf8 } from 'node:buffer';
import { NAME } from '../../base/mention.js';
import { isSecretHeader } from '../../http/log/credentials.js';
import { isExpression } from '../replies.js';

/** Hides what people wrote: a letter becomes x, a digit 0. Length and punctuation stay. */
export function masked(text: string): string {
  return text.replace(/[\p{L}\p{M}]/gu, 'x').replace(/\p{N}/gu, '0');
}

/** A text that names something stays. A field for names may have another text, such as prose. */
function maskedName(text: string): string {
  return NAME.test(text) || OWN_WORDS.test(text) ? text : masked(text);
}

const OWN_WORDS = /^(?:status \d{3}|scripted reply|first (?:secret|publishable) key)$/;

/** Returns a function that gives a name that it has had a number. */
export function distinctNames(): (name: string) => string {
  /** The last number of each name. */
  const numbers = new Map<string, number>();
  return (name) => {
    let shown = name;
    let number = numbers.get(name) ?? 0;
    // What it makes of one name may be another.
    while (numbers.has(shown)) {
      number += 1;
      shown = `${name}-${number}`;
    }
    numbers.set(name, Math.max(1, number)).set(shown, 1);
    return shown;
  };
}

/** Returns a function that masks names, the same one alike each time and no other so: what refers to an id still does. */
export function maskedNames(): (name: string) => string {
  const shown = new Map<string, string>();
  const numbered = distinctNames();
  return (name) => {
    const safe = shown.get(name) ?? numbered(maskedName(name));
    shown.set(name, safe);
    return safe;
  };
}

/** A name or an id in a path stays, and so does an id in a query. */
export function maskedPath(path: string): string {
  const [place = '', query] = path.split(/\?(.*)/s);
  // A + may stand for a space.
  const inPath = (part: string): string => (part === '*' ? part : part.includes('+') ? masked(part) : maskedName(part));
  const segments = place.split('/').map(inPath);
  if (query === undefined) return segments.join('/');
  const fields = query.split('&').map((field) => {
    const [name = '', value] = field.split(/=(.*)/s);
    if (value === undefined) return masked(name);
    return `${inPath(name)}=${/^(?:conv|msg)_[\w-]*$/.test(value) ? value : masked(value)}`;
  });
  return `${segments.join('/')}?${fields.join('&')}`;
}

/** Headers of the protocol stay, and names in those of the APIs and of the emulator. */
export function maskedHeaders(headers: Record<string, unknown>): Record<string, unknown> {
  const lines = Object.entries(headers).map(([name, value]) => {
    const text = String(value);
    if (isSecretHeader(name)) return [maskedName(name), text.endsWith('***') ? text : '***'];
    if (/^content-type$/i.test(name)) return [name, maskedMedia(text)];
    const isKept = PROTOCOL_HEADERS.test(name) && !PROSE.test(text);
    return [maskedName(name), isKept ? text : NAMING_HEADERS.test(name) ? maskedName(text) : masked(text)];
  });
  return Object.fromEntries(lines);
}

const PROTOCOL_HEADERS =
  /^(?:accept|accept-encoding|accept-language|access-control-expose-headers|allow|cache-control|connection|content-length|date|host|user-agent|vary)$/i;
/** Words that only a space separates. A date has a comma before them, and a browser's name has versions. */
const PROSE = /^(?!Mozilla\/|\w{3}, \d\d ).*[a-z] +[a-z]/i;
const NAMING_HEADERS =
  /^(?:access-control-[\w-]+|idempotency-key|retry-after|traceparent|x-call-attempt|x-emulator-[\w-]+|x-ratelimit-[\w-]+|x-request-id)$/i;

export function maskedMedia(type: string): string {
  return MEDIA.test(type) ? type : masked(type);
}

const MEDIA = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w-]+=[\w"'.-]+)*$/;

export function maskedTemplate(template: string): string {
  return template.split('{{input}}').map(masked).join('{{input}}');
}

/** An escape is not valid with other letters. */
export function maskedExpression({ pattern, ...rest }: { pattern: string; flags?: string | undefined }) {
  const expression = { ...rest, pattern: masked(pattern.replace(/\\(?:[pPku]\{?|.)/g, '.')) };
  return isExpression(expression) ? expression : { ...rest, pattern: 'x' };
}

/** Masks the text of a file. In an unknown encoding, any byte that is not ASCII may be a part of a letter. */
export function maskedContent(content: string): string {
  return inContent(content, (text) => masked(text).replace(/[\x80-\uffff]/g, 'x'));
}

/** Changes the text of a file, which a snapshot has as base64. */
export function inContent(content: string, change: (text: string) => string): string {
  const bytes = Buffer.from(content, 'base64');
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1';
  return Buffer.from(change(bytes.toString(encoding)), encoding).toString('base64');
}

/** The message of an error of the emulator, without what it quotes: that stands in double quotes. */
export function withoutQuotes(message: string): string {
  return message.replace(/"(?:[^"\\]|\\.)*"?/g, masked);
}
