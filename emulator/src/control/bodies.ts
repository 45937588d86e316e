// Request bodies of the control plane, and the contents of a seed file.

import * as z from 'zod/mini';
import { text } from '../api/schemas.js';
import { described, named } from '../base/endpoint.js';
import type { ActiveReply, ReplyContent, ReplyMatch } from '../completions/scripted-replies.js';
import { COMPACTION_LEVELS } from '../context/compaction/compact.js';
import { PLAN_NAMES } from '../store/account.js';
import { API_KEY_KINDS } from '../store/api-keys.js';
import { MESSAGE_ROLES, PIN_CATEGORIES } from '../store/conversation-records.js';
import { MEMORY_TYPES } from '../store/memory.js';

const rate = z.number().check(z.gte(0));

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

export const activeReply = z.object({ id: z.string(), ...replySchema.shape });

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
