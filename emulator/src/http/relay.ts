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
  const { signals = [], cut } = options;
  const finished = new AbortController();
  const reader = source.getReader();
  let chunks = 0;
  let bytes = 0;
  let ended = false;
  let abort = (): void => {};
  const end = (outcome: 'answered' | 'aborted' | 'cut', sourceEnded?: Promise<void>): void => {
    if (ended) return;
    ended = true;
    for (const signal of signals) signal.removeEventListener('abort', abort);
    finished.abort();
    options.onEnd?.(outcome, sourceEnded);
  };
  const fail = (controller: ReadableStreamDefaultController<Uint8Array>, error: unknown): void => {
    if (options.breakConnection === undefined) {
      controller.error(error);
      return;
    }
    options.breakConnection();
    controller.close();
  };
  const abandon = (reason: unknown): void => {
    end(
      'aborted',
      reader.cancel(reason).catch(() => {}),
    );
  };

  const cutOff = async (controller: ReadableStreamDefaultController<Uint8Array>, cut: BodyCut): Promise<void> => {
    if (cut.how === 'stall') await untilAborted(finished.signal);
    if (ended) return;
    end(
      'cut',
      reader.cancel().catch(() => {}),
    );
    if (cut.how === 'reset') {
      if (options.breakConnection !== undefined) await new Promise((resolve) => setTimeout(resolve, RESET_DELAY));
      return fail(controller, new ConnectionReset());
    }
    if (cut.how === 'error' && cut.lastChunk !== undefined) controller.enqueue(cut.lastChunk);
    controller.close();
  };

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        abort = () => {
          if (ended) return;
          const reason = signals.find((signal) => signal.aborted)?.reason;
          abandon(reason);
          fail(controller, reason);
        };
        // Removed at the end: a signal may live much longer than this body.
        for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
        if (signals.some((signal) => signal.aborted)) abort();
      },
      async pull(controller) {
        if (cut !== undefined && isReached(cut, chunks, bytes)) return cutOff(controller, cut);
        try {
          const { done, value } = await reader.read();
          if (ended) return;
          if (done) {
            end('answered');
            controller.close();
            return;
          }
          if (cut?.beforeDone && isDone(value)) return cutOff(controller, cut);
          const whole = chunks === options.garbleChunk ? garbled(value) : value;
          const chunk = cut?.afterBytes === undefined ? whole : whole.subarray(0, cut.afterBytes - bytes);
          if (!isComment(chunk)) chunks += 1;
          bytes += chunk.byteLength;
          controller.enqueue(chunk);
          options.onChunk?.(chunk);
        } catch (error) {
          if (ended) return;
          end('cut');
          fail(controller, error);
        }
      },
      cancel: abandon,
    },
    { highWaterMark: 0 },
  );
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
