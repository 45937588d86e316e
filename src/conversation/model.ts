import {
  type ChatMessage,
  type CompactionLevel,
  type CompactionResult,
  type CompletionUsage,
  type ContextMetadata,
  type PinnedMemoryItem,
  RequestValidationError,
  type RollingSummary,
  type StreamedChatCompletion,
  type UserMemoryItem,
} from '../index.js';

export { toWellFormed as wellFormed } from '../base/unicode.js';

/** A message of a conversation. */
export interface ConversationMessage extends ChatMessage {
  /** Must be the service's id, if the service has the message. Set when a turn is stored without one. */
  id?: string | undefined;
  /** The speaker, if there are several users. */
  name?: string | undefined;
  /** A `Date`, or ISO 8601. Set when a turn is stored without one. */
  createdAt?: string | Date | undefined;
  /** Whether to leave the message out of prompts and searches. */
  excluded?: boolean | undefined;
  /** Whether the message is a reply that was stopped or cut off. */
  stopped?: boolean | undefined;
}

/** A message as it is stored. */
export interface StoredMessage extends ConversationMessage {
  id: string;
  /** ISO 8601. */
  createdAt: string;
}

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
  | 'importantReferences';

/** The section of a summary that contains an entry. */
export type EntrySection = 'goals' | 'requirements' | 'decisions' | 'currentPlan' | 'definitions';

/** One statement of a summary. */
export interface SummaryEntry {
  section: EntrySection;
  text: string;
  /** For decisions: the service's id. */
  id?: string | undefined;
  /** For decisions: the reason. */
  reason?: string | undefined;
  /** For decisions: the time, in ISO 8601. */
  timestamp?: string | undefined;
  /** For definitions: the term that `text` explains. */
  term?: string | undefined;
}

/** A decision, requirement or definition that a compaction lost. */
export interface LostEntry extends SummaryEntry {
  /** The last version of the summary that contained it. */
  until: number;
}

/** The parts from which a context is rendered. */
export interface ContextParts {
  summary?: RollingSummary | undefined;
  pins?: readonly PinnedMemoryItem[] | undefined;
  memory?: readonly UserMemoryItem[] | undefined;
}

/** The context at one point in time. Plain JSON. */
export interface Snapshot {
  summary: RollingSummary;
  pins: readonly PinnedMemoryItem[];
  metadata: ContextMetadata;
  /** The number of messages when it was requested. */
  messages: number;
  /** When it was read, in milliseconds since 1970. 0 if it must be read again. */
  readAt: number;
}

/** What earlier compactions showed. Plain JSON. */
export interface CompactionState {
  /** The level of the last one. */
  readonly level?: CompactionLevel | undefined;
  /** Tokens of the context after it. */
  readonly tokens?: number | undefined;
  /** Whether it saved nothing: then turns count only once the service has stored them. */
  readonly savedNothing?: boolean | undefined;
  /** After a failed attempt: when the next one may be made, and how long that wait is. */
  readonly suspended?: { until: number; wait: number } | undefined;
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
  /** `budget`: it did not fit. `excluded`: the user chose so. */
  reason: 'budget' | 'excluded';
}

/** An earlier message that a prompt repeats because it matches the input, or a statement that compactions lost. */
export interface Recalled {
  /** The message's id, if it has one. */
  id?: string | undefined;
  /** `summary` for a lost statement. */
  role: string;
  name?: string | undefined;
  /** ISO 8601. */
  createdAt?: string | undefined;
  /** The text that was sent: the message, or the part of a long one that matches. */
  text: string;
}

/** The composition of a prompt. Token counts are exact with `countTokens`, and otherwise estimates on the safe side. */
export interface PromptReport {
  tokens: { instructions: number; context: number; tail: number; recalled: number; input: number; total: number };
  /** Maximum tokens of the prompt. */
  budget: number;
  estimated: boolean;
  included: ContextSection[];
  dropped: Dropped[];
  /** Earlier messages that were found for the input, the best match first, then lost statements. */
  recalled: Recalled[];
  /** A hash of the context message. Prompts with equal keys have the same context, byte for byte. */
  cacheKey: string;
  summaryVersion: number;
  /** Whether an older context was used, because a newer one could not be read, or is being read in the background. */
  stale: boolean;
  /** Whether even the strongest compaction left the context too large, so that parts of it are dropped. */
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
  /** The context, the newest messages, the recalled ones and the input. Contains no system message. */
  messages: PromptMessage[];
  /** `instructions` as a system message, then `messages`: for `gateway.chat.completions.create`. */
  chatMessages: ChatMessage[];
  /** The context message, unless the context is empty. Already part of the prompt. */
  context?: ChatMessage | undefined;
  /** The message with what was recalled, if anything was. Already part of the prompt, right before the input. */
  recalled?: ChatMessage | undefined;
  /** Index of the first of the newest messages that are sent as they are. */
  start: number;
  report: PromptReport;
}

