/**
 * Uses every public name for its purpose. It is compiled in every kind of project and never run. `noUnusedLocals` fails
 * if an import is unused, `values` if a value is missing.
 */
import type {
  Area,
  Attempt,
  Chat,
  ChatCompletion,
  ChatCompletionChoice,
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  ChatCompletionDelta,
  ChatCompletionParams,
  ChatCompletionStream,
  ChatCompletions,
  ChatContentPart,
  ChatMessage,
  ChatRole,
  ClientEvent,
  ClientOptions,
  CompactionLevel,
  CompactionResult,
  CompactParams,
  CompletionTypes,
  CompletionUsage,
  ContextClientOptions,
  ContextMetadata,
  ConversationContext,
  Credential,
  Decision,
  DecodeChunk,
  DequeuedEvent,
  DerivedOptions,
  DispatcherLike,
  ErrorData,
  ExtendedChatCompletion,
  ExtendedChatCompletionChoice,
  ExtendedChatCompletionChunk,
  ExtendedChatCompletionChunkChoice,
  ExtendedChatCompletionDelta,
  ExtendedChatCompletionParams,
  ExtendedChatMessage,
  ExtendedReply,
  ExtendedStreamedChatCompletion,
  FailureEvent,
  FileRecord,
  Files,
  FileUploadParams,
  FunctionTool,
  GatewayClientOptions,
  Integration,
  IntegrationExecuteParams,
  IntegrationResult,
  Integrations,
  KeyType,
  Logger,
  Memory,
  MemoryCreateParams,
  MemoryListParams,
  MemoryType,
  MemoryUpdateParams,
  Method,
  OpenRecord,
  PartialChatCompletion,
  Permit,
  Phase,
  PinCategory,
  PinnedMemoryItem,
  PinParams,
  Preset,
  PresetExecuteParams,
  PresetListParams,
  PresetResult,
  Presets,
  ProgressListener,
  Query,
  QueuedEvent,
  RateLimit,
  RateLimiter,
  RateLimitObservation,
  RawRequest,
  ReadStreamOptions,
  Reference,
  RequestEvent,
  RequestOptions,
  ResponseEvent,
  ResponseFormat,
  ResponseInfo,
  RetryEvent,
  RollingSummary,
  SchemaOptions,
  Sent,
  ServerSentEvent,
  SessionHeader,
  StandardResult,
  StandardSchema,
  StopReason,
  StreamedChatCompletion,
  StreamMetrics,
  ToolCall,
  ToolCallDelta,
  ToolChoice,
  Undocumented,
  Uploadable,
  UploadOptions,
  Usage,
  UsageParams,
  UsageReport,
  UserMemoryItem,
  ValidationEvent,
  ValidationIssue,
  WithResponse,
} from 'context-gateway';
import {
  APIAbortError,
  APIConnectionError,
  APIError,
  APIPromise,
  APITimeoutError,
  AuthenticationError,
  BadRequestError,
  ClientClosedError,
  ConfigurationError,
  ContextClient,
  ContextGatewayError,
  GatewayClient,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  RequestValidationError,
  ResponseTooLargeError,
  ResponseValidationError,
  readChatCompletionStream,
  ServiceUnavailableError,
  StreamConsumedError,
  StreamError,
  StreamTruncatedError,
  toErrorData,
  toErrorResponse,
} from 'context-gateway';
import {
  type AiSdkModel,
  type AiSdkProvider,
  type AiSdkProviderOptions,
  type ContextMiddleware,
  contextMiddleware,
  createAiSdkProvider,
  type FoundMessage,
  type SearchTool,
  type SearchToolOptions,
  type Specification,
  searchTool,
  type TurnMetadata,
  toUIMessageStream,
  type UIMessageChunk,
  type UIMessageStreamOptions,
} from 'context-gateway/ai-sdk';
import {
  type BuildOptions,
  type BuiltPrompt,
  type ChatTurn,
  type CompactionReceipt,
  type CompactionReport,
  ContextBudgetError,
  type ContextParts,
  type ContextSection,
  type Conversation,
  ConversationConflictError,
  type ConversationMessage,
  type ConversationOptions,
  type ConversationSearch,
  type ConversationState,
  type ConversationStore,
  createConversation,
  type Dropped,
  diffSummaries,
  type EntrySection,
  estimateTokens,
  type FitParams,
  type FitReport,
  type FitState,
  type FittedPrompt,
  fitToBudget,
  type LedgerEntry,
  type MadeReply,
  memoryStore,
  type PromptMessage,
  type PromptReport,
  type Recalled,
  type ReplyStream,
  readTurn,
  renderContext,
  type SearchHit,
  type SearchOptions,
  type SearchResult,
  type StoredConversation,
  type SummaryDiff,
  type SummaryEntry,
  type TurnEvent,
  type TurnInput,
  type TurnOptions,
} from 'context-gateway/conversation';
import {
  type IoredisLike,
  type NodeRedisLike,
  type RedisClient,
  type RedisLimiterEvent,
  type RedisLimiterOptions,
  redisLimiter,
  type ScriptArguments,
} from 'context-gateway/redis';
import {
  chatCompletionChunkSchema,
  chatCompletionSchema,
  chatMessageSchema,
  compactionResultSchema,
  completionUsageSchema,
  contextMetadataSchema,
  conversationContextSchema,
  decisionSchema,
  pinnedMemoryItemSchema,
  referenceSchema,
  rollingSummarySchema,
  usageReportSchema,
  userMemoryItemSchema,
} from 'context-gateway/schemas';

