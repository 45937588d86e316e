import type { ContextClient, RequestOptions, RollingSummary, UserMemoryItem } from '../../index.js';
import type { Background } from '../background.js';
import type { Snapshot } from '../model.js';
import type { CheckedOptions } from '../options.js';
import { listOf } from '../prompt/entries.js';
import type { TurnTimeouts } from '../turn-timeouts.js';
import { forgetMessages, lostWith } from './receipt.js';
import type { Session } from './session.js';
import { type Read, Source } from './source.js';

/** The context for one prompt. */
export interface CurrentContext {
  snapshot: Snapshot | undefined;
  memory: readonly UserMemoryItem[] | undefined;
  stale: boolean;
}

/** The service's context of one conversation. */
export type ContextSource = Source<Omit<Snapshot, 'readAt'>>;

interface Memory {
  items: readonly UserMemoryItem[];
}

const NO_METADATA = { totalTokens: 0, compressedTokens: 0, preservationRatio: 1, recentMessageCount: 0 };

/** Reads the service's context and the user's memory, and keeps what it read last. */
export class ContextReader {
  readonly context: ContextSource | undefined;
  readonly #memory: Source<Memory> | undefined;
  /** Not stored with the conversation, which other users may read. */
  #items: (Memory & Read) | undefined;

  constructor(
    { context, userMemory = context, workspaceId, runtime }: CheckedOptions,
    private readonly session: Session,
    background: Background,
  ) {
    const ofContext = (client: ContextClient) => ({
      what: 'Reading the context',
      client,
      key: session.id,
      ask: (request: RequestOptions) => this.#ask(client, request),
      kept: () => session.state.snapshot,
      keep: (snapshot: Snapshot) => this.#keep(snapshot),
      save: () => session.save(session.timeouts({ signal: background.signal })),
    });
    const ofMemory = (client: ContextClient) => ({
      what: "Reading the user's memory",
      client,
      key: '',
      ask: async (request: RequestOptions) => ({ items: listOf(await client.memory.list({ workspaceId }, request)) }),
      kept: () => this.#items,
      keep: (items: Memory & Read) => {
        this.#items = items;
      },
      save: () => {},
    });
    this.context = context && new Source(ofContext(context), runtime, background);
    this.#memory = userMemory && new Source(ofMemory(userMemory), runtime, background);
  }

  /** The context for a prompt, with what can be read within two seconds. */
  async current(timeouts: TurnTimeouts): Promise<CurrentContext> {
    const { context } = this;
    const memory = this.#memory;
    const stale = await Promise.all([context?.renew(timeouts), memory?.renew(timeouts)]);
    return { snapshot: context?.value, memory: memory?.value?.items, stale: stale.includes(true) };
  }

  async #ask(client: ContextClient, request: RequestOptions): Promise<Omit<Snapshot, 'readAt'>> {
    const { older, messages } = this.session.newest;
    const context = await client.retrieve(this.session.id, request);
    const { version, ...summary }: Partial<RollingSummary> = context.rollingSummary ?? {};
    return {
      // With `validation: 'report'`, the service may leave out any field. Only these are used without a check.
      summary: { ...summary, version: Number.isFinite(version) ? version : 0 } as RollingSummary,
      pins: listOf(context.pinnedMemory),
      metadata: { ...NO_METADATA, ...context.metadata },
      messages: older + messages.length,
    };
  }

  /** Keeps a context, unless a newer one was read meanwhile, and what a compaction lost with it. */
  #keep(after: Snapshot): void {
    const { snapshot: before, lost } = this.session.state;
    if (before !== undefined && after.summary.version < before.summary.version) return;
    const compacted = before && isCompaction(before, after) ? before.summary : undefined;
    const excluded = this.session.newest.messages.filter((message) => message.excluded === true);
    this.session.set({ snapshot: after, lost: forgetMessages(lostWith(after.summary, lost, compacted), excluded) });
  }
}

/** Excluding a message makes a new version of the summary too, so the time of the last compaction decides. */
function isCompaction(before: Snapshot, after: Snapshot): boolean {
  return (
    after.summary.version > before.summary.version &&
    after.metadata.lastCompactionAt !== before.metadata.lastCompactionAt
  );
}
