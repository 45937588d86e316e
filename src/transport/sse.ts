import { createParser, type EventSourceParser } from 'eventsource-parser';
import { ResponseTooLargeError } from '../errors.js';
import { PlainEvents } from './plain-events.js';

/** One server-sent event. */
export interface ServerSentEvent {
  /** Its `event` field, if it has one. */
  readonly event?: string | undefined;
  readonly data: string;
}

/** Bytes that may pass before an event is complete, comments and unknown fields included. */
const MAX_EVENT = 8 * 1024 * 1024;
/** What a line that means nothing counts for. */
const UNKNOWN_LINE = 1024;
/** Bytes parsed at a time: one large network chunk does not become a hundred thousand objects at once. */
const SLICE = 8 * 1024;

/** Bytes to events: `feed` it what arrives when `next` has no more. */
export class EventReader {
  readonly #plain = new PlainEvents();
  /** Reads on from where the stream has left the plain form. */
  #parsed: ParsedEvents | undefined;
  #ended = false;

  /** Whether the body is over. The last event may have come without the blank line that ends an event. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The next bytes of the body, `undefined` at its end. */
  feed(bytes: Uint8Array | undefined): void {
    if (bytes === undefined) {
      this.#ended = true;
      // Real servers leave the last blank line out, and the parser adds it.
      this.#parser().end();
    } else if (this.#parsed === undefined) this.#plain.feed(bytes);
    else this.#parsed.feed(bytes);
  }

  /** The next event of the bytes that are here. */
  next(): ServerSentEvent | undefined {
    if (this.#parsed !== undefined) return this.#parsed.next();
    const data = this.#plain.next();
    if (data !== undefined) return { data };
    return this.#plain.fits ? undefined : this.#parser().next();
  }

  #parser(): ParsedEvents {
    this.#parsed ??= new ParsedEvents(this.#plain.left);
    return this.#parsed;
  }
}

/** The whole grammar of server-sent events. */
class ParsedEvents {
  readonly #decoder: TextDecoder;
  readonly #parser: EventSourceParser;
  /** The events of the last slice, and which of them is next. */
  #events: ServerSentEvent[] = [];
  #at = 0;
  /** Bytes that are here and not decoded yet. */
  #bytes: Uint8Array;
  #sinceEvent: number;

  constructor({ begun, text, bytes, silence }: PlainEvents['left']) {
    this.#decoder = new TextDecoder('utf-8', { ignoreBOM: begun });
    this.#bytes = bytes;
    this.#sinceEvent = silence;
    this.#parser = createParser({
      onEvent: (event) => this.#events.push(event),
      // The parser makes an error of every line it does not know, which takes a thousand times as long as its bytes.
      onError: () => {
        this.#sinceEvent += UNKNOWN_LINE;
      },
    });
    // The parser would take these three characters for a byte order mark; the decoder has dealt with the real one.
    this.#parser.feed('');
    this.#parser.feed(text);
  }

  feed(bytes: Uint8Array): void {
    this.#bytes = bytes;
  }

  /** All bytes have come. */
  end(): void {
    this.#parse(`${this.#decoder.decode(this.#bytes)}\n\n`);
    this.#bytes = new Uint8Array();
  }

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
    const slice = this.#bytes.subarray(0, SLICE);
    this.#bytes = this.#bytes.subarray(SLICE);
    this.#parse(this.#decoder.decode(slice, { stream: true }));
    this.#sinceEvent = this.#events.length > 0 ? 0 : this.#sinceEvent + slice.byteLength;
    if (this.#sinceEvent > MAX_EVENT) throw tooLarge();
  }

  #parse(text: string): void {
    this.#events.splice(0, this.#at);
    this.#at = 0;
    this.#parser.feed(text);
  }
}

function tooLarge(): ResponseTooLargeError {
  const message = `No event of the stream was complete within the ${MAX_EVENT} bytes this client reads.`;
  return new ResponseTooLargeError(message, { phase: 'stream', sent: 'yes', retryable: false });
}
