import * as z from 'zod/mini';
import type { CompletionUsage } from '../base/completion.js';
import { count, exact, integer, notEmpty, openEnum, requiredText, wireObject } from '../validation/fields.js';
import { isStandardSchema } from '../validation/validate.js';
import {
  type FunctionTool,
  type ToolCall,
  type ToolCallDelta,
  type ToolChoice,
  toolCallDeltaSchema,
  toolCallSchema,
} from './tools.js';

/**
 * The author of a message. Another role is sent unchanged and the service decides, but is an error of TypeScript, which finds a
 * misspelled one: write `role: 'moderator' as ChatMessage['role']`. Responses keep others, too.
 */
type ChatRole = 'system' | 'user' | 'assistant' | 'tool' | 'developer';

/** A part of a message's content. */
export type ChatContentPart =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string; detail?: 'auto' | 'low' | 'high' | undefined } }
  | { type: 'input_audio'; input_audio: { data: string; format: string } }
  | {
      type: 'file';
      file: { filename?: string | undefined; file_data?: string | undefined; file_id?: string | undefined };
    };

/** One message of a conversation. The API documents its role and text; the service may ignore or reject all else. */
export interface ChatMessage {
  /** Of a variable, write the type: `const messages: ChatMessage[] = […]`, or TypeScript takes the role for any string. */
  role: ChatRole;
  /** Required, except in an assistant's message, which may have only `tool_calls`. */
  content?: string | readonly ChatContentPart[] | null | undefined;
  name?: string | undefined;
  tool_calls?: readonly ToolCall[] | undefined;
  /** In a message with the role `tool`: the id of the call that it answers. */
  tool_call_id?: string | undefined;
}

/** The form of the reply. */
export type ResponseFormat =
  | { type: 'text' }
  | { type: 'json_object' }
  | {
      type: 'json_schema';
      json_schema: {
        name: string;
        description?: string | undefined;
        /** A JSON Schema of the reply. */
        schema?: object | undefined;
        strict?: boolean | undefined;
      };
    };

/**
 * Arguments of `chat.completions.create`. The API documents the first five. The others have the form that OpenAI documents;
 * they are sent as they are, and the service may ignore or reject them.
 */
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

  tools?: readonly FunctionTool[] | undefined;
  tool_choice?: ToolChoice | undefined;
  parallel_tool_calls?: boolean | undefined;
  response_format?: ResponseFormat | undefined;
  /** The same seed and parameters give similar replies. */
  seed?: number | undefined;
  /** Texts at which the reply ends. */
  stop?: string | readonly string[] | undefined;
  /** 0 to 1. */
  top_p?: number | undefined;
  top_k?: number | undefined;
  /** How many replies to generate. */
  n?: number | undefined;
  /** -2 to 2. */
  presence_penalty?: number | undefined;
  /** -2 to 2. */
  frequency_penalty?: number | undefined;
  logit_bias?: Readonly<Record<string, number>> | undefined;
  logprobs?: boolean | undefined;
  top_logprobs?: number | undefined;
  max_completion_tokens?: number | undefined;
  reasoning_effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | (string & {}) | undefined;
  stream_options?: { include_usage?: boolean | undefined } | undefined;
  /** An id of the user, for the service's records. */
  user?: string | undefined;
}

/** The message of a reply. It can be sent back among the messages of the next request. */
export type ChatReply = {
  role: ChatRole;
  /** `null` or nothing only beside `tool_calls`. */
  content?: string | null | undefined;
  tool_calls?: ToolCall[] | undefined;
};

/** One of a completion's replies. */
export type ChatCompletionChoice = {
  index: number;
  message: ChatReply;
  /** Why the reply ended: `stop`, or `length` at `max_tokens`; `tool_calls` if the model calls tools. */
  finish_reason: 'stop' | 'length' | 'tool_calls' | (string & {});
};

/** A whole completion, also one that was assembled from a stream. */
export interface ChatCompletion {
  id: string;
  object: string;
  /** Unix time, in seconds. */
  created: number;
  model: string;
  choices: ChatCompletionChoice[];
  /** The API documents it; of a stream, or behind another gateway, it may be missing. */
  usage?: CompletionUsage | undefined;
}

/** What a chunk adds to a reply. */
type ChatCompletionDelta = {
  role?: ChatRole | null | undefined;
  content?: string | null | undefined;
  tool_calls?: ToolCallDelta[] | undefined;
};

/** What a chunk adds to one choice. */
type ChatCompletionChunkChoice = {
  index: number;
  delta: ChatCompletionDelta;
  /** Present, and not `null`, on the last chunk of its choice. */
  finish_reason?: 'stop' | 'length' | 'tool_calls' | (string & {}) | null | undefined;
};

