import type { Changes } from '../../base/changes.js';
import type { Clock } from '../../base/clock.js';
import type { RateLimiter } from '../../http/rate-limit.js';
import type { Plan } from '../../store/account.js';
import type { ConversationState } from '../../store/conversation-records.js';
import type { StoredFile } from '../../store/files.js';
import type { OwnedMemoryItem } from '../../store/memory.js';
import { checkedId, type Storage } from '../../store/storage.js';
import { dropCaches, type SeedRecord, type Stores } from '../../store/stores.js';
import { renderSummary } from '../../store/summary.js';
import { usageId } from '../../store/usage.js';
import type { EmulatorState } from './state-schema.js';

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
    sequences: all('sequences'),
    ...(plan === undefined ? {} : { plan }),
    apiKeys: all('api-keys'),
    sessions: all('sessions'),
    workspaces: all('workspaces'),
    conversations: all<ConversationState>('conversations').map(({ pins, summary, ...state }) => ({
      ...state,
      messages: all(`messages/${state.id}`),
      pinnedMemory: pins,
      rollingSummary: renderSummary(summary, state),
      summaryItems: summary,
      summaryVersions: all(`summaries/${state.id}`),
      receipts: all(`receipts/${state.id}`),
      sdkFields: all(`sdk-fields/${state.id}`),
      sdkState: storage.collection<EmulatorState['conversations'][number]['sdkState']>('sdk-states').get(state.id),
    })),
    memory: all<OwnedMemoryItem>('memory').map(({ ownerId, item }) => ({ ...item, ownerId })),
    models: all('models'),
    presets: all('presets'),
    files: all<StoredFile>('files').map(({ record, contentType }) => ({
      ...record,
      contentType,
      content: Buffer.from(bytes.get(record.id) ?? []).toString('base64'),
    })),
    integrations: all('integrations'),
    integrationExecutions: all('integration-executions'),
    usage: all('usage'),
    idempotency: all('idempotency'),
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
