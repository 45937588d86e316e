import { ReadMemo, type Scope } from '../../base/read-memo.js';
import type { Runtime } from '../../base/runtime.js';
import {
  APIConnectionError,
  APIError,
  AuthenticationError,
  type ContextClient,
  NotFoundError,
  PermissionDeniedError,
  type RequestOptions,
} from '../../index.js';
import type { Background } from '../background.js';
import { TurnTimeouts } from '../turn-timeouts.js';

/** What was read, and when: by the wall clock, 0 if it must be read again. */
export interface Read {
  readonly readAt: number;
}

/** What a turn likes to have of the service. */
interface SourceParts<T> {
  /** Its name in an error. */
  what: string;
  client: ContextClient;
  /** The id of the conversation, or '' for the user's memory. */
  key: string;
  ask: (request: RequestOptions) => Promise<T>;
  kept: () => (T & Read) | undefined;
  keep: (read: T & Read) => void;
  /** Called after a read behind a turn. */
  save: () => unknown;
}

/** Milliseconds after which a turn reads again in the background. */
const STALE_AFTER = 30_000;
/** Milliseconds after which a turn waits for a new read. */
const UNUSABLE_AFTER = 300_000;
/** Milliseconds by which the clocks of two servers may differ. */
const SKEW = 1_000;

/** Reads one thing of the service for turns, which go on without it if need be. */
export class Source<T> {
  readonly #memo: ReadMemo;
  #renewing: Promise<unknown> | undefined;

  constructor(
    private readonly parts: SourceParts<T>,
    private readonly runtime: Runtime,
    private readonly background: Background,
  ) {
    this.#memo = memoOf(parts.client, runtime);
  }

  get client(): ContextClient {
    return this.parts.client;
  }

  /** What was read last. Nothing, if the user may not read it: unlike in an outage, an older one must not be used then. */
  get value(): (T & Read) | undefined {
    return this.#memo.isRefused(this.parts.key) ? undefined : this.parts.kept();
  }

  /**
   * Reads if what was read last is too old. Resolves to whether it still is.
   *
   * @throws {AuthenticationError | PermissionDeniedError} while the service has accepted no read: then the configuration is wrong
   */
  async renew(timeouts: TurnTimeouts): Promise<boolean> {
    const age = this.#age();
    if (age < STALE_AFTER) return false;
    if (this.#memo.hasFailed(this.parts.key)) return true;
    if (age < UNUSABLE_AFTER) {
      this.#renewBehind();
      return true;
    }
    return !(await this.#tryToRead(timeouts, this.#memo.isAccepted ? this.#failed : this.#failedFirst));
  }

  /** Asks the service, and keeps what it says. */
  async read(request: RequestOptions): Promise<T & Read> {
    const { key, ask, keep } = this.parts;
    const changedAt = this.#memo.changedAt(key);
    const begun = Math.max(this.runtime.wallClock(), changedAt + 1);
    const read = await ask(request);
    this.#memo.isAccepted = true;
    // What has changed since it was requested may be missing.
    const dated = { ...read, readAt: this.#memo.changedAt(key) === changedAt ? begun : 0 };
    keep(dated);
    return dated;
  }

  #age(): number {
    const readAt = this.parts.kept()?.readAt ?? 0;
    if (readAt <= this.#memo.changedAt(this.parts.key)) return Number.POSITIVE_INFINITY;
    const age = this.runtime.wallClock() - readAt;
    return age < -SKEW ? STALE_AFTER : age; // the clock was set back
  }

  #renewBehind(): void {
    const timeouts = new TurnTimeouts(this.runtime, { signal: this.background.signal });
    this.#renewing ??= this.background.behind(
      this.#tryToRead(timeouts, this.#failed)
        .then((isRead) => isRead && this.parts.save())
        .finally(() => {
          this.#renewing = undefined;
        }),
    );
  }

  async #tryToRead(timeouts: TurnTimeouts, onError: (error: unknown) => void): Promise<boolean> {
    const read = (signal: AbortSignal) => this.read({ signal, maxRetries: 0 });
    return (await timeouts.optional(this.parts.what, read, onError)) !== undefined;
  }

  readonly #failed = (error: unknown): void => {
    const isKnown = this.#memo.hasFailed(this.parts.key);
    const scope = scopeOf(error);
    if (scope !== undefined) this.#memo.failed(scope, this.parts.key);
    if (!isKnown) this.background.onError(error);
  };

  readonly #failedFirst = (error: unknown): void => {
    if (scopeOf(error) === 'user') throw error;
    this.#failed(error);
  };
}

function memoOf(client: ContextClient, runtime: Runtime): ReadMemo {
  const { shared } = client.ownParts?.() ?? {};
  if (shared === undefined) return new ReadMemo(runtime, { changes: new Map() }, false); // a client of an app's tests
  shared.reads ??= new ReadMemo(shared.runtime, shared.times, shared.isOfUser === true);
  return shared.reads;
}

/** What a failure says something about, so that others need not meet it. */
function scopeOf(error: unknown): Scope | undefined {
  if (AuthenticationError.is(error) || PermissionDeniedError.is(error)) return 'user';
  if (NotFoundError.is(error)) return 'conversation';
  const isOutage =
    APIConnectionError.is(error) || (APIError.is(error) && (error.status === 429 || error.status >= 500));
  return isOutage ? 'service' : undefined;
}
