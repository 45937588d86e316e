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
  text,
  usageResponse,
} from '../api/schemas.js';
import { described, named } from '../base/endpoint.js';
import type { ActiveReply, ReplyContent, ReplyMatch } from '../completions/scripted-replies.js';
import { COMPACTION_LEVELS } from '../context/compaction/compact.js';
import { PLAN_NAMES } from '../store/account.js';
import { API_KEY_KINDS } from '../store/api-keys.js';
import { MESSAGE_ROLES, PIN_CATEGORIES, SUMMARIZERS } from '../store/conversation-records.js';
import { MEMORY_TYPES } from '../store/memory.js';

const rate = z.number().check(z.gte(0));
const time = described('ISO 8601', z.string());

// Request bodies of the control plane, and the contents of a seed file.

/** A list of messages to store. */
export const messageListSchema = z.array(
  z.object({
    id: z.optional(text),
    role: z.enum(MESSAGE_ROLES),
    content: z.string(),
    createdAt: z.optional(z.string()),
  }),
);
/** A list of messages, wrapped in an object. */
export const messagesSchema = z.object({ messages: messageListSchema });
/** A conversation to create. */
export const conversationSchema = z.object({
  id: z.optional(text),
  workspaceId: z.optional(text),
  ownerId: z.optional(text),
  stylePreferences: z.optional(z.record(z.string(), z.unknown())),
  messages: z.optional(messageListSchema),
});
/** A workspace to create. */
export const workspaceSchema = z.object({
  id: z.optional(text),
  name: z.optional(z.string()),
  members: z.optional(z.array(text)),
});
/** A memory item to create, for the first user or for a workspace. */
export const memorySchema = z.object({
  type: z.enum(MEMORY_TYPES),
  key: text,
  content: text,
  workspaceId: z.optional(text),
});
/** A model. */
export const modelSchema = named('Model', z.object({ id: text, contextWindow: z.int().check(z.gte(1)) }));
/** A preset to create. */
export const presetSchema = z.object({
  id: z.optional(text),
  name: text,
  template: text,
  category: z.optional(text),
  description: z.optional(z.string()),
});
/** An integration to create. */
export const integrationSchema = z.object({
  id: text,
  name: z.optional(text),
  actions: z.array(
    z.object({
      name: text,
      description: z.optional(z.string()),
      fields: z.optional(
        z.array(
          z.object({
            name: text,
            type: z.optional(z.enum(['string', 'number', 'boolean'])),
            required: z.optional(z.boolean()),
          }),
        ),
      ),
    }),
  ),
});
/** A scripted reply. */
export const replySchema = named(
  'Reply',
  z.object({
    match: z.union([
      described('The last user message contains this text.', text),
      described(
        'The last user message matches this regular expression.',
        z
          .object({ pattern: text, flags: z.optional(z.string()) })
          .check(z.refine(isExpression, 'not a valid regular expression')),
      ),
    ]),
    reply: z.union([
      z.string(),
      z.object({
        content: z.optional(z.string()),
        json: z.optional(described('Sent as JSON in place of `content`.', z.unknown())),
        tool_calls: z.optional(
          z.array(
            z.object({
              id: z.optional(text),
              function: z.object({
                name: text,
                arguments: z.optional(described('JSON, or a value to send as JSON.', z.unknown())),
              }),
            }),
          ),
        ),
        finish_reason: z.optional(text),
      }),
    ]),
  }),
);

/** Converts a scripted reply to the arguments of `chat.on`. */
export function replyFrom({ match, reply }: z.infer<typeof replySchema>): { match: ReplyMatch; reply: ReplyContent } {
  return { match: typeof match === 'string' ? match : new RegExp(match.pattern, match.flags), reply };
}

/** An active reply in JSON. A function becomes a placeholder. */
export function replyInJson({ id, match, reply }: ActiveReply): z.infer<typeof activeReply> {
  const shown = match instanceof RegExp ? { pattern: match.source, flags: match.flags } : match;
  return {
    id,
    match: typeof shown === 'function' ? '(a function)' : shown,
    reply: typeof reply === 'function' ? '(a function)' : reply,
  };
}

function isTime(given: string): boolean {
  return !Number.isNaN(Date.parse(given));
}

function isExpression({ pattern, flags }: { pattern: string; flags?: string | undefined }): boolean {
  try {
    new RegExp(pattern, flags);
    return true;
  } catch {
    return false;
  }
}

/** A plan. */
export const planSchema = named(
  'Plan',
  z.object({
    id: text,
    gatewayAccess: z.boolean(),
    pricePerMonth: rate,
    includedTokens: rate,
    overagePricePerMillion: rate,
    limits: z.object({ gateway: rate, context: rate, compact: rate }),
  }),
);
export const accountBody = z.object({ plan: z.union([z.enum(PLAN_NAMES), planSchema]) });
export const keyBody = z.object({
  kind: z.enum(API_KEY_KINDS),
  name: z.optional(text),
  expiresAt: z.optional(z.string()),
});
export const sessionBody = z.object({ userId: z.optional(text) });
export const compactBody = z.object({ level: z.optional(z.enum(COMPACTION_LEVELS)) });
export const clockBody = z
  .object({
    advance: z.optional(described('Milliseconds.', rate)),
    to: z.optional(
      described(
        'ISO 8601. A time that has passed changes nothing.',
        z.string().check(z.refine(isTime, 'not a time such as 2026-01-15T10:00:00Z')),
      ),
    ),
  })
  .check(
    z.refine(({ advance, to }) => (advance === undefined) !== (to === undefined), {
      path: ['advance'],
      error: 'give either advance or to',
    }),
  );
/** What to change in a request that is sent once more. */
export const resendBody = z.object({
  method: z.optional(text),
  path: z.optional(text),
  headers: z.optional(
    described('All headers. A value that the log hides stays what it was.', z.record(z.string(), z.string())),
  ),
  body: z.optional(z.string()),
});
export const overviewQuery = z.object({
  search: z.optional(described('Text in the id or the first message of a conversation.', z.string())),
});
export const pinBody = z.object({ category: z.optional(z.enum(PIN_CATEGORIES)) });
export const messageChange = z.object({ excluded: z.boolean() });
export const memoryChange = z.object({ content: z.optional(text), isActive: z.optional(z.boolean()) });
export const requestsQuery = z.object({
  after: z.optional(z.string()),
  limit: z.optional(z.string().check(z.regex(/^[1-9]\d*$/))),
});

// Responses of the control plane.
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
    z.object({ ...message, tokens: count, standing: z.enum(['recent', 'summarized', 'pinned', 'excluded']) }),
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
export const activeReply = z.object({ id: z.string(), ...replySchema.shape });
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
