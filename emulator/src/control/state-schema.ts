import * as z from 'zod/mini';
import { integrationRecord } from '../api/schemas.js';
import { checked } from '../base/checked.js';
import { API_KEY_KINDS } from '../store/api-keys.js';
import type { EmulatorState } from './state.js';

/** The state in a parsed JSON body; a 400 that names the first field that is not as it must be. */
export function checkedState(value: unknown): EmulatorState {
  checked(stateSchema, value);
  // The schema holds every field the stores rely on; the rest of each record is plain data and kept as it came.
  return value as EmulatorState;
}

const id = z.string().check(z.minLength(1));
const words = z.tuple([z.int(), z.int(), z.int(), z.int()]);
const rate = z.number().check(z.gte(0));
const kind = z.enum(API_KEY_KINDS);

const stateSchema = z.object({
  seed: z.string(),
  sequences: z.array(z.object({ label: id, words })),
  plan: z.optional(
    z.object({
      id,
      gatewayAccess: z.boolean(),
      includedTokens: rate,
      overagePricePerMillion: rate,
      limits: z.object({ gateway: rate, context: rate, compact: rate }),
    }),
  ),
  apiKeys: z.array(z.object({ id, kind, prefix: z.string(), hash: id, expiresAt: z.nullable(z.string()) })),
  sessions: z.array(z.object({ hash: id, userId: id })),
  workspaces: z.array(z.object({ id, members: z.array(id) })),
  conversations: z.array(
    z.object({
      id,
      ownerId: id,
      version: z.int(),
      folded: z.int(),
      leftOut: z.array(id),
      summaryBudget: z.number(),
      lastUpdated: z.string(),
      lastCompactionAt: z.nullable(z.string()),
      stylePreferences: z.record(z.string(), z.unknown()),
      messages: z.array(z.object({ id, role: id, content: z.string(), createdAt: z.string(), excluded: z.boolean() })),
      pinnedMemory: z.array(z.object({ id, messageId: id, content: z.string() })),
      summaryItems: z.array(z.object({ section: id, text: z.string(), messageId: id, tokens: z.number() })),
      summaryVersions: z.array(z.object({ summary: z.object({ version: z.int() }) })),
    }),
  ),
  memory: z.array(z.object({ id, ownerId: id, type: id, key: z.string(), content: z.string(), isActive: z.boolean() })),
  models: z.optional(z.array(z.object({ id, contextWindow: z.int() }))),
  presets: z.array(z.object({ id, template: z.string() })),
  files: z.array(z.object({ id, bytes: z.int(), contentType: z.string(), content: z.string() })),
  integrations: z.optional(z.array(integrationRecord)),
  integrationExecutions: z.array(z.object({ id, action: z.string() })),
  usage: z.array(z.object({ day: id, model: id, tokens: z.number() })),
  idempotency: z.array(z.object({ key: id, fingerprint: id, answer: z.object({ status: z.int(), body: z.string() }) })),
});