/**
 * Every export that exists at run time. A missing or an extra name here does not compile; all other exports are types.
 */
export const values: Record<keyof typeof import('context-gateway'), unknown> = {
  APIAbortError,
  APIConnectionError,
  APIError,
  APIPromise,
  APITimeoutError,
  AuthenticationError,
  BadRequestError,
  ClientClosedError,
  ConfigurationError,
  ContextClient,
  ContextGatewayError,
  GatewayClient,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  RequestValidationError,
  ResponseTooLargeError,
  ResponseValidationError,
  readChatCompletionStream,
  ServiceUnavailableError,
  StreamConsumedError,
  StreamError,
  StreamTruncatedError,
  toErrorData,
  toErrorResponse,
};
export const conversationValues: Record<keyof typeof import('context-gateway/conversation'), unknown> = {
  ContextBudgetError,
  createConversation,
  diffSummaries,
  estimateTokens,
  fitToBudget,
  renderContext,
  memoryStore,
  ConversationConflictError,
  readTurn,
};
export const schemas: Record<keyof typeof import('context-gateway/schemas'), unknown> = {
  chatCompletionChunkSchema,
  chatCompletionSchema,
  chatMessageSchema,
  compactionResultSchema,
  completionUsageSchema,
  contextMetadataSchema,
  conversationContextSchema,
  decisionSchema,
  pinnedMemoryItemSchema,
  referenceSchema,
  rollingSummarySchema,
  usageReportSchema,
  userMemoryItemSchema,
};

export const aiSdk: Record<keyof typeof import('context-gateway/ai-sdk'), unknown> = {
  contextMiddleware,
  createAiSdkProvider,
  searchTool,
  toUIMessageStream,
};

export const redis: Record<keyof typeof import('context-gateway/redis'), unknown> = { redisLimiter };

export function shareLimit(client: IoredisLike | NodeRedisLike): ClientOptions {
  const either: RedisClient = client;
  const onEvent = ({ type }: RedisLimiterEvent): void => console.log(type);
  const options: RedisLimiterOptions = { client: either, name: 'production', onEvent };
  return { pacing: redisLimiter(options) };
}

export function scriptKeys({ keys, arguments: given }: ScriptArguments): string[] {
  return [...keys, ...given];
}

export function configure(credential: Credential, dispatcher?: DispatcherLike): [GatewayClient, ContextClient] {
  const shared: ClientOptions = { baseURL: 'https://gateway.example.com', dispatcher, pacing: limiter, onEvent: log };
  const logger: Logger = console;
  const gatewayOptions: GatewayClientOptions = { ...shared, logger, apiKey: credential, decodeChunk };
  const sessionHeader: SessionHeader = { name: 'authorization', scheme: 'Bearer' };
  const contextOptions: ContextClientOptions = { ...shared, sessionToken: credential, sessionHeader };
  const derived: DerivedOptions<GatewayClientOptions> = { timeout: 1_000 };
  const gateway = new GatewayClient(gatewayOptions).withOptions(derived);
  const keyType: KeyType = gateway.keyType;
  if (keyType === 'unknown') throw new TypeError('an odd key');
  return [gateway, new ContextClient(contextOptions)];
}

const limiter: RateLimiter = {
  acquire: (bucket: string): Permit => ({
    ready: bucket === 'compact' ? Promise.resolve() : undefined,
    release: (observed?: RateLimitObservation) => void observed?.remaining,
  }),
};

const decodeChunk: DecodeChunk = (event: ServerSentEvent) =>
  event.event === 'end' ? 'done' : (JSON.parse(event.data) as ChatCompletionChunk);

