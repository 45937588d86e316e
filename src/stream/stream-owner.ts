import { ContextGatewayError } from '../errors/base.js';
import { addCallDetails, captureCallSite } from '../errors/call.js';
import { StreamError, StreamTruncatedError } from '../errors/stream.js';
import { ResponseValidationError } from '../errors/validation.js';
import { type Ending, endingOf } from '../events/reporter.js';
import { discard } from '../response/body.js';
import { check } from '../response/check.js';
import type { ServiceResponse } from '../response/service-response.js';
import { type ChatCompletion, type ChatCompletionChunk, streamedCallsSchema } from '../wire/completions.js';
import { CompletionAccumulator } from './accumulator.js';
import type { EventChunks } from './chunk.js';

/** Milliseconds to wait for usage or `[DONE]` once every choice has its `finish_reason`. */
const LAST_WORDS = 2_000;

/** Timings of a stream. All times are milliseconds. */
export type StreamMetrics = {
  /** From the request to the first chunk. */
  readonly timeToFirstChunk: number | undefined;
  /** The longest wait for an event after the first chunk, without the time that the reader takes. */
  readonly largestGap: number | undefined;
  readonly chunks: number;
  /** From the request to now, or to the end of the stream. */
  readonly duration: number;
};

/**
 * Owns what a stream holds: its body, its call's timers and the completion so far. Ends once: complete, with an error,
 * or because its reader closes it. Then it cancels the body, removes timers and listeners, and reports.
 */
export class StreamOwner {
  /** Resolves when the stream has ended, however it did. */
  readonly ended: Promise<void>;
  readonly #accumulator: CompletionAccumulator;
  #outcome: 'open' | 'complete' | Error = 'open';
  #resolveEnded = (): void => {};
  #waitingSince: number | undefined;
  #chunks = 0;
  #firstAt: number | undefined;
  #largestGap: number | undefined;
  #endedAt: number | undefined;

  constructor(
    readonly response: ServiceResponse,
    private readonly source: EventChunks,
    wanted?: number,
  ) {
    this.#accumulator = new CompletionAccumulator(wanted);
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    // Called on an abort, a deadline and an idle timeout.
    response.source.timeouts.follow({
      progress: { phase: 'stream', sent: 'yes' },
      cancel: (error) => this.fail(error),
    });
  }

  get isOpen(): boolean {
    return this.#outcome === 'open';
  }

  /** `'open'`, `'complete'` or the name of the error that ended the stream. */
  get state(): string {
    return this.#outcome instanceof Error ? this.#outcome.name : this.#outcome;
  }

