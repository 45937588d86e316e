import { EventReader } from '../../src/stream/sse.js';
import type { ServerSentEvent } from '../../src/wire/decode-chunk.js';

/** Bytes from memory, in the given pieces. */
export class MemorySource {
  /** Pieces read so far. */
  taken = 0;
  readonly #pieces: Iterator<Uint8Array>;

  constructor(pieces: Iterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.iterator]();
  }

  read(): Uint8Array | undefined {
    const { value, done } = this.#pieces.next();
    if (!done) this.taken += 1;
    return done ? undefined : value;
  }
}

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** All events that a reader decodes from these pieces. */
export function eventsOf(pieces: Iterable<Uint8Array>): ServerSentEvent[] {
  const source = new MemorySource(pieces);
  const reader = new EventReader();
  const events: ServerSentEvent[] = [];
  for (let event = nextEvent(reader, source); event !== undefined; event = nextEvent(reader, source)) {
    events.push(bare(event));
  }
  return events;
}

/** The next event. Reads as many pieces as it needs. */
export function nextEvent(reader: EventReader, source: MemorySource): ServerSentEvent | undefined {
  for (;;) {
    const event = reader.next();
    if (event !== undefined || reader.ended) return event;
    reader.feed(source.read());
  }
}

/** Drops fields that the parser may add. */
function bare({ event, data }: ServerSentEvent): ServerSentEvent {
  return event === undefined ? { data } : { event, data };
}

/** Splits the bytes before each of these positions. */
export function cutAt(bytes: Uint8Array, ...positions: readonly number[]): Uint8Array[] {
  const ends = [...positions].sort((a, b) => a - b);
  return [0, ...ends].map((start, at) => bytes.subarray(start, ends[at] ?? bytes.length));
}
