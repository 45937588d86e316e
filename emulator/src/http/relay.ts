/** How a body that passes through is watched and, where a fault asks for it, spoiled. */
export interface RelayOptions {
  /** When one of them fires, the body breaks with its reason and the source is cancelled. */
  signals?: readonly AbortSignal[] | undefined;
  /** Called with every chunk that was handed over. */
  onChunk?: ((chunk: Uint8Array) => void) | undefined;
  /** Called once. `sourceEnded` is there when the source was left, and resolves when it has ended. */
  onEnd?: ((outcome: 'answered' | 'aborted' | 'cut', sourceEnded?: Promise<void>) => void) | undefined;
  /** Where and how the body is cut: so many chunks of a stream (one chunk is one event), or so many bytes. */
  cut?: BodyCut | undefined;
  /** The chunk after so many is cut to its first half and a line end: an event that cannot be read. */
  garbleChunk?: number | undefined;
  /** Breaks the connection. Without one, in process, a body breaks by an error. */
  breakConnection?: (() => void) | undefined;
}

/** Where a body ends too early, and in which way. */
export interface BodyCut {
  afterChunks?: number | undefined;
  afterBytes?: number | undefined;
  /** The chunk that says the stream is complete is not sent. */
  beforeDone?: boolean | undefined;
  how: 'end' | 'reset' | 'stall' | 'error';
  /** `error`: the last chunk. */
  lastChunk?: Uint8Array | undefined;
}

/** Pass a body on, chunk by chunk and only as fast as it is read. */
export function relayBody(source: ReadableStream<Uint8Array>, options: RelayOptions): ReadableStream<Uint8Array> {
  const { signals = [], cut } = options;
  const left = new AbortController();
  const reader = source.getReader();
  let chunks = 0;
  let bytes = 0;
  let ended = false;
  let abort = (): void => {};
  const end = (outcome: 'answered' | 'aborted' | 'cut', sourceEnded?: Promise<void>): void => {
    if (ended) return;
    ended = true;
    for (const signal of signals) signal.removeEventListener('abort', abort);
    left.abort();
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
  const leave = (reason: unknown): void => {
    end(
      'aborted',
      reader.cancel(reason).catch(() => {}),
    );
  };

  const cutOff = async (controller: ReadableStreamDefaultController<Uint8Array>, cut: BodyCut): Promise<void> => {
    if (cut.how === 'stall') await untilAborted(left.signal);
    if (ended) return;
    end(
      'cut',
      reader.cancel().catch(() => {}),
    );
    if (cut.how === 'reset') {
      if (options.breakConnection !== undefined) await new Promise((resolve) => setTimeout(resolve, ON_ITS_WAY));
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
          leave(reason);
          fail(controller, reason);
        };
        // Taken off again at the end: a signal may live much longer than this body.
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
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
}

/** A comment of an event stream is no event. */
export function isComment(chunk: Uint8Array): boolean {
  return chunk[0] === COLON;
}

/** The connection was broken on purpose: what a caller in process gets, as from a real `fetch`. */
export class ConnectionReset extends TypeError {
  constructor() {
    super('fetch failed', { cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }) });
  }
}

const COLON = 0x3a;
/** A reset overtakes what was sent before it and is not read yet: that gets so long (ms, of real time) to arrive. */
const ON_ITS_WAY = 50;

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

/** A body written in pieces of at most so many bytes, with a pause before each; pieces never join two chunks. */
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
