export type { ApiKeyKind, ApiKeys, Session, Sessions } from './auth.js';
export { type Clock, manualClock, systemClock } from './clock.js';
export type { CompactionLevel } from './compaction/compact.js';
export type { RollingSummary } from './compaction/summary.js';
export { createEmulator, type Emulator, type ListeningEmulator } from './emulator.js';
export type { ActiveFault, FaultMatch, FaultResponse, FaultRule, Faults } from './faults.js';
export type { EmulatorModel } from './models.js';
export type { EmulatorOptions, RateLimit, StreamPace } from './options.js';
export type { RequestRecord } from './request-log.js';
export type { ChatMessage } from './responder.js';
export { addSampleConversation } from './sample.js';
export type { Reply, ReplyContent, ReplyMatch, ScriptedReplies, ScriptedRequest } from './scripted-replies.js';
export type { Listening } from './server.js';
export type { EmulatorState } from './state.js';
export type {
  ConversationInput,
  ConversationRecord,
  Conversations,
  MessageInput,
  MessageRecord,
  MessageRole,
  PinCategory,
  PinnedMemoryItem,
} from './store/conversations.js';
export type { FileRecord, Files } from './store/files.js';
export type {
  Integration,
  IntegrationAction,
  IntegrationExecution,
  IntegrationField,
  IntegrationResult,
  Integrations,
} from './store/integrations.js';
export type { MemoryType, UserMemoryItem } from './store/memory.js';
export type { Preset, PresetInput, Presets } from './store/presets.js';
export type { Collection, Storage } from './store/storage.js';
export type { UsageEntry } from './store/usage.js';
export type { Workspace, WorkspaceInput, Workspaces } from './store/workspaces.js';
