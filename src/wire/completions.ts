import * as z from 'zod/mini';
import type { CompletionUsage } from '../base/completion.js';
import { count, exact, integer, notEmpty, openEnum, requiredText, wireObject } from '../validation/fields.js';

/** The author of a message. Other roles are sent unchanged; the service decides. */
export type ChatRole = 'system' | 'user' | 'assistant' | (string & {});

/** One message of a conversation. */
export interface ChatMessage {
  role: ChatRole;
  content: string;
}

/** Arguments of `chat.completions.create`. */
export interface ChatCompletionParams {
  /** The id of a model that the service offers. */
  model: string;
  messages: readonly ChatMessage[];
  /** 0 to 2. @default 1 */
  temperature?: number | undefined;
  /** The maximum length of the reply, in tokens. */
  max_tokens?: number | undefined;
  /** Whether to stream the reply. @default false */
  stream?: boolean | undefined;
}

/** One of a completion's replies. */
export interface ChatCompletionChoice<Message = ChatMessage> {
  index: number;
  message: Message;
  /** Why the reply ended: `stop`, or `length` at `max_tokens`. */
  finish_reason: 'stop' | 'length' | (string & {});
}

/** A whole completion. */
export interface ChatCompletion<Message = ChatMessage> {
  id: string;
  object: string;
  /** Unix time, in seconds. */
  created: number;
  model: string;
  choices: ChatCompletionChoice<Message>[];
  usage: CompletionUsage;
}

/** A completion assembled from a stream. Not every service sends `usage` in streams. */
export interface StreamedChatCompletion<Message = ChatMessage> extends Omit<ChatCompletion<Message>, 'usage'> {
  usage?: CompletionUsage | undefined;
}

/** What a chunk adds to a message. */
export interface ChatCompletionDelta {
  role?: ChatRole | null | undefined;
  content?: string | null | undefined;
}

/** What a chunk adds to one choice. */
export interface ChatCompletionChunkChoice<Delta = ChatCompletionDelta> {
  index: number;
  delta: Delta;
  /** Present, and not `null`, on the last chunk of its choice. */
  finish_reason?: 'stop' | 'length' | (string & {}) | null | undefined;
}

/** One piece of a streamed completion. */
export interface ChatCompletionChunk<Delta = ChatCompletionDelta> {
  id?: string | undefined;
  object?: string | undefined;
  created?: number | undefined;
  model?: string | undefined;
  /** Empty in a chunk that carries `usage` only. */
  choices: ChatCompletionChunkChoice<Delta>[];
  usage?: CompletionUsage | null | undefined;
}

export const completionUsageSchema = exact<CompletionUsage>()(
  wireObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
);

const NEEDS_OPTION = 'to send or read null or parts, pass completions: extended to the client';

/** Text. For `null` and parts, the message names the option that allows them. */
const textOnly = z.string({
  error: ({ input }) =>
    input === null || Array.isArray(input)
      ? `expected string, got ${input === null ? 'null' : 'array'}; ${NEEDS_OPTION}`
      : undefined,
});

export const chatMessageSchema = exact<ChatMessage>()(
  wireObject({ role: openEnum<'system' | 'user' | 'assistant'>(), content: textOnly }),
);

/** The replies of a completion, with this form of messages. */

/** A stream with more choices than this is treated as malformed. */
const MAX_CHOICES = 1_024;

/* @__NO_SIDE_EFFECTS__ */
export function choicesOf<Message extends z.ZodMiniType>(message: Message) {
  return z.array(wireObject({ index: count, message, finish_reason: openEnum<'stop' | 'length'>() }));
}

/** A completion, with this form of messages. */
/* @__NO_SIDE_EFFECTS__ */
export function completionOf<Message extends z.ZodMiniType>(message: Message) {
  return wireObject({
    id: z.string(),
    object: z.string(),
    created: integer,
    model: z.string(),
    choices: choicesOf(message),
    usage: completionUsageSchema,
  });
}

export const chatCompletionSchema = exact<ChatCompletion>()(completionOf(chatMessageSchema));

/** A chunk whose deltas may also have these fields. */
/* @__NO_SIDE_EFFECTS__ */
export function chunkOf<Shape extends z.core.$ZodShape>(more: Shape) {
  const delta = {
    role: z.optional(z.nullable(openEnum<'system' | 'user' | 'assistant'>())),
    content: z.optional(z.nullable(z.string())),
    ...more,
  };
  return wireObject({
    id: z.optional(z.string()),
    object: z.optional(z.string()),
    created: z.optional(integer),
    model: z.optional(z.string()),
    choices: z.array(
      wireObject({
        index: integer.check(z.minimum(0), z.maximum(MAX_CHOICES)),
        delta: wireObject(delta),
        finish_reason: z.optional(z.nullable(openEnum<'stop' | 'length'>())),
      }),
    ),
    usage: z.optional(z.nullable(completionUsageSchema)),
  });
}

export const chatCompletionChunkSchema = exact<ChatCompletionChunk>()(chunkOf({}));

/** Arguments with this form of messages. Passes undocumented parameters on, because the service may add some. */
/* @__NO_SIDE_EFFECTS__ */
export function paramsOf<Message extends z.ZodMiniType>(message: Message) {
  return wireObject({
    model: requiredText,
    messages: z.array(message).check(notEmpty),
    temperature: z.optional(z.number().check(z.minimum(0), z.maximum(2))),
    max_tokens: z.optional(integer.check(z.minimum(1))),
    stream: z.optional(z.boolean()),
  });
}

export const chatCompletionParamsSchema = paramsOf(wireObject({ role: requiredText, content: textOnly }));
