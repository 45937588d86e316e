import { concat } from './body.js';

/** Bytes decoded at a time: one large network chunk does not become a large text at once. */
const SLICE = 8 * 1024;
/** Bytes of a line in the plain form at most; a longer one is left to the parser, which takes it piece by piece. */
const LONGEST_LINE = 64 * 1024;
/** Bytes of comments between two events at most, for the same reason. */
const LONGEST_SILENCE = 64 * 1024;

/** Pieces of a line at most: a piece of one byte takes two hundred. */
const MOST_PIECES = 256;

const NOTHING = new Uint8Array();
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const LETTER_D = 100;

/**
 * Nearly every stream is in the plain form: one `data:` line and a blank one for each event, and comments between them. Such a
 * stream is cut into its lines here. Whatever else comes is not read: `fits` becomes false, and `left` is handed to the parser.
 * Measured with an event of 293 bytes: 0.12 µs on Node 20, where the parser and a streaming decoder take 0.25; 0.07 on Node 24.
 */
export class PlainEvents {
  /** Whether all so far was in the plain form. */
  fits = true;
  #bytes: Uint8Array = NOTHING;
  /** The beginning of a line whose end has not come, in its pieces: put together at once, however many they are. */
  #line: Uint8Array[] = [];
  #lineLength = 0;
  /** Whole lines, decoded, and the place of the next event in them. */
  #text = '';
  #at = 0;
  #silence = 0;
  #begun = false;
  // Whole lines need no `stream`, and without it Node 20 decodes six times as fast.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  /** The next bytes; all before them are used up. */
  feed(bytes: Uint8Array): void {
    this.#bytes = bytes;
  }

  /** The data of the next event, or `undefined` when more bytes are needed, or it does not fit. */
  next(): string | undefined {
    while (this.fits) {
      const data = this.#cut();
      if (data !== undefined) return data;
      if (this.#bytes.byteLength === 0) return undefined;
      if (this.fits) this.#decode();
    }
    return undefined;
  }

  /**
   * What is not read: decoded lines, and bytes after them. `begun` says that the byte order mark is behind us, `silence`
   * how much has passed since the last event.
   */
  get left(): { readonly begun: boolean; readonly text: string; readonly bytes: Uint8Array; readonly silence: number } {
    const text = this.#text.slice(this.#at);
    return { begun: this.#begun, text, bytes: this.#after(this.#bytes), silence: this.#silence + text.length };
  }

  #cut(): string | undefined {
    const text = this.#text;
    let at = this.#at;
    while (at < text.length) {
      const end = text.indexOf('\n', at);
      if (text.charCodeAt(at) === LETTER_D && text.slice(at, at + 5) === 'data:') {
        this.#at = at;
        if (end + 1 === text.length) return undefined; // its blank line has not come
        const from = text[at + 5] === ' ' ? at + 6 : at + 5;
        this.fits = text[end + 1] === '\n' && from < end;
        if (!this.fits) return undefined;
        this.#at = end + 2;
        this.#silence = 0;
        return text.slice(from, end);
      }
      this.#silence += end - at;
      this.fits = (end === at || text[at] === ':') && this.#silence < LONGEST_SILENCE;
      if (!this.fits) break;
      at = end + 1;
    }
    this.#at = at;
    return undefined;
  }

  /** The line that has begun, and these bytes. */
  #after(bytes: Uint8Array): Uint8Array {
    if (this.#lineLength === 0) return bytes;
    return concat([...this.#line, bytes], this.#lineLength + bytes.byteLength);
  }

  /** Decodes whole lines. */
  #decode(): void {
    const slice = cut(this.#bytes, 0, SLICE);
    const end = slice.lastIndexOf(LINE_FEED) + 1;
    if (end === 0) {
      if (this.#line.length === MOST_PIECES) this.#line = [concat(this.#line, this.#lineLength)];
      this.#line.push(slice);
      this.#lineLength += slice.byteLength;
      this.#bytes = cut(this.#bytes, SLICE);
      this.fits = this.#lineLength <= LONGEST_LINE && !slice.includes(CARRIAGE_RETURN);
      return;
    }
    const lines = cut(slice, 0, end);
    const text = this.#decoder.decode(this.#after(lines));
    this.#bytes = cut(this.#bytes, end);
    if (this.#lineLength > 0) this.#line = [];
    this.#lineLength = 0;
    const whole = this.#begun || !text.startsWith('\ufeff') ? text : text.slice(1);
    this.#text = this.#at === this.#text.length ? whole : this.#text.slice(this.#at) + whole;
    this.#at = 0;
    this.#begun = true;
    this.fits = !text.includes('\r');
  }
}

/** A part of the bytes. Of most network chunks it is all or nothing, and a new view takes longer than the rest of this. */
function cut(bytes: Uint8Array, from: number, to = bytes.byteLength): Uint8Array {
  if (from >= bytes.byteLength) return NOTHING;
  return from === 0 && to >= bytes.byteLength ? bytes : bytes.subarray(from, to);
}
