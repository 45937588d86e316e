import { createParser, type EventSourceParser } from 'eventsource-parser';
import { tryJson } from '../base/json.js';
import { isObject } from '../base/objects.js';
import { ResponseTooLargeError } from '../errors/connection.js';
import type { ServerSentEvent } from '../wire/decode-chunk.js';

/** Maximum bytes of an event, including comments and unknown fields before its end. */
const MAX_EVENT = 8 * 1024 * 1024;
/** Bytes that an unknown line counts as, because parsing it is slow. */
const UNKNOWN_LINE = 64;
/** The names of lines, of which the last one of a body may be cut. */
const NAMES = ['data', 'event', 'id', 'retry'];
/** Bytes parsed at a time, so that one large network chunk does not become a hundred thousand objects at once. */
const SLICE = 8 * 1024;

/** The name of JSON that is in no event: some services send chunks, a whole completion or an error that way. */
export const BARE = 'bare';

const BEFORE_JSON = /^(?:error:)?\s*/;
const NOTHING = new Uint8Array();

/** Parses bytes into events. When `next` returns `undefined`, pass the next bytes to `feed`. */
export class EventReader {
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  /** The events of the last slice, and the index of the next one. */
  #events: ServerSentEvent[] = [];
  #at = 0;
  /** Bytes received but not decoded yet. */
  #bytes: Uint8Array = NOTHING;
  #sinceEvent = 0;
  /** The lines since the last event that are in none, nor JSON: some services say there why a stream ends. */
  unread = '';
  /** Whether they begin as JSON over several lines does, of which none is taken out. */
  #isJson = false;
  /** Whether the body has ended. Its last event may lack the blank line that ends an event. */
  ended = false;

  constructor() {
    this.#parser = createParser({
      onEvent: (event) => {
        this.#events.push(event);
        this.unread = '';
        this.#isJson = false;
      },
      onError: ({ line = '' }) => {
        const data = line.replace(BEFORE_JSON, '');
        if (!this.#isJson && data.startsWith('{') && data.endsWith('}')) {
          this.#events.push({ event: BARE, data });
          return;
        }
        this.#sinceEvent += UNKNOWN_LINE;
        if (this.ended && NAMES.some((name) => name.startsWith(line))) return;
        if (this.unread === '') this.#isJson = /^[[{]/.test(data);
        this.unread += `${line}\n`;
      },
    });
    // The parser strips a byte order mark from its first input, but also mistakes three other characters for one. The
    // decoder has already dropped the real one, so the first input is empty.
    this.#parser.feed('');
  }

  /** Takes the next bytes of the body, or `undefined` at its end. */
  feed(bytes: Uint8Array | undefined): void {
    this.#bytes = bytes ?? NOTHING;
    if (bytes !== undefined) return;
    this.ended = true;
    // Some servers omit the last blank line.
    this.#parse(`${this.#decoder.decode()}\n\n`);
    const values = this.unread === '' ? [] : [tryJson(this.unread.replace(BEFORE_JSON, ''))].flat();
    for (const value of values.filter(isObject)) this.#events.push({ event: BARE, data: JSON.stringify(value) });
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
    if (this.#sinceEvent > MAX_EVENT) throw new ResponseTooLargeError('An event of the stream', MAX_EVENT, 'stream');
  }

  #parse(text: string): void {
    this.#events = [];
    this.#at = 0;
    // The parser creates an error for every unknown line. Without a stack, that takes a quarter of the time.
    const { stackTraceLimit } = Error;
    Reflect.set(Error, 'stackTraceLimit', 0);
    try {
      this.#parser.feed(text);
    } finally {
      Reflect.set(Error, 'stackTraceLimit', stackTraceLimit);
    }
  }
}
