import * as z from 'zod/mini';
import { count, fileRecord, memoryItem, pinnedItem, presetRecord } from '../../api/schemas.js';
import { checked } from '../../base/checked.js';
import { SECTIONS } from '../../store/summary.js';
import { modelSchema, planSchema } from '../bodies.js';
import { executionList, integrationList, keyInfo, messageRecord, receiptRecord, summaryVersion } from '../responses.js';
import type { EmulatorState } from './state.js';

/** Checks a state from JSON. Throws a 400 that names the first invalid field. */
export function checkedState(value: unknown): EmulatorState {
  checked(stateSchema, value);
  // The schema covers every field that the stores rely on. All other fields are plain data, and kept as they are.
  return value as EmulatorState;
}

const id = z.string().check(z.minLength(1));
const words = z.tuple([z.int(), z.int(), z.int(), z.int()]);
const day = z.string().check(z.regex(/^\d{4}-\d\d-\d\d$/, 'not a date as YYYY-MM-DD'));
const time = z.string().check(z.refine((text) => !Number.isNaN(Date.parse(text)), 'not a time'));
const tokens = z.number().check(z.gte(0));

const conversation = z.object({
  id,
  ownerId: id,
  createdAt: time,
  version: count,
  folded: count,
  leftOut: z.array(id),
  lastUpdated: time,
  lastCompactionAt: z.nullable(time),
  stylePreferences: z.record(z.string(), z.unknown()),
  messages: z.array(z.object({ ...messageRecord.shape, id })),
  pinnedMemory: z.array(pinnedItem),
  summaryItems: z.array(z.object({ section: z.enum(SECTIONS), text: z.string(), messageId: id, tokens })),
  summaryVersions: z.array(summaryVersion),
  receipts: z.optional(z.array(receiptRecord)),
  cuts: z.optional(count),
  sdkFields: z.optional(z.array(z.object({ id, fields: z.record(z.string(), z.unknown()) }))),
  sdkState: z.optional(z.object({ id, state: z.looseObject({}), revision: count })),
});
const answer = z.object({
  status: z.int().check(z.gte(200), z.lte(599)),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.string(),
});

const stateSchema = z.object({
  seed: z.string(),
  clock: z.optional(z.object({ time, advanced: z.optional(z.number()) })),
  sequences: z.array(z.object({ label: id, words })),
  plan: z.optional(planSchema),
  apiKeys: z.array(z.object({ ...keyInfo, id, hash: id, createdAt: time, expiresAt: z.nullable(time) })),
  sessions: z.array(z.object({ hash: id, userId: id })),
  workspaces: z.array(z.object({ id, name: z.string(), members: z.array(id) })),
  conversations: z.array(conversation),
  memory: z.array(z.object({ ...memoryItem.shape, id, ownerId: id })),
  models: z.optional(z.array(modelSchema)),
  presets: z.array(z.object({ ...presetRecord.shape, id })),
  files: z.array(z.object({ ...fileRecord.shape, id, contentType: z.string(), content: z.string() })),
  integrations: z.optional(integrationList),
  integrationExecutions: executionList,
  usage: z.array(
    z.object({
      day,
      model: id,
      tokens,
      prompt: z.optional(tokens),
      requests: z.optional(count),
      key: z.optional(z.object({ id, name: z.string() })),
      conversation: z.optional(z.string()),
    }),
  ),
  idempotency: z.array(z.object({ key: id, fingerprint: id, answer })),
});

/** A state without what gives keys away. */
export const stateWithoutKeys = z.object({
  ...z.omit(stateSchema, { seed: true, sequences: true, apiKeys: true, sessions: true, idempotency: true }).shape,
  firstUser: id,
});
