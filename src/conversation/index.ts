export { ContextBudgetError } from './budget-error.js';
export type { Conversation, MadeReply, ReplyStream, TurnInput, TurnOptions } from './conversation.js';
export { createConversation } from './create-conversation.js';
export { diffSummaries, type SummaryDiff } from './diff.js';
export type { EntrySection, SummaryEntry } from './entries.js';
export { type FitParams, type FitReport, type FitState, type FittedPrompt, fitToBudget } from './fit.js';
export type { LedgerEntry, LedgerState, LedgerStore } from './ledger-state.js';
export type { ConversationMessage } from './messages.js';
export type {
  CompactionOptions,
  CompactionReceipt,
  CompactionReport,
  CompactionTrigger,
  ConversationOptions,
} from './options.js';
export type {
  BuiltPrompt,
  ChatTurn,
  ContextParts,
  ContextSection,
  Dropped,
  PromptMessage,
  PromptReport,
  Recovered,
} from './prompt.js';
export { renderContext } from './render.js';
export { estimateTokens } from './tokens.js';
export { shouldCompact } from './trigger.js';
