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

/** The sections of a rendered context, in the order in which they are rendered. */
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

/** What a context is rendered from. */
export interface ContextParts {
  summary?: RollingSummary | undefined;
  pins?: readonly PinnedMemoryItem[] | undefined;
  memory?: readonly UserMemoryItem[] | undefined;
  /** Statements that earlier summaries held, and the newest does not. */
  recovered?: readonly LedgerEntry[] | undefined;
}

/** Something that was not sent. */
export interface Dropped {
  section: ContextSection | 'history';
  /** Of the decision or the memory item, if it has one. */
  id?: string | undefined;
  /** Of the history: how many. */
  messages?: number | undefined;
  /** Of a line of the context. */
  tokens?: number | undefined;
  /** `budget`: it did not fit. `excluded` and `inactive`: the user said so. */
  reason: 'budget' | 'excluded' | 'inactive';
}

/** A statement that an earlier summary held, or a passage of a message that is no longer sent (`history`). */
export interface Recovered {
  section: EntrySection | 'history';
  text: string;
}

/** What a prompt is made of. Tokens are exact when `countTokens` was given, else estimates on the safe side. */
export interface PromptReport {
  tokens: { instructions: number; context: number; tail: number; input: number; total: number };
  /** The most tokens that the prompt may have. */
  budget: number;
  estimated: boolean;
  included: ContextSection[];
  dropped: Dropped[];
  /** What is in the context again although the summary and the messages hold it no more. */
  recovered: Recovered[];
  /** The same key means the same context message, byte by byte. */
  cacheKey: string;
  summaryVersion: number;
  /** The context could not be read: this is the one from before. */
  stale: boolean;
  /** Compaction, up to its strongest level, did not make the context small enough: parts of it were dropped. */
  compactionExhausted: boolean;
}

/** A message of a prompt beside the instructions. */
export interface PromptMessage {
  role: 'user' | 'assistant';
  content: string;
}

/** Messages that fit the model's window. */
export interface BuiltPrompt {
  /** What the app told the model to do. Not among `messages`, because some SDKs take it apart from them. */
  instructions?: string | undefined;
  /** The context, the newest messages, the input. No system message is among them. */
  messages: PromptMessage[];
  /** `instructions` as a system message, then `messages`: for `gateway.chat.completions.create`. */
  chatMessages: ChatMessage[];
  /** The context message alone, if there is anything to say. It is among `messages` too. */
  context?: ChatMessage | undefined;
  report: PromptReport;
}

/** A question and its reply. */
export interface ChatTurn {
  /** The reply, as far as it came. */
  text: string;
  /** Left, aborted or broken off before it was complete. */
  stopped: boolean;
  usage: CompletionUsage;
  /** The service sent no usage: these are estimates. */
  usageEstimated: boolean;
  /** The whole completion, unless the turn was stopped. */
  completion?: StreamedChatCompletion | undefined;
  report: PromptReport;
}
