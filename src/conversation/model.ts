import type {
  ChatCompletion,
  ChatMessage,
  CompactionLevel,
  CompactionResult,
  CompletionUsage,
  ContextMetadata,
  PinnedMemoryItem,
  RollingSummary,
  ToolCall,
  UserMemoryItem,
} from '../index.js';
import type { Content } from './content.js';

/** A message of a conversation: of the user, a reply, or the result of a tool. */
export interface ConversationMessage {
  /** `user`, `assistant` or `tool`. */
  role: string;
  /**
   * A text, or parts, of which some may be images and files: see `textOf`. Of a reply that only calls tools, `''`. A part that is not
   * text counts 1,000 tokens.
   */
  content: Content;
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
  /**
   * Of a reply: the id of its question, by which a new reply finds the one that it replaces. Set when a reply is stored after its
   * question. Without it, a reply answers the question that it follows.
   */
  replyTo?: string | undefined;
  /** Of a reply that calls tools: the same on its calls, their results and its text. Set when a turn is stored. */
  reply?: string | undefined;
  /** Of a reply: the calls of tools. Each is sent with its result, or with one that says that it was not run. */
  tool_calls?: readonly ToolCall[] | undefined;
  /** Of the result of a tool: the id of its call. A second result of a call is ignored. */
  tool_call_id?: string | undefined;
  /**
   * Of a reply: the best ten messages that its prompt repeated, for a page that shows sources. Set when a turn is stored.
   * See `sources`.
   */
  recalled?: readonly MessageSource[] | undefined;
  /** Of a reply: why the model ended it, such as `length`. Set when a turn is stored, as are the next two. */
  finish_reason?: string | undefined;
  /** Of a reply: the model that the service reported. */
  model?: string | undefined;
  /** Of a reply: the tokens that the service reported. */
  usage?: CompletionUsage | undefined;
}

/** What a stored reply keeps of a message that its prompt repeated, or of a lost statement. */
export type MessageSource = {
  /** The message's id. A lost statement has none, nor has a message that your app stored without one. */
  id?: string | undefined;
  /** Only without an id. */
  text?: string | undefined;
  /** As in `FoundMessage`. */
  score: number;
  match: Match;
};

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
type EntrySection = 'goals' | 'requirements' | 'decisions' | 'currentPlan' | 'definitions';

/** One statement of a summary. */
export type SummaryEntry = {
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
};

/** A decision, requirement or definition that a compaction lost. */
export type LostEntry = SummaryEntry & {
  /** The last version of the summary that contained it. */
  until: number;
};

/** The parts from which a context is rendered. */
export type ContextParts = {
  summary?: RollingSummary | undefined;
  pins?: readonly PinnedMemoryItem[] | undefined;
  memory?: readonly UserMemoryItem[] | undefined;
};

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
  /** The last one: its level, the tokens of the context after it, and whether it removed nothing, or made no new summary. */
  readonly last?: { level: CompactionLevel; tokens: number; savedNothing: boolean } | undefined;
  /** After a failed attempt: when the next one may be made, and how long that wait is. */
  readonly suspended?: { until: number; wait: number } | undefined;
}

/** A part that was not sent. */
export type Dropped = {
  section: ContextSection | 'history';
  /** The id of the decision, pin or memory item, if it has one. */
  id?: string | undefined;
  /** The number of messages, if it is the history. */
  messages?: number | undefined;
  /** The tokens, if it is a line of the context. */
  tokens?: number | undefined;
  /** `budget`: it did not fit. `excluded`: the user chose so. */
  reason: 'budget' | 'excluded';
};

/** A message that a search found, or a statement that compactions lost. */
export interface FoundMessage {
  /** Its place in the conversation, from 0. -1 for a lost statement. */
  position: number;
  /** The message's id, if it has one. */
  id?: string | undefined;
  /** `summary` for a lost statement. */
  role: string;
  name?: string | undefined;
  /** ISO 8601. */
  createdAt?: string | undefined;
  /** The text: the message, or the part of a long one that matches. */
  text: string;
  /** From 0 to 1: 1 is the best match, which may be one of the newest messages, and is then not recalled. */
  score: number;
  match: Match;
  /** How many other messages that `search` found say the same. */
  repeated?: number | undefined;
}

/**
 * Why a message was found. `words`: it shares words, names or dates with the input. `beside`: it stands near messages
 * that do. `search`: the app's own search found it.
 */
export type Match = 'words' | 'beside' | 'search';

/** What a prompt consists of. Token counts are exact with `countTokens`, and otherwise estimates. */
export interface PromptReport {
  tokens: { instructions: number; context: number; tail: number; recalled: number; input: number; total: number };
  /** Maximum tokens of the prompt. */
  budget: number;
  estimated: boolean;
  included: ContextSection[];
  dropped: Dropped[];
  /** Earlier messages that were found for the input, the best match first, then lost statements. */
  recalled: FoundMessage[];
  /** A hash of the context message. Prompts with equal keys have the same context, byte for byte. */
  cacheKey: string;
  summaryVersion: number;
  /** Whether an older context was used, because a newer one could not be read, or is being read in the background. */
  stale: boolean;
  /** Whether even the strongest compaction left the context too large, so that parts of it are dropped. */
  compactionExhausted: boolean;
}

/** A message of a prompt as text: each client has its own form of images, and of calls of tools. The instructions are separate. */
export type PromptMessage = {
  role: 'user' | 'assistant';
  content: string;
};

