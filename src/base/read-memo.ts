import type { Runtime } from './runtime.js';

/** Milliseconds for which a failed read is remembered. */
const REMEMBERED = 30_000;
/** The most conversations of which a time is kept. */
const MOST = 10_000;

/** What a read that failed says something about. */
export type Scope = 'service' | 'user' | 'conversation';

/** What all users of a service share, for conversations. Keys: the id of a conversation, or '' for memory. */
export interface ServiceTimes {
  /** When requests that may have changed something ended, by the wall clock. */
  readonly changes: Map<string, number>;
  /** When the service itself failed last. */
  failedAt?: number;
}

/**
 * What conversations remember of their reads with a client. Kept with it, because an app may make a conversation for each
 * request.
 */
export class ReadMemo {
  #refusedAt: number | undefined;
  readonly #missing = new Map<string, number>();

  constructor(
    private readonly runtime: Runtime,
    private readonly service: ServiceTimes,
    /** Whether the service has accepted the credential once, or it is that of one user of many. */
    public isAccepted: boolean,
  ) {}

  failed(scope: Scope, key: string): void {
    const time = this.runtime.now();
    if (scope === 'service') this.service.failedAt = time;
    else if (scope === 'user') this.#refusedAt = time;
    else setTime(this.#missing, key, time);
    this.isAccepted ||= scope === 'conversation';
  }

  /** Whether a read failed a moment ago, so that the next one would fail, too. */
  hasFailed(key: string): boolean {
    return this.isRefused(key) || this.#isRecent(this.service.failedAt);
  }

  /** Whether the service did not let the user read it. */
  isRefused(key: string): boolean {
    return this.#isRecent(this.#refusedAt) || this.#isRecent(this.#missing.get(key));
  }

  /** 0 if nothing has changed. */
  changedAt(key: string): number {
    return this.service.changes.get(key) ?? 0;
  }

  #isRecent(time = Number.NEGATIVE_INFINITY): boolean {
    return this.runtime.now() - time < REMEMBERED;
  }
}

/** Each change of a key has another time. Of very many, all are forgotten: then something is read too often, or 30 s too late. */
export function setTime(times: Map<string, number>, key: string, time: number): void {
  const later = Math.max(time, 1 + (times.get(key) ?? 0));
  if (times.size >= MOST) times.clear();
  times.set(key, later);
}
