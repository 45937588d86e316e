import { onAbort } from '../base/on-abort.js';
import { MAX_TIMER, type Runtime } from '../base/runtime.js';
import type { ContextGatewayError } from '../errors/base.js';
import { APIAbortError, APITimeoutError, ClientClosedError } from '../errors/connection.js';
import type { Exchange, Progress } from '../platform/engine.js';

/** A stream that its reader has abandoned is closed after this many idle timeouts. */
const UNREAD_TIMES = 5;

/** With less time than this (ms), no attempt is started. */
export const MIN_ATTEMPT = 10;

/**
 * A timer that fires this late (ms) was delayed by a blocked event loop: data may have arrived that is still unread.
 */
const LATE_TIMER = 25;
/** So many turns of the event loop are left for reading it, and so many milliseconds: each turn may be long, too. */
const GRACE_TICKS = 8;
const GRACE = 50;

/** A timer that fires this late (ms) was frozen with its page, or slept with its machine: silence is counted anew. */
const FROZEN = 1_000;

/** Milliseconds in which what has arrived while a page was frozen is delivered, at most. */
const LONGEST_THAW = 30_000;

/** The cancellable work that a call waits for: an exchange, or a stream. */
type Cancellable = Pick<Exchange, 'cancel' | 'progress'>;

/** Stops the work that a call waits for. Called at most once. */
type Stop = (error: ContextGatewayError) => void;
const UNSENT: Progress = { phase: 'connect', sent: 'no' };
const STREAMING: Progress = { phase: 'stream', sent: 'yes' };

/**
 * The owner of all timers of a call and of its listener on the caller's signal, from its start to the last byte of
 * a stream. Whatever the call waits for is stopped by the first of: the caller's signal, the deadline, the attempt's
 * timeout, a silent stream, `client.close()`. Ends with `end()`.
 */
export class CallTimeouts {
  readonly #deadline: number;
  readonly #endsAt: number;
  readonly #deadlineWatch: Watchdog | undefined;
  readonly #leave: () => void;
  #watchdog: Watchdog | undefined;
  #exchange: Cancellable | undefined;
  #stop: Stop | undefined;
  #ended: ContextGatewayError | undefined;

  /** `idle` is the idle timeout of a stream, in milliseconds. */
  constructor(
    readonly runtime: Runtime,
    live: LiveCalls,
    signal: AbortSignal | undefined,
    private readonly idle: number,
    deadline = Number.POSITIVE_INFINITY,
  ) {
    this.#deadline = deadline;
    this.#endsAt = deadline === Number.POSITIVE_INFINITY ? deadline : runtime.now() + deadline;
    this.#leave = live.add(this, signal);
    if (signal?.aborted) this.abort(signal.reason);
    if (deadline === Number.POSITIVE_INFINITY) return;
    const end = (): void => this.#finish(this.#deadlineError());
    this.#deadlineWatch = new Watchdog(runtime, deadline, end, runtime.now(), Number.POSITIVE_INFINITY);
  }

  /** The bucket in whose queue the call waits, for the message of its deadline. */
  queuedFor: string | undefined;

  /** Milliseconds until the deadline; `Infinity` without one. */
  get timeLeft(): number {
    return this.#endsAt === Number.POSITIVE_INFINITY ? this.#endsAt : this.#endsAt - this.runtime.now();
  }

  /** Throws if the call is already over. */
  check(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  /** The call now waits for this exchange, up to its last byte. Stopping the call cancels it. */
  follow(exchange: Cancellable): void {
    this.#exchange = exchange;
    if (this.#ended !== undefined) exchange.cancel(this.#ended);
  }

  /**
   * Waits for work that cannot be stopped, but no longer than the call lasts. `stop` is called if the call ends first.
   */
  wait<T>(work: PromiseLike<T>, stop?: () => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const giveUp: Stop = (error) => {
        reject(error);
        stop?.();
      };
      // Abandoned work may still settle while the call waits for something else, so it removes only its own stop.
      const settled = (): void => {
        if (this.#stop === giveUp) this.#stop = undefined;
      };
      this.#stop = giveUp;
      if (this.#ended !== undefined) this.#interrupt(this.#ended);
      work.then(settled, settled);
      work.then(resolve, reject);
    });
  }

  /** Waits `ms`, unless the call ends first. */
  sleep(ms: number): Promise<void> {
    let timer: unknown;
    const slept = new Promise<void>((resolve) => {
      timer = this.runtime.setTimer(resolve, Math.min(ms, MAX_TIMER));
    });
    return this.wait(slept, () => this.runtime.clearTimer(timer));
  }

  /**
   * Starts the clock of one attempt: it fires after `ms` without `progressed()`. The attempt is stopped, the call goes
   * on. Throws if the call is over, or has too little time left.
   */
  startAttempt(ms: number, now: number): void {
    this.#exchange = undefined;
    this.check();
    if (this.timeLeft < MIN_ATTEMPT) throw this.#deadlineError();
    this.#watch(ms, now, () => {
      this.#interrupt(this.#timeout('attempt', `The attempt did not finish within its timeout of ${ms} ms.`));
    });
  }

