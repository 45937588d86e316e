import type { Runtime } from '../base/runtime.js';
import type { Permit, RateLimitObservation } from '../index.js';
import { type PermitQueue, QueuedPermit } from '../rate-limit/rate-limiter.js';
import type { Availability } from './availability.js';
import type { Run } from './client.js';
import { argumentsOf, readReply, type StepReply, type StepRequest } from './script.js';
import { SharedWindow } from './shared-window.js';

/** Responses are reported to Redis with the next step, or after this many ms at the latest; a 429 at once. */
const REPORT_WITHIN = 15;
/** How often waiting calls check whether Redis is back (ms). */
const RECONNECT_INTERVAL = 1_000;

/** What the buckets of a limiter share. */
export interface LimiterState {
  readonly runtime: Runtime;
  readonly availability: Availability;
  readonly run: Run;
  /** The id of this process. */
  readonly process: string;
  /** The number of processes, until Redis has counted them. */
  readonly processes: number;
  /** How long a step waits for Redis (ms). */
  readonly timeout: number;
}

/** The calls of this process in one bucket. Runs one step at a time; calls that arrive meanwhile join the next. */
export class RedisBucket implements PermitQueue {
  /** What this process knows of the window. Without Redis, it decides alone. */
  readonly #window = new SharedWindow();
  /** Waiting calls, in order of arrival. */
  readonly #waiting = new Set<QueuedPermit>();
  /** 429s whose bodies have not arrived yet. */
  readonly #holding = new Set<QueuedPermit>();
  #isAsking = false;
  /** How soon to report to Redis (ms), and how many requests were accepted since the last report. */
  #reportWithin = Number.POSITIVE_INFINITY;
  #accepted = 0;
  #processes: number;
  #isAlone = false;
  /** The clock of Redis, relative to ours. */
  #clockOffset = Number.NEGATIVE_INFINITY;
  /** Until this time, new calls wait without asking Redis. */
  #closedUntil = 0;
  #timer: unknown;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(
    private readonly limiter: LimiterState,
    private readonly keys: Promise<string[]>,
  ) {
    this.#processes = limiter.processes;
  }

  acquire(): Promise<Permit> {
    return new Promise((resolve) => {
      const permit = new QueuedPermit(this, resolve);
      const now = this.limiter.runtime.now();
      const position = this.#waiting.size;
      this.#waiting.add(permit);
      if (now < this.#closedUntil) permit.wait(this.#expectedWait(position, now));
      else this.#step();
    });
  }

  hold(permit: QueuedPermit): void {
    this.#holding.add(permit);
  }

  release(permit: QueuedPermit, observed: RateLimitObservation): void {
    if (permit.window === undefined) {
      this.#waiting.delete(permit);
      if (this.#waiting.size > 0) return;
      this.#closedUntil = 0;
      // Without a report, a timer would only keep the process alive.
      if (this.#reportWithin === Number.POSITIVE_INFINITY) this.#stopTimer();
      return;
    }
    this.#window.release(permit.window, observed, this.limiter.runtime.now());
    if (observed.rejected === false) this.#accepted += 1;
    const wasHeld = this.#holding.delete(permit);
    const within = wasHeld || observed.rejected ? 0 : REPORT_WITHIN;
    this.#reportWithin = Math.min(this.#reportWithin, within);
    this.#stepIn(within);
  }

  /** Runs a step in so many milliseconds, if none is planned before. */
  #stepIn(wait: number): void {
    const { runtime } = this.limiter;
    const at = runtime.now() + wait;
    if (this.#isAsking || at >= this.#timerAt) return;
    this.#stopTimer();
    this.#timerAt = at;
    this.#timer = runtime.setTimer(() => this.#step(), Math.ceil(wait));
  }

  #stopTimer(): void {
    this.limiter.runtime.clearTimer(this.#timer);
    this.#timerAt = Number.POSITIVE_INFINITY;
  }

  #step(): void {
    this.#stopTimer();
    if (this.#isAsking || this.#holding.size > 0) return;
    this.#isAsking = true;
    const wanted = this.#waiting.size;
    void this.#ask(wanted).then((reply) => {
      const now = this.limiter.runtime.now();
      this.#isAsking = false;
      this.#isAlone = reply === undefined;
      this.#processes = reply?.processes ?? this.#processes;
      this.#window.split(this.#isAlone ? this.#processes : 1);
      if (reply !== undefined) this.#window.sync(reply, now);
      this.#admit(reply ?? this.#decideAlone(wanted, now), wanted, now);
    });
  }

  /** Asks Redis. Returns `undefined` while it is unavailable. */
  #ask(wanted: number): Promise<StepReply | undefined> {
    const { availability, runtime, run, process, timeout } = this.limiter;
    const now = runtime.now();
    const sentAt = Math.max(0, now + this.#clockOffset);
    const request: Omit<StepRequest, 'wanted'> = {
      ...this.#window.state(now),
      sentAt,
      timeout,
      accepted: this.#accepted,
      wasAlone: this.#isAlone,
      processes: this.#processes,
    };
    this.#accepted = 0;
    this.#reportWithin = Number.POSITIVE_INFINITY;
    return availability.ask(async (asked) => {
      const reply = readReply(await run(await this.keys, argumentsOf(process, { ...request, wanted: asked })));
      const offset = reply.now - runtime.now();
      // A reply from before its step means that the clock of Redis has gone back.
      const isKept = reply.now >= Math.floor(sentAt);
      this.#clockOffset = isKept ? Math.max(this.#clockOffset, offset) : offset;
      return reply;
    }, wanted);
  }

  #decideAlone(wanted: number, now: number): Decision {
    const granted = Math.min(wanted, this.#window.available(now));
    return { granted, askAfter: Math.min(RECONNECT_INTERVAL, Math.max(1, this.#window.opensAt(now) - now)) };
  }

  #admit({ granted, askAfter }: Decision, wanted: number, now: number): void {
    let rest = granted;
    for (const permit of this.#waiting) {
      if (rest === 0) break;
      rest -= 1;
      this.#waiting.delete(permit);
      permit.admit(this.#window.admit());
    }
    if (rest > 0) this.#reportWithin = Math.min(this.#reportWithin, REPORT_WITHIN); // some calls have left meanwhile
    if (granted < wanted) this.#close(askAfter, now);
    else this.#closedUntil = 0;
    this.#stepIn(this.#reportWithin);
    if (this.#waiting.size > 0 && granted === wanted) this.#step();
  }

  #close(wait: number, now: number): void {
    this.#closedUntil = now + wait;
    let position = 0;
    for (const permit of this.#waiting) {
      if (permit.ready === undefined) permit.wait(this.#expectedWait(position, now));
      position += 1;
    }
    if (this.#waiting.size > 0) this.#stepIn(wait);
  }

  /** The minimum wait in milliseconds, if this process got the whole limit. */
  #expectedWait(position: number, now: number): number {
    return Math.max(this.#closedUntil - now, this.#window.expectedWait(position, now));
  }
}

type Decision = Pick<StepReply, 'granted' | 'askAfter'>;
