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
  /** What the model is told to do: the only system message. */
  instructions?: string | undefined;
  /** Whose memory is read. @default the user's own */
  workspaceId?: string | undefined;
  /**
   * The messages so far, or a function that gives all of them, newest last, before every turn.
   * @default none; the turns of this conversation object are kept
   */
  history?:
    | readonly ConversationMessage[]
    | (() => readonly ConversationMessage[] | Promise<readonly ConversationMessage[]>)
    | undefined;
  /** Tokens that the model can read and write. @default 128_000, the smaller one of the service's models */
  contextWindow?: number | undefined;
  /** Tokens of it that are left for the reply. @default an eighth of the window, at most 4096 */
  reserveOutput?: number | undefined;
  /** The most of the prompt that the context may take while there are messages for the rest. @default 0.5 */
  contextShare?: number | undefined;
  /** An exact token count. @default an estimate that errs on the safe side and learns from the usage of replies */
  countTokens?: ((text: string) => number) | undefined;
  /** What of the context is sent. @default everything */
  sections?: readonly ContextSection[] | undefined;
  /** The role of the context message. As `system` it is joined to the instructions: whatever users wrote is then obeyed. @default 'user' */
  placement?: 'user' | 'system' | undefined;
  /** Join messages of the user that follow each other, for models that insist on alternation. @default false */
  mergeUserTurns?: boolean | undefined;
  /** Writes the context instead of `renderContext`. What it gives is sent as it is. */
  render?: ((parts: ContextParts, budget: number) => string) | undefined;
  /** When and how to compact; `false` leaves it to you. */
  compaction?: false | CompactionOptions | undefined;
  /** Where statements that compactions dropped are kept; `false` forgets them. @default in memory */
  ledger?: LedgerStore | false | undefined;
  /** Milliseconds after which the context is read again. @default 30_000 */
  maxAge?: number | undefined;
  /** What to do when the context cannot be read and was never read before. `skip`: send the messages alone. @default 'throw' */
  onContextError?: 'throw' | 'skip' | undefined;
  /** Told of every compaction, also of those made elsewhere: what it kept, reworded and lost. */
  onCompaction?: ((receipt: CompactionReceipt) => void) | undefined;
  /** Told what no turn fails for: a compaction, a read or a ledger that did not work. @default nothing is told */
  onError?: ((error: unknown) => void) | undefined;
}

/** Reached when all its figures are. */
export interface CompactionTrigger {
  /** Tokens of the compact context with the messages that came since. */
  tokens?: number | undefined;
  /** Messages that the summary does not hold yet. */
  messages?: number | undefined;
  /** Share of what the prompt may have, 0 to 1. */
  fraction?: number | undefined;
}

/** When and how a conversation is compacted. */
export interface CompactionOptions {
  /** Any of these. @default { fraction: 0.75 } */
  when?: CompactionTrigger | readonly CompactionTrigger[] | undefined;
  /** The level to begin with. One that saves nothing is followed by the next. @default 'light' */
  level?: CompactionLevel | ((metadata: ContextMetadata) => CompactionLevel) | undefined;
  /** `background`: after the reply. `before`: before the prompt is built, for at most `timeout`. @default 'background' */
  mode?: 'background' | 'before' | undefined;
  /** Milliseconds that `before` waits. @default 10_000 */
  timeout?: number | undefined;
  /** Share by which the context must grow before the next attempt. @default 0.1 */
  minGrowth?: number | undefined;
  /** Milliseconds after which another attempt is made without growth. @default none is made */
  cooldown?: number | undefined;
  /** Asked before each compaction; `false` prevents it. */
  onBefore?: ((metadata: ContextMetadata, summary: RollingSummary) => unknown) | undefined;
}

/** What a compaction did to the context. */
export interface CompactionReport {
  /** Undefined when it was made elsewhere. */
  level?: CompactionLevel | undefined;
  /** The service's own figures. Undefined when it was made elsewhere. */
  result?: CompactionResult | undefined;
  versions: { before: number; after: number };
  /** Tokens of the compact context, as the service counts them. */
  tokens: { before: number; after: number };
  /** What was kept, reworded, lost and added. Undefined where the context could not be read, before or after. */
  diff?: SummaryDiff | undefined;
}

/** The same, once the context was read. */
export interface CompactionReceipt extends CompactionReport {
  /** What was kept, reworded, lost and added. Nothing but kept while the version is the same. */
  diff: SummaryDiff;
}
