import {
  AuthenticationError,
  type ContextClient,
  NotFoundError,
  PermissionDeniedError,
  type RequestOptions,
  type RollingSummary,
  type UserMemoryItem,
} from '../../index.js';
import type { Background } from '../background.js';
import type { Snapshot } from '../model.js';
import type { CheckedOptions } from '../options.js';
import { listOf } from '../prompt/entries.js';
import type { Session } from './session.js';

/** The context for one prompt. */
export interface CurrentContext {
  snapshot?: Snapshot | undefined;
  memory?: readonly UserMemoryItem[] | undefined;
  stale: boolean;
}

const NO_METADATA = { totalTokens: 0, compressedTokens: 0, preservationRatio: 1, recentMessageCount: 0 };
/** Milliseconds after which a turn reads the context again in the background. */
const STALE_AFTER = 30_000;
/** Milliseconds after which a turn waits for a new context. */
const UNUSABLE_AFTER = 300_000;

/** Reads the service's context, and keeps what it read last. */
export class ContextReader {
  /** The user's memory. Not stored with the conversation, which other users may read. */
  #memory: readonly UserMemoryItem[] | undefined;
  /** The last change of the context. What was requested before it is not kept. */
  #lastChange = Symbol();
  #refreshing: Promise<unknown> | undefined;

  constructor(
    private readonly client: ContextClient,
    private readonly options: CheckedOptions,
    private readonly session: Session,
    private readonly background: Background,
    /** Called with each snapshot that is kept, and the one before it. */
    private readonly onRead: (before: Snapshot | undefined, after: Snapshot) => void,
  ) {}

  /**
   * The context for a prompt. If it cannot be read, the previous one is used, or only the memory with `onContextError: 'skip'`.
   * If the user may not read it, the previous one is not used either.
   */
  async current(request: RequestOptions): Promise<CurrentContext> {
    const { snapshot } = this.session.state;
    const age = snapshot?.readAt ? this.options.runtime.wallClock() - snapshot.readAt : Number.POSITIVE_INFINITY;
    try {
      if (age >= UNUSABLE_AFTER) return { ...(await this.read(request)), stale: false };
      const stale = age < 0 || age >= STALE_AFTER; // below 0 if the clock was set back
      if (stale) this.#refresh();
      return { snapshot, memory: this.#memory ?? (await this.#readMemory(request)), stale };
    } catch (error) {
      const known = { snapshot: isRefusal(error) ? undefined : snapshot, memory: this.#memory };
      const isNeeded = known.snapshot === undefined && this.options.onContextError !== 'skip';
      if (isNeeded || request.signal?.aborted === true) throw error;
      this.background.onError(error);
      return { ...known, stale: true };
    }
  }

  #refresh(): void {
    const { signal } = this.background;
    this.#refreshing ??= this.background.behind(
      this.read({ signal })
        .then(() => this.session.save(this.session.timeouts({ signal })))
        .catch((error: unknown) => {
          if (isRefusal(error)) this.invalidate(); // the next turn reads, and fails
          throw error;
        })
        .finally(() => {
          this.#refreshing = undefined;
        }),
    );
  }

  /** Asks the service. */
  async read(request: RequestOptions): Promise<{ snapshot: Snapshot; memory: readonly UserMemoryItem[] }> {
    const lastChange = this.#lastChange;
    const { older, messages } = this.session.newest;
    const reads = [this.client.retrieve(this.session.id, request), this.#readMemory(request)] as const;
    await Promise.allSettled(reads); // without the context, the memory is used all the same
    const [context, memory] = await Promise.all(reads);
    const { version, ...summary }: Partial<RollingSummary> = context.rollingSummary ?? {};
    const snapshot: Snapshot = {
      // With `validation: 'report'`, the service may leave out any field. Only these are used without a check.
      summary: { ...summary, version: Number.isFinite(version) ? version : 0 } as RollingSummary,
      pins: listOf(context.pinnedMemory),
      metadata: { ...NO_METADATA, ...context.metadata },
      messages: older + messages.length,
      readAt: this.options.runtime.wallClock(),
    };
    const { snapshot: before } = this.session.state;
    const isNewest = before === undefined || snapshot.summary.version >= before.summary.version;
    if (lastChange === this.#lastChange && isNewest) {
      this.session.set({ snapshot });
      this.onRead(before, snapshot);
    }
    return { snapshot, memory };
  }

  async #readMemory(request: RequestOptions): Promise<readonly UserMemoryItem[]> {
    const list = this.client.memory.list({ workspaceId: this.options.workspaceId }, request);
    const read = await list.catch((error: unknown) => {
      if (isRefusal(error)) this.#memory = undefined;
      throw error;
    });
    this.#memory = listOf(read);
    return this.#memory;
  }

  /** Makes the next prompt ask the service. */
  invalidate(): void {
    this.#lastChange = Symbol();
    const { snapshot } = this.session.state;
    if (snapshot !== undefined) this.session.set({ snapshot: { ...snapshot, readAt: 0 } });
  }
}

/** Whether these credentials may not read the context. Unlike in an outage, an older one must not be used then. */
function isRefusal(error: unknown): boolean {
  return AuthenticationError.is(error) || PermissionDeniedError.is(error) || NotFoundError.is(error);
}
