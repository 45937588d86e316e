export { type Clock, type ClockPosition, manualClock, systemClock } from './base/clock.js';
export type { EmulatorModel } from './base/models.js';
export { assumed } from './cli/assume.js';
export { addSampleConversation } from './cli/sample.js';
export { seedFrom } from './cli/seed-file.js';
export type {
  ActiveReply,
  Reply,
  ReplyContent,
  ReplyMatch,
  ScriptedReplies,
  ScriptedRequest,
} from './completions/scripted-replies.js';
export type { InspectedConversation } from './control/page/inspected-conversation.js';
export type { SnapshotInfo, Snapshots } from './control/state/snapshots.js';
export type { ConversationInState, EmulatorState } from './control/state/state-schema.js';
export {
  createEmulator,
  type Emulator,
  type EmulatorOptions,
  type EmulatorSetup,
  type ListeningEmulator,
} from './emulator.js';
export { type EmulatorStore, emulatorStore } from './emulator-store.js';
export type { ActiveFault, Faults } from './faults/faults.js';
export type { FaultMatch, FaultResponse, FaultRule } from './faults/rule.js';
export type {
  Attempt,
  EndedRequest,
  Outcome,
  RecordedResponse,
  RequestRecord,
  RequestSummary,
  Similar,
} from './http/log/request-record.js';
export type { RequestChanges } from './http/log/resent.js';
export type { ReachedLimit } from './http/rate-limit.js';
export type { Listening } from './http/server.js';
export type { ServiceOptions, StreamPace } from './options.js';
export type { Account, Plan, PlanName, RateLimit } from './store/account.js';
export type { ApiKeyInfo, ApiKeyKind, ApiKeys } from './store/api-keys.js';
export type {
  CompactionLevel,
  CompactionReceipt,
  ConversationInput,
  ConversationRecord,
  MessageInput,
  MessageRecord,
  MessageRole,
  PinCategory,
  PinnedMemoryItem,
  Statement,
  SummaryVersion,
} from './store/conversation-records.js';
export type { Conversations } from './store/conversations.js';
export type { FileRecord, Files } from './store/files.js';
export type {
  Integration,
  IntegrationAction,
  IntegrationExecution,
  IntegrationField,
  IntegrationInput,
  IntegrationResult,
  Integrations,
} from './store/integrations.js';
export type { MemoryInput, MemoryType, UserMemory, UserMemoryItem } from './store/memory.js';
export type { Models } from './store/models.js';
export type { Preset, PresetInput, Presets } from './store/presets.js';
export type { Session, Sessions } from './store/sessions.js';
export type { Collection, Storage } from './store/storage.js';
export type { RollingSummary } from './store/summary.js';
export type { UsageEntry } from './store/usage.js';
export type { Workspace, WorkspaceInput, Workspaces } from './store/workspaces.js';
export type { PromptMessage, PromptPart, PromptTokens } from './text/prompt-tokens.js';
export type { ChatMessage, UpstreamOptions } from './upstream/model-source.js';
export type { Answers } from './upstream/sources.js';
export type { ScriptedToolCall } from './upstream/tool-calls.js';
