import type { Changes } from '../../base/changes.js';
import type { Clock, ClockPosition } from '../../base/clock.js';
import type { EmulatorModel } from '../../base/models.js';
import type { RateLimiter } from '../../http/rate-limit.js';
import type { Plan } from '../../store/account.js';
import type { ApiKeyRecord } from '../../store/api-keys.js';
import type {
  CompactionReceipt,
  ConversationState,
  MessageRecord,
  PinnedMemoryItem,
  SummaryVersion,
} from '../../store/conversation-records.js';
import type { FileRecord, StoredFile } from '../../store/files.js';
import type { IdempotencyEntry } from '../../store/idempotency.js';
import type { Integration, IntegrationExecution } from '../../store/integrations.js';
import type { OwnedMemoryItem, UserMemoryItem } from '../../store/memory.js';
import type { Preset } from '../../store/presets.js';
import type { SavedSequence } from '../../store/random.js';
import type { SdkFields, SdkState } from '../../store/sdk-records.js';
import type { SessionRecord } from '../../store/sessions.js';
import { checkedId, type Storage } from '../../store/storage.js';
import { dropCaches, type SeedRecord, type Stores } from '../../store/stores.js';
import { type RollingSummary, renderSummary, type SummaryItem } from '../../store/summary.js';
import { type UsageEntry, usageId } from '../../store/usage.js';
import type { Workspace } from '../../store/workspaces.js';

/** A conversation with all its stored data. */
export interface ConversationInState extends Omit<ConversationState, 'pins' | 'summary'> {
  messages: MessageRecord[];
  pinnedMemory: PinnedMemoryItem[];
  /** For reading only, as the Context API returns it. `restore` uses `summaryItems`. */
  rollingSummary: RollingSummary;
  summaryItems: SummaryItem[];
  summaryVersions: SummaryVersion[];
  /** The receipts of the last compactions. */
  receipts?: CompactionReceipt[] | undefined;
  /** What `emulatorStore` stores besides the messages. */
  sdkFields?: SdkFields[] | undefined;
  sdkState?: SdkState | undefined;
}

/** All data that an emulator has stored, as plain JSON. Contains keys and tokens only as hashes. */
export interface EmulatorState {
  /** The seed. The initial keys and the initial token are derived from it. */
  seed: string;
  /** Where the clock stood. */
  clock?: ClockPosition | undefined;
  /** The positions of the id sequences. */
  sequences: SavedSequence[];
  /** The plan, if it was changed; else the plan of the options applies. */
  plan?: Plan;
  apiKeys: ApiKeyRecord[];
  sessions: SessionRecord[];
  workspaces: Workspace[];
  conversations: ConversationInState[];
  memory: (UserMemoryItem & { ownerId: string })[];
  /** The models you added, without the built-in ones. */
  models?: EmulatorModel[];
  presets: Preset[];
  /** `content` is base64. */
  files: (FileRecord & { contentType: string; content: string })[];
  /** The integrations you created, without the built-in ones. */
  integrations?: Integration[];
  integrationExecutions: IntegrationExecution[];
  usage: UsageEntry[];
  idempotency: IdempotencyEntry[];
}

/** What a snapshot is made from, and restored to. */
interface StateParts {
  stores: Stores;
  clock: Clock;
  limiter: RateLimiter;
  changes: Changes;
}

/** A snapshot of all stored data, with the clock. */
export function currentState({ stores, clock }: Pick<StateParts, 'stores' | 'clock'>): EmulatorState {
  const position = clock.position?.();
  return { ...exportState(stores.storage), ...(position && { clock: position }) };
}

/** Replaces all stored data with a snapshot, and puts the clock back. Windows of rate limits start anew. */
export function restoreState({ stores, clock, limiter, changes }: StateParts, state: EmulatorState): void {
  importState(stores.storage, state);
  dropCaches(stores);
  limiter.reset();
  if (state.clock !== undefined) clock.moveTo?.(state.clock);
  changes.notify('everything');
}

