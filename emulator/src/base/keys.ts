import { Matcher } from './matcher.js';

/** What follows the beginning of a key, and may be its secret part. */
export interface Candidate {
  readonly kind: Kind;
  /** What follows here may be secret. */
  from: number;
  /** What is up to here is secret. */
  to: number;
  /** Whether all that follows is secret. */
  isSecret: boolean;
  /** How many characters it has. */
  length: number;
  /** For a URL, how deep it is encoded. */
  readonly depth: number;
  /** Takes the next character. Returns false if it ends before this one. */
  read(code: number, from: number, to: number, level: number): boolean;
}

/** A kind of keys: how they begin, and which characters follow. The beginning stays visible. */
interface Kind {
  beginnings: readonly string[];
  /** Whether it may begin in the middle of a word. */
  isAnywhere?: boolean;
  /** Whether spaces separate the secret part from the beginning. */
  isAfterSpace?: boolean;
  has(code: number): boolean;
  isSecret(word: Word): boolean;
}

const isName = setOf(/[\w-]/);

/** API keys of the service, and tokens of the emulator. */
const OWN_KEY: Kind = { beginnings: ['svc_sk_', 'svc_pk_'], isAnywhere: true, has: isName, isSecret: () => true };
const OWN_TOKEN: Kind = {
  beginnings: ['session_local_'],
  isAnywhere: true,
  has: isName,
  isSecret: ({ length, hasDigit, isProse }) => hasDigit || (length >= 16 && !isProse),
};
/** Of OpenAI, Anthropic and many others. */
const SK_KEY: Kind = {
  beginnings: ['sk-'],
  has: isName,
  isSecret: ({ length, hasDigit, isProse }) => length >= 8 && (hasDigit || (length >= 20 && !isProse)),
};
/** Of Groq, Hugging Face, xAI and Google. Many identifiers begin like them. */
const OTHER_KEY: Kind = {
  beginnings: ['gsk_', 'hf_', 'xai-', 'AIza'],
  has: isName,
  isSecret: ({ length, hasDigit, isProse }) => !isProse && length >= (hasDigit ? 8 : 20),
};
const JSON_WEB_TOKEN: Kind = { beginnings: ['eyJ'], has: setOf(/[\w.-]/), isSecret: ({ parts }) => parts > 1 };
const BEARER_TOKEN: Kind = {
  // After a percent sign, `Be` looks like a byte.
  beginnings: ['Bearer', 'bearer', 'BEARER', '\xbearer', '\xbeARER'],
  isAfterSpace: true,
  has: setOf(/[\w.~+/=-]/),
  isSecret: ({ length, hasDigit }) => length >= (hasDigit ? 8 : 20),
};
/** The user and the password of a URL. */
const IN_URL: Kind = { beginnings: ['://'], isAnywhere: true, has: () => true, isSecret: () => false };
/** What follows an unknown text. */
const REST: Kind = { beginnings: [], has: (code) => !isSpace(code) && code !== QUOTE, isSecret: () => true };

/** A word, which may be the secret part of a key. */
class Word implements Candidate {
  from = Number.POSITIVE_INFINITY;
  to = 0;
  isSecret = false;
  length = 0;
  readonly depth = 0;
  hasDigit = false;
  /** Whether it may be words, numbers and versions. */
  isProse = true;
  /** Parts of at least four characters, which dots separate; the last one may grow. */
  parts = 0;
  #part = 0;
  #syllable = '';
  #isAfterSpace = false;

  constructor(readonly kind: Kind) {}

