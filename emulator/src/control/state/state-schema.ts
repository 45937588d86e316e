import * as z from 'zod/mini';
import { checked } from '../../base/checked.js';
import { type ClockPosition, clockPosition } from '../../base/clock.js';
import { exact, id, label, marked, unchecked } from '../../base/fields.js';
import { type EmulatorModel, modelSchema } from '../../base/models.js';
import { type Plan, planSchema } from '../../store/account.js';
import { type ApiKeyRecord, keyRecord } from '../../store/api-keys.js';
import {
  type CompactionReceipt,
  type ConversationState,
  conversationState,
  type MessageRecord,
  messageRecord,
  type PinnedMemoryItem,
  pinnedItem,
  receiptRecord,
  type SummaryVersion,
  summaryVersion,
} from '../../store/conversation-records.js';
import { type FileRecord, fileRecord } from '../../store/files.js';
import { type IdempotencyEntry, idempotencyEntry } from '../../store/idempotency.js';
import {
  executionRecord,
  type Integration,
  type IntegrationExecution,
  integrationRecord,
} from '../../store/integrations.js';
import { memoryItem, type UserMemoryItem } from '../../store/memory.js';
import { type Preset, presetRecord } from '../../store/presets.js';
import { type SavedSequence, savedSequence } from '../../store/random.js';
import { type SdkFields, type SdkState, sdkFields, sdkState } from '../../store/sdk-records.js';
import { type SessionRecord, sessionRecord } from '../../store/sessions.js';
import { type RollingSummary, rollingSummary, type SummaryItem, summaryItem } from '../../store/summary.js';
import { type UsageEntry, usageEntry } from '../../store/usage.js';
import { type Workspace, workspaceRecord } from '../../store/workspaces.js';

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

const conversationInState = exact<ConversationInState>()(
  z.object({
    ...z.omit(conversationState, { pins: true, summary: true }).shape,
    messages: z.array(messageRecord),
    pinnedMemory: z.array(pinnedItem),
    rollingSummary: unchecked(rollingSummary),
    summaryItems: z.array(summaryItem),
    summaryVersions: z.array(summaryVersion),
    receipts: z.optional(z.array(receiptRecord)),
    sdkFields: z.optional(z.array(sdkFields)),
    sdkState: z.optional(sdkState),
  }),
);

/** All data that an emulator has stored, as plain JSON. Contains keys and tokens only as hashes. */
export interface EmulatorState {
  /** The seed. The initial keys and the initial token are derived from it. */
  seed: string;
  /** Where the clock stood. */
  clock?: ClockPosition | undefined;
  /** The positions of the id sequences. */
  sequences: SavedSequence[];
  /** The plan, if it was changed; else the plan of the options applies. */
  plan?: Plan | undefined;
  apiKeys: ApiKeyRecord[];
  sessions: SessionRecord[];
  workspaces: Workspace[];
  conversations: ConversationInState[];
  memory: MemoryInState[];
  /** The models you added, without the built-in ones. */
  models?: EmulatorModel[] | undefined;
  presets: Preset[];
  files: FileInState[];
  /** The integrations you created, without the built-in ones. */
  integrations?: Integration[] | undefined;
  integrationExecutions: IntegrationExecution[];
  usage: UsageEntry[];
  idempotency: IdempotencyEntry[];
}

interface MemoryInState extends UserMemoryItem {
  ownerId: string;
}

interface FileInState extends FileRecord {
  contentType: string;
  /** Base64. */
  content: string;
}

export const stateSchema = exact<EmulatorState>()(
  z.object({
    seed: z.string(),
    clock: z.optional(clockPosition),
    sequences: z.array(savedSequence),
    plan: z.optional(planSchema),
    apiKeys: z.array(keyRecord),
    sessions: z.array(sessionRecord),
    workspaces: z.array(workspaceRecord),
    conversations: z.array(conversationInState),
    memory: z.array(z.object({ ...memoryItem.shape, ownerId: id })),
    models: z.optional(z.array(modelSchema)),
    presets: z.array(presetRecord),
    files: z.array(
      z.object({
        ...fileRecord.shape,
        contentType: marked('media', z.string()),
        content: marked('content', z.string()),
      }),
    ),
    integrations: z.optional(z.array(integrationRecord)),
    integrationExecutions: z.array(executionRecord),
    usage: z.array(usageEntry),
    idempotency: z.array(idempotencyEntry),
  }),
);

/** A state without what gives keys away; who opens one keeps the keys that they have. */
export const stateWithoutKeys = z.object({
  ...z.omit(stateSchema, { seed: true, sequences: true, apiKeys: true, sessions: true, idempotency: true }).shape,
  /** The user of the first session, in whose place that of the reader comes. */
  firstUser: label,
});

/** Checks a state from JSON. Throws a 400 that names the first invalid field. */
export function checkedState(value: unknown): EmulatorState {
  checked(stateSchema, value);
  // The schema covers every field that the stores rely on. All other fields are plain data, and kept as they are.
  return value as EmulatorState;
}
