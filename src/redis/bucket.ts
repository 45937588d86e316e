import type { Permit, RateLimitObservation } from '../index.js';
import type { Availability } from './availability.js';
import type { Run } from './client.js';
import { OwnShare, SCATTER } from './own-share.js';
import { argumentsOf, type Known, readTurn, type Step, type Turn } from './script.js';
import type { Time } from './time.js';

/** Responses are reported to Redis with the next step, or after this many ms at the latest; a 429 at once. */
const TOLD_WITHIN = 15;
/** How often waiting calls check whether Redis is back (ms). */
const LOOKS_FOR_REDIS = 1_000;
/** A reset or wait further away is treated as malformed (ms). */
const LONGEST_WINDOW = 300_000;
const LONGEST_BLOCK = 86_400_000;
/** How long a 429 without a wait blocks the bucket (ms). */
const OWN_BLOCK = 1_000;

interface Waiting {
  /** Resolves `acquire`, once. */
  answer: ((permit: Permit) => void) | undefined;
  go: () => void;
}

/** The state that the buckets of a limiter share. */
export interface Shared {
  readonly time: Time;
  readonly availability: Availability;
  readonly run: Run;
  /** The id of this process. */
  readonly process: string;
  /** The number of processes, until Redis has counted them. */
  readonly processes: number;
}

/** The figures of a window, with its end by our clock. */
interface Seen extends Omit<Known, 'untilReset'> {
  readonly resetAt: number;
}

/** The calls of this process in one bucket. Runs one step at a time; calls that arrive meanwhile join the next. */
export class Bucket {
  readonly #shared: Shared;
  readonly #keys: Promise<string[]>;
  readonly #ownShare: OwnShare;
  /** Waiting calls, in order of arrival. */
  readonly #waiting = new Set<Waiting>();
  #isAsking = false;
  /** 429s whose bodies have not arrived yet. */
  #holds = 0;
  #inFlight = 0;
  /** Calls in flight from an earlier window. */
  #earlier = 0;
  #served = 0;
  #unexplained = 0;
  /** When blocks end: from responses since the last step, and from the last step itself. */
  #forbiddenUntil = 0;
  #blockedUntil = 0;
  #observed: Seen | undefined;
  #known: Seen | undefined;
  #last: Turn | undefined;
  /** Until this time, new calls wait without asking Redis. */
  #closedUntil = 0;
  /** Whether the last step was local, without Redis. */
  #isAlone = false;
  #wakeUp: unknown;
  /** Whether there is something to report, and the timer that reports it. A 429 is reported at once. */
  #untold: 'no' | 'soon' | 'now' = 'no';
  #telling: unknown;

  constructor(shared: Shared, keys: Promise<string[]>) {
    this.#shared = shared;
    this.#keys = keys;
    this.#ownShare = new OwnShare(shared.time.now);
  }

  acquire(): Promise<Permit> {
    return new Promise((resolve) => {
      const waiting: Waiting = { answer: resolve, go: () => {} };
      this.#waiting.add(waiting);
      if (this.#shared.time.now() < this.#closedUntil) this.#queue(waiting, this.#waiting.size - 1);
      else this.#step();
    });
  }

  #permit(waiting: Waiting): Permit {
    let holds = 0;
    return {
      hold: () => {
        holds = 1;
        this.#holds += 1;
      },
      release: (observed = {}) => {
        this.#holds -= holds;
        if (this.#waiting.delete(waiting)) {
          if (this.#waiting.size === 0) this.#open();
          return;
        }
        this.#inFlight -= 1;
        this.#earlier = Math.max(0, this.#earlier - 1);
        this.#observe(observed);
        this.#tell(observed.rejected ? 'now' : 'soon');
      },
    };
  }

  #observe({ limit, remaining, resetAfter, rejected, retryAfter }: RateLimitObservation): void {
    const blockedFor = rejected ? (retryAfter ?? OWN_BLOCK) : undefined;
    const now = this.#shared.time.now();
    if (blockedFor !== undefined)
      this.#forbiddenUntil = Math.max(this.#forbiddenUntil, now + Math.min(blockedFor, LONGEST_BLOCK));
    const untilReset = resetAfter ?? 0;
    if (rejected === false) this.#served += 1;
    if (remaining === undefined || untilReset <= 0 || untilReset > LONGEST_WINDOW) {
      if (rejected) this.#unexplained += 1;
      return;
    }
    const seen = { limit: limit ?? remaining, remaining, resetAt: now + untilReset };
    const before = this.#observed;
    // Responses may arrive out of order: within a window, the lowest value is the latest.
    const same = before !== undefined && Math.abs(before.resetAt - seen.resetAt) <= SCATTER;
    this.#observed = !same
      ? seen
      : {
          limit: seen.limit,
          remaining: Math.min(before.remaining, remaining),
          resetAt: Math.min(before.resetAt, seen.resetAt),
        };
  }

