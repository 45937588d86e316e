import { createParser, type EventSourceParser } from 'eventsource-parser';
import { ResponseTooLargeError } from '../errors.js';
import type { ByteSource } from '../platform/engine.js';

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
/** Bytes decoded at a time: one large network chunk does not become a hundred thousand objects at once. */
const SLICE = 8 * 1024;

/** Bytes to events, as the reader asks for them. One `next` at a time. */
export class EventReader {
  readonly #source: ByteSource;
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  /** The events of the last slice, and which of them is next. */
  #events: ServerSentEvent[] = [];
  #at = 0;
  /** Bytes that are here and not decoded yet. */
  #chunk: Uint8Array = new Uint8Array();
  #sinceEvent = 0;
  #ended = false;

  constructor(source: ByteSource) {
    this.#source = source;
    this.#parser = createParser({
      onEvent: (event) => this.#events.push(event),
      // The parser makes an error of every line it does not know, which takes a thousand times as long as its bytes.
      onError: () => {
        this.#sinceEvent += UNKNOWN_LINE;
      },
    });
    // The parser would take these three characters for a byte order mark; the decoder has dealt with the real one.
    this.#parser.feed('');
  }

  /** Whether the body is over. The last event may have come without the blank line that ends an event. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The next event, at once where its bytes are here. `undefined` at the end of the body. */
  next(): ServerSentEvent | undefined | Promise<ServerSentEvent | undefined> {
    const event = this.#decode();
    return event === undefined && !this.#ended ? this.#read() : event;
  }

  /** A loop, not a chain of promises: between two events there may be a million comments. */
  async #read(): Promise<ServerSentEvent | undefined> {
    for (;;) {
      this.#receive(await this.#source.read());
      const event = this.#decode();
      if (event !== undefined || this.#ended) return event;
    }
  }

  /** The next event of the bytes that are here. */
  #decode(): ServerSentEvent | undefined {
    for (;;) {
      const event = this.#events[this.#at];
      this.#at += 1;
      if (event !== undefined) return event;
      if (this.#chunk.byteLength === 0) return undefined;
      this.#decodeSlice();
    }
  }

  #decodeSlice(): void {
    const slice = this.#chunk.subarray(0, SLICE);
    this.#chunk = this.#chunk.subarray(SLICE);
    this.#feed(this.#decoder.decode(slice, { stream: true }));
    this.#sinceEvent = this.#events.length > 0 ? 0 : this.#sinceEvent + slice.byteLength;
    if (this.#sinceEvent > MAX_EVENT) throw tooLarge();
  }

  #receive(bytes: Uint8Array | undefined): void {
    if (bytes !== undefined) {
      this.#chunk = bytes;
      return;
    }
    this.#ended = true;
    // Real servers leave the last blank line out, and the parser waits for one.
    this.#feed(`${this.#decoder.decode()}\n\n`);
  }

  #feed(text: string): void {
    this.#events = [];
    this.#at = 0;
    this.#parser.feed(text);
  }
}

function tooLarge(): ResponseTooLargeError {
  const message = `No event of the stream was complete within the ${MAX_EVENT} bytes this client reads.`;
  return new ResponseTooLargeError(message, { phase: 'stream', sent: 'yes', retryable: false });
}
