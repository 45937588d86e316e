import * as z from 'zod/mini';
import { count, exact, openEnum, requiredText, wireObject } from '../base/fields.js';
import type { AnySchema } from '../base/schema-issues.js';
import {
  type ChatCompletion,
  type ChatCompletionChoice,
  type ChatCompletionChunk,
  type ChatCompletionChunkChoice,
  type ChatCompletionDelta,
  type ChatCompletionParams,
  type ChatRole,
  chatCompletionChunkSchema,
  chatCompletionParamsSchema,
  chatCompletionSchema,
  choicesOf,
  chunkOf,
  completionOf,
  type StreamedChatCompletion,
} from './schemas.js';

/** Whether a client sends and reads what the API does not document: tools, images, JSON formats. */
export type Undocumented = 'send' | undefined;

/** A part of a message's content. */
export type ChatContentPart =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string; detail?: 'auto' | 'low' | 'high' | undefined } }
  | { type: 'input_audio'; input_audio: { data: string; format: string } }
  | {
      type: 'file';
      file: { filename?: string | undefined; file_data?: string | undefined; file_id?: string | undefined };
    };

/** A call of a tool, in a reply and in the messages of the next request. */
export interface ToolCall {
  id: string;
  type: 'function' | (string & {});
  function: {
    name: string;
    /** JSON, as the model wrote it: it may be invalid. */
    arguments: string;
  };
}

/** What a chunk adds to a tool call. */
export interface ToolCallDelta {
  /** The position of the tool call. A chunk that you read has it, even if the service omits it. */
  index?: number | undefined;
  id?: string | null | undefined;
  type?: 'function' | (string & {}) | null | undefined;
  function?: { name?: string | null | undefined; arguments?: string | null | undefined } | null | undefined;
}

/** A function that the model may call. */
export interface FunctionTool {
  type: 'function';
  function: {
    name: string;
    description?: string | undefined;
    /** A JSON Schema of the arguments. */
    parameters?: object | undefined;
    /** Whether the arguments must match `parameters` exactly. */
    strict?: boolean | undefined;
  };
}

/** Whether the model calls a tool, or which one. */
export type ToolChoice = 'none' | 'auto' | 'required' | { type: 'function'; function: { name: string } };

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

/** A message, with what the API does not document. */
export interface ExtendedChatMessage {
  role: ChatRole | 'tool' | 'developer';
  /** `null` or nothing beside `tool_calls`. */
  content?: string | readonly ChatContentPart[] | null | undefined;
  name?: string | undefined;
  tool_calls?: readonly ToolCall[] | undefined;
  /** In a message with the role `tool`: the id of the call that it answers. */
  tool_call_id?: string | undefined;
}

/** Arguments of `chat.completions.create` with `undocumented: 'send'`. The service may ignore or reject some. */
export interface ExtendedChatCompletionParams extends Omit<ChatCompletionParams, 'messages'> {
  messages: readonly ExtendedChatMessage[];
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
  /** -2 to 2. */
  presence_penalty?: number | undefined;
  /** -2 to 2. */
  frequency_penalty?: number | undefined;
  logit_bias?: Readonly<Record<string, number>> | undefined;
  logprobs?: boolean | undefined;
  top_logprobs?: number | undefined;
  /** How many replies to generate. */
  n?: number | undefined;
  max_completion_tokens?: number | undefined;
  reasoning_effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | (string & {}) | undefined;
  stream_options?: { include_usage?: boolean | undefined } | undefined;
  /** An id of the user, for the service's records. */
  user?: string | undefined;
}

/** A reply, with what the API does not document. It can be sent back among the messages of the next request. */
export interface ExtendedReply {
  role: ChatRole;
  /** `null` or nothing if the model only calls tools. */
  content?: string | null | undefined;
  tool_calls?: ToolCall[] | undefined;
}

/** One of a completion's replies. */
export interface ExtendedChatCompletionChoice extends Omit<ChatCompletionChoice, 'message'> {
  message: ExtendedReply;
}

/** A whole completion. `finish_reason` may be `tool_calls`. */
export interface ExtendedChatCompletion extends Omit<ChatCompletion, 'choices'> {
  choices: ExtendedChatCompletionChoice[];
}

/** A completion assembled from a stream. Its tool calls are whole. */
export interface ExtendedStreamedChatCompletion extends Omit<StreamedChatCompletion, 'choices'> {
  choices: ExtendedChatCompletionChoice[];
}