  get metrics(): StreamMetrics {
    const { startedAt, timeouts } = this.response.source;
    return {
      timeToFirstChunk: this.#firstAt === undefined ? undefined : this.#firstAt - startedAt,
      largestGap: this.#largestGap,
      chunks: this.#chunks,
      duration: (this.#endedAt ?? timeouts.runtime.now()) - startedAt,
    };
  }

  /** The next chunk, or `undefined` if more of the body must be read first, or the stream has ended. */
  take(): ChatCompletionChunk | undefined {
    while (this.isOpen) {
      const next = this.source.next(this.#accumulator.isWhole);
      if (next === undefined) return undefined;
      if (next === 'skipped') continue; // as a comment, it does not reset the idle timeout
      this.#stopWaiting();
      if (next !== 'done' && next !== 'ended') return this.#add(next);
      // Without `[DONE]`, the completion is complete if every choice has its `finish_reason`.
      if (next === 'ended' && !this.#accumulator.finished) throw this.source.endedEarly();
      this.#complete();
    }
    return undefined;
  }

  /** Reads more of the body. Returns a promise only if it has to wait. */
  receive(): Promise<void> | undefined {
    const bytes = this.response.head.body.read();
    this.#startWaiting();
    if (bytes !== undefined && !ArrayBuffer.isView(bytes)) return bytes.then((read) => this.source.feed(read));
    this.source.feed(bytes);
    return undefined;
  }

  /** The whole completion, once the stream has ended. Throws its error if it is not complete. */
  completion(): ChatCompletion {
    this.throwError();
    const completion = this.#accumulator.completion();
    check(this.response, streamedCallsSchema, completion);
    return completion;
  }

  throwError(): void {
    if (!(this.#outcome instanceof Error)) return;
    captureCallSite(this.#outcome);
    throw this.#outcome;
  }

  /** Ends the stream with an error. But a whole completion is complete, however its connection ends. */
  fail(error: unknown): void {
    if (!this.isOpen) return;
    const known = error instanceof ContextGatewayError ? error : unreadable(error);
    const { call } = this.response.source;
    if (this.#accumulator.isWhole && !StreamError.is(known)) this.#cut(known);
    else {
      call?.reporter?.emit({
        type: 'failure',
        attempt: call.attempts.length,
        reason: known.name,
        stop: 'not-repeatable',
      });
      this.#end(known, endingOf(known));
    }
  }

  /** Ends the stream because its reader needs no more of it. */
  close(): void {
    if (!this.isOpen) return;
    const error = new StreamTruncatedError('The stream was closed before the completion was complete.');
    if (this.#accumulator.isWhole) this.#cut(error);
    else this.#end(error, { outcome: 'cancelled', error: undefined });
  }

  /** Adds the call and what has arrived to an error. */
  describe<E extends ContextGatewayError>(error: E): E {
    addCallDetails(error, this.response.source, () => this.#accumulator.partial());
    return error;
  }

  /** The idle timeout runs while the reader waits for an event, whatever else arrives. At other times it is paused. */
  #startWaiting(): void {
    if (this.#waitingSince !== undefined) return;
    const { timeouts } = this.response.source;
    this.#waitingSince = timeouts.runtime.now();
    timeouts.progressed(1, this.#waitingSince);
  }

  #stopWaiting(): void {
    const { timeouts } = this.response.source;
    const now = timeouts.runtime.now();
    timeouts.pauseWatching(now);
    if (this.#waitingSince === undefined) return;
    const waited = now - this.#waitingSince;
    if (this.#chunks > 0) this.#largestGap = Math.max(this.#largestGap ?? 0, waited);
    this.#waitingSince = undefined;
  }

  #add(chunk: ChatCompletionChunk): ChatCompletionChunk {
    const { timeouts } = this.response.source;
    const now = timeouts.runtime.now();
    this.#firstAt ??= now;
    this.#chunks += 1;
    const wasOver = this.#accumulator.isOver;
    this.#accumulator.add(chunk);
    const { isOver } = this.#accumulator;
    if (wasOver !== isOver) {
      timeouts.startIdle(isOver ? LAST_WORDS : undefined);
      timeouts.pauseWatching(now);
    }
    return chunk;
  }

  #complete(): void {
    this.#settle('complete', SUCCESS);
    // Most services end the body right after `[DONE]`, so its connection can be reused. A body that goes on is
    // cancelled.
    void discard(this.response.head.body, this.response.source.timeouts.runtime);
  }

  /** Completes the stream before its end. */
  #cut(reason: ContextGatewayError): void {
    this.#settle('complete', SUCCESS);
    this.response.head.body.cancel(reason);
  }

  #end(error: ContextGatewayError, ending: Ending): void {
    this.#settle(this.describe(error), ending);
    this.response.head.body.cancel(error);
  }

  #settle(outcome: 'complete' | Error, ending: Ending): void {
    const { call, timeouts } = this.response.source;
    const reporter = call?.reporter;
    this.#outcome = outcome;
    this.#endedAt = timeouts.runtime.now();
    if (reporter !== undefined) {
      const { timeToFirstChunk, largestGap } = this.metrics;
      reporter.completed(this.#accumulator.facts());
      reporter.done({ ...ending, timeToFirstChunk, largestGap }, this.#endedAt);
    }
    timeouts.end();
    this.#resolveEnded();
  }
}

const SUCCESS: Ending = { outcome: 'success', error: undefined };

/** A chunk from `decodeChunk` whose fields cannot be read. It may throw anything, even a value that is not an error. */
function unreadable(cause: unknown): ResponseValidationError {
  return new ResponseValidationError('A chunk of the stream could not be read.', { body: undefined, cause });
}