/** Copies the contents of the storage. */
function exportState(storage: Storage): EmulatorState {
  const all = <T>(name: string): T[] => [...storage.collection<T>(name).values()];
  const plan = storage.collection<Plan>('account').get('plan');
  const bytes = storage.collection<Uint8Array>('file-bytes');
  return structuredClone({
    seed: storage.collection<SeedRecord>('origin').get('seed')?.seed ?? '',
    sequences: all<SavedSequence>('sequences'),
    ...(plan === undefined ? {} : { plan }),
    apiKeys: all<ApiKeyRecord>('api-keys'),
    sessions: all<SessionRecord>('sessions'),
    workspaces: all<Workspace>('workspaces'),
    conversations: all<ConversationState>('conversations').map(({ pins, summary, ...state }) => ({
      ...state,
      messages: all<MessageRecord>(`messages/${state.id}`),
      pinnedMemory: pins,
      rollingSummary: renderSummary(summary, state),
      summaryItems: summary,
      summaryVersions: all<SummaryVersion>(`summaries/${state.id}`),
      receipts: all<CompactionReceipt>(`receipts/${state.id}`),
      sdkFields: all<SdkFields>(`sdk-fields/${state.id}`),
      sdkState: storage.collection<SdkState>('sdk-states').get(state.id),
    })),
    memory: all<OwnedMemoryItem>('memory').map(({ ownerId, item }) => ({ ...item, ownerId })),
    models: all<EmulatorModel>('models'),
    presets: all<Preset>('presets'),
    files: all<StoredFile>('files').map(({ record, contentType }) => ({
      ...record,
      contentType,
      content: Buffer.from(bytes.get(record.id) ?? []).toString('base64'),
    })),
    integrations: all<Integration>('integrations'),
    integrationExecutions: all<IntegrationExecution>('integration-executions'),
    usage: all<UsageEntry>('usage'),
    idempotency: all<IdempotencyEntry>('idempotency'),
  });
}

/** Replaces the contents of the storage, in one transaction. */
export function importState(storage: Storage, given: EmulatorState): void {
  const state = structuredClone(given);
  storage.transaction(() => {
    storage.clear();
    const put = <T>(name: string, records: readonly T[], idOf: (record: T) => string): void => {
      const collection = storage.collection<T>(name);
      for (const record of records) collection.set(checkedId('record', idOf(record)), record);
    };
    put<SeedRecord>('origin', [{ seed: state.seed, isKnown: true }], () => 'seed');
    put('sequences', state.sequences, ({ label }) => label);
    put('account', state.plan === undefined ? [] : [state.plan], () => 'plan');
    put('api-keys', state.apiKeys, ({ hash }) => hash);
    put('sessions', state.sessions, ({ hash }) => hash);
    put('workspaces', state.workspaces, ({ id }) => id);
    for (const conversation of state.conversations) {
      checkedId('conversation', conversation.id);
      const {
        messages,
        pinnedMemory,
        rollingSummary: _,
        summaryItems,
        summaryVersions,
        receipts,
        sdkFields,
        sdkState,
        ...rest
      } = conversation;
      const kept: ConversationState = { ...rest, pins: pinnedMemory, summary: summaryItems };
      put('conversations', [kept], ({ id }) => id);
      put(`messages/${kept.id}`, messages, ({ id }) => id);
      put(`summaries/${kept.id}`, summaryVersions, ({ summary }) => String(summary.version));
      put(`receipts/${kept.id}`, receipts ?? [], ({ number }) => String(number));
      put(`sdk-fields/${kept.id}`, sdkFields ?? [], ({ id }) => id);
      put('sdk-states', sdkState === undefined ? [] : [sdkState], ({ id }) => id);
    }
    put(
      'memory',
      state.memory.map(({ ownerId, ...item }): OwnedMemoryItem => ({ ownerId, item })),
      ({ item }) => item.id,
    );
    put('models', state.models ?? [], ({ id }) => id);
    put('presets', state.presets, ({ id }) => id);
    for (const { content, contentType, ...record } of state.files) {
      put('file-bytes', [new Uint8Array(Buffer.from(content, 'base64'))], () => record.id);
      put<StoredFile>('files', [{ record, contentType }], () => record.id);
    }
    put('integrations', state.integrations ?? [], ({ id }) => id);
    put('integration-executions', state.integrationExecutions, ({ id }) => id);
    put('usage', state.usage, usageId);
    put('idempotency', state.idempotency, ({ key }) => key);
  });
}
