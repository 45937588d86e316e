import { createParser, type EventSourceParser } from 'eventsource-parser';
import { ResponseTooLargeError } from '../errors.js';
import type { ByteSource } from '../platform/engine.js';

/** One server-sent event. */
export interface ServerSentEvent {
  /** Its `event` field, if it has one. */
  readonly event?: string | undefined;
  readonly data: string;
}

/** Characters of one event. */
const MAX_EVENT = 8 * 1024 * 1024;
/** Bytes decoded at a time: one large network chunk does not become a hundred thousand objects at once. */
const SLICE = 8 * 1024;

/** Bytes to events, as the reader asks for them. */
export class EventReader {
  readonly #source: ByteSource;
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  #events: ServerSentEvent[] = [];
  #at = 0;
  #chunk: Uint8Array = new Uint8Array();
  #tooLarge = false;
  #ended = false;

  constructor(source: ByteSource) {
    this.#source = source;
    this.#parser = createParser({
      maxBufferSize: MAX_EVENT,
      onEvent: (event) => this.#events.push(event),
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') this.#tooLarge = true;
      },
    });
  }

  /** Whether the body is over. The last event may have come without the blank line that ends an event. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The next event, at once where its bytes are here. `undefined` at the end of the body. */
  next(): ServerSentEvent | undefined | Promise<ServerSentEvent | undefined> {
    for (;;) {
      const event = this.#events[this.#at];
      if (event !== undefined) {
        this.#at += 1;
        return event;
      }
      if (this.#tooLarge) throw tooLarge();
      if (this.#chunk.byteLength > 0) {
        this.#decodeSlice();
        continue;
      }
      if (this.#ended) return undefined;
      const chunk = this.#source.read();
      if (chunk instanceof Promise) return chunk.then((bytes) => this.#take(bytes));
      this.#receive(chunk);
    }
  }

  #take(bytes: Uint8Array | undefined): ServerSentEvent | undefined | Promise<ServerSentEvent | undefined> {
    this.#receive(bytes);
    return this.next();
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

  #decodeSlice(): void {
    const slice = this.#chunk.subarray(0, SLICE);
    this.#chunk = this.#chunk.subarray(SLICE);
    this.#feed(this.#decoder.decode(slice, { stream: true }));
  }

  #feed(text: string): void {
    this.#events = [];
    this.#at = 0;
    this.#parser.feed(text);
  }
}

function tooLarge(): ResponseTooLargeError {
  return new ResponseTooLargeError(`A streamed event is larger than the ${MAX_EVENT} characters this client reads.`, {
    phase: 'stream',
    sent: 'yes',
    retryable: false,
  });
}
