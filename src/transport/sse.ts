import { createParser, type EventSourceParser } from 'eventsource-parser';
import { ResponseTooLargeError } from '../errors/connection.js';

/** One server-sent event. */
export interface ServerSentEvent {
  /** The `event` field, if present. */
  readonly event?: string | undefined;
  readonly data: string;
}

/** Bytes that may pass before an event is complete, comments and unknown fields included. */
const MAX_EVENT = 8 * 1024 * 1024;
/** What a line that means nothing counts for. */
const UNKNOWN_LINE = 1024;
/** Bytes parsed at a time: one large network chunk does not become a hundred thousand objects at once. */
const SLICE = 8 * 1024;

const NOTHING = new Uint8Array();

/** Bytes to events: `feed` it what arrives when `next` has no more. */
export class EventReader {
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  /** The events of the last slice, and which of them is next. */
  #events: ServerSentEvent[] = [];
  #at = 0;
  /** Bytes that are here and not decoded yet. */
  #bytes: Uint8Array = NOTHING;
  #sinceEvent = 0;
  #ended = false;

  constructor() {
    this.#parser = createParser({
      onEvent: (event) => this.#events.push(event),
      // The parser makes an error of every line it does not know, which takes a thousand times as long as its bytes.
      onError: () => {
        this.#sinceEvent += UNKNOWN_LINE;
      },
    });
    // The parser would take three other characters for a byte order mark; the decoder drops the real one.
    this.#parser.feed('');
  }

  /** Whether the body is over. The last event may have come without the blank line that ends an event. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The next bytes of the body, `undefined` at its end. */
  feed(bytes: Uint8Array | undefined): void {
    this.#bytes = bytes ?? NOTHING;
    if (bytes !== undefined) return;
    this.#ended = true;
    // Real servers leave the last blank line out.
    this.#parse(`${this.#decoder.decode()}\n\n`);
  }

  /** The next event of the bytes that are here. */
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
    // A new view takes as long as parsing a short event, and most network chunks need none.
    const slice = bytes.byteLength > SLICE ? bytes.subarray(0, SLICE) : bytes;
    this.#bytes = slice === bytes ? NOTHING : bytes.subarray(SLICE);
    this.#parse(this.#decoder.decode(slice, { stream: true }));
    this.#sinceEvent = this.#events.length > 0 ? 0 : this.#sinceEvent + slice.byteLength;
    if (this.#sinceEvent > MAX_EVENT) throw tooLarge();
  }

  #parse(text: string): void {
    this.#events = [];
    this.#at = 0;
    this.#parser.feed(text);
  }
}

function tooLarge(): ResponseTooLargeError {
  const message = `An event of the stream exceeds the limit of ${MAX_EVENT} bytes.`;
  return new ResponseTooLargeError(message, { phase: 'stream', sent: 'yes', retryable: false });
}