  read(code: number, from: number, to: number): boolean {
    const { kind } = this;
    if (kind.isAfterSpace && this.length === 0) {
      if (isSpace(code) || code === PLUS) {
        this.#isAfterSpace = true;
        return true;
      }
      if (!this.#isAfterSpace) return false;
    }
    if (!kind.has(code)) return false;
    if (this.length === 0) this.from = from;
    this.#count(code);
    this.isSecret ||= kind.isSecret(this);
    if (this.isSecret) this.to = to;
    return true;
  }

  #count(code: number): void {
    this.length += 1;
    this.hasDigit ||= isDigit(code);
    this.#part = code === DOT ? 0 : this.#part + 1;
    if (this.#part === 4) this.parts += 1;
    if (!this.isProse) return;
    this.#syllable = isWordCharacter(code) ? this.#syllable + String.fromCharCode(code) : '';
    this.isProse = PROSE.test(this.#syllable);
  }
}

/** The beginning of a word, a number or a version. */
const PROSE = /^(?:(?:[A-Z]?[a-z]{0,20}|[A-Z]{0,20})\d{0,2}|\d{1,4}[a-z]{0,3})$/;

/** `user:password@`. What is encoded deeper than the slashes before it has no meaning in the URL. */
class UserInfo implements Candidate {
  readonly kind = IN_URL;
  to = 0;
  isSecret = false;
  /** Of the password. */
  length = 0;
  #hasPassword = false;
  #hasDot = false;
  /** How many digits the password is; -1 if it is something else than a port. */
  #port = 0;

  constructor(
    public from: number,
    readonly depth: number,
  ) {}

  read(code: number, from: number, to: number, level: number): boolean {
    const depth = depthOf(level);
    const isMeant = depth <= this.depth;
    if (isMeant && (isSpace(code) || endsUserInfo(code))) return false;
    // The end of a value that is a URL.
    if (depth < this.depth && code === AMPERSAND) return false;
    // There may be another one: the last one counts.
    if (isMeant && code === AT && this.length > 0) this.to = from;
    if (this.#hasPassword) return this.#readPassword(code, to, isMeant);
    this.#hasDot ||= code === DOT;
    this.#hasPassword = isMeant && code === COLON;
    if (this.isSecret) this.to = to;
    return !(isMeant && endsUser(code));
  }

  #readPassword(code: number, to: number, isMeant: boolean): boolean {
    // `example.com:8080,` and `example.com:8080?` are hosts.
    if (isMeant && this.#port > 0 && (startsQuery(code) || (this.#hasDot && endsHost(code)))) return false;
    this.length += 1;
    this.#port = isMeant && isDigit(code) && this.#port !== -1 && this.#port < 5 ? this.#port + 1 : -1;
    if (this.isSecret) this.to = to;
    return true;
  }
}

function depthOf(level: number): number {
  return Math.max(1, level);
}

/** The beginning of a key. */
export interface Beginning {
  kind: Kind;
  length: number;
}

/** Finds the beginnings of keys. */
export const BEGINNINGS = new Matcher<Beginning>(
  [OWN_KEY, OWN_TOKEN, SK_KEY, OTHER_KEY, JSON_WEB_TOKEN, BEARER_TOKEN, IN_URL].flatMap((kind) =>
    kind.beginnings.map((text) => ({
      codes: [...text].map((letter) => letter.charCodeAt(0)),
      found: (length: number) =>
        length === text.length ? { kind, length: text.replace('\xbe', '').length } : undefined,
    })),
  ),
);

/** Whether a text may have the beginning of a key, so that it is worth reading. An escape may be a part of one. */
export function mayHaveKey(text: string): boolean {
  return /svc_|session_|sk-|hf_|xai-|AIza|eyJ|[Bb]earer|BEARER|gsk_|:\/\/|\\[ux/]|%[\da-fA-F]/.test(text);
}

/** The candidates with the one that begins at `place`, after a beginning. */
export function withNext(
  candidates: readonly Candidate[],
  { kind, length }: Beginning,
  place: number,
  level: number,
): readonly Candidate[] {
  const depth = kind === IN_URL ? depthOf(level) : 0;
  // The first one has all that another of its kind would have, unless its secret part has not begun.
  const hasBegun = (one: Candidate): boolean => !kind.isAfterSpace || one.length > 0;
  if (candidates.some((one) => one.kind === kind && one.depth === depth && hasBegun(one))) return candidates;
  if (kind === IN_URL) return [...candidates, new UserInfo(place, depth)];
  const isOwn = kind === OWN_KEY || kind === OWN_TOKEN;
  // `Bearer svc_sk_***` says what it is.
  const others = candidates.filter((one) => !(isOwn && one.kind === BEARER_TOKEN && one.length === length));
  return [...others, new Word(kind)];
}

/** The candidates with what follows an unknown text: all of it up to a space is secret. */
export function withRestOfWord(candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.some(({ kind }) => kind === REST) ? candidates : [...candidates, new Word(REST)];
}

/** Whether a letter or a digit. */
export const isWordCharacter = setOf(/[A-Za-z0-9]/);
export const isLetter = setOf(/[A-Za-z]/);
const isDigit = setOf(/\d/);
const endsUserInfo = setOf(/["<>`/]/);
const endsUser = setOf(/[?#()[\]{}@]/);
const startsQuery = setOf(/[?#]/);
const endsHost = setOf(/[,;|&'()[\]{}]/);

function setOf(expression: RegExp): (code: number) => boolean {
  const has = Array.from({ length: 128 }, (_, code) => expression.test(String.fromCharCode(code)));
  return (code) => has[code] === true;
}

function isSpace(code: number): boolean {
  return code <= 0x20 || (code > 0x7f && /\s/.test(String.fromCharCode(code)));
}

const QUOTE = 0x22;
const AMPERSAND = 0x26;
const PLUS = 0x2b;
const DOT = 0x2e;
const COLON = 0x3a;
const AT = 0x40;