export async function complete(chat: Chat, options: RequestOptions): Promise<string> {
  const completions: ChatCompletions = chat.completions;
  const role: ChatRole = 'user';
  const messages: ChatMessage[] = [{ role, content: 'Name three rivers.' }];
  const params: ChatCompletionParams = { model: 'm', messages, temperature: 1, max_tokens: 100 };
  const call: APIPromise<ChatCompletion> = completions.create({ ...params, stream: false }, options);
  const { data, response }: WithResponse<ChatCompletion> = await call.withResponse();
  const info: ResponseInfo = response;
  const attempts: readonly Attempt[] = info.attempts;
  const limit: RateLimit | undefined = info.rateLimit;
  const choice: ChatCompletionChoice | undefined = data.choices[0];
  const usage: CompletionUsage = data.usage;
  return `${choice?.message.content} ${usage.total_tokens} ${attempts.length} ${limit?.remaining} ${info.status}`;
}

export async function stream(gateway: GatewayClient, relayed: Response): Promise<StreamedChatCompletion> {
  const params = { model: 'm', messages: [{ role: 'user', content: 'Name three rivers.' }], stream: true } as const;
  const own: ChatCompletionStream = await gateway.chat.completions.create(params);
  for await (const chunk of own) {
    const choice: ChatCompletionChunkChoice | undefined = chunk.choices[0];
    const delta: ChatCompletionDelta | undefined = choice?.delta;
    print(delta?.content);
  }
  const metrics: StreamMetrics = own.metrics;
  const options: ReadStreamOptions = { streamIdleTimeout: metrics.duration };
  for await (const text of (await readChatCompletionStream(relayed, options)).textStream) print(text);
  await readChatCompletionStream(own.toReadableStream());
  await readChatCompletionStream(toErrorResponse(new Error('The service is away.')));
  return own.finalCompletion();
}

export async function callTools(gateway: GatewayClient<'send'>): Promise<ToolCall[]> {
  const option: Undocumented = gateway.undocumented;
  const tools: FunctionTool[] = [{ type: 'function', function: { name: 'tide' } }];
  const content: ChatContentPart[] = [{ type: 'text', text: 'When is high tide?' }];
  const messages: ExtendedChatMessage[] = [{ role: 'user', content }];
  const tool_choice: ToolChoice = 'auto';
  const response_format: ResponseFormat = { type: 'text' };
  const params: ExtendedChatCompletionParams = { model: 'm', messages, tools, tool_choice, response_format };
  const completion: ExtendedChatCompletion = await gateway.chat.completions.create({ ...params, stream: false });
  const choice: ExtendedChatCompletionChoice | undefined = completion.choices[0];
  const reply: ExtendedReply | undefined = choice?.message;
  const stream = await gateway.chat.completions.create({ ...params, stream: true });
  for await (const chunk of stream) {
    const whole: ExtendedChatCompletionChunk = chunk;
    const piece: ExtendedChatCompletionChunkChoice | undefined = whole.choices[0];
    const delta: ExtendedChatCompletionDelta | undefined = piece?.delta;
    const called: ToolCallDelta | undefined = delta?.tool_calls?.[0];
    print(called?.function?.name ?? option);
  }
  const joined: ExtendedStreamedChatCompletion = await stream.finalCompletion();
  const typed: CompletionTypes<'send'>['streamed'] = joined;
  return typed.choices[0]?.message.tool_calls ?? reply?.tool_calls ?? [];
}

export async function undocumented(gateway: GatewayClient): Promise<OpenRecord[]> {
  const presets: Presets = gateway.presets;
  const files: Files = gateway.files;
  const integrations: Integrations = gateway.integrations;
  const list: PresetListParams = { category: 'mail', limit: 5 };
  const execute: PresetExecuteParams = { input: 'Hello.', model: 'm' };
  const act: IntegrationExecuteParams = { action: 'post_message', channel: '#team' };
  const file: Uploadable = new Blob(['a']);
  const upload: FileUploadParams = { file, purpose: 'test', filename: 'a.txt' };
  const onProgress: ProgressListener = (sent, total) => print(`${sent} of ${total ?? 'an unknown number of'} bytes`);
  const options: UploadOptions = { onProgress };
  const preset: Preset | undefined = (await presets.list(list))[0];
  const result: PresetResult = await presets.execute(preset?.id ?? 'none', execute);
  const record: FileRecord = await files.upload(upload, options);
  const integration: Integration | undefined = (await integrations.list())[0];
  const done: IntegrationResult = await integrations.execute(integration?.name ?? 'none', act);
  return [result, record, done];
}

