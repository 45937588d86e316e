import { whenAborted } from '../base/aborts.js';
import { setTimeout } from '../base/real-timers.js';

/** How to watch a body and, for a fault, damage it. */
export interface RelayOptions {
  /** When one fires, the body fails with its reason and the source is cancelled. */
  signals?: readonly AbortSignal[] | undefined;
  /** Called with every chunk that was passed on. */
  onChunk?: ((chunk: Uint8Array) => void) | undefined;
  /** Called once. `sourceEnded` is given if the source was cancelled, and resolves when it has ended. */
  onEnd?: ((outcome: 'answered' | 'aborted' | 'cut', sourceEnded?: Promise<void>) => void) | undefined;
  /** Where and how to cut the body. In a stream, one chunk is one event. */
  cut?: BodyCut | undefined;
  /** The index of a chunk to cut to its first half plus a line end, so that the event cannot be parsed. */
  garbleChunk?: number | undefined;
  /** Breaks the connection. An in-process body has none, and fails with an error instead. */
  breakConnection?: (() => void) | undefined;
}

/** Where and how a body ends early. */
export interface BodyCut {
  afterChunks?: number | undefined;
  afterBytes?: number | undefined;
  /** Cut before the final `[DONE]`. */
  beforeDone?: boolean | undefined;
  how: 'end' | 'reset' | 'stall' | 'error';
  /** For `error`: the chunk to send before the end. */
  lastChunk?: Uint8Array | undefined;
}

/** Passes a body on, chunk by chunk, with backpressure. */
export function relayBody(source: ReadableStream<Uint8Array>, options: RelayOptions): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(new Relay(source, options), { highWaterMark: 0 });
}

type Controller = ReadableStreamDefaultController<Uint8Array>;

class Relay implements UnderlyingDefaultSource<Uint8Array> {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #finished = new AbortController();
  #chunks = 0;
  #bytes = 0;

  constructor(
    source: ReadableStream<Uint8Array>,
    private readonly options: RelayOptions,
  ) {
    this.#reader = source.getReader();
  }

  start(controller: Controller): void {
    const { signals = [] } = this.options;
    const abort = (): void => {
      if (this.#hasEnded) return;
      const reason = signals.find((signal) => signal.aborted)?.reason;
      this.cancel(reason);
      this.#fail(controller, reason);
    };
    // Removed at the end: a signal may live much longer than this body.
    whenAborted(signals, abort, this.#finished.signal);
    if (signals.some((signal) => signal.aborted)) abort();
  }

  async pull(controller: Controller): Promise<void> {
    const { cut, garbleChunk } = this.options;
    if (cut !== undefined && isReached(cut, this.#chunks, this.#bytes)) return this.#cutOff(controller, cut);
    try {
      const { done, value } = await this.#reader.read();
      if (this.#hasEnded) return;
      if (done) {
        this.#end('answered');
        controller.close();
        return;
      }
      if (cut?.beforeDone && isDone(value)) return this.#cutOff(controller, cut);
      const whole = this.#chunks === garbleChunk ? garbled(value) : value;
      const chunk = cut?.afterBytes === undefined ? whole : whole.subarray(0, cut.afterBytes - this.#bytes);
      if (!isComment(chunk)) this.#chunks += 1;
      this.#bytes += chunk.byteLength;
      this.#send(controller, chunk);
    } catch (error) {
      if (this.#hasEnded) return;
      this.#end('cut');
      this.#fail(controller, error);
    }
  }

  cancel(reason: unknown): void {
    this.#end('aborted', this.#cancelSource(reason));
  }

  async #cutOff(controller: Controller, { how, lastChunk }: BodyCut): Promise<void> {
    if (how === 'stall') await untilAborted(this.#finished.signal);
    if (this.#hasEnded) return;
    if (how === 'error' && lastChunk !== undefined) this.#send(controller, lastChunk);
    this.#end('cut', this.#cancelSource());
    if (how !== 'reset') return controller.close();
    if (this.options.breakConnection !== undefined)
      await new Promise((resolve) => void setTimeout(resolve, RESET_DELAY));
    this.#fail(controller, new ConnectionReset());
  }

  get #hasEnded(): boolean {
    return this.#finished.signal.aborted;
  }

  #send(controller: Controller, chunk: Uint8Array): void {
    controller.enqueue(chunk);
    this.options.onChunk?.(chunk);
  }

  #end(outcome: 'answered' | 'aborted' | 'cut', sourceEnded?: Promise<void>): void {
    if (this.#hasEnded) return;
    this.#finished.abort();
    this.options.onEnd?.(outcome, sourceEnded);
  }

  #fail(controller: Controller, error: unknown): void {
    const { breakConnection } = this.options;
    breakConnection?.();
    if (breakConnection === undefined) controller.error(error);
    else controller.close();
  }

  #cancelSource(reason?: unknown): Promise<void> {
    return this.#reader.cancel(reason).catch(() => {});
  }
}

/** Whether a chunk is a comment of an event stream, and so not an event. */
export function isComment(chunk: Uint8Array): boolean {
  return chunk[0] === COLON;
}

/** Thrown to break a connection on purpose. An in-process caller sees the same error as from a real `fetch`. */
export class ConnectionReset extends TypeError {
  constructor() {
    super('fetch failed', { cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }) });
  }
}

const COLON = 0x3a;
/**
 * In ms of real time. A reset overtakes data that is sent but not yet read, so it waits this long for the data to
 * arrive.
 */
const RESET_DELAY = 50;

function isDone(chunk: Uint8Array): boolean {
  return chunk.byteLength < 24 && new TextDecoder().decode(chunk).startsWith('data: [DONE]');
}

function garbled(event: Uint8Array): Uint8Array {
  const half = event.slice(0, Math.ceil(event.byteLength / 2) + 2);
  half.fill(LINE_FEED, -2);
  return half;
}

const LINE_FEED = 0x0a;

function isReached(cut: BodyCut, chunks: number, bytes: number): boolean {
  return (
    chunks >= (cut.afterChunks ?? Number.POSITIVE_INFINITY) || bytes >= (cut.afterBytes ?? Number.POSITIVE_INFINITY)
  );
}

/** Resolves when the signal fires. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Splits a body into pieces of at most `bytes` bytes, with a pause before each. A piece never spans two chunks. */
export function inPieces(
  source: ReadableStream<Uint8Array>,
  { bytes, pause }: { bytes: number; pause?: (() => Promise<void>) | undefined },
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let rest = new Uint8Array(0) as Uint8Array;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          if (rest.byteLength === 0) {
            const { done, value } = await reader.read();
            if (done) return controller.close();
            rest = value;
          }
          await pause?.();
          controller.enqueue(rest.subarray(0, bytes));
          rest = rest.subarray(bytes);
        } catch (error) {
          reader.cancel(error).catch(() => {});
          controller.error(error);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
