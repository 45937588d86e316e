/**
 * Hides keys and tokens in a text: each is cut to its prefix. Everything that leaves the emulator about a request passes
 * here or through `redacted`. `credentials` are other secrets, such as those that the request was sent with.
 */
export function redact(text: string, credentials: readonly string[] = []): string {
  const hidden = hiddenIn(text, credentials);
  let safe = '';
  let end = 0;
  for (const { from, to } of hidden) {
    safe += `${text.slice(end, from)}***`;
    end = to;
  }
  return hidden.length === 0 ? text : safe + text.slice(end);
}

/** A copy of a JSON value with keys and tokens hidden in all its texts and in the names of its fields. */
export function redacted<T>(value: T, credentials: readonly string[] = []): T {
  // Every branch returns what it was given, with other texts in it.
  if (typeof value === 'string') return redact(value, credentials) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redacted(item, credentials)) as T;
  const fields = Object.entries(value).map(([name, field]) => [
    redact(name, credentials),
    redacted(field, credentials),
  ]);
  return Object.fromEntries(fields) as T;
}

/** Hides keys in the events of a completion's stream, also a key that comes in pieces. */
export function redactEvents(events: readonly string[], credentials: readonly string[] = []): string[] {
  const fields = new Map<string, { event: number; text: string; at: number }[]>();
  for (const [event, text] of events.entries()) {
    for (const { field, ...piece } of piecesIn(text)) {
      const own = fields.get(field);
      if (own === undefined) fields.set(field, [{ event, ...piece }]);
      else own.push({ event, ...piece });
    }
  }
  const cuts = events.map((): { from: number; to: number; by: string }[] => []);
  for (const own of fields.values()) {
    const hidden = hiddenIn(own.map(({ text }) => text).join(''), credentials);
    let start = 0;
    for (const { event, text, at } of own) {
      for (const { from, to } of hidden) {
        const [first, last] = [Math.max(from, start), Math.min(to, start + text.length)];
        const by = first === from ? '***' : '';
        if (first < last) cuts[event]?.push({ from: at + first - start, to: at + last - start, by });
      }
      start += text.length;
    }
  }
  return events.map((event, at) => {
    const inOrder = (cuts[at] ?? []).sort((a, b) => b.from - a.from);
    const safe = inOrder.reduce((text, { from, to, by }) => text.slice(0, from) + by + text.slice(to), event);
    return redact(safe, credentials);
  });
}

/** The text pieces of events, with the field that they belong to: the texts of different tool calls are not joined. */
export function* piecesIn(event: string): Generator<{ field: string; text: string; at: number }> {
  let number = '';
  for (const { 0: whole, 1: index, 2: name, 3: text = '', index: start } of event.matchAll(PIECE)) {
    if (index !== undefined) number = index;
    else yield { field: `${name} ${number}`, text, at: start + whole.length - text.length - 1 };
  }
}

/** The parts of a text to hide, in order. The prefix of a key stays. */
function hiddenIn(text: string, credentials: readonly string[]): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = [];
  for (const match of text.matchAll(KEY)) {
    const prefix = match.slice(1).find((one) => one !== undefined) ?? '';
    found.push({ from: match.index + prefix.length, to: match.index + match[0].length });
  }
  for (const credential of credentials) {
    // Most of it suffices: the text may be cut.
    const most = credential.slice(0, Math.max(SHORTEST_PART, Math.ceil(credential.length * 0.75)));
    for (let from = text.indexOf(most); from !== -1; from = text.indexOf(most, from + 1)) {
      let to = from + most.length;
      while (to - from < credential.length && text[to] === credential[to - from]) to += 1;
      found.push({ from, to });
    }
    const length = lengthAtEnd(text, credential);
    if (length > 0) found.push({ from: text.length - length, to: text.length });
  }
  if (found.length < 2) return found;
  const merged: { from: number; to: number }[] = [];
  for (const one of found.sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last !== undefined && one.from < last.to) last.to = Math.max(last.to, one.to);
    else merged.push(one);
  }
  return merged;
}

/** A cut text may end with the beginning of a credential: its length. */
function lengthAtEnd(text: string, credential: string): number {
  if (!credential.includes(text.slice(-SHORTEST_PART)) || text.length < SHORTEST_PART) return 0;
  for (let length = Math.min(credential.length - 1, text.length); length >= SHORTEST_PART; length -= 1)
    if (text.endsWith(credential.slice(0, length))) return length;
  return 0;
}

/**
 * The service's keys, the emulator's tokens, keys of well-known model providers, JSON Web Tokens, bearer tokens, and the
 * user and password of a URL. An escape such as `\n` may stand before them, and a word without a digit is more likely a name.
 */
const KEY =
  /(svc_[sp]k_|session_local_(?=[\w-]*\d|[\w-]{16}))[\w-]+|(?<=^|[^\w-]|\\[bfnrt]|%[\dA-F]{2})(?:(sk-(?=[\w-]*\d|[\w-]{24}))[\w-]{8,}|((?:gsk|hf)_|xai-|AIza)[\w-]{20,}|(eyJ)[\w-]{4,}\.[\w-]{4,}(?:\.[\w-]*)?|(Bearer )(?=[\w.~+/=-]*\d|[\w.~+/=-]{20})(?!svc_|session_local_)[\w.~+/=-]{8,})|(:\/\/)[^\s/@:"]*:[^\s/@",;|]+(?=@)/g;
const PIECE = /"index":(\d+)|"(content|arguments)":"([^"\\]*(?:\\.[^"\\]*)*)"/g;
/** A shorter secret would be found in other words. */
export const SHORTEST_SECRET = 8;
const SHORTEST_PART = 6;
