/** What is done with each character of a text. */
type Take = (
  code: number,
  /** The same; of `\n` and the like the letter, because a text may have a backslash and an n. */
  letter: number,
  /** Where it begins, with its backslashes. */
  from: number,
  to: number,
  /** 0 if it stands for itself, 1 for `\u0022`, 2 for `%22`, 3 for `%2522` and so on. */
  level: number,
) => void;

/**
 * Reads the characters of a text that comes in pieces, however they are written: `"`, `\"`, `\u0022`, `%22`, `%2522`, also in JSON
 * inside JSON. A backslash is passed on as well; it belongs to the next character.
 */
export class Characters {
  /** How much of the text there is. */
  length = 0;
  /** The beginning of an escape whose rest has not come. */
  #rest = '';
  /** Where the backslashes before the next character begin, or -1. */
  #backslash = -1;

  constructor(private readonly take: Take) {}

  /** How much of the text was passed on. */
  get read(): number {
    return this.#backslash === -1 ? this.length - this.#rest.length : this.#backslash;
  }

  push(piece: string): void {
    const text = this.#rest + piece;
    const start = this.length - this.#rest.length;
    this.length += piece.length;
    this.#rest = '';
    for (let at = 0; at < text.length; ) {
      const code = text.charCodeAt(at);
      if (code !== PERCENT && code !== BACKSLASH && this.#backslash === -1) {
        at += 1;
        this.take(code, code, start + at - 1, start + at, 0);
      } else if (text.length - at <= LONGEST && fits(code === PERCENT ? URL_BEGINNING : JSON_BEGINNING, text, at)) {
        this.#rest = text.slice(at);
        return;
      } else at += this.#read(text, at, start + at);
    }
  }

  /** Takes the beginning of an escape for what it looks like. */
  finish(): void {
    const rest = this.#rest;
    this.#rest = '';
    for (let i = 0, to = this.length - rest.length + 1; i < rest.length; i += 1, to += 1)
      this.#pass(rest.charCodeAt(i), rest.charCodeAt(i), to - 1, to, 0);
  }

  /** Reads a character that may be escaped. Returns the length of its text. */
  #read(text: string, at: number, place: number): number {
    const code = text.charCodeAt(at);
    const isInURL = code === PERCENT;
    const [whole = '', deeper = '', long, short] =
      (isInURL || this.#backslash !== -1 ? fits(isInURL ? URL_ESCAPE : JSON_ESCAPE, text, at) : null) ?? [];
    const to = place + Math.max(1, whole.length);
    const hex = long ?? short;
    const meant = hex === undefined ? code : Number.parseInt(hex, 16);
    if (meant === BACKSLASH) {
      if (this.#backslash === -1) this.#backslash = place;
      this.take(BACKSLASH, BACKSLASH, place, to, 0);
    } else if (hex !== undefined) this.#pass(meant, meant, place, to, isInURL ? 2 + deeper.length / 2 : 1);
    else this.#pass(whole === '' ? code : LINE_FEED, code, place, to, 0);
    return to - place;
  }

  #pass(code: number, letter: number, place: number, to: number, level: number): void {
    const from = this.#backslash === -1 ? place : this.#backslash;
    this.#backslash = -1;
    this.take(code, letter, from, to, level);
  }
}

function fits(expression: RegExp, text: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at;
  return expression.exec(text);
}

export const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const LINE_FEED = 0x0a;
const URL_ESCAPE = /%((?:25){0,8})([\da-fA-F]{2})/y;
const URL_BEGINNING = /%(?:25){0,8}[\da-fA-F]?$/y;
/** What follows a backslash. */
const JSON_ESCAPE = /()(?:u([\da-fA-F]{4})|x([\da-fA-F]{2})|[bfnrtv0])/y;
const JSON_BEGINNING = /(?:u[\da-fA-F]{0,3}|x[\da-fA-F]?)$/y;
/** Of a beginning. */
const LONGEST = 18;