export async function checkedByHand(gateway: GatewayClient): Promise<number> {
  const validate = (value: unknown): StandardResult<number> =>
    typeof value === 'number' ? { value } : { issues: [{ message: 'not a number' }] };
  const schema: StandardSchema<number> = { '~standard': { version: 1, vendor: 'by-hand', validate } };
  const options: SchemaOptions<number> = { schema };
  const method: Method = 'GET';
  const query: Query = { limit: 1 };
  const request: RawRequest = { method, path: '/v1/models', query };
  return gateway.request(request, options);
}

export async function report(usage: Usage): Promise<UsageReport> {
  const params: UsageParams = { start_date: '2026-01-01', end_date: new Date() };
  return usage.retrieve(params);
}

export async function context(client: ContextClient): Promise<[Decision[], Reference[], ContextMetadata]> {
  const whole: ConversationContext = await client.retrieve('conv');
  const summary: RollingSummary = await client.summary('conv');
  const level: CompactionLevel = 'deep';
  const compact: CompactParams = { level };
  const compacted: CompactionResult = await client.compact('conv', compact);
  const category: PinCategory = 'decision';
  const pin: PinParams = { messageId: 'msg', category };
  const pinned: PinnedMemoryItem = await client.pin('conv', pin);
  await client.unpin('conv', pinned.messageId);
  if (!compacted.success) await client.exclude('conv', 'msg');
  return [summary.decisions, summary.importantReferences, whole.metadata];
}

export async function remember(memory: Memory): Promise<UserMemoryItem[]> {
  const type: MemoryType = 'fact';
  const create: MemoryCreateParams = { type, key: 'home', content: 'Oslo' };
  const update: MemoryUpdateParams = { content: 'Bergen', isActive: true };
  const list: MemoryListParams = { type };
  const item = await memory.create(create);
  await memory.update(item.id, update);
  return memory.list(list);
}

export function log(event: ClientEvent): void {
  const stops: StopReason[] = [];
  const printers = {
    request: (one: RequestEvent) => print(`${one.method} ${one.path}`),
    response: (one: ResponseEvent) => print(one.status),
    queued: (one: QueuedEvent) => print(one.bucket),
    dequeued: (one: DequeuedEvent) => print(one.waited),
    retry: (one: RetryEvent) => print(one.wait),
    failure: (one: FailureEvent) => stops.push(one.stop),
    validation: (one: ValidationEvent) => print(one.issues.length),
  };
  const area: Area = event.area;
  print(area);
  if (event.type === 'request') printers.request(event);
  if (event.type === 'response') printers.response(event);
  if (event.type === 'dequeued') printers.dequeued(event);
  if (event.type === 'retry') printers.retry(event);
  if (event.type === 'failure') printers.failure(event);
  if (event.type === 'validation') printers.validation(event);
}

/** What a page shows of a turn. */
export async function show(response: Response): Promise<ErrorData | undefined> {
  for await (const event of readTurn(response)) {
    const one: TurnEvent = event;
    if (one.type === 'text') print(one.text);
    if (one.type === 'error') return one.error;
  }
  return undefined;
}

/** Each class narrows to its own properties. */
export function explain(error: unknown): unknown {
  if (RateLimitError.is(error)) return error.retryAfter;
  if (AuthenticationError.is(error) || PermissionDeniedError.is(error) || BadRequestError.is(error)) return error.param;
  if (error instanceof NotFoundError || error instanceof StreamError) return error.code;
  if (error instanceof ServiceUnavailableError || error instanceof InternalServerError) return error.status;
  if (error instanceof APIError) return error.headers.get('x-request-id');
  if (error instanceof APITimeoutError) return error.kind;
  if (error instanceof APIConnectionError || error instanceof ResponseTooLargeError) {
    const facts: [Phase, Sent] = [error.phase, error.sent];
    return facts;
  }
  if (error instanceof RequestValidationError || error instanceof ResponseValidationError) {
    const issue: ValidationIssue | undefined = error.issues[0];
    return issue?.path;
  }
  if (error instanceof StreamTruncatedError || error instanceof StreamConsumedError) {
    const partial: PartialChatCompletion | undefined = error.partial;
    return partial?.choices[0]?.message.content;
  }
  if (error instanceof APIAbortError || error instanceof ClientClosedError) return error.cause;
  if (error instanceof ConfigurationError) return error.message;
  return error instanceof ContextGatewayError && error.retryable;
}

