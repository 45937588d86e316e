/**
 * The part of the AI SDK's provider interface that a text model needs. Written out here, because no single version of
 * `@ai-sdk/provider` has all three. `test/ai-sdk/types.test-d.ts` checks it against the real types.
 */

/** Versions of the provider interface: `v2` for `ai` 5, `v3` for `ai` 6 and 7, `v4` for `ai` 7 alone. */
export type Specification = 'v2' | 'v3' | 'v4';

/** A part of a message: text, a file, a tool call, its result. */
export interface PromptPart {
  readonly type: string;
  readonly text?: unknown;
  readonly mediaType?: string | undefined;
  readonly filename?: string | undefined;
  readonly data?: unknown;
  readonly toolCallId?: string | undefined;
  readonly toolName?: string | undefined;
  readonly input?: unknown;
  readonly output?: unknown;
}

/** A tool of a call. Tools of other types than `function` belong to another provider. */
export interface CallTool {
  readonly type: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: object | undefined;
  readonly strict?: boolean | undefined;
}

/** A message as the AI SDK passes it to a model. */
export interface PromptMessage {
  readonly role: string;
  readonly content: string | readonly PromptPart[];
  readonly providerOptions?: Readonly<Record<string, object>> | undefined;
}

/** The options of a call that the AI SDK passes to a model. */
export interface CallOptions {
  prompt: PromptMessage[];
  maxOutputTokens?: number | undefined;
  temperature?: number | undefined;
  stopSequences?: readonly string[] | undefined;
  topP?: number | undefined;
  topK?: number | undefined;
  presencePenalty?: number | undefined;
  frequencyPenalty?: number | undefined;
  seed?: number | undefined;
  reasoning?: string | undefined;
  responseFormat?:
    | {
        readonly type: string;
        readonly schema?: object | undefined;
        readonly name?: string | undefined;
        readonly description?: string | undefined;
      }
    | undefined;
  tools?: readonly CallTool[] | undefined;
  toolChoice?: { readonly type: string; readonly toolName?: string | undefined } | undefined;
  includeRawChunks?: boolean | undefined;
  abortSignal?: AbortSignal | undefined;
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  providerOptions?: Readonly<Record<string, object>> | undefined;
}

/** Why a response ended, in the AI SDK's terms. */
export type UnifiedFinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

type Tokens = number | undefined;

/** The types that differ between the versions. */
interface Shapes {
  v2: {
    usage: {
      inputTokens: Tokens;
      outputTokens: Tokens;
      totalTokens: Tokens;
      cachedInputTokens?: Tokens;
      reasoningTokens?: Tokens;
    };
    finishReason: UnifiedFinishReason;
    warning: { type: 'unsupported-setting'; setting: string; details?: string };
  };
  v3: {
    usage: {
      inputTokens: { total: Tokens; noCache: Tokens; cacheRead: Tokens; cacheWrite: Tokens };
      outputTokens: { total: Tokens; text: Tokens; reasoning: Tokens };
      raw?: Record<string, number>;
    };
    finishReason: { unified: UnifiedFinishReason; raw: string | undefined };
    warning: { type: 'unsupported'; feature: string; details?: string };
  };
  v4: Shapes['v3'];
}

export type Usage<Version extends Specification> = Shapes[Version]['usage'];
export type FinishReason<Version extends Specification> = Shapes[Version]['finishReason'];
export type Warning<Version extends Specification> = Shapes[Version]['warning'];

/**
 * The rate limit that the service reported. `reset` is a time in ISO 8601. A type alias, because an interface is not
 * assignable to the AI SDK's JSON type.
 */
export type ProviderMetadata = {
  svc: { rateLimit: { limit: number | null; remaining: number | null; reset: string | null } };
};

/** Identifies a response. */
export interface ResponseMetadata {
  id?: string;
  modelId?: string;
  timestamp?: Date;
}

/** A call of a tool. */
interface ToolCallPart {
  type: 'tool-call';
  toolCallId: string;
  toolName: string;
  /** JSON. */
  input: string;
}

/** A whole response. */
interface GenerateResult<Version extends Specification> {
  content: ({ type: 'text' | 'reasoning'; text: string } | ToolCallPart)[];
  finishReason: FinishReason<Version>;
  usage: Usage<Version>;
  warnings: Warning<Version>[];
  request: { body: unknown };
  response: ResponseMetadata & { headers: Record<string, string>; body: unknown };
  providerMetadata?: ProviderMetadata;
}

/** A piece of a streamed response. */
export type StreamPart<Version extends Specification> =
  | { type: 'stream-start'; warnings: Warning<Version>[] }
  | ({ type: 'response-metadata' } & ResponseMetadata)
  | { type: 'text-start'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | { type: 'text-end'; id: string }
  | { type: 'reasoning-start'; id: string }
  | { type: 'reasoning-delta'; id: string; delta: string }
  | { type: 'reasoning-end'; id: string }
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-input-delta'; id: string; delta: string }
  | { type: 'tool-input-end'; id: string }
  | ToolCallPart
  | { type: 'raw'; rawValue: unknown }
  | { type: 'error'; error: unknown }
  | {
      type: 'finish';
      finishReason: FinishReason<Version>;
      usage: Usage<Version>;
      providerMetadata?: ProviderMetadata;
    };

/** A streamed response. */
interface StreamResult<Version extends Specification> {
  stream: ReadableStream<StreamPart<Version>>;
  request: { body: unknown };
  response: { headers: Record<string, string> };
}

/** A model of the Gateway, for `generateText` and `streamText`. */
export interface AiSdkModel<Version extends Specification = 'v3'> {
  readonly specificationVersion: Version;
  readonly provider: string;
  readonly modelId: string;
  /** Images at an HTTP URL, which the AI SDK then does not download. */
  readonly supportedUrls: Record<string, RegExp[]>;
  /** A whole response. `generateText` calls it. */
  doGenerate(options: CallOptions): Promise<GenerateResult<Version>>;
  /** A streamed response. `streamText` calls it. */
  doStream(options: CallOptions): Promise<StreamResult<Version>>;
}