/** One piece of a streamed completion. */
export interface ChatCompletionChunk {
  id?: string | undefined;
  object?: string | undefined;
  created?: number | undefined;
  model?: string | undefined;
  /** Empty in a chunk that carries `usage` only. */
  choices: ChatCompletionChunkChoice[];
  usage?: CompletionUsage | null | undefined;
}

export const completionUsageSchema = exact<CompletionUsage>()(
  wireObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
);

// Typed by the known ones, so that a reply can be sent back.
const role = openEnum() as z.ZodMiniType<ChatRole>;
const finishReason = openEnum<'stop' | 'length' | 'tool_calls'>();
const textOrNull = z.optional(z.nullable(z.string()));
const toolCalls = z.optional(z.array(toolCallSchema));

export const chatReplySchema = exact<ChatReply>()(wireObject({ role, content: textOrNull, tool_calls: toolCalls }));

export const chatCompletionSchema = exact<ChatCompletion>()(
  wireObject({
    id: z.string(),
    object: z.string(),
    created: integer,
    model: z.string(),
    choices: z.array(wireObject({ index: count, message: chatReplySchema, finish_reason: finishReason })),
    usage: z.optional(completionUsageSchema),
  }),
);

/** What the chunks of a stream do not prove: that their pieces make whole tool calls. */
export const streamedCallsSchema = wireObject({
  choices: z.array(wireObject({ message: wireObject({ tool_calls: toolCalls }) })),
});

/** A stream with more choices than this is treated as malformed. */
const MAX_CHOICES = 1_024;

export const chatCompletionChunkSchema = exact<ChatCompletionChunk>()(
  wireObject({
    id: z.optional(z.string()),
    object: z.optional(z.string()),
    created: z.optional(integer),
    model: z.optional(z.string()),
    choices: z.array(
      wireObject({
        index: /* @__PURE__ */ integer.check(/* @__PURE__ */ z.minimum(0), /* @__PURE__ */ z.maximum(MAX_CHOICES)),
        delta: wireObject({
          role: z.optional(z.nullable(role)),
          content: textOrNull,
          tool_calls: z.optional(z.array(toolCallDeltaSchema)),
        }),
        finish_reason: z.optional(z.nullable(finishReason)),
      }),
    ),
    usage: z.optional(z.nullable(completionUsageSchema)),
  }),
);

const messageSchema = /* @__PURE__ */ wireObject({
  role: requiredText,
  tool_calls: z.optional(z.nullable(z.array(toolCallSchema))),
  tool_call_id: z.optional(requiredText),
}).check(
  /* @__PURE__ */ z.refine(hasContent, {
    path: ['content'],
    error: "expected a string, or parts such as [{ type: 'text', text: '…' }]",
  }),
);

/** Passes other parameters on unchecked, because the service may add some. */
export const chatCompletionParamsSchema = wireObject({
  model: requiredText,
  messages: /* @__PURE__ */ z.array(messageSchema).check(notEmpty),
  temperature: /* @__PURE__ */ z.optional(
    /* @__PURE__ */ z.number().check(/* @__PURE__ */ z.minimum(0), /* @__PURE__ */ z.maximum(2)),
  ),
  max_tokens: /* @__PURE__ */ z.optional(/* @__PURE__ */ integer.check(/* @__PURE__ */ z.minimum(1))),
  // What a library's schema has as JSON is none, and no service says so.
  response_format: withoutLibrary(({ json_schema }) => [Object(json_schema).schema]),
  tools: withoutLibrary((tools) =>
    Array.isArray(tools) ? tools.map((one) => Object(Object(one).function).parameters) : [],
  ),
  stream: z.optional(z.boolean()),
});

/** Neither the value itself nor its parts may be the schema of a library. */
/* @__NO_SIDE_EFFECTS__ */
function withoutLibrary(partsOf: (value: { json_schema?: unknown }) => unknown[]) {
  // What `z.toJSONSchema` returns is a plain object that has `~standard`, too, but not among its fields.
  const isOfLibrary = (value: unknown): boolean =>
    isStandardSchema(value) &&
    (Object.getPrototypeOf(value) !== Object.prototype || Object.keys(value).includes('~standard'));
  const isPlain = (value: unknown): boolean => ![value, ...partsOf(Object(value))].some(isOfLibrary);
  return z.optional(z.custom(isPlain, 'takes JSON Schema: convert the schema, such as with z.toJSONSchema(schema)'));
}

/** Only a reply may have no content: one that calls tools, or one that another client has read. */
function hasContent(message: { role: string; content?: unknown; tool_calls?: unknown }): unknown {
  const { role, content = null, tool_calls } = message;
  if (content === null) return role === 'assistant' || tool_calls;
  const isPart = (part: unknown): boolean => typeof Object(part).type === 'string';
  return typeof content === 'string' || (Array.isArray(content) && content.every(isPart));
}
