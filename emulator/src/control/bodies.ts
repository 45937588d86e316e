// Request bodies of the control plane, and the contents of a seed file.

import * as z from 'zod/mini';
import { text } from '../api/schemas.js';
import { described, namedObject } from '../base/endpoint.js';
import {
  type ActiveReply,
  isLoop,
  LOOP_RULE,
  type ReplyContent,
  type ReplyMatch,
} from '../completions/scripted-replies.js';
import { COMPACTION_LEVELS } from '../context/compaction/compact.js';
import { PLAN_NAMES } from '../store/account.js';
import { API_KEY_KINDS } from '../store/api-keys.js';
import { MESSAGE_ROLES, PIN_CATEGORIES } from '../store/conversation-records.js';
import { MEMORY_TYPES } from '../store/memory.js';

const rate = z.number().check(z.gte(0));

/** A message to store. */
export const messageSchema = z.object({
  id: z.optional(text),
  role: z.enum(MESSAGE_ROLES),
  content: z.string(),
  createdAt: z.optional(z.string()),
});
/** A list of messages to store. */
export const messageListSchema = z.array(messageSchema);
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
export const modelSchema = namedObject('Model', { id: text, contextWindow: z.int().check(z.gte(1)) });
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
const replyContent = [
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
] as const;
/** A scripted reply. */
export const replySchema = namedObject('Reply', {
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
    ...replyContent,
    described(
      'The first answers a message of the user, the second the results of its tool calls, and so on.',
      z.array(z.union(replyContent)).check(z.refine((replies) => isLoop(replies), LOOP_RULE)),
    ),
  ]),
});

export const activeReply = z.object({ id: z.string(), ...replySchema.shape });

/** Converts a scripted reply to the arguments of `chat.on`. */
export function replyFrom({ match, reply }: z.infer<typeof replySchema>): {
  match: ReplyMatch;
  reply: ReplyContent | ReplyContent[];
} {
  // linear: an expression of the developer, in his own emulator
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

export function isExpression({ pattern, flags }: { pattern: string; flags?: string | undefined }): boolean {
  try {
    new RegExp(pattern, flags); // linear: an expression of the developer, in his own emulator
    return true;
  } catch {
    return false;
  }
}

/** A plan. */
export const planSchema = namedObject('Plan', {
  id: text,
  gatewayAccess: z.boolean(),
  pricePerMonth: rate,
  includedTokens: rate,
  overagePricePerMillion: rate,
  limits: z.object({ gateway: rate, context: rate, compact: rate }),
});
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
const number = (pattern: RegExp, error: string) => z.string().check(z.regex(pattern, error));
const pageSize = number(/^[1-9]\d{0,2}$|^1000$/, 'a whole number from 1 to 1000');
const timeText = z.string().check(z.refine((given) => given === '' || isTime(given), 'not a time'));
/** Which requests of the log. */
const filterShape = {
  q: z.optional(
    described('Words, each in the path, the headers, the bodies, or a fact such as 429, failed or a key.', z.string()),
  ),
  code: z.optional(z.string()),
  status: z.optional(
    z.string().check(z.regex(/^(?:[1-5]\d\d|[1-5]xx|ok|failed|)$/, 'a status such as 429, or 4xx, 5xx, ok, failed')),
  ),
  conversation: z.optional(z.string()),
  key: z.optional(described('The name of the API key, or the user of the session.', z.string())),
  model: z.optional(z.string()),
  from: z.optional(timeText),
  to: z.optional(timeText),
  fault: z.optional(described('Only those to which a fault was applied.', z.enum(['true', 'false']))),
};
/** What to find in the log. */
export const findRequestsQuery = z.object({
  ...filterShape,
  before: z.optional(described('Only those before this request.', z.string())),
  limit: z.optional(pageSize),
});
/** What to find in conversations. */
export const findConversationsQuery = z.object({
  q: z.optional(described('Words. The id or one message contains all of them.', z.string())),
  offset: z.optional(number(/^\d{1,9}$/, 'a whole number')),
  limit: z.optional(pageSize),
});
/** What the tokens of a period are summed up by. */
export const COSTS_BY = ['key', 'model', 'conversation', 'day'] as const;
export const costQuery = z.object({
  by: z.optional(z.enum(COSTS_BY)),
  from: z.optional(described('A day such as 2026-01-31.', z.string())),
  to: z.optional(z.string()),
});
const maskList = z
  .string()
  .check(z.regex(/^(?:(?:keys|prompts)(?:,(?:keys|prompts))*)?$/, 'keys, prompts, or both with a comma'));
const exportShape = {
  ...filterShape,
  requests: z.optional(
    described('Ids, separated by commas, or `none`. By default, all that the filter finds.', z.string()),
  ),
  mask: z.optional(maskList),
};
/** What to export. */
export const caseQuery = z.object({
  ...exportShape,
  state: z.optional(described('`false` leaves the stored data out.', z.enum(['true', 'false']))),
  note: z.optional(z.string()),
});
export const harQuery = z.object(exportShape);
export const openCaseQuery = z.object({
  rearm: z.optional(
    described(
      '`true`: the faults of its requests become rules for the next requests like them.',
      z.enum(['true', 'false']),
    ),
  ),
});
export const contentQuery = z.object({
  bytes: z.optional(described('Only the first bytes.', number(/^\d{1,12}$/, 'a whole number'))),
});
export const requestsQuery = z.object({
  after: z.optional(z.string()),
  limit: z.optional(number(/^[1-9]\d*$/, 'a whole number from 1')),
});
