import { startOf } from '../base/unicode.js';
import { type CallerTexts, callerTexts, unescaped, withoutEcho } from './echo.js';

/** The most characters of a foreign text in a message. */
const MAX_MESSAGE = 2_000;
/** The most characters that are compared with the caller's texts, of which `MAX_MESSAGE` are shown. */
const MAX_COMPARED = 4 * MAX_MESSAGE;
/** A shorter secret would mask words. */
const SHORTEST = 8;
const KEYS = /svc_(sk|pk)_[\w-]+/gi;
/** A text that contains no key, no escape and no control character. */
const PLAIN = /^(?!.*svc_)[\w.:-]*$/i;
/** Also those that turn the direction of the text after them around. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Makes texts of others safe to print: those of the service, and of a platform's error. */
export class Redactor {
  readonly #secret: string;
  readonly #body: string | undefined;
  /** A cache, because most errors have several texts, and the body may be long. */
  #texts: CallerTexts | undefined;

  /** `credential` is the value of its header, `body` the JSON of the request. A relayed stream has neither. */
  constructor(credential = '', body?: string) {
    this.#secret = secretPart(credential);
    this.#body = body;
  }

  /**
   * Masks keys, control characters and the credential, also in escaped form. Done before a text is cut, because half a key
   * is still a secret.
   */
  mask(text: string): string {
    const secret = this.#secret;
    // For speed: nearly every request id is plain.
    if (PLAIN.test(text) && !contains(text, secret)) return text;
    let shown = masked(text, secret);
    let read = shown;
    // Escapes may be nested (`&amp;#43;`). Unescape only if that reveals the credential.
    for (let layer = 0; layer < 2; layer += 1) {
      const inner = unescaped(read);
      if (inner === read) break;
      read = masked(inner, secret);
      if (read !== inner) shown = read;
    }
    return shown
      .replace(KEYS, 'svc_$1_***')
      .replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  }

  /** The same, without the caller's texts and of limited length. */
  quote(text: string): string {
    const masked = this.mask(text);
    const bounded = startOf(masked, MAX_COMPARED);
    this.#texts ??= callerTexts(this.#body);
    const rest = withoutEcho(bounded, this.#texts);
    const shown = rest === bounded ? bounded : this.mask(rest); // its escapes were decoded
    return shown.length > MAX_MESSAGE ? `${startOf(shown, MAX_MESSAGE)}…` : shown;
  }
}

function contains(text: string, secret: string): boolean {
  if (secret.length < SHORTEST || text.length < secret.length) return false;
  return text.toLowerCase().includes(secret.toLowerCase());
}

function masked(text: string, secret: string): string {
  // linear: a literal text, found from one place on at a time
  return contains(text, secret) ? text.replace(new RegExp(secret.replace(/\W/g, '\\$&'), 'gi'), '***') : text;
}

/** A header's value may begin with a scheme or the name of a cookie. The secret follows. */
function secretPart(credential: string): string {
  const secret = credential.slice(credential.lastIndexOf(' ') + 1);
  const value = secret.slice(secret.indexOf('=') + 1);
  return value.length >= SHORTEST ? value : secret;
}
