export { type Content, textOf } from './content.js';
export type { ContextActions } from './context/actions.js';
export type {
  BuiltPrompt,
  ChatStep,
  ChatTurn,
  CompactionReceipt,
  CompactionReport,
  ContextParts,
  ContextSection,
  ConversationMessage,
  Dropped,
  EntrySection,
  FoundMessage,
  LostEntry,
  Match,
  MessageSource,
  PageTurn,
  PromptMessage,
  PromptReport,
  ReplyPart,
  ReplyStream,
  StoredMessage,
  SummaryDiff,
  SummaryEntry,
} from './model.js';
export type {
  ConversationOptions,
  ExcludeOptions,
  MessagesOptions,
  PrepareOptions,
  SearchOptions,
  TurnInput,
  TurnOptions,
} from './options.js';
export { ContextBudgetError } from './prompt/budget-error.js';
export { sources } from './prompt/recall.js';
export { wordsOf } from './search/index-words.js';
export type { ConversationSearch } from './search/search.js';
export {
  type AppendPlace,
  ConversationConflictError,
  type ConversationState,
  type ConversationStore,
  ConversationStoreError,
  memoryStore,
  type StoredConversation,
  type StoredRow,
  type WantedMessages,
} from './store.js';
export { type Conversation, createConversation } from './turn/conversation.js';
export type { FinishedReply, PreparedTurn, StepMessage } from './turn/prepared.js';
export { readTurn } from './turn/read-turn.js';
export { type ResponseOptions, type TurnEvent, toResponse } from './turn/respond.js';
