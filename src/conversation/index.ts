export { type Content, textOf } from './content.js';
export type {
  ChatTurn,
  CompactionReceipt,
  CompactionReport,
  ConversationMessage,
  FoundMessage,
  LostEntry,
  Match,
  PromptReport,
  ReplyPart,
  ReplyStream,
  StoredMessage,
} from './model.js';
export type {
  ConversationOptions,
  TurnInput,
  TurnOptions,
} from './options.js';
export { ContextBudgetError } from './prompt/budget-error.js';
export { sources } from './prompt/recall.js';
export { wordsOf } from './search/index-words.js';
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
export type { FinishedReply, PreparedTurn } from './turn/prepared.js';
export { readTurn } from './turn/read-turn.js';
export { type TurnEvent, toResponse } from './turn/respond.js';
