import type {
  ChatMessage,
  CompletionUsage,
  PinnedMemoryItem,
  RollingSummary,
  StreamedChatCompletion,
  UserMemoryItem,
} from '../index.js';
import type { EntrySection } from './entries.js';
import type { LedgerEntry } from './ledger-state.js';

/** A section of the rendered context. */
export type ContextSection =
  | 'constraints'
  | 'definitions'
  | 'preferences'
  | 'facts'
  | 'goals'
  | 'requirements'
  | 'decisions'
  | 'currentPlan'
  | 'openQuestions'
  | 'pinnedMemory'
  | 'importantReferences'
  | 'recovered';

/** The parts from which a context is rendered. */
export interface ContextParts {
  summary?: RollingSummary | undefined;
  pins?: readonly PinnedMemoryItem[] | undefined;
  memory?: readonly UserMemoryItem[] | undefined;
  /** Statements from earlier summaries that the newest one lacks. */
  recovered?: readonly LedgerEntry[] | undefined;
}

/** A part that was not sent. */
export interface Dropped {
  section: ContextSection | 'history';
  /** The id of the decision, pin or memory item, if it has one. */
  id?: string | undefined;
  /** For the history: the number of messages. */
  messages?: number | undefined;
  /** For a line of the context: its tokens. */
  tokens?: number | undefined;
  /** `budget`: it did not fit. `excluded` and `inactive`: the user chose so. */
  reason: 'budget' | 'excluded' | 'inactive';
}

/** A statement from an earlier summary, or a passage of a message that is no longer sent (`history`). */
export interface Recovered {
  section: EntrySection | 'history';
  text: string;
}

/** The composition of a prompt. Token counts are exact with `countTokens`, and otherwise estimates on the safe side. */
export interface PromptReport {
  tokens: { instructions: number; context: number; tail: number; input: number; total: number };
  /** Maximum tokens of the prompt. */
  budget: number;
  estimated: boolean;
  included: ContextSection[];
  dropped: Dropped[];
  /** Statements and passages that the context contains although the summary and the sent messages no longer do. */
  recovered: Recovered[];
  /** A hash of the context message. Prompts with equal keys have the same context, byte for byte. */
  cacheKey: string;
  summaryVersion: number;
  /** Whether the context could not be read, so that the previous one was used. */
  stale: boolean;
  /** Whether even the strongest compaction left the context too large, so that parts of it may be dropped. */
  compactionExhausted: boolean;
}

/** A message of a prompt. The instructions are separate. */
export interface PromptMessage {
  role: 'user' | 'assistant';
  content: string;
}

/** Messages that fit the model's window. */
export interface BuiltPrompt {
  /** The instructions. Not among `messages`, because some SDKs take them separately. */
  instructions?: string | undefined;
  /** The context, the newest messages and the input. Contains no system message. */
  messages: PromptMessage[];
  /** `instructions` as a system message, then `messages`: for `gateway.chat.completions.create`. */
  chatMessages: ChatMessage[];
  /** The context message, unless the context is empty. Already part of the prompt. */
  context?: ChatMessage | undefined;
  report: PromptReport;
}

/** The result of a turn: the reply, its usage, and a report on the prompt. */
export interface ChatTurn {
  /** The reply. If `stopped`, the part that arrived. */
  text: string;
  /** Whether the reply was stopped, aborted or cut off before it was complete. */
  stopped: boolean;
  usage: CompletionUsage;
  /** Whether `usage` is an estimate, because the service sent none. */
  usageEstimated: boolean;
  /** The completion. `undefined` if the turn was stopped. */
  completion?: StreamedChatCompletion | undefined;
  report: PromptReport;
}
