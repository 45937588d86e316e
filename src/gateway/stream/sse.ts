import { ResponseTooLargeError } from '../../errors/connection.js';

/** One server-sent event. */
export interface ServerSentEvent {
  /** The `event` field, if present. */
  readonly event?: string | undefined;
  readonly data: string;
}

/** Maximum bytes of an event, including comments and unknown fields before its end. */
const MAX_EVENT = 8 * 1024 * 1024;
/** Bytes parsed at a time, so that one large network chunk does not become a hundred thousand objects at once. */
const SLICE = 8 * 1024;

const NOTHING = new Uint8Array();

/**
 * Parses bytes into events, as the HTML standard says. `id` and `retry` are ignored, because a completion cannot be
 * resumed. When `next` returns `undefined`, pass the next bytes to `feed`.
 */
export class EventReader {
  readonly #decoder = new TextDecoder();
  /** The events of the last slice, and the index of the next one. */
  #events: ServerSentEvent[] = [];
  #at = 0;
  /** Bytes received but not decoded yet. */
  #bytes: Uint8Array = NOTHING;
  /** The line that has begun, and whether a line feed next belongs to the end of the line before. */
  #line = '';
  #afterReturn = false;
  /** The fields of the event that has begun. */
  #event: string | undefined;
  #data: string | undefined;
  #sinceEvent = 0;
  #ended = false;

  /** Whether the body has ended. Its last event may lack the blank line that ends an event. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Takes the next bytes of the body, or `undefined` at its end. */
  feed(bytes: Uint8Array | undefined): void {
    this.#bytes = bytes ?? NOTHING;
    if (bytes !== undefined) return;
    this.#ended = true;
    // Some servers omit the last blank line.
    this.#parse(`${this.#decoder.decode()}\n\n`);
  }

  /** Returns the next event, or `undefined` if the bytes received so far contain no more. */
  next(): ServerSentEvent | undefined {
    for (;;) {
      const event = this.#events[this.#at];
      if (event !== undefined) {
        this.#at += 1;
        return event;
      }
      if (this.#bytes.byteLength === 0) return undefined;
      this.#parseSlice();
    }
  }

  #parseSlice(): void {
    const bytes = this.#bytes;
    // Creating a view takes as long as parsing a short event, and most network chunks need none.
    const slice = bytes.byteLength > SLICE ? bytes.subarray(0, SLICE) : bytes;
    this.#bytes = slice === bytes ? NOTHING : bytes.subarray(SLICE);
    this.#parse(this.#decoder.decode(slice, { stream: true }));
    this.#sinceEvent = this.#events.length > 0 ? 0 : this.#sinceEvent + slice.byteLength;
    if (this.#sinceEvent > MAX_EVENT) throw tooLarge();
  }

  #parse(decoded: string): void {
    this.#events = [];
    this.#at = 0;
    const text = this.#afterReturn || decoded.includes('\r') ? this.#withLineFeeds(decoded) : decoded;
    let from = 0;
    for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
      this.#readLine(from === 0 ? this.#line + text.slice(0, to) : text.slice(from, to));
      from = to + 1;
    }
    this.#line = from === 0 ? this.#line + text : text.slice(from);
  }

  /** Every line end as a line feed. A return at the end is one already: a line feed that follows it belongs to it. */
  #withLineFeeds(text: string): string {
    const rest = this.#afterReturn && text.startsWith('\n') ? text.slice(1) : text;
    if (text !== '') this.#afterReturn = text.endsWith('\r');
    return rest.replace(/\r\n?/g, '\n');
  }

  #readLine(line: string): void {
    if (line === '') {
      if (this.#data !== undefined) this.#events.push({ event: this.#event, data: this.#data });
      this.#data = undefined;
      this.#event = undefined;
      return;
    }
    const colon = line.startsWith('data:') ? 4 : line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line.startsWith(' ', colon + 1) ? colon + 2 : colon + 1);
    if (field === 'event') this.#event = value || undefined;
    else if (field === 'data') this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
  }
}

function tooLarge(): ResponseTooLargeError {
  const message = `An event of the stream exceeds the limit of ${MAX_EVENT} bytes.`;
  return new ResponseTooLargeError(message, { phase: 'stream', sent: 'yes', retryable: false });
}
