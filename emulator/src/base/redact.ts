/**
 * Hides keys and tokens in a text: each is cut to its prefix. Everything that leaves the emulator about a request passes
 * here or through `redacted`. `credentials` are other secrets, such as those that the request was sent with.
 */
export function redact(text: string, credentials: readonly string[] = []): string {
  let safe = text.replace(KEY, (_, ...groups) => `${groups.find((prefix) => prefix !== undefined)}***`);
  for (const credential of credentials) safe = safe.replaceAll(credential, '***');
  return safe;
}

/** A copy of a JSON value with keys and tokens hidden in all its texts and in the names of its fields. */
export function redacted<T>(value: T, credentials: readonly string[] = []): T {
  // Every branch returns what it was given, with other texts in it.
  if (typeof value === 'string') return redact(value, credentials) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redacted(item, credentials)) as T;
  const fields = Object.entries(value).map(([name, field]) => [redact(name), redacted(field, credentials)]);
  return Object.fromEntries(fields) as T;
}

/** Hides keys in the events of a completion's stream, also a key that comes in several events. */
export class StreamRedactor {
  /** The last words so far of the texts of each field. */
  readonly #before = new Map<string, string>();

  constructor(private readonly credentials: readonly string[] = []) {}

  /** The next events. */
  next(events: string): string {
    const safe = events.replace(PIECE, (_, name: string, text: string) => `"${name}":"${this.#rest(name, text)}"`);
    return redact(safe, this.credentials);
  }

  /** What the piece adds to the safe text. */
  #rest(name: string, piece: string): string {
    const before = this.#before.get(name) ?? '';
    const whole = before + piece;
    this.#before.set(name, whole.slice(whole.lastIndexOf(' ', whole.lastIndexOf(' ') - 1) + 1).slice(-LONGEST_KEY));
    const shown = redact(before, this.credentials);
    const safe = redact(whole, this.credentials);
    let same = 0;
    while (same < shown.length && shown[same] === safe[same]) same += 1;
    return safe.slice(same);
  }
}

/**
 * The service's keys, the emulator's tokens, keys of well-known model providers, JSON Web Tokens, bearer tokens, and the
 * user and password of a URL.
 */
const KEY =
  /(svc_[sp]k_|session_local_)[\w-]+|\b(sk-)[\w-]{8,}|\b(gsk_|xai-|hf_|AIza)[\w-]{20,}|(?<![\w-])(eyJ)[\w-]{4,}\.[\w-]{4,}\.[\w-]*|\b(Bearer )(?!svc_|session_local_|\*)[\w.~+/=-]{8,}|(:\/\/)[^\s/@:"]*:[^\s/@"]+(?=@)/g;
const PIECE = /"(content|arguments)":"((?:[^"\\]|\\.)*)"/g;
/** In characters. */
const LONGEST_KEY = 2000;
/** A shorter secret would be found in other words. */
export const SHORTEST_SECRET = 8;