  /** Starts the clock of a silent stream; it runs until `stopWatching`. It fires after the idle timeout, or earlier after `longest`. */
  startIdle(longest = this.idle): void {
    const ms = Math.min(longest, this.idle);
    this.#watch(ms, this.runtime.now(), () => {
      this.#interrupt(this.#timeout('idle', idleMessage(this.#watchdog?.times ?? 0, ms), STREAMING));
    });
  }

  /**
   * Restarts the running clock. Cheap enough for every event, because the timer itself is not touched. For work that
   * does not report progress, `times` is how often it would have.
   */
  progressed(times = 1, now = this.runtime.now()): void {
    this.#watchdog?.feed(times, now);
  }

  /** Pauses the idle timeout until `progressed()`. The reader may take its time, but not forever. */
  pauseWatching(now: number): void {
    this.#watchdog?.feed(UNREAD_TIMES, now, this.idle);
  }

  /** Stops the clock: the call no longer waits for the service. */
  stopWatching(): void {
    this.#watchdog?.stop();
    this.#watchdog = undefined;
  }

  /** The caller's signal. */
  abort(reason: unknown): void {
    this.#finish(new APIAbortError({ cause: reason }));
  }

  /** `client.close()`. */
  close(): void {
    this.#finish(new ClientClosedError());
  }

  /** Removes all timers and listeners of the call. */
  end(): void {
    this.stopWatching();
    this.#stop = undefined;
    this.#exchange = undefined;
    this.#leave();
    this.#deadlineWatch?.stop();
  }

  #watch(ms: number, now: number, onSilence: () => void): void {
    this.#watchdog?.stop();
    this.#watchdog = new Watchdog(this.runtime, Math.min(ms, MAX_TIMER), onSilence, now);
  }

  #timeout(
    kind: 'attempt' | 'deadline' | 'idle',
    message: string,
    progress = this.#exchange?.progress ?? UNSENT,
  ): APITimeoutError {
    return new APITimeoutError(message, { kind, ...progress, retryable: kind !== 'deadline' });
  }

  #deadlineError(): APITimeoutError {
    const held = this.queuedFor === undefined ? '' : ` It was waiting for the rate limit of ${this.queuedFor}.`;
    return this.#timeout('deadline', `The call did not finish within its deadline of ${this.#deadline} ms.${held}`);
  }

  #finish(error: ContextGatewayError): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    this.#interrupt(error);
  }

  #interrupt(error: ContextGatewayError): void {
    const stop = this.#stop;
    this.#stop = undefined;
    stop?.(error);
    this.#exchange?.cancel(error);
  }
}

function idleMessage(times: number, ms: number): string {
  if (times === 1) return `The stream was silent for its streamIdleTimeout of ${ms} ms.`;
  const unread = times === 0 ? 'within' : `for ${times * ms} ms, ${times} times`;
  return (
    `The stream was closed because it was not read ${unread} its streamIdleTimeout${times === 0 ? ` of ${ms} ms` : ''}. ` +
    'Read it to its end or call close(). In a loop over the stream, call finalCompletion() where you await it.'
  );
}

/** Fires after `ms` without being fed. Feeding only stores the time; the timer checks it when it fires. */
class Watchdog {
  /** The number of intervals it was last fed for; 0 if never. */
  times = 0;
  #fedAt: number;
  #timer: unknown;

  constructor(
    private readonly runtime: Runtime,
    private readonly ms: number,
    private readonly onSilence: () => void,
    now: number,
    private readonly frozen = FROZEN,
  ) {
    this.#fedAt = now;
    this.#arm();
  }

  feed(times: number, now: number, ms = this.ms): void {
    this.times = times;
    this.#fedAt = now + times * ms - this.ms;
  }

  stop(): void {
    this.runtime.clearTimer(this.#timer);
  }

  #arm(): void {
    const armedAt = this.runtime.now();
    const endsAt = this.#fedAt + this.ms;
    const delay = Math.min(Math.max(0, endsAt - armedAt), this.ms);
    let turns = 0;
    let graceEndsAt = 0;
    const fire = (): void => {
      const now = this.runtime.now();
      if (turns === 0) graceEndsAt = now + GRACE;
      // Set for the whole time and not fed since: it has expired, even if tests move timers but no clock.
      const unfed = this.#fedAt + this.ms === endsAt && endsAt - armedAt <= delay;
      // Timers may fire slightly early by the monotonic clock: less than a millisecond left counts as none.
      const over = unfed || this.#fedAt + this.ms - now < 1;
      const late = now - armedAt - delay;
      const heldUp = turns > 0 ? turns < GRACE_TICKS && now < graceEndsAt : late >= LATE_TIMER;
      const wasFrozen = over && turns === 0 && late >= this.frozen;
      // What has arrived meanwhile may take as long to be delivered.
      if (wasFrozen) this.#fedAt = now + Math.max(0, Math.min(late, LONGEST_THAW) - this.ms);
      if (wasFrozen || !over) this.#arm();
      else if (!heldUp) this.onSilence();
      else {
        // Allows some turns of I/O first, to read and decompress data that has already arrived.
        turns += 1;
        this.#timer = this.runtime.setTimer(fire, 4);
      }
    };
    this.#timer = this.runtime.setTimer(fire, delay);
  }
}

/** The calls of a client in flight, including streams. Clients that share connections share this. */
export class LiveCalls {
  readonly #calls = new Set<CallTimeouts>();
  /** Whether the client was closed. */
  closed = false;

  /** Returns a function that ends it, and its listener on the caller's signal. */
  add(call: CallTimeouts, signal: AbortSignal | undefined): () => void {
    this.#calls.add(call);
    const unfollow = signal && onAbort(signal, () => call.abort(signal.reason));
    return () => {
      this.#calls.delete(call);
      unfollow?.();
    };
  }

  closeAll(): void {
    this.closed = true;
    for (const call of this.#calls) call.close();
  }
}