/** A prompt that another client has sent, and its length as the service reported it. */
export interface SentPrompt {
  messages: readonly { content: string }[];
  /** From the `usage` of the response. */
  prompt_tokens: number;
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
  /** The messages of the turn as they were stored, with their ids. */
  messages: readonly StoredMessage[];
  /** The completion. `undefined` if the turn was stopped. */
  completion?: StreamedChatCompletion | undefined;
  report: PromptReport;
}

/**
 * A reply as it is generated. Iterate over it once, or await `final()`. Leaving the loop stops the reply and keeps the
 * text so far.
 */
export interface ReplyStream extends AsyncIterable<string> {
  /** The text so far. */
  readonly text: string;
  /** The composition of the prompt, from the first piece of text on. */
  readonly report: PromptReport | undefined;
  /**
   * Resolves to the turn when the reply is complete, was stopped, or was cut off by an error. If no text arrived,
   * rejects with the error that the loop throws.
   */
  final(): Promise<ChatTurn>;
  /**
   * A response for a page, which reads it with `readTurn`: server-sent events, or a JSON error with its status if no
   * text arrives. Reads the reply, like a loop. It ends after the compaction that the turn starts, if any. If the page
   * leaves, the reply is stopped, and its text so far is kept.
   */
  toResponse(): Promise<Response>;
}

/** A message that `search` found. */
export interface SearchResult extends ConversationMessage {
  /** The higher, the better. Comparable within one result only. */
  score: number;
  /** The part of the message that matches. */
  excerpt: string;
}

/** The differences between two versions of a summary. */
export interface SummaryDiff {
  kept: SummaryEntry[];
  /** The same statement in other words. A changed number, name or negation is another statement. */
  reworded: { before: SummaryEntry; after: SummaryEntry }[];
  /**
   * Decisions, requirements and definitions that are missing from the newer version. Goals and plans are expected to
   * change.
   */
  lost: SummaryEntry[];
  added: SummaryEntry[];
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
  /**
   * How many messages are represented nowhere but in the app's history: neither pinned, nor among the newest that the
   * service keeps, nor by a statement of the summary. `undefined` if the context could not be read.
   */
  onlyInHistory?: number | undefined;
}

/** The result of a compaction after which the context was read. If the version did not change, all is kept. */
export interface CompactionReceipt extends CompactionReport {
  /** Statements kept, reworded, lost and added. */
  diff: SummaryDiff;
  onlyInHistory: number;
}

/** Returns a short hash of a text (FNV-1a). Not for security. */
export function hashText(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(36);
}

/** When a message was written, in ISO 8601, if that is known. */
export function timeOf({ createdAt }: ConversationMessage): string | undefined {
  const time = new Date(createdAt ?? Number.NaN);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** Copies an input, so that later changes by the caller change nothing. @throws {RequestValidationError} */
export function messagesOf(input: string | readonly ConversationMessage[]): ConversationMessage[] {
  const messages = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  checkMessages(messages, 'input');
  if (messages.length === 0 || messages.some(({ content }) => content.trim() === '')) {
    throw badArgument('input', 'must not be empty');
  }
  return messages.map((message) => ({ ...message }));
}

/** @throws {RequestValidationError} */
export function checkMessages(messages: unknown, name: string): asserts messages is readonly ConversationMessage[] {
  if (Array.isArray(messages) && messages.every(isMessage)) return;
  throw badArgument(
    name,
    "must be an array of { role, content } with role 'user' or 'assistant' and text content; pass a system message as instructions",
  );
}

export function badArgument(name: string, message: string): RequestValidationError {
  return new RequestValidationError([{ path: [name], message }]);
}

/** Whether a value is a message of a user or the assistant. */
export function isMessage(value: unknown): value is ConversationMessage {
  const { role, content } = Object(value) as Partial<ConversationMessage>;
  return (role === 'user' || role === 'assistant') && typeof content === 'string';
}
