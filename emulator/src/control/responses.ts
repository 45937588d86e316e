// Responses of the control plane.

import * as z from 'zod/mini';
import {
  chatMessage,
  contextMetadata,
  count,
  fieldValue,
  integrationRecord,
  memoryItem,
  pinnedItem,
  presetRecord,
  rollingSummary,
  usageResponse,
} from '../api/schemas.js';
import { described, named } from '../base/endpoint.js';
import { COMPACTION_LEVELS } from '../context/compaction/compact.js';
import { API_KEY_KINDS } from '../store/api-keys.js';
import { SUMMARIZERS } from '../store/conversation-records.js';
import { modelSchema, planSchema } from './bodies.js';

const time = described('ISO 8601', z.string());

export const ok = z.object({ ok: z.literal(true) });
export const controlError = named('ControlError', z.object({ error: z.string() }));
export const idResponse = z.object({ id: z.string() });
export const timeResponse = z.object({ time });
export const indexResponse = z.object({
  name: z.string(),
  version: z.string(),
  time,
  models: z.array(modelSchema),
  routes: z.array(z.string()),
});
export const accountResponse = z.object({ plan: planSchema, plans: z.array(planSchema) });
export const planResponse = z.object({ plan: planSchema });
const keyInfo = {
  id: z.string(),
  kind: z.enum(API_KEY_KINDS),
  name: z.string(),
  prefix: z.string(),
  createdAt: time,
  expiresAt: z.nullable(time),
};
export const keysResponse = z.array(named('ApiKey', z.object(keyInfo)));
export const newKeyResponse = z.object({ ...keyInfo, key: described('The full key. Not shown again.', z.string()) });
export const sessionResponse = z.object({ token: z.string(), userId: z.string() });
export const workspaceRecord = named(
  'Workspace',
  z.object({ id: z.string(), name: z.string(), members: z.array(z.string()) }),
);
const message = { id: z.string(), ...chatMessage.shape, createdAt: time, excluded: z.boolean() };
export const messageRecord = named('Message', z.object(message));
export const conversationRecord = named(
  'Conversation',
  z.object({
    id: z.string(),
    ownerId: z.string(),
    workspaceId: z.optional(z.string()),
    createdAt: time,
    messages: z.array(messageRecord),
  }),
);
export const inspectedConversation = z.object({
  id: z.string(),
  rollingSummary,
  pinnedMemory: z.array(pinnedItem),
  metadata: contextMetadata,
  messages: z.array(
    z.object({ ...message, tokens: count, status: z.enum(['recent', 'summarized', 'pinned', 'excluded']) }),
  ),
  versions: z.array(
    z.object({
      summary: rollingSummary,
      cause: z.enum([...COMPACTION_LEVELS, 'exclude']),
      summarizer: z.enum(SUMMARIZERS),
      totalTokens: count,
      previousTokens: count,
      compressedTokens: count,
    }),
  ),
  statements: described(
    'Statements of live messages that no later message revokes.',
    z.array(
      z.object({
        section: z.string(),
        text: z.string(),
        messageId: z.string(),
        tokens: count,
        id: z.optional(z.string()),
        reason: z.optional(z.string()),
        timestamp: z.optional(time),
        term: z.optional(z.string()),
      }),
    ),
  ),
  sources: described(
    'The messages that the entries of the summary come from.',
    z.array(z.object({ text: z.string(), messageId: z.string() })),
  ),
});
export const presetList = z.array(presetRecord);
export const integrationList = z.array(integrationRecord);
export const executionList = z.array(
  z.object({
    id: z.string(),
    integration: z.string(),
    action: z.string(),
    fields: z.record(z.string(), fieldValue),
    executedAt: time,
  }),
);
export const stateForm = described(
  'A snapshot. PUT restores what GET returned.',
  z.looseObject({ seed: z.string(), conversations: z.array(z.unknown()) }),
);
/** Where completions come from. */
export const answersResponse = z.object({
  from: described('Unless a scripted reply matches.', z.enum(['built-in', 'upstream', 'recording'])),
  upstream: z.optional(described('Its URL.', z.string())),
  directory: z.optional(described('The directory of recordings.', z.string())),
  recordings: z.array(
    z.object({ file: z.string(), request: z.record(z.string(), z.unknown()), answers: z.array(z.string()) }),
  ),
});
export const environmentResponse = z.record(z.string(), z.string());
export const snapshotInfo = named('Snapshot', z.object({ name: z.string(), time, conversations: count }));
const headers = described('Without keys.', z.record(z.string(), z.string()));
const requestSummary = {
  requestId: z.string(),
  method: z.string(),
  path: z.string(),
  caller: z.optional(described('The name of its API key, or the user of its session.', z.string())),
  receivedAt: time,
  duration: z.optional(described('Milliseconds.', z.number())),
  status: z.optional(z.int()),
  outcome: z.enum(['pending', 'answered', 'aborted', 'reset', 'cut']),
  events: z.optional(count),
  tokens: z.optional(z.object({ prompt: count, completion: count })),
  fault: z.optional(z.string()),
  answeredBy: z.optional(described('For a completion, what its answer came from.', z.string())),
  limit: z.optional(
    described(
      'The limit that refused it.',
      z.object({
        name: z.string(),
        unit: z.enum(['requests', 'tokens']),
        allowed: count,
        asked: count,
        windowMs: z.number(),
        endsAt: time,
      }),
    ),
  ),
  attempt: z.optional(
    described(
      'Given if it repeats a failed request: the id of the first one, the number of this attempt, and what joins them.',
      z.object({ call: z.string(), number: count, by: z.enum(['idempotency-key', 'traceparent', 'same request']) }),
    ),
  ),
  isForeign: z.optional(described('A page of another machine sent it, without a valid key.', z.boolean())),
};
export const requestRecord = named(
  'Request',
  z.object({
    ...requestSummary,
    headers,
    body: z.optional(described('At most 64 KB.', z.string())),
    isBodyCut: described('Whether the body was longer and was cut, or could not be read.', z.boolean()),
    isBodyExact: described('Whether it is what was sent: not cut, no key hidden, and text.', z.boolean()),
    response: z.optional(
      z.object({
        headers,
        body: described('At most 64 KB.', z.string()),
        isBodyCut: z.boolean(),
        events: z.optional(
          z.array(z.object({ at: described('Milliseconds since the request arrived.', z.number()), text: z.string() })),
        ),
      }),
    ),
    error: z.optional(z.string()),
  }),
);
/** An event of `GET /_emulator/events`. */
export const pushedEvent = named(
  'PushedEvent',
  described(
    'Events: `requests` with requests that started or changed, `changes` with changes of the stored data.',
    z.union([
      z.object({ all: z.boolean(), requests: z.array(z.object(requestSummary)) }),
      z.object({ topics: z.array(z.string()), time }),
    ]),
  ),
);
export const overviewResponse = z.object({
  time,
  models: z.array(modelSchema),
  plan: z.object({ id: z.string(), gatewayAccess: z.boolean() }),
  usage: usageResponse,
  usageByDay: z.array(z.object({ day: z.string(), model: z.string(), tokens: count })),
  buckets: z.array(z.object({ name: z.string(), limit: z.number(), remaining: z.number(), resetAt: z.number() })),
  conversationCount: count,
  conversations: z.array(
    z.object({
      id: z.string(),
      title: z.string(),
      messages: count,
      version: count,
      total: count,
      compressed: count,
      workspaceId: z.optional(z.string()),
    }),
  ),
  memory: z.array(memoryItem),
});
