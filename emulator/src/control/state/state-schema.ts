import * as z from 'zod/mini';
import { checked } from '../../base/checked.js';
import { clockPosition } from '../../base/clock.js';
import { id, label, marked, unchecked } from '../../base/fields.js';
import { modelSchema } from '../../base/models.js';
import { planSchema } from '../../store/account.js';
import { keyRecord } from '../../store/api-keys.js';
import {
  conversationState,
  messageRecord,
  pinnedItem,
  receiptRecord,
  summaryVersion,
} from '../../store/conversation-records.js';
import { fileRecord } from '../../store/files.js';
import { idempotencyEntry } from '../../store/idempotency.js';
import { executionRecord, integrationRecord } from '../../store/integrations.js';
import { memoryItem } from '../../store/memory.js';
import { presetRecord } from '../../store/presets.js';
import { savedSequence } from '../../store/random.js';
import { sdkFields, sdkState } from '../../store/sdk-records.js';
import { sessionRecord } from '../../store/sessions.js';
import { rollingSummary, summaryItem } from '../../store/summary.js';
import { usageEntry } from '../../store/usage.js';
import { workspaceRecord } from '../../store/workspaces.js';

const conversationInState = z.object({
  ...z.omit(conversationState, { pins: true, summary: true }).shape,
  messages: z.array(messageRecord),
  pinnedMemory: z.array(pinnedItem),
  /** For reading only, as the Context API returns it. `restore` uses `summaryItems`. */
  rollingSummary: unchecked(rollingSummary),
  summaryItems: z.array(summaryItem),
  summaryVersions: z.array(summaryVersion),
  /** The receipts of the last compactions. */
  receipts: z.optional(z.array(receiptRecord)),
  /** What `emulatorStore` stores besides the messages. */
  sdkFields: z.optional(z.array(sdkFields)),
  sdkState: z.optional(sdkState),
});
/** A conversation with all its stored data. */
export type ConversationInState = z.infer<typeof conversationInState>;

export const stateSchema = z.object({
  /** The seed. The initial keys and the initial token are derived from it. */
  seed: z.string(),
  /** Where the clock stood. */
  clock: z.optional(clockPosition),
  /** The positions of the id sequences. */
  sequences: z.array(savedSequence),
  /** The plan, if it was changed; else the plan of the options applies. */
  plan: z.optional(planSchema),
  apiKeys: z.array(keyRecord),
  sessions: z.array(sessionRecord),
  workspaces: z.array(workspaceRecord),
  conversations: z.array(conversationInState),
  memory: z.array(z.object({ ...memoryItem.shape, ownerId: id })),
  /** The models you added, without the built-in ones. */
  models: z.optional(z.array(modelSchema)),
  presets: z.array(presetRecord),
  /** `content` is base64. */
  files: z.array(
    z.object({
      ...fileRecord.shape,
      contentType: marked('media', z.string()),
      content: marked('content', z.string()),
    }),
  ),
  /** The integrations you created, without the built-in ones. */
  integrations: z.optional(z.array(integrationRecord)),
  integrationExecutions: z.array(executionRecord),
  usage: z.array(usageEntry),
  idempotency: z.array(idempotencyEntry),
});
/** All data that an emulator has stored, as plain JSON. Contains keys and tokens only as hashes. */
export type EmulatorState = z.infer<typeof stateSchema>;

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
