import { textsOf, withoutEcho } from './echo.js';
import { unescaped } from './escapes.js';

/** The most characters of a foreign text in a message. */
const MAX_MESSAGE = 2_000;
/** The most characters that are compared with the caller's texts, of which `MAX_MESSAGE` are shown. */
const MAX_COMPARED = 4 * MAX_MESSAGE;
const KEYS = /svc_(sk|pk)_[\w-]+/gi;
/** A text that contains no key, no escape and no control character. */
const PLAIN = /^(?!.*svc_)[\w.:-]*$/i;
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** What must not be printed. */
interface Quoting {
  readonly credential: string;
  readonly request?: { readonly body: string | undefined } | undefined;
}

/**
 * Makes a text from the service safe to print: without the credential, without the caller's texts, without control
 * characters, and of limited length.
 */
export function quoted(text: string, { credential, request }: Quoting): string {
  const masked = withoutSecrets(text, credential);
  const bounded = masked.length > MAX_COMPARED ? masked.slice(0, MAX_COMPARED) : masked;
  const rest = request === undefined ? bounded : withoutEcho(bounded, textsOf(request));
  const shown = rest === bounded ? bounded : withoutSecrets(rest, credential); // its escapes were decoded
  return shown.length > MAX_MESSAGE ? `${shown.slice(0, MAX_MESSAGE)}…` : shown;
}

/** Masks the credential if the service repeats it. Done before a text is cut, because half a key is still a secret. */
export function withoutSecrets(text: string, credential: string): string {
  const secret = secretIn(credential);
  // For speed: nearly every request id is too short and too plain to hide anything.
  if (text.length < Math.min(secret.length, shortestEncoded(secret)) && PLAIN.test(text)) return text;
  const spellings = spellingsOf(secret, text.length);
  let shown = masked(text, spellings);
  let read = shown;
  // Escapes may be nested (`&amp;#43;`). A text is unescaped only if it hides the credential in escapes.
  for (let layer = 0; layer < 2; layer += 1) {
    const inner = unescaped(read);
    if (inner === read) break;
    read = masked(inner, spellings);
    if (read !== inner) shown = read;
  }
  return shown
    .replace(KEYS, 'svc_$1_***')
    .replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function masked(text: string, spellings: readonly string[]): string {
  const lower = text.toLowerCase();
  const found = spellings.filter((one) => one.length >= 8 && lower.includes(one.toLowerCase()));
  const mask = (left: string, one: string) => left.replace(new RegExp(one.replace(/\W/g, '\\$&'), 'gi'), '***');
  return found.reduce(mask, text);
}

/** A header's value may begin with a scheme or the name of a cookie. The secret follows. */
function secretIn(credential: string): string {
  const secret = credential.slice(credential.lastIndexOf(' ') + 1);
  const value = secret.slice(secret.indexOf('=') + 1);
  return value.length >= 8 ? value : secret;
}

/** The fewest characters of base64 that contain the secret. */
function shortestEncoded(secret: string): number {
  return (secret.length * 4) / 3 - 4;
}

/** The secret itself, and its forms inside base64, in both alphabets and at each of the three byte offsets. */
function spellingsOf(secret: string, longest: number): string[] {
  if (longest < shortestEncoded(secret)) return [secret];
  const encoded = [0, 2, 3].flatMap((unlike, before) => {
    // Without the characters at both ends, which depend on the neighbouring bytes.
    const one = btoa(' '.repeat(before) + secret)
      .slice(unlike)
      .replace(/.=+$/, '');
    return [one, one.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [...new Set([secret, ...encoded])];
}
