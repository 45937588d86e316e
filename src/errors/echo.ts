/** The values of these fields are names, which an error may quote. All others are text of the caller. */
const NAMES = /^(model|role|type|name|action|level|category|purpose)$|(^|_)id$|Id$/;
/** The fewest characters in a row that an error may not share with a text of the caller. */
const RUN = 20;
/** The fewest characters of a text that an error may not quote as a whole. */
const SHORTEST = 8;

/** The texts of a request, such as the contents of its messages, in the form in which they are compared. */
export interface CallerTexts {
  readonly long: readonly string[];
  readonly short: ReadonlySet<string>;
}

const FACTOR = 0x01000193;
/** `FACTOR` to the power of `RUN`, in 32 bits. */
const OLDEST = Array(RUN).fill(FACTOR).reduce(Math.imul, 1);
/** `&#x2b;`; `&#43;`; `&plus;`; `%2b%20`; `\u002b`; `\/` and `\n` */
const ESCAPED =
  /&#x0*([\da-f]{1,6});?|&#0*(\d{1,7});?|&(\w{2,6});|((?:%[\da-f]{2})+)|\\u([\da-f]{4})|\\(["'/\\bfnrt])/gi;

/** Collects the texts of a JSON body. */
export function callerTexts(json: string | undefined): CallerTexts {
  const long: string[] = [];
  const short = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value === 'string') {
      const text = comparable(value);
      if (text.length >= RUN) long.push(text);
      else if (text.length >= SHORTEST) short.add(text);
    } else if (Array.isArray(value)) value.forEach(collect);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, field] of Object.entries(value)) {
        if (typeof field !== 'string' || !NAMES.test(name)) collect(field);
      }
    }
  };
  if (json !== undefined) collect(JSON.parse(json));
  return { long, short };
}

/**
 * Replaces what a text from the service shares with the texts of the caller by `…`, also if it is escaped. Takes time
 * proportional to the length of the texts.
 */
export function withoutEcho(text: string, { long, short }: CallerTexts): string {
  if (text.length < SHORTEST) return text;
  const plain = comparable(text);
  const isShared = new Uint8Array(plain.length);
  for (const quoted of short) {
    for (let at = plain.indexOf(quoted); at !== -1; at = plain.indexOf(quoted, at + 1)) {
      isShared.fill(1, at, at + quoted.length);
    }
  }
  markRuns(plain, long, isShared);
  if (!isShared.includes(1)) return text;
  let shown = '';
  for (let at = 0; at < plain.length; at += 1) {
    if (isShared[at] === 0) shown += plain[at];
    else if (isShared[at - 1] !== 1) shown += '…';
  }
  return shown;
}

/** Escapes are decoded, twice because they may be nested, and line breaks count as spaces. */
function comparable(text: string): string {
  const plain = /[&%\\]/.test(text) ? unescaped(unescaped(text)) : text;
  return plain.replace(/\s+/g, ' ').trim();
}

/** Marks each run of characters that `text` shares with one of the texts: looks for the hashes of its runs in them. */
function markRuns(text: string, others: readonly string[], isShared: Uint8Array): void {
  const places = new Map<number, number[]>();
  // Most lookups end here, which takes a tenth of the time.
  const maybe = new Uint8Array(1 << 16);
  eachRun(text, (hash, at) => {
    const same = places.get(hash);
    if (same === undefined) places.set(hash, [at]);
    else same.push(at);
    maybe[hash & 0xffff] = 1;
  });
  for (const other of places.size === 0 ? [] : others) {
    eachRun(other, (hash, from) => {
      if (maybe[hash & 0xffff] === 0) return;
      const found = places.get(hash)?.filter((at) => text.startsWith(other.slice(from, from + RUN), at)) ?? [];
      for (const at of found) isShared.fill(1, at, at + RUN);
      if (found.length > 0) places.delete(hash); // each run is looked for once
    });
  }
}

/** Calls `visit` with a hash of every `RUN` characters in a row. Each hash is computed from the one before. */
function eachRun(text: string, visit: (hash: number, at: number) => void): void {
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) {
    hash = (Math.imul(hash, FACTOR) + text.charCodeAt(at)) | 0;
    if (at >= RUN) hash = (hash - Math.imul(OLDEST, text.charCodeAt(at - RUN))) | 0;
    if (at >= RUN - 1) visit(hash, at - RUN + 1);
  }
}

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  // Used in tokens:
  plus: '+',
  equals: '=',
  sol: '/',
};

/** Decodes characters that are escaped as in HTML, URLs or JSON. Anything else stays unchanged. */
export function unescaped(text: string): string {
  return text.replace(ESCAPED, (whole, hex, decimal, name, percent, unicode, plain) => {
    if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
    if (percent !== undefined) return percentDecoded(percent);
    if (plain !== undefined) return /\w/.test(plain) ? ' ' : plain; // a line break, as `\n`
    if (unicode !== undefined) return String.fromCharCode(Number.parseInt(unicode, 16));
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0x10ffff ? whole : String.fromCodePoint(code);
  });
}

/** Bytes that are not UTF-8 stay unchanged, except ASCII characters. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/%[0-7][\da-f]/gi, decodeURIComponent);
  }
}