/** Messages that fit the model's window. */
export type BuiltPrompt = {
  /** The instructions. Not among `messages`, because some SDKs take them separately. */
  instructions?: string | undefined;
  /** The context, the newest messages, the recalled ones and the input. Contains no system message. */
  messages: PromptMessage[];
  /** `instructions` as a system message, then `messages`: for `gateway.chat.completions.create`. */
  chatMessages: ChatMessage[];
  /** The context message, unless the context is empty. Already part of the prompt. */
  context?: PromptMessage | undefined;
  /** The message with what was recalled, if anything was. Already part of the prompt, right before the input. */
  recalled?: PromptMessage | undefined;
  /** Index of the first of the newest messages that are sent as they are. */
  start: number;
  /** Whether definitions of tools are sent with it, which are counted with the instructions. */
  hasTools?: boolean | undefined;
  report: PromptReport;
};

/** A prompt that another client has sent, and its length as the service reported it. */
export interface SentPrompt {
  messages: readonly Pick<ChatMessage, 'content' | 'tool_calls'>[];
  /** From the `usage` of the response. */
  prompt_tokens: number;
}

/** A step of a reply: what the model wrote before it called tools, its calls, and their results. */
export type ChatStep = {
  text: string;
  calls: readonly { call: ToolCall; result: string }[];
};

/** The result of a turn: the reply, its usage, and a report on the prompt. */
export interface ChatTurn {
  /** The reply: the text after its last call of a tool. If `stopped`, the part that arrived. */
  text: string;
  /** What the model did with tools: the calls that were run. */
  steps: readonly ChatStep[];
  /** The calls of tools that wait for the app, if the reply ended with some. */
  toolCalls?: readonly ToolCall[] | undefined;
  /** Whether the reply was stopped, aborted or cut off before it was complete. */
  stopped: boolean;
  /** Of all requests of the turn. Each stored message of a reply has that of its own. */
  usage: CompletionUsage;
  /** Whether `usage` is an estimate, because the service sent none. */
  usageEstimated: boolean;
  /** Why the model ended the reply, such as `stop`, or `length` if `max_tokens` cut it off. */
  finish_reason?: string | undefined;
  /** The model that the service reported. */
  model?: string | undefined;
  /** The messages of the turn that are stored, with their ids. */
  messages: readonly StoredMessage[];
  /** The completion. `undefined` if the turn was stopped. */
  completion?: ChatCompletion | undefined;
  report: PromptReport;
}

/** A turn as a page gets it. Its `messages` name what was recalled, and have no calls, and results only if the app shows them. */
export type PageTurn = Omit<ChatTurn, 'completion' | 'steps' | 'report'> & {
  report: Omit<PromptReport, 'recalled'>;
};

/** A part of a reply: a piece of its text, a call of a tool as it begins, or the result of one. */
export type ReplyPart =
  | { type: 'text'; text: string }
  | { type: 'call'; call: ToolCall }
  | { type: 'result'; call: ToolCall; result: string };

/**
 * A reply as it is generated. Iterate over it, or await `final()`. Any number of loops may read it, at any time, each from its
 * start. When the last loop is left early, the reply is stopped, and its text so far is stored; with the option
 * `background`, it continues.
 */
export interface ReplyStream extends AsyncIterable<string> {
  /** The id with which the reply is stored, unless another turn has asked the same. */
  readonly id: string;
  /** The text so far. */
  readonly text: string;
  /** The pieces of text, and the calls of tools and their results between them. To leave the loop early stops the reply, too. */
  parts(): AsyncIterable<ReplyPart>;
  /** The composition of the prompt, from the first piece of text on. */
  readonly report: PromptReport | undefined;
  /**
   * Resolves to the turn when the reply is complete, was stopped, or was cut off by an error. If no text arrived after its last call of a
   * tool, rejects with the error that the loop throws; its steps are stored.
   */
  final(): Promise<ChatTurn>;
  /**
   * Resolves to the receipt of the compaction that the turn started, if there was one. Reads the reply to its end, as
   * `final` does.
   */
  receipt(): Promise<CompactionReceipt | undefined>;
}

/** The differences between two versions of a summary. */
export type SummaryDiff = {
  /** Statements with the same words. */
  kept: SummaryEntry[];
  /**
   * Decisions, requirements and definitions that are missing from the newer version. Goals and plans are expected to
   * change.
   */
  lost: SummaryEntry[];
  added: SummaryEntry[];
};

/** The result of a compaction. */
export type CompactionReport = {
  /**
   * How many messages are left only in the app's history: not pinned, not among the newest that the service keeps, and not
   * quoted in the summary. `undefined` if the context could not be read after it.
   */
  onlyInHistory?: number | undefined;
  /** `undefined` if none was passed. */
  level?: CompactionLevel | undefined;
  /** The service's response. */
  result: CompactionResult;
  versions: { before: number; after: number };
  /** Tokens of the compacted context, as counted by the service. */
  tokens: { before: number; after: number };
  /** Statements kept, lost and added. `undefined` if the context could not be read after it. */
  diff?: SummaryDiff | undefined;
};

/** The result of a compaction, with a comparison of the summaries before and after it. */
export interface CompactionReceipt extends CompactionReport {
  /** As in `CompactionReport`. */
  onlyInHistory: number;
  /** Statements kept, lost and added. */
  diff: SummaryDiff;
}
