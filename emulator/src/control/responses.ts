// Responses of the control plane.

import * as z from 'zod/mini';
import {
  chatMessage,
  contextMetadata,
  count,
  fieldValue,
  fileRecord,
  integrationRecord,
  memoryItem,
  pinnedItem,
  presetRecord,
  rollingSummary,
  usageResponse,
} from '../api/schemas.js';
import { described, named, namedObject } from '../base/endpoint.js';
import { COMPACTION_LEVELS } from '../context/compaction/compact.js';
import { respondSchema } from '../faults/rule.js';
import { API_KEY_KINDS } from '../store/api-keys.js';
import { MESSAGE_ROLES, STATEMENT_SECTIONS, SUMMARIZERS } from '../store/conversation-records.js';
import { PROMPT_PARTS } from '../text/prompt-tokens.js';
import { COSTS_BY, modelSchema, planSchema } from './bodies.js';

const time = described('ISO 8601', z.string());

export const ok = z.object({ ok: z.literal(true) });
export const controlError = namedObject('ControlError', { error: z.string() });
export const idResponse = z.object({ id: z.string() });
export const timeResponse = z.object({ time });
export const limitsResponse = z.array(
  z.object({ name: z.string(), limit: z.number(), remaining: z.number(), resetAt: time }),
);
export const indexResponse = z.object({
  name: z.string(),
  version: z.string(),
  time,
  models: z.array(modelSchema),
  routes: z.array(z.string()),
});
export const accountResponse = z.object({ plan: planSchema, plans: z.array(planSchema) });
export const planResponse = z.object({ plan: planSchema });
export const keyInfo = {
  id: z.string(),
  kind: z.enum(API_KEY_KINDS),
  name: z.string(),
  prefix: z.string(),
  createdAt: time,
  expiresAt: z.nullable(time),
};
export const keysResponse = z.array(namedObject('ApiKey', keyInfo));
export const newKeyResponse = z.object({ ...keyInfo, key: described('The full key. Not shown again.', z.string()) });
export const sessionResponse = z.object({ token: z.string(), userId: z.string() });
export const workspaceRecord = namedObject('Workspace', {
  id: z.string(),
  name: z.string(),
  members: z.array(z.string()),
});
const message = { id: z.string(), ...chatMessage.shape, createdAt: time, excluded: z.boolean() };
export const messageRecord = namedObject('Message', message);
export const conversationRecord = namedObject('Conversation', {
  id: z.string(),
  ownerId: z.string(),
  workspaceId: z.optional(z.string()),
  createdAt: time,
  messages: z.array(messageRecord),
});
const statement = z.object({
  section: z.enum(STATEMENT_SECTIONS),
  text: z.string(),
  term: z.optional(z.string()),
  messageId: z.optional(z.string()),
});
export const receiptRecord = namedObject('CompactionReceipt', {
  number: described('Counts the compactions of the conversation.', count),
  at: time,
  level: z.enum(COMPACTION_LEVELS),
  summarizer: z.enum(SUMMARIZERS),
  version: described('The version of the summary after it.', count),
  requestId: z.optional(described('The request that asked for it.', z.string())),
  previousTokenCount: count,
  newTokenCount: count,
  tokensRemoved: z.int(),
  summaryUpdated: z.boolean(),
  recognised: described('Statements that were recognised in the messages.', count),
  messages: described(
    'Live messages, and those that the context represents nowhere.',
    z.object({ live: count, gone: count }),
  ),
  kept: z.array(statement),
  lost: described('Decisions, requirements and definitions.', z.array(statement)),
});
export const summaryVersion = z.object({
  summary: rollingSummary,
  cause: z.enum([...COMPACTION_LEVELS, 'exclude', 'cut']),
  summarizer: z.enum(SUMMARIZERS),
  totalTokens: count,
  previousTokens: count,
  compressedTokens: count,
});
export const inspectedConversation = z.object({
  id: z.string(),
  rollingSummary,
  pinnedMemory: z.array(pinnedItem),
  metadata: contextMetadata,
  messages: z.array(
    z.object({ ...message, tokens: count, status: z.enum(['recent', 'summarized', 'pinned', 'excluded']) }),
  ),
  versions: z.array(summaryVersion),
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
  lost: described('Statements that the context does not contain.', z.array(statement)),
  receipt: z.optional(receiptRecord),
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
export const snapshotInfo = namedObject('Snapshot', { name: z.string(), time, conversations: count });
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
      'Given if it is a further attempt of a call: the id of the first request, its number, and what joins them.',
      z.object({ call: z.string(), number: count, by: z.enum(['call', 'idempotency-key', 'traceparent']) }),
    ),
  ),
  similar: z.optional(
    described(
      'Given if it looks like a repetition of a failed request, and no header says whether it is.',
      z.object({ first: z.string(), number: count }),
    ),
  ),
  code: z.optional(described('The code of its error, or the type of an error without one.', z.string())),
  model: z.optional(described('The model of a completion.', z.string())),
  conversation: z.optional(described('The conversation that it is about.', z.string())),
  asked: z.optional(described('The beginning of what a completion was asked.', z.string())),
  replied: z.optional(described('The beginning of its reply, or the message of an error.', z.string())),
  stoppedBy: z.optional(
    described('Who ended the response before its end.', z.enum(['client', 'fault', 'upstream', 'emulator'])),
  ),
  file: z.optional(described('The id of the file that it uploaded.', z.string())),
  isImported: z.optional(described('It came with a case of another emulator.', z.boolean())),
  isForeign: z.optional(described('A page of another machine sent it, without a valid key.', z.boolean())),
};
export const requestRecord = namedObject('Request', {
  ...requestSummary,
  headers,
  prompt: z.optional(
    z.object({
      tokens: count,
      contextWindow: count,
      messages: described(
        'The 200 largest messages, in the order of the prompt.',
        z.array(
          z.object({
            index: count,
            role: z.string(),
            tokens: count,
            part: z.optional(described('If a conversation of the SDK wrote the prompt.', z.enum(PROMPT_PARTS))),
            text: described('Its first characters.', z.string()),
            lines: z.optional(described('Entries of a context, or recalled messages.', count)),
          }),
        ),
      ),
      others: z.object({ messages: count, tokens: count }),
    }),
  ),
  faultResponse: z.optional(respondSchema),
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
});
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
const listedConversation = {
  id: z.string(),
  title: z.string(),
  messages: count,
  version: count,
  total: count,
  compressed: count,
  workspaceId: z.optional(z.string()),
};
const excerpt = {
  text: described('The surroundings of what was found.', z.string()),
  at: described('Its place in them.', count),
  length: count,
};
export const foundRequests = z.object({
  total: count,
  requests: z.array(
    z.object({
      ...requestSummary,
      match: z.optional(z.object({ in: z.enum(['path', 'request', 'response']), ...excerpt })),
    }),
  ),
  next: z.optional(described('The `before` of the next page.', z.string())),
});
export const foundConversations = z.object({
  total: count,
  all: count,
  conversations: z.array(
    z.object({
      ...listedConversation,
      match: z.optional(z.object({ messageId: z.string(), role: z.enum(MESSAGE_ROLES), ...excerpt })),
    }),
  ),
  next: z.optional(described('The `offset` of the next page.', count)),
});
const sum = { requests: count, prompt: count, completion: count, tokens: count, cost: described('USD', z.number()) };
export const costResponse = z.object({
  by: z.enum(COSTS_BY),
  period: z.object({ start: z.string(), end: z.string() }),
  pricePerMillion: z.number(),
  includedTokens: z.number(),
  total: z.object(sum),
  overageCost: described('USD, as the account is billed.', z.number()),
  groups: z.array(
    z.object({
      id: described('Empty if it is not known.', z.string()),
      name: z.string(),
      ...sum,
      days: z.array(z.object({ day: z.string(), tokens: count, cost: z.number() })),
    }),
  ),
});
export const openedCase = z.object({ requests: count, faults: count, replies: count, state: z.boolean() });
export const harForm = z.object({ log: z.looseObject({ version: z.literal('1.2'), entries: z.array(z.unknown()) }) });
/** A followed response: its events, then the request when it has ended. */
export const requestEvent = named(
  'RequestEvent',
  described(
    'Events: `sent` with an event of the response, `end` with the request when it has ended.',
    z.union([z.object({ index: count, at: z.number(), text: z.string() }), z.object(requestSummary)]),
  ),
);
export const storedFile = namedObject('StoredFile', {
  ...fileRecord.shape,
  contentType: described('As the upload declared it.', z.string()),
  requestId: z.optional(described('The request that uploaded it, while the log has it.', z.string())),
});
export const overviewResponse = z.object({
  time,
  models: z.array(modelSchema),
  plan: z.object({ id: z.string(), gatewayAccess: z.boolean() }),
  usage: usageResponse,
  usageByDay: z.array(z.object({ day: z.string(), model: z.string(), tokens: count })),
  buckets: z.array(z.object({ name: z.string(), limit: z.number(), remaining: z.number(), resetAt: z.number() })),
  conversationCount: count,
  conversations: z.array(z.object(listedConversation)),
  memory: z.array(memoryItem),
});