  #tell(when: 'soon' | 'now'): void {
    if (this.#untold !== 'now') this.#untold = when;
    if (this.#isAsking) return;
    if (this.#untold === 'now') this.#step();
    else this.#telling ??= this.#shared.time.setTimer(() => this.#step(), TOLD_WITHIN);
  }

  #step(): void {
    const { time } = this.#shared;
    time.clearTimer(this.#telling);
    this.#telling = undefined;
    if (this.#isAsking || this.#holds > 0) return;
    this.#isAsking = true;
    this.#untold = 'no';
    const now = time.now();
    const left = (end: number): number => Math.max(0, end - now);
    const figures = (seen: Seen | undefined): Known | undefined => seen && { ...seen, untilReset: left(seen.resetAt) };
    const remembered = {
      known: figures(this.#observed ?? this.#known),
      blockedFor: left(Math.max(this.#forbiddenUntil, this.#blockedUntil)),
    };
    const step: Step = {
      wanted: this.#waiting.size,
      window: this.#last?.window ?? 1,
      inFlight: this.#inFlight - this.#earlier,
      served: this.#served,
      unexplained: this.#unexplained,
      // Reports again what Redis did not accept the last time.
      observed: this.#isAlone ? remembered.known : figures(this.#observed),
      blockedFor: this.#isAlone ? remembered.blockedFor : left(this.#forbiddenUntil),
      remembered,
      processes: this.#last?.processes ?? this.#shared.processes,
    };
    this.#served = this.#unexplained = 0;
    this.#observed = undefined;
    this.#forbiddenUntil = 0;
    void this.#turnOf(step).then((turn) => {
      this.#isAsking = false;
      this.#take(turn, step.wanted);
    });
  }

  /** Runs the step in Redis or, while Redis is unavailable, with this process's own share. */
  async #turnOf(step: Step): Promise<Turn> {
    const { availability, run, process } = this.#shared;
    const send = async (sent: Step): Promise<Turn> => readTurn(await run(await this.#keys, argumentsOf(process, sent)));
    const turn = await availability.ask(
      () => send(step),
      () => send({ ...step, wanted: 0 }),
      step.wanted > 0,
    );
    this.#isAlone = turn === undefined;
    if (turn === undefined) return this.#ownShare.step(step);
    this.#ownShare.takeOver(turn);
    return turn;
  }

  #take(turn: Turn, asked: number): void {
    const { time } = this.#shared;
    const now = time.now();
    if (this.#last?.window !== turn.window) this.#earlier = this.#inFlight;
    this.#last = turn;
    this.#known = turn.known && { ...turn.known, resetAt: now + turn.known.untilReset };
    this.#blockedUntil = now + turn.blockedFor;
    this.#letGo(turn.granted);
    const isClosed = turn.granted < asked;
    this.#open();
    if (isClosed) {
      this.#closedUntil = now + turn.again;
      let place = 0;
      for (const waiting of this.#waiting) this.#queue(waiting, place++);
      const sleep = this.#isAlone ? Math.min(turn.again, LOOKS_FOR_REDIS) : turn.again;
      this.#wakeUp = time.setTimer(() => this.#step(), Math.ceil(sleep));
    } else if (this.#waiting.size > 0) this.#step();
    if (this.#untold !== 'no') this.#tell(this.#untold);
  }

  /** Lets new calls ask Redis. Clears the timer, which would keep the process alive. */
  #open(): void {
    this.#closedUntil = 0;
    this.#shared.time.clearTimer(this.#wakeUp);
  }

  #letGo(granted: number): void {
    let left = granted;
    for (const waiting of this.#waiting) {
      if (left === 0) break;
      left -= 1;
      this.#waiting.delete(waiting);
      this.#inFlight += 1;
      if (waiting.answer === undefined) waiting.go();
      else waiting.answer(this.#permit(waiting));
    }
    if (left > 0) this.#tell('soon'); // some calls were cancelled meanwhile
  }

  /** Makes the call wait. */
  #queue(waiting: Waiting, place: number): void {
    const { answer } = waiting;
    if (answer === undefined) return;
    waiting.answer = undefined;
    const ready = new Promise<void>((resolve) => {
      waiting.go = resolve;
    });
    answer({ ...this.#permit(waiting), ready, expectedWait: this.#expected(place) });
  }

  /** The minimum wait in milliseconds, if this process got the whole limit. */
  #expected(place: number): number {
    const { limit = Number.POSITIVE_INFINITY } = this.#known ?? {};
    const windows = Math.floor(place / Math.max(1, limit));
    return this.#closedUntil - this.#shared.time.now() + windows * (this.#last?.length ?? 0);
  }
}