/** The schemas return the documented types. */
export function parse(value: unknown): unknown[] {
  const message: ChatMessage = chatMessageSchema.parse(value);
  const completion: ChatCompletion = chatCompletionSchema.parse(value);
  const chunk: ChatCompletionChunk = chatCompletionChunkSchema.parse(value);
  const usage: CompletionUsage = completionUsageSchema.parse(value);
  const report: UsageReport = usageReportSchema.parse(value);
  const whole: ConversationContext = conversationContextSchema.parse(value);
  const summary: RollingSummary = rollingSummarySchema.parse(value);
  const decision: Decision = decisionSchema.parse(value);
  const reference: Reference = referenceSchema.parse(value);
  const metadata: ContextMetadata = contextMetadataSchema.parse(value);
  const pinned: PinnedMemoryItem = pinnedMemoryItemSchema.parse(value);
  const compacted: CompactionResult = compactionResultSchema.parse(value);
  const item: UserMemoryItem = userMemoryItemSchema.parse(value);
  return [
    message,
    completion,
    chunk,
    usage,
    report,
    whole,
    summary,
    decision,
    reference,
    metadata,
    pinned,
    compacted,
    item,
  ];
}

/** Also compiles without the AI SDK. */
export function forTheAiSdk(
  gateway: GatewayClient,
  conversation: Parameters<typeof contextMiddleware>[0],
): [AiSdkModel<'v4'>, ContextMiddleware] {
  const specification: Specification = 'v4';
  const options: AiSdkProviderOptions<'v4'> = { specification };
  const provider: AiSdkProvider<'v4'> = createAiSdkProvider(gateway, options);
  return [provider('m'), contextMiddleware(conversation)];
}

export async function pageOfTheAiSdk(
  conversation: Conversation,
): Promise<[ReadableStream<UIMessageChunk>, FoundMessage[], TurnMetadata | undefined]> {
  const limited: SearchToolOptions = { limit: 3 };
  const tool: SearchTool = searchTool(conversation, limited);
  const options: UIMessageStreamOptions = { onError: String };
  const stream = toUIMessageStream(conversation.stream('Hello?'), options);
  return [stream, await tool.execute({ query: 'Hello' }), undefined];
}

/** Wraps a custom call. */
export function wrapped<T>(answer: Promise<WithResponse<T>>): APIPromise<T> {
  return new APIPromise(answer);
}

/** Stands in for `console`, which not every `lib` has. */
function print(_text: unknown): void {}

/** A conversation with every option and every result. */
export async function converse(context: ContextClient, gateway: GatewayClient): Promise<unknown> {
  const history: ConversationMessage[] = [{ role: 'user', content: 'Hello.', id: 'm1' }];
  const stored: StoredConversation = { messages: history };
  const store: ConversationStore = {
    load: () => stored,
    append: () => {
      throw new ConversationConflictError();
    },
    saveState: (_id, state: ConversationState) => print(state.format),
  };
  const hits: SearchHit[] = [{ id: 'm1' }];
  const search: ConversationSearch = async () => hits;
  const seen: CompactionReceipt[] = [];
  const options: ConversationOptions = {
    context,
    gateway,
    conversationId: 'c',
    model: 'm',
    contextWindow: 8000,
    store,
    search,
    compaction: 0.8,
    onCompaction: (report) => seen.push(report),
  };
  const conversation: Conversation = createConversation({ ...options, store: memoryStore({ c: history }) });
  const input: TurnInput = 'What did we decide?';
  const turnOptions: TurnOptions = { temperature: 0, max_tokens: 100 };
  const reply: ReplyStream = conversation.stream(input, turnOptions);
  for await (const text of reply) print(text);
  const turn: ChatTurn = await reply.final();
  const building: BuildOptions = { messages: history };
  const built: BuiltPrompt = await conversation.buildMessages(input, building);
  const made: MadeReply = { text: 'Nothing.' };
  await conversation.record(input, made);
  conversation.compactWhenDue();
  const sent: PromptMessage[] = built.messages;
  const compacted: CompactionReport = await conversation.compact('light');
  const lost: LedgerEntry[] = await conversation.lost();
  const searching: SearchOptions = { limit: 3 };
  const results: SearchResult[] = await conversation.search('decided', searching);
  const copy: Conversation = await conversation.fork('m1');
  const parts: ContextParts = await conversation.refresh();
  const report: PromptReport = built.report;
  const facts: [Dropped[], Recalled[], ContextSection[]] = [report.dropped, report.recalled, report.included];
  const fit: FitParams = { parts, history, input: history, budget: 1000 };
  const fitted: FittedPrompt = fitToBudget(fit);
  const next: [FitReport, FitState] = [fitted.report, fitted.state];
  const diff: SummaryDiff | undefined = seen[0]?.diff;
  const entries: SummaryEntry[] | undefined = diff?.lost;
  const where: EntrySection | undefined = entries?.[0]?.section;
  return [turn, facts, next, where, sent, compacted, results, copy, lost];
}
