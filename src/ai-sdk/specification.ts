/**
 * The part of the AI SDK's provider interface that a text model needs. Written out here, because no single version of
 * `@ai-sdk/provider` has all three. `test/ai-sdk/types.test-d.ts` checks it against the real types. Type aliases, which users'
 * declarations write out: an interface would have to be exported.
 */

/** Versions of the provider interface: `v2` for `ai` 5, `v3` for `ai` 6 and 7, `v4` for `ai` 7 alone. */
export type Specification = 'v2' | 'v3' | 'v4';

/** A part of a message: text, a file, a tool call, its result. */
export type PromptPart = {
  readonly [Name in 'mediaType' | 'filename' | 'toolCallId' | 'toolName']?: string | undefined;
} & { readonly type: string } & { readonly [Name in 'text' | 'data' | 'input' | 'output']?: unknown };

/** A tool of a call. Tools of other types than `function` belong to another provider. */
export type CallTool = {
  readonly type: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: object | undefined;
  readonly strict?: boolean | undefined;
};

/** A message as the AI SDK passes it to a model. */
export type PromptMessage = {
  readonly role: string;
  readonly content: string | readonly PromptPart[];
  readonly providerOptions?: Readonly<Record<string, object>> | undefined;
};

/** The options of a call that the AI SDK passes to a model. */
export type CallOptions = { [Name in NumberName]?: number | undefined } & {
  prompt: PromptMessage[];
  stopSequences?: readonly string[] | undefined;
  reasoning?: string | undefined;
  responseFormat?: ({ readonly type: string } & JsonFormat) | undefined;
  tools?: readonly CallTool[] | undefined;
  toolChoice?: { readonly type: string; readonly toolName?: string | undefined } | undefined;
  includeRawChunks?: boolean | undefined;
  abortSignal?: AbortSignal | undefined;
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  providerOptions?: Readonly<Record<string, object>> | undefined;
};

type Penalty = 'presencePenalty' | 'frequencyPenalty';
type NumberName = 'maxOutputTokens' | 'temperature' | 'topP' | 'topK' | 'seed' | Penalty;

type JsonFormat = {
  readonly schema?: object | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
};

/** Why a response ended, in the AI SDK's terms. */
export type UnifiedFinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

type Tokens<Names extends string> = Record<Names, number | undefined>;

/** The types that differ between the versions. */
type Shapes = {
  v2: {
    usage: Tokens<'inputTokens' | 'outputTokens' | 'totalTokens' | 'cachedInputTokens' | 'reasoningTokens'>;
    finishReason: UnifiedFinishReason;
    warning: { type: 'unsupported-setting'; setting: string; details?: string };
  };
  v3: NestedShapes;
  v4: NestedShapes;
};

type NestedShapes = {
  usage: {
    inputTokens: Tokens<'total' | 'noCache' | 'cacheRead' | 'cacheWrite'>;
    outputTokens: Tokens<'total' | 'text' | 'reasoning'>;
    raw?: Record<string, number>;
  };
  finishReason: { unified: UnifiedFinishReason; raw: string | undefined };
  warning: { type: 'unsupported'; feature: string; details?: string };
};

export type Usage<Version extends Specification> = Shapes[Version]['usage'];
export type FinishReason<Version extends Specification> = Shapes[Version]['finishReason'];
export type Warning<Version extends Specification> = Shapes[Version]['warning'];

/** How a response ended, and the rate limit that the service reported. `reset` is a time in ISO 8601. */
type Ending<Version extends Specification> = {
  finishReason: FinishReason<Version>;
  usage: Usage<Version>;
  providerMetadata?: ProviderMetadata;
};

export type ProviderMetadata = {
  svc: { rateLimit: { limit: number | null; remaining: number | null; reset: string | null } };
};

/** Identifies a response. */
export type ResponseMetadata = { id?: string; modelId?: string; timestamp?: Date };

/** A call of a tool. The input is JSON. */
type ToolCallPart = { type: 'tool-call'; toolCallId: string; toolName: string; input: string };

/** A piece of a streamed call of a tool. */
export type ToolPart =
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-input-delta'; id: string; delta: string }
  | { type: 'tool-input-end'; id: string }
  | ToolCallPart;

/** A piece of a streamed response. */
export type StreamPart<Version extends Specification> =
  | { type: 'stream-start'; warnings: Warning<Version>[] }
  | ({ type: 'response-metadata' } & ResponseMetadata)
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | ToolPart
  | { type: 'raw'; rawValue: unknown }
  | { type: 'error'; error: unknown }
  | ({ type: 'finish' } & Ending<Version>);

/** A model of the Gateway, for `generateText` and `streamText`. */
export type AiSdkModel<Version extends Specification> = {
  readonly specificationVersion: Version;
  readonly provider: string;
  readonly modelId: string;
  /** Images at an HTTP URL, which the AI SDK then does not download. */
  readonly supportedUrls: Record<string, RegExp[]>;
  /** A whole response. `generateText` calls it. */
  doGenerate(options: CallOptions): Promise<
    Ending<Version> & {
      content: ({ type: 'text' | 'reasoning'; text: string } | ToolCallPart)[];
      warnings: Warning<Version>[];
      request: { body: unknown };
      response: ResponseMetadata & { headers: Record<string, string>; body: unknown };
    }
  >;
  /** A streamed response. `streamText` calls it. */
  doStream(options: CallOptions): Promise<{
    stream: ReadableStream<StreamPart<Version>>;
    request: { body: unknown };
    response: { headers: Record<string, string> };
  }>;
};
