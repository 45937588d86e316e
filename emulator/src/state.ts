import type { RollingSummary } from './compaction/summary.js';
import type { ConversationContexts } from './conversation-context.js';
import type { ConversationRecord, Conversations, PinnedMemoryItem } from './store/conversations.js';
import type { FileRecord, Files } from './store/files.js';
import type { IntegrationExecution, Integrations } from './store/integrations.js';
import type { UserMemory, UserMemoryItem } from './store/memory.js';
import type { Preset, Presets } from './store/presets.js';
import type { Usage, UsageEntry } from './store/usage.js';
import type { Workspace, Workspaces } from './store/workspaces.js';

/** Everything an emulator has stored, as plain data. */
export interface EmulatorState {
  conversations: (ConversationRecord & {
    rollingSummary: RollingSummary;
    pinnedMemory: PinnedMemoryItem[];
    lastCompactionAt: string | null;
  })[];
  memory: (UserMemoryItem & { ownerId: string })[];
  workspaces: Workspace[];
  presets: Preset[];
  files: FileRecord[];
  integrationExecutions: IntegrationExecution[];
  usage: UsageEntry[];
}

/** A copy of what the stores hold. */
export function stateOf(stores: {
  conversations: Conversations;
  contexts: ConversationContexts;
  memory: UserMemory;
  workspaces: Workspaces;
  presets: Presets;
  files: Files;
  integrations: Integrations;
  usage: Usage;
}): EmulatorState {
  const { conversations, contexts } = stores;
  return {
    conversations: conversations.list().map((record) => {
      const state = conversations.state(record.id);
      if (state === undefined) throw new RangeError(`there is no conversation ${record.id}`);
      return {
        ...record,
        rollingSummary: structuredClone(contexts.summary(state)),
        pinnedMemory: structuredClone(state.pins),
        lastCompactionAt: state.lastCompactionAt,
      };
    }),
    memory: stores.memory.all().map(({ ownerId, item }) => ({ ...item, ownerId })),
    workspaces: stores.workspaces.list(),
    presets: stores.presets.list(),
    files: stores.files.list(),
    integrationExecutions: stores.integrations.executions(),
    usage: stores.usage.list(),
  };
}
