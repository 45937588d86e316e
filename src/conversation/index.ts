export { type Conversation, createConversation } from './conversation.js';
export type {
  BuiltPrompt,
  ChatTurn,
  CompactionReceipt,
  CompactionReport,
  ContextParts,
  ContextSection,
  ConversationMessage,
  Dropped,
  EntrySection,
  LostEntry,
  PromptMessage,
  PromptReport,
  Recalled,
  ReplyStream,
  SearchResult,
  SentPrompt,
  StoredMessage,
  SummaryDiff,
  SummaryEntry,
} from './model.js';
export type {
  BuildOptions,
  ConversationOptions,
  SearchOptions,
  TurnInput,
  TurnOptions,
} from './options.js';
export {
  ContextBudgetError,
  type FitParams,
  type FitReport,
  type FitState,
  type FittedPrompt,
  fitToBudget,
} from './prompt.js';
export type { ConversationSearch, SearchHit } from './recall.js';
export { diffSummaries } from './receipt.js';
export { renderContext } from './render.js';
export { readTurn, type TurnEvent } from './reply.js';
export {
  ConversationConflictError,
  type ConversationState,
  type ConversationStore,
  memoryStore,
  type StoredConversation,
} from './store.js';
export { estimateTokens } from './tokens.js';
