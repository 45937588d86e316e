import type {
  ChatCompletion,
  ChatCompletionChoice,
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  ChatCompletionDelta,
  ChatCompletionParams,
  ChatRole,
  StreamedChatCompletion,
} from './completions.js';

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

/** Arguments of `chat.completions.create` with `completions: extended`. The service may ignore or reject some. */
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

/** What a chunk adds to a reply. */
export interface ExtendedChatCompletionDelta extends ChatCompletionDelta {
  tool_calls?: ToolCallDelta[] | undefined;
}

/** One of a completion's replies. */
export type ExtendedChatCompletionChoice = ChatCompletionChoice<ExtendedReply>;
/** A whole completion. `finish_reason` may be `tool_calls`. */
export type ExtendedChatCompletion = ChatCompletion<ExtendedReply>;
/** A completion assembled from a stream. Its tool calls are whole. */
export type ExtendedStreamedChatCompletion = StreamedChatCompletion<ExtendedReply>;
/** What a chunk adds to one choice. */
export type ExtendedChatCompletionChunkChoice = ChatCompletionChunkChoice<ExtendedChatCompletionDelta>;
/** One piece of a streamed completion. */
export type ExtendedChatCompletionChunk = ChatCompletionChunk<ExtendedChatCompletionDelta>;
