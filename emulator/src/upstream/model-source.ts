import type { ReplyPiece, ToolCall } from './tool-calls.js';

/** A message of a completion request. */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'developer' | 'tool';
  /** Its text: of content in parts, the text parts; of `null`, none. */
  content: string;
  /** Of an assistant's message. */
  tool_calls?: readonly ToolCall[] | undefined;
  /** Of the result of a call. */
  tool_call_id?: string | undefined;
}

/** A function that the model may call. */
export interface FunctionDefinition {
  name: string;
  description?: string | null | undefined;
  /** A JSON Schema. */
  parameters?: Readonly<Record<string, unknown>> | null | undefined;
}

/** The body of a completion request. */
export interface CompletionRequest {
  model: string;
  messages: ChatMessage[];
  temperature?: number | undefined;
  max_tokens?: number | undefined;
  stream?: boolean | undefined;
  /** A tool of another type than `function` has none. */
  tools?: readonly { type: string; function?: FunctionDefinition | undefined }[] | null | undefined;
  tool_choice?: string | { type: string; function?: { name: string } | undefined } | null | undefined;
  parallel_tool_calls?: boolean | null | undefined;
  /** The body as the caller sent it, with undocumented fields such as `tools` and `response_format`. */
  sent?: Readonly<Record<string, unknown>> | undefined;
}

/** An OpenAI-compatible server that generates completions. */
export interface UpstreamOptions {
  /** Its URL, including `/v1`. */
  url: string;
  /** Its API key, sent as a bearer token. The keys of callers are never forwarded. */
  key?: string | undefined;
  /** Its model names, by the service's model names. @default the same names */
  models?: Record<string, string> | undefined;
  /** Milliseconds until its response must have started. @default 120_000 */
  timeout?: number | undefined;
  /** @default the global fetch */
  fetch?: typeof fetch | undefined;
}

/** A response that a model is generating. */
export interface ModelResponse {
  /** Its text and tool calls as they arrive. Can be read once. */
  pieces: AsyncIterable<ReplyPiece>;
  /** How it ended. Call it after all pieces have been read. */
  ended: () => ModelResponseEnd;
}

/** How a response ended. `usage` is given if the upstream reported it. */
export interface ModelResponseEnd {
  finishReason: string;
  usage?: { prompt_tokens: number; completion_tokens: number } | undefined;
}

/** A source of completions outside of the emulator. Throws an `HttpError` if it fails. */
export interface ModelSource {
  readonly name: 'upstream' | 'recording';
  complete(request: CompletionRequest, signal: AbortSignal): Promise<ModelResponse>;
  /** Starts over, when the emulator is reset. */
  reset?(): void;
}

/** Wraps a whole reply as a response. */
export function wholeResponse(pieces: readonly ReplyPiece[], end: ModelResponseEnd): ModelResponse {
  return {
    pieces: (async function* () {
      yield* pieces;
    })(),
    ended: () => end,
  };
}
