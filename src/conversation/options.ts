import type {
  CompactionLevel,
  CompactionResult,
  ContextClient,
  ContextMetadata,
  GatewayClient,
  RollingSummary,
} from '../index.js';
import type { SummaryDiff } from './diff.js';
import type { LedgerStore } from './ledger-state.js';
import type { ConversationMessage } from './messages.js';
import type { ContextParts, ContextSection } from './prompt.js';

/** Options of `createConversation`. The first four are required. */
export interface ConversationOptions {
  context: ContextClient;
  gateway: GatewayClient;
  conversationId: string;
  model: string;
  /** Instructions for the model. They become the only system message. */
  instructions?: string | undefined;
  /** The workspace whose memory is read. @default the user's own memory */
  workspaceId?: string | undefined;
  /**
   * The messages so far, newest last. An array is copied, and never changed: `conversation.history` contains its
   * messages and the turns since. A function is called for every turn, and your app stores the turns.
   * @default none: `conversation.history` contains the turns
   */
  history?:
    | readonly ConversationMessage[]
    | (() => readonly ConversationMessage[] | Promise<readonly ConversationMessage[]>)
    | undefined;
  /**
   * The model's context window: tokens of prompt and reply together.
   * @default 128_000, the smallest of the service's models
   */
  contextWindow?: number | undefined;
  /** Tokens of the window to leave for the reply. @default an eighth of the window, at most 4096 */
  reserveOutput?: number | undefined;
  /**
   * Maximum share of the prompt for the context, from 0 to 1. It may take more while there are few messages.
   * @default 0.5
   */
  contextShare?: number | undefined;
  /** Counts the tokens of a text exactly. @default an estimate on the safe side, calibrated by the usage of replies */
  countTokens?: ((text: string) => number) | undefined;
  /** Sections of the context to send. @default all */
  sections?: readonly ContextSection[] | undefined;
  /**
   * The role of the context message. With `system`, the context is appended to the instructions. The
   * model may then obey text that users wrote.
   * @default 'user'
   */
  placement?: 'user' | 'system' | undefined;
  /** Merges consecutive user messages, for models that require alternating roles. @default false */
  mergeUserTurns?: boolean | undefined;
  /** Renders the context instead of `renderContext`. Its result is sent unchanged. */
  render?: ((parts: ContextParts, budget: number) => string) | undefined;
  /** When and how to compact. With `false`, only your calls of `compact` do. */
  compaction?: false | CompactionOptions | undefined;
  /** Storage for statements that compactions dropped. With `false`, they are forgotten. @default in memory */
  ledger?: LedgerStore | false | undefined;
  /** Milliseconds for which a context is reused before it is read again. @default 30_000 */
  maxAge?: number | undefined;
  /**
   * What to do if the context cannot be read and no earlier read succeeded. With `skip`, the messages are sent without
   * a context. If an earlier read succeeded, its context is used.
   * @default 'throw'
   */
  onContextError?: 'throw' | 'skip' | undefined;
  /** Called after every compaction, including those by other processes, with what it kept, reworded and lost. */
  onCompaction?: ((receipt: CompactionReceipt) => void) | undefined;
  /**
   * Called with errors that do not fail a turn: a failed compaction, read, or `load` or `save` of the ledger, or a
   * compaction that removed nothing because the service does not have the turns.
   * @default such errors are ignored
   */
  onError?: ((error: unknown) => void) | undefined;
}

/** A trigger for compaction. It is reached when all the given limits are. */
export interface CompactionTrigger {
  /** Tokens of the compacted context plus the messages since. */
  tokens?: number | undefined;
  /** Messages that the summary does not contain yet. */
  messages?: number | undefined;
  /** Share of the prompt's budget, from 0 to 1. Needs `contextWindow`. */
  fraction?: number | undefined;
}

/** When and how to compact a conversation. */
export interface CompactionOptions {
  /** A trigger, or several of which any one suffices. @default { fraction: 0.75 } */
  when?: CompactionTrigger | readonly CompactionTrigger[] | undefined;
  /** The level to start with. If it saves nothing, the next stronger level follows. @default 'light' */
  level?: CompactionLevel | ((metadata: ContextMetadata) => CompactionLevel) | undefined;
  /**
   * `background`: after the reply. `before`: before the prompt is built, for at most `timeout`.
   * @default 'background'
   */
  mode?: 'background' | 'before' | undefined;
  /** Maximum wait of `before`, in milliseconds. @default 10_000 */
  timeout?: number | undefined;
  /** Share of the prompt's budget by which the context must grow before the next attempt. @default 0.1 */
  minGrowth?: number | undefined;
  /** Milliseconds after which another attempt is made even without growth. @default no such attempt */
  cooldown?: number | undefined;
  /** Called before each automatic compaction. Return `false` to prevent it. */
  onBefore?: ((metadata: ContextMetadata, summary: RollingSummary) => unknown) | undefined;
}

/** The result of a compaction. */
export interface CompactionReport {
  /** `undefined` if another process compacted, or no level was passed. */
  level?: CompactionLevel | undefined;
  /** The service's response. `undefined` if another process compacted. */
  result?: CompactionResult | undefined;
  versions: { before: number; after: number };
  /** Tokens of the compacted context, as counted by the service. */
  tokens: { before: number; after: number };
  /** Statements kept, reworded, lost and added. `undefined` if the context could not be read before or after. */
  diff?: SummaryDiff | undefined;
}

/** The result of a compaction after which the context was read. */
export interface CompactionReceipt extends CompactionReport {
  /** Statements kept, reworded, lost and added. If the version did not change, all are kept. */
  diff: SummaryDiff;
}
