/** Characters of a foreign text that are repeated in a message of ours. */
const MAX_MESSAGE = 2_000;
const KEYS = /svc_(sk|pk)_[\w-]+/gi;
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** The service's words made fit for a message: no credential, no control characters, not too long. */
export function cleaned(text: string, credential: string): string {
  const masked = withoutSecrets(text, credential);
  return masked.length > MAX_MESSAGE ? `${masked.slice(0, MAX_MESSAGE)}…` : masked;
}

/** Should the service repeat the credential, nobody reads it. Done before a text is cut: half a key is a secret as well. */
export function withoutSecrets(text: string, credential: string): string {
  let left = text;
  for (const spelling of spellingsOf(secretIn(credential))) {
    if (spelling.length >= 8 && left.toLowerCase().includes(spelling.toLowerCase()))
      left = left.replace(new RegExp(spelling.replace(/\W/g, '\\$&'), 'gi'), '***');
  }
  return left
    .replace(KEYS, 'svc_$1_***')
    .replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A header's value may begin with a scheme, or with the name of a cookie; what follows is the secret. */
function secretIn(credential: string): string {
  const secret = credential.slice(credential.lastIndexOf(' ') + 1);
  const value = secret.slice(secret.indexOf('=') + 1);
  return value.length >= 8 ? value : secret;
}

/** As it is, and as URLs and JSON write it. */
function spellingsOf(secret: string): string[] {
  if (/^[\w.~-]*$/.test(secret)) return [secret];
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)];
}

/**
 * Gives a failure's own words about a request, or `undefined` where they repeat a part of its credential or of what else it
 * `held`: a dozen letters and digits in a row, whatever stands between them. Whoever words a failure may quote a request in any
 * spelling. What it held is read once for all words of a failure.
 */
export function harmlessFor(credential: string, held: readonly unknown[]): (words: string) => string | undefined {
  const secret = secretIn(credential);
  const texts = [...spellingsOf(secret), btoa(secret), ...held].filter((one) => typeof one === 'string');
  const tooLong = texts.some(({ length }) => length > 50_000); // to be looked through
  const letters = tooLong ? [] : texts.map(lettersOf);
  return (words) => {
    const text = words.slice(0, MAX_MESSAGE);
    const read = lettersOf(text);
    return tooLong || letters.some((one) => shares(read, one)) ? undefined : cleaned(text, credential);
  };
}

function shares(read: string, held: string): boolean {
  const window = Math.min(12, held.length);
  if (window < 6) return false; // a word
  for (let at = 0; at + window <= read.length; at += 1) if (held.includes(read.slice(at, at + window))) return true;
  return false;
}

function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}
