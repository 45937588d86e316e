export { assumed } from './assume.js';
export { type Clock, manualClock, systemClock } from './clock.js';
export type { CompactionLevel } from './compaction/compact.js';
export type { RollingSummary } from './compaction/summary.js';
export { createEmulator, type Emulator, type EmulatorOptions, type ListeningEmulator } from './emulator.js';
export type { ActiveFault, FaultMatch, FaultResponse, FaultRule, Faults } from './faults.js';
export type { EmulatorModel } from './models.js';
export type { ServiceOptions, StreamPace } from './options.js';
export type { InspectedConversation, Overview } from './overview.js';
export type { RateLimit } from './rate-limit.js';
export type { RequestRecord } from './request-log.js';
export type { ChatMessage } from './responder.js';
export { addSampleConversation } from './sample.js';
export type { Reply, ReplyContent, ReplyMatch, ScriptedReplies, ScriptedRequest } from './scripted-replies.js';
export { seedFrom } from './seed-file.js';
export type { Listening } from './server.js';
export type { ConversationInState, EmulatorState } from './state.js';
export type { Account, Plan, PlanName } from './store/account.js';
export type { ApiKeyInfo, ApiKeyKind, ApiKeys } from './store/api-keys.js';
export type {
  ConversationInput,
  ConversationRecord,
  MessageInput,
  MessageRecord,
  MessageRole,
  PinCategory,
  PinnedMemoryItem,
  SummaryVersion,
} from './store/conversation-records.js';
export type { Conversations } from './store/conversations.js';
export type { FileRecord, Files } from './store/files.js';
export type {
  Integration,
  IntegrationAction,
  IntegrationExecution,
  IntegrationField,
  IntegrationResult,
  Integrations,
} from './store/integrations.js';
export type { MemoryInput, MemoryType, UserMemory, UserMemoryItem } from './store/memory.js';
export type { Preset, PresetInput, Presets } from './store/presets.js';
export type { Session, Sessions } from './store/sessions.js';
export type { Collection, Storage } from './store/storage.js';
export type { UsageEntry } from './store/usage.js';
export type { Workspace, WorkspaceInput, Workspaces } from './store/workspaces.js';
export type { UpstreamOptions } from './upstream/model-source.js';