/** What a chunk adds to a reply. */
export interface ExtendedChatCompletionDelta extends ChatCompletionDelta {
  tool_calls?: ToolCallDelta[] | undefined;
}

/** What a chunk adds to one choice. */
export interface ExtendedChatCompletionChunkChoice extends Omit<ChatCompletionChunkChoice, 'delta'> {
  delta: ExtendedChatCompletionDelta;
}

/** One piece of a streamed completion. */
export interface ExtendedChatCompletionChunk extends Omit<ChatCompletionChunk, 'choices'> {
  choices: ExtendedChatCompletionChunkChoice[];
}

/** The types of a client's completions. */
export interface CompletionTypes<Sent extends Undocumented = undefined> {
  params: Sent extends 'send' ? ExtendedChatCompletionParams : ChatCompletionParams;
  completion: Sent extends 'send' ? ExtendedChatCompletion : ChatCompletion;
  chunk: Sent extends 'send' ? ExtendedChatCompletionChunk : ChatCompletionChunk;
  streamed: Sent extends 'send' ? ExtendedStreamedChatCompletion : StreamedChatCompletion;
}

const toolCallSchema = exact<ToolCall>()(
  wireObject({
    id: z.string(),
    type: openEnum<'function'>(),
    function: wireObject({ name: z.string(), arguments: z.string() }),
  }),
);

const replySchema = exact<ExtendedReply>()(
  wireObject({
    role: openEnum<'system' | 'user' | 'assistant'>(),
    content: z.optional(z.nullable(z.string())),
    tool_calls: z.optional(z.array(toolCallSchema)),
  }),
);

const extendedChatCompletionSchema = exact<ExtendedChatCompletion>()(completionOf(replySchema));

const word = z.optional(z.nullable(z.string()));
const toolCallDeltaSchema = exact<ToolCallDelta>()(
  wireObject({
    index: z.optional(count),
    id: word,
    type: z.optional(z.nullable(openEnum<'function'>())),
    function: z.optional(z.nullable(wireObject({ name: word, arguments: word }))),
  }),
);

const extendedChunkSchema = exact<ExtendedChatCompletionChunk>()(
  chunkOf({ tool_calls: z.optional(z.array(toolCallDeltaSchema)) }),
);

/** The tool calls of a completion that was assembled from a stream. */
const streamedSchema = wireObject({ choices: choicesOf(replySchema) });

const contentSchema = z.optional(
  z.custom(isContent, "expected a string, null, or an array of parts such as { type: 'text', text: '…' }"),
);
/** Only the messages are checked: the other undocumented parameters are sent as they are, and the service decides. */
const extendedParamsSchema = wireObject({
  ...chatCompletionParamsSchema.shape,
  messages: z
    .array(
      wireObject({
        role: requiredText,
        content: contentSchema,
        tool_calls: z.optional(z.nullable(z.array(toolCallSchema))),
        tool_call_id: z.optional(requiredText),
      }),
    )
    .check(z.minLength(1)),
});

function isContent(value: unknown): boolean {
  return value === null || typeof value === 'string' || (Array.isArray(value) && value.every(isTyped));
}

function isTyped(value: unknown): boolean {
  return typeof (value as { type?: unknown } | null)?.type === 'string';
}

/** The schemas of a client's completions. */
export interface CompletionForm {
  readonly params: typeof chatCompletionParamsSchema;
  readonly completion: typeof chatCompletionSchema;
  readonly chunk: AnySchema;
  /** Of a completion that was assembled from a stream. Without it, nothing in it needs a check. */
  readonly streamed: typeof streamedSchema | undefined;
}

/** The schemas for the option `undocumented`. The casts are for code that reads only documented fields. */
export function formOf(undocumented: Undocumented): CompletionForm {
  return undocumented === 'send' ? EXTENDED : DOCUMENTED;
}

const DOCUMENTED: CompletionForm = {
  params: chatCompletionParamsSchema,
  completion: chatCompletionSchema,
  chunk: chatCompletionChunkSchema,
  streamed: undefined,
};

const EXTENDED: CompletionForm = {
  params: extendedParamsSchema as unknown as typeof chatCompletionParamsSchema,
  completion: extendedChatCompletionSchema as unknown as typeof chatCompletionSchema,
  chunk: extendedChunkSchema,
  streamed: streamedSchema,
};
