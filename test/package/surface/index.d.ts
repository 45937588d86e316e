// What dist/index.d.ts declares, sorted. Written by scripts/surface.js.

/** The caller's signal ended the call. `cause` is the signal's reason. */
export declare class APIAbortError extends ContextGatewayError {
    constructor(options?: {
        cause?: unknown;
    });
    get name(): string;
}

/** No usable answer came back: refused, reset, cut off. */
export declare class APIConnectionError extends ContextGatewayError {
    #private;
    /** How far the request had come. */
    readonly phase: Phase;
    /** Whether the service can have carried it out. */
    readonly sent: Sent;
    constructor(message: string, details: ConnectionDetails);
    get name(): string;
    get retryable(): boolean;
    protected facts(): Record<string, unknown>;
}

/** The service answered with an error. Its subclasses name the common statuses. */
export declare class APIError extends ContextGatewayError {
    #private;
    /** The HTTP status. 200 when an error came inside a successful answer. */
    readonly status: number;
    /** Which half of the service answered. */
    readonly area: Area;
    /** The kind of error, such as `rate_limit_error`. Gateway only. */
    readonly type: string | undefined;
    /** The error's code, such as `model_not_found`. Gateway only. */
    readonly code: string | undefined;
    /** The parameter that is wrong, such as `model`. Gateway only. */
    readonly param: string | undefined;
    /** The id under which the service knows this request, if it sent one. */
    readonly requestId: string | undefined;
    /** Milliseconds the service asks to wait before the next try, if it said so. */
    readonly retryAfter: number | undefined;
    /** The rate limit as of this answer, if the service sent one. */
    readonly rateLimit: RateLimit | undefined;
    constructor(status: number, details: APIErrorDetails);
    get name(): string;
    get retryable(): boolean;
    /** The headers of the answer. Not part of any printed form. */
    get headers(): Headers;
    /** The body of the answer: parsed JSON, or text. Not part of any printed form. */
    get body(): unknown;
    protected facts(): Record<string, unknown>;
}

/** What an `APIError` is made of. */
interface APIErrorDetails {
    readonly message: string;
    readonly area: Area;
    readonly type?: string | undefined;
    readonly code?: string | undefined;
    readonly param?: string | undefined;
    readonly requestId?: string | undefined;
    readonly retryAfter?: number | undefined;
    readonly rateLimit?: RateLimit | undefined;
    readonly headers: HeaderSource;
    readonly body: unknown;
}

/**
 * What every method returns. Await it for the data; call `withResponse()` for status, headers, rate limit and attempts too.
 * The request is sent once, however often it is awaited.
 */
export declare class APIPromise<T> implements Promise<T> {
    #private;
    constructor(answer: Promise<WithResponse<T>>);
    /** The data together with what came with it. */
    withResponse(): Promise<WithResponse<T>>;
    then<A = T, B = never>(onFulfilled?: ((data: T) => A | PromiseLike<A>) | null, onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<A | B>;
    catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B>;
    finally(onFinally?: (() => void) | null): Promise<T>;
    get [Symbol.toStringTag](): string;
}

/** Time ran out. `kind` says which: one attempt (`'attempt'`), the whole call (`'deadline'`), or a silent stream (`'idle'`). */
export declare class APITimeoutError extends APIConnectionError {
    readonly kind: 'attempt' | 'deadline' | 'idle';
    constructor(message: string, details: ConnectionDetails & {
        kind: 'attempt' | 'deadline' | 'idle';
    });
    get name(): string;
    protected facts(): Record<string, unknown>;
}

/** A place in the queue of a bucket. */
export interface Admission {
    /** Resolves when the request may be sent. */
    readonly ready: Promise<void>;
    /** Gives the place up. */
    cancel(): void;
}

/** The two halves of the service: the Context API (`/api`) and the Gateway API (`/v1`). */
export type Area = 'context' | 'gateway';

/** What one request of a call came to, in the order they were sent. */
export interface Attempt {
    /** The status of the answer, if one came. */
    readonly status?: number;
    /** The name of the error, if no usable answer came. */
    readonly error?: string;
    /** Milliseconds waited before this attempt: backoff and pacing. */
    readonly delay: number;
    /** Milliseconds from its start to its answer or failure. */
    readonly duration: number;
}

/** 401: the credential is missing, wrong or expired. */
export declare class AuthenticationError extends APIError {
    get name(): string;
}

/** 400: the service refuses the arguments. */
export declare class BadRequestError extends APIError {
    get name(): string;
}

/** What every event says. Paths are written as in the interface (`/api/memory/{memoryId}`): ids, keys and texts are in none. */
interface CallFacts {
    /** Numbers the calls of one client from 1, to tell which events belong together. */
    readonly call: number;
    readonly area: Area;
    readonly method: string;
    readonly path: string;
}

/** Chat. */
export declare class Chat {
    readonly completions: ChatCompletions;
}

/** A whole completion. */
export interface ChatCompletion {
    id: string;
    object: string;
    /** Unix time, in seconds. */
    created: number;
    model: string;
    choices: ChatCompletionChoice[];
    usage: CompletionUsage;
}

/** One of a completion's answers. */
export interface ChatCompletionChoice {
    index: number;
    message: ChatMessage;
    /** Why it ends: `stop`, or `length` at `max_tokens`. */
    finish_reason: 'stop' | 'length' | (string & {});
}

/** One piece of a streamed completion (A7). */
export interface ChatCompletionChunk {
    id?: string | undefined;
    object?: string | undefined;
    created?: number | undefined;
    model?: string | undefined;
    /** Empty in a chunk that carries `usage` only. */
    choices: ChatCompletionChunkChoice[];
    usage?: CompletionUsage | null | undefined;
}

/** What a chunk adds to one choice. */
export interface ChatCompletionChunkChoice {
    index: number;
    delta: ChatCompletionDelta;
    /** Present, and not `null`, on the last chunk of its choice. */
    finish_reason?: 'stop' | 'length' | (string & {}) | null | undefined;
}

/** What a chunk adds to a message. */
export interface ChatCompletionDelta {
    role?: ChatRole | null | undefined;
    content?: string | null | undefined;
}

/** Arguments of `chat.completions.create`. */
export interface ChatCompletionParams {
    /** One of the offered model ids. */
    model: string;
    messages: readonly ChatMessage[];
    /** 0 to 2. @default 1 */
    temperature?: number | undefined;
    /** The longest answer, in tokens. */
    max_tokens?: number | undefined;
    /** Whether the answer comes piece by piece. @default false */
    stream?: boolean | undefined;
}

/**
 * A completion while it is written. Loop over it once: the loop ends exactly when the completion is complete, and throws in
 * every other case, with what had arrived in the error's `partial`. Leaving the loop frees the connection.
 */
export declare class ChatCompletionStream implements AsyncIterable<ChatCompletionChunk> {
    #private;
    /** What came with the stream's headers. */
    get response(): ResponseInfo;
    /** @throws {StreamConsumedError} on a second loop */
    [Symbol.asyncIterator](): AsyncIterator<ChatCompletionChunk, undefined>;
    /** The text of the first choice, piece by piece. Reads the stream. */
    get textStream(): AsyncIterable<string>;
    /**
     * The whole completion, once it is complete: instead of a loop, right before one, during one, or after one. Inside a loop,
     * await it after the loop: it waits for the stream's end. `usage` is there if the service sent it.
     *
     * @throws {StreamTruncatedError} when the loop was left early; whatever else ended the stream
     */
    finalCompletion(): Promise<StreamedChatCompletion>;
    /**
     * The stream as server-sent events again, to relay it to a browser, where `readChatCompletionStream` reads it. What goes
     * wrong on the way becomes an error event. Cancelling it closes this stream.
     */
    toReadableStream(): ReadableStream<Uint8Array>;
    /** Ends the stream and frees its connection. A loop over it throws a `StreamTruncatedError`, unless it was complete. */
    close(): void;
    [Symbol.asyncDispose](): Promise<void>;
    /** How it has gone so far. */
    get metrics(): StreamMetrics;
}

/** `/v1/chat/completions` */
export declare class ChatCompletions {
    #private;
    /**
     * Have a model answer a conversation. `POST /v1/chat/completions`
     *
     * With `stream: true` the answer comes piece by piece: `for await (const chunk of await create({ …, stream: true }))`.
     * A whole answer may take 600 s, the headers of a stream 60 s, unless `timeout` says otherwise. Parameters the interface
     * does not list are passed on to the service: declare them, `const params: ChatCompletionParams & { stream?: false; top_p: number } = …`.
     * Only what is certainly misplaced is refused: `maxTokens`, an option such as `timeout`.
     *
     * @throws {RequestValidationError} before anything is sent: no messages, `temperature` outside 0 to 2
     * @throws {NotFoundError} with `code: 'model_not_found'`
     * @throws {BadRequestError} when the conversation does not fit the model's context window, or the service refuses a field
     * @throws {RateLimitError} when the limit is used up and retries did not help; see `retryAfter`
     */
    create(params: ChatCompletionParams & {
        stream: true;
    }, options?: RequestOptions): APIPromise<ChatCompletionStream>;
    create(params: ChatCompletionParams & {
        stream?: false | undefined;
    }, options?: RequestOptions): APIPromise<ChatCompletion>;
    create(params: ChatCompletionParams, options?: RequestOptions): APIPromise<ChatCompletion | ChatCompletionStream>;
}

/** One message of a conversation. */
export interface ChatMessage {
    role: ChatRole;
    content: string;
}

/** Who says a message. Other roles are sent as they are; the service decides. */
export type ChatRole = 'system' | 'user' | 'assistant' | (string & {});

/** The client was closed before or during the call. */
export declare class ClientClosedError extends ContextGatewayError {
    constructor();
    get name(): string;
}

/** What `onEvent` receives. */
export type ClientEvent = (RequestEvent | ResponseEvent | RetryEvent | FailureEvent) | (QueuedEvent | PacedEvent | ValidationEvent);

/** What both clients take. All times are milliseconds. */
export interface ClientOptions {
    /**
     * Where the service is, without `/v1` or `/api`: `https://gateway.example.com`. HTTPS, except on this machine.
     * @default the environment's `CONTEXT_GATEWAY_BASE_URL`
     */
    baseURL?: string | undefined;
    /**
     * Milliseconds for one attempt: until its body is read; for a stream, until its headers; for an upload, without progress.
     * @default 60_000, and 600_000 for plain completions and for executing presets and integrations
     */
    timeout?: number | undefined;
    /**
     * Milliseconds for a whole call: waiting, all attempts, a stream's last event.
     * @default none
     */
    deadline?: number | undefined;
    /**
     * Milliseconds a stream may stay silent while it is read. Only events with data count, keep-alive comments do not.
     * @default 120_000
     */
    streamIdleTimeout?: number | undefined;
    /**
     * Attempts after the first one, 0 to 5.
     * @default 2
     */
    maxRetries?: number | undefined;
    /**
     * The longest wait a service may ask for. Above it the error is thrown at once, with `retryAfter`. Later calls wait for the
     * end of the same limit (see `pacing`), unless a `deadline` ends them.
     * @default 60_000
     */
    maxRetryAfter?: number | undefined;
    /** Headers of every request. The credential, `host` and the headers that frame a body cannot be set. */
    defaultHeaders?: Readonly<Record<string, string | undefined>> | undefined;
    /** A `fetch` to send with, instead of the platform's best way. */
    fetch?: typeof globalThis.fetch | undefined;
    /** Node only: an undici `Dispatcher` to send with (a proxy, a pool, a mock). It stays yours: `close()` leaves it open. */
    dispatcher?: DispatcherLike | undefined;
    /**
     * What happens with an answer that is not as documented: an error, or an event for `onEvent` and the answer as it is.
     * @default 'error'
     */
    validation?: 'error' | 'report' | undefined;
    /**
     * Whether calls wait while the service's rate limit is used up, 300 s at the most; `timeout` does not count that wait, a
     * `deadline` does. Or a limiter of your own.
     * @default true
     */
    pacing?: boolean | RateLimiter | undefined;
    /** Told what happens inside: requests, answers, retries, waits. Without credentials, ids and texts. What it throws is ignored. */
    onEvent?: ((event: ClientEvent) => void) | undefined;
    /**
     * The header an `idempotencyKey` is sent in.
     * @default 'Idempotency-Key'
     */
    idempotencyHeader?: string | undefined;
    /**
     * Allows a secret key in a browser, where everybody can read it. For tests.
     * @default false
     */
    dangerouslyAllowBrowser?: boolean | undefined;
}

/** Arguments of `compact`. */
export interface CompactParams {
    /** Left to the service when absent (A4). */
    level?: CompactionLevel | undefined;
}

/** How much a compaction removes. */
export type CompactionLevel = 'light' | 'deep' | 'aggressive';

/** What a compaction did. */
export interface CompactionResult {
    success: boolean;
    previousTokenCount: number;
    newTokenCount: number;
    tokensRemoved: number;
    summaryUpdated: boolean;
}

/** What a completion cost, in tokens. */
export interface CompletionUsage {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens: number;
}

/** A client was given an option that cannot work. Thrown by the constructors; the message names the mend. */
export declare class ConfigurationError extends ContextGatewayError {
    get name(): string;
}

/** What an `APIConnectionError` is made of. */
interface ConnectionDetails {
    readonly phase: Phase;
    readonly sent: Sent;
    readonly cause?: unknown;
    readonly retryable?: boolean;
}

/**
 * The Context API (`/api`): the compact context of a conversation, its pinned and excluded messages, and user memory.
 *
 * @throws {ConfigurationError} when an option cannot work; the message names the mend
 */
export declare class ContextClient extends ServiceClient {
    #private;
    /** What the service remembers about the user. */
    readonly memory: Memory;
    constructor(options?: ContextClientOptions);
    /** A client with other options that shares connections, limits and `close()` with this one. */
    withOptions(options: DerivedOptions<ContextClientOptions>): ContextClient;
    /**
     * The compact context of a conversation: rolling summary, pinned messages, token figures. `GET /api/context`
     *
     * @throws {NotFoundError} when there is no such conversation
     * @throws {PermissionDeniedError} when it belongs to a workspace the user is not a member of
     */
    retrieve(conversationId: string, options?: RequestOptions): APIPromise<ConversationContext>;
    /**
     * The rolling summary alone. `GET /api/context/summary`
     *
     * @throws {NotFoundError} when there is no such conversation
     */
    summary(conversationId: string, options?: RequestOptions): APIPromise<RollingSummary>;
    /**
     * Make the context smaller: `light`, `deep` or `aggressive`. Without `level` the service chooses (A4).
     * `POST /api/context/compact`
     *
     * Has a stricter rate limit than the other calls; waiting for it holds none of them up.
     *
     * @throws {RateLimitError} when the limit is used up and retries did not help; see `retryAfter`
     */
    compact(conversationId: string, params?: CompactParams, options?: RequestOptions): APIPromise<CompactionResult>;
    /**
     * Keep a message in the context whatever a compaction removes. `POST /api/context/pin/{conversationId}`
     *
     * Without `category` the service picks one; its choice is in the answer (A6).
     *
     * @throws {NotFoundError} when the conversation or the message does not exist
     */
    pin(conversationId: string, params: PinParams, options?: RequestOptions): APIPromise<PinnedMemoryItem>;
    /**
     * Stop keeping a message. `DELETE /api/context/pin/{conversationId}`
     *
     * @throws {NotFoundError} when the conversation or the pin does not exist
     */
    unpin(conversationId: string, messageId: string, options?: RequestOptions): APIPromise<void>;
    /**
     * Leave a message out of the rolling summary. `PATCH /api/context/exclude/{conversationId}/{messageId}`
     *
     * @throws {NotFoundError} when the conversation or the message does not exist
     */
    exclude(conversationId: string, messageId: string, options?: RequestOptions): APIPromise<void>;
    /**
     * Take a message into the rolling summary again. `PATCH /api/context/exclude/{conversationId}/{messageId}`
     *
     * @throws {NotFoundError} when the conversation or the message does not exist
     */
    include(conversationId: string, messageId: string, options?: RequestOptions): APIPromise<void>;
}

/** Options of a `ContextClient`. */
export interface ContextClientOptions extends ClientOptions {
    /**
     * The session token of the user, or a function that gives it.
     * @default the environment's `CONTEXT_GATEWAY_SESSION_TOKEN`
     */
    sessionToken?: Credential | undefined;
    /**
     * The header it is sent in (A8).
     * @default { name: 'Authorization', scheme: 'Bearer' }
     */
    sessionHeader?: SessionHeader | undefined;
}

/** What every error of this package extends. It can be logged and serialised: no credential or payload is in it. */
export declare class ContextGatewayError extends Error {
    #private;
    /** What was tried before this error, in order. Empty when nothing was. */
    readonly attempts: readonly Attempt[];
    constructor(message: string, options?: {
        cause?: unknown;
    });
    /** The name of the class, safe against minifiers. */
    get name(): string;
    /** What of a streamed completion had arrived before this error. Not part of any printed form. */
    get partial(): PartialChatCompletion | undefined;
    /** Whether the same call may succeed later. For a call with an effect, see also `sent`. */
    get retryable(): boolean;
    /** Like `instanceof`, and true for errors of another copy of this package too. */
    static is<Class extends abstract new (...args: never[]) => ContextGatewayError>(this: Class, value: unknown): value is InstanceType<Class>;
    /** The facts of the error as plain JSON, for logs. */
    toJSON(): Record<string, unknown>;
    /** What a class adds to `toJSON`. */
    protected facts(): Record<string, unknown>;
}

/** Figures of a context. */
export interface ContextMetadata {
    /** Tokens of the conversation. */
    totalTokens: number;
    /** Tokens of its compact context. */
    compressedTokens: number;
    preservationRatio: number;
    /** ISO 8601; `null` or absent before the first compaction (A23). */
    lastCompactionAt?: string | null | undefined;
    /** Messages that are kept word for word. */
    recentMessageCount: number;
}

/** The whole context of a conversation. */
export interface ConversationContext {
    rollingSummary: RollingSummary;
    pinnedMemory: PinnedMemoryItem[];
    metadata: ContextMetadata;
}

/** A credential, or a function that gives one. It is called for every attempt, so that keys can be rotated without a restart. */
export type Credential = string | (() => string | Promise<string>);

/** Something the conversation has decided. */
export interface Decision {
    id: string;
    decision: string;
    reason: string;
    /** ISO 8601. */
    timestamp: string;
}

/**
 * Turns an event into a chunk, for services whose events have another form (A7): `'done'` ends the completion, `undefined`
 * skips the event. It is not asked about `[DONE]` and `event: error`. What it throws ends the stream with a
 * `ResponseValidationError` whose `cause` it is.
 */
export type DecodeChunk = (event: ServerSentEvent) => ChatCompletionChunk | 'done' | undefined;

/** What `withOptions` takes: everything but what the two clients share. */
export type DerivedOptions<Options> = Omit<Options, 'fetch' | 'dispatcher' | 'pacing'>;

/** As much of an undici `Dispatcher` as is used here, so that our types need none of undici's. */
export interface DispatcherLike {
    dispatch(options: never, handler: never): boolean;
}

/** The call failed for good, or its stream ended badly. `stop` says why it is not tried again. */
export interface FailureEvent extends CallFacts {
    readonly type: 'failure';
    readonly attempt: number;
    readonly reason: number | string;
    readonly stop: StopReason;
}

/** An uploaded file. Undocumented (A3). */
export interface FileRecord extends OpenRecord {
}

/** Arguments of `files.upload`. */
export interface FileUploadParams {
    file: Uploadable;
    /** What the file is for; the allowed values are the service's. */
    purpose: string;
    /** @default the File's or the path's own name, else `'file'` */
    filename?: string | undefined;
}

/** `/v1/files` */
export declare class Files {
    #private;
    /** The same, with the raw answer checked and typed by `schema`. */
    upload<T>(params: FileUploadParams, options: UploadOptions & SchemaOptions<T>): APIPromise<T>;
    /**
     * Upload a file. `POST /v1/files` (multipart/form-data)
     *
     * Files on disk (`{ path }`) and streams are sent as they are read, never held in memory. A stream whose upload ends early is
     * cancelled (one of Node's destroyed). `timeout` (60 s) is how long the
     * upload may stand still; where nobody reports its progress (a Blob sent through `fetch`), it has that long for every
     * megabyte. The record's form is not documented (A3): pass a `schema` to have it checked and typed.
     *
     * @throws {RequestValidationError} before anything is sent: no such file, a stream where the platform can send none
     * @throws {APIError} with status 413 when the file is larger than the service takes
     */
    upload(params: FileUploadParams, options?: UploadOptions): APIPromise<FileRecord>;
}

/**
 * The Gateway API (`/v1`): chat completions, presets, files, integrations, usage.
 *
 * @throws {ConfigurationError} when an option cannot work; the message names the mend
 */
export declare class GatewayClient extends ServiceClient {
    #private;
    /** Chat completions, whole or streamed. */
    readonly chat: Chat;
    /** Stored templates. */
    readonly presets: Presets;
    /** File uploads. */
    readonly files: Files;
    /** Connected integrations and their actions. */
    readonly integrations: Integrations;
    /** Token use. */
    readonly usage: Usage;
    constructor(options?: GatewayClientOptions);
    /** The kind of key, by its prefix. With a function, that of the key it gave last. */
    get keyType(): KeyType;
    /** A client with other options that shares connections, limits and `close()` with this one. */
    withOptions(options: DerivedOptions<GatewayClientOptions>): GatewayClient;
}

/** Options of a `GatewayClient`. */
export interface GatewayClientOptions extends ClientOptions {
    /**
     * The API key, or a function that gives it, for rotation without a restart. Secret keys (`svc_sk_`) belong on servers;
     * a browser takes a publishable one (`svc_pk_`).
     * @default the environment's `CONTEXT_GATEWAY_API_KEY`
     */
    apiKey?: Credential | undefined;
    /** Reads the events of a service that streams in another form (A7). */
    decodeChunk?: DecodeChunk | undefined;
}

/** The headers of an answer, as an engine keeps them: nothing is copied until somebody asks. */
interface HeaderSource {
    get(name: string): string | undefined;
    toHeaders(): Headers;
}

/** A connected integration. Undocumented (A3). */
export interface Integration extends OpenRecord {
}

/** Arguments of `integrations.execute`: the action, and whatever fields it takes. */
export interface IntegrationExecuteParams {
    /** Such as the one that posts a message, which takes `channel` and `text`. */
    action: string;
    [field: string]: unknown;
}

/** What an integration's action gave. Undocumented (A3): an object, or an array (`Array.isArray` tells). */
export interface IntegrationResult extends OpenRecord {
}

/** `/v1/integrations` */
export declare class Integrations {
    #private;
    /** The same, with the raw answer checked and typed by `schema`. */
    list<T>(options: SchemaOptions<T>): APIPromise<T>;
    /**
     * The connected integrations. `GET /v1/integrations`
     *
     * What an integration holds is not documented (A3): pass a `schema` to have the raw answer checked and typed by it.
     */
    list(options?: RequestOptions): APIPromise<Integration[]>;
    /** The same, with the raw answer checked and typed by `schema`. */
    execute<T>(integration: string, params: IntegrationExecuteParams, options: SchemaOptions<T>): APIPromise<T>;
    /**
     * Have an integration do something: `execute('chat', { action: 'post_message', channel: '#team', text: 'Done.' })`.
     * `POST /v1/integrations/:integration/execute`
     *
     * Which fields an action takes, and what it gives, is not documented (A3): all are sent as JSON; pass a `schema` for the
     * answer. May take 600 s unless `timeout` says otherwise. A lost connection is not tried again: the action may be done.
     *
     * @throws {RequestValidationError} when a field cannot be written as JSON
     * @throws {NotFoundError} when there is no such integration
     */
    execute(integration: string, params: IntegrationExecuteParams, options?: RequestOptions): APIPromise<IntegrationResult>;
}

/** 5xx: the service failed. */
export declare class InternalServerError extends APIError {
    get name(): string;
}

/** What a key may do, as far as its prefix tells. */
export type KeyType = 'secret' | 'publishable' | 'unknown';

/** `/api/memory` */
export declare class Memory {
    #private;
    /**
     * What the service remembers: your own items, or those of a workspace; of one `type` or all. `GET /api/memory`
     *
     * @throws {PermissionDeniedError} when the user is not a member of the workspace
     */
    list(params?: MemoryListParams, options?: RequestOptions): APIPromise<UserMemoryItem[]>;
    /**
     * Remember something. `POST /api/memory`
     *
     * @throws {PermissionDeniedError} when the user is not a member of the workspace
     */
    create(params: MemoryCreateParams, options?: RequestOptions): APIPromise<UserMemoryItem>;
    /**
     * Change an item, or deactivate it with `isActive: false`. `PATCH /api/memory/{memoryId}`
     *
     * @throws {NotFoundError} when there is no such item
     */
    update(memoryId: string, params: MemoryUpdateParams, options?: RequestOptions): APIPromise<UserMemoryItem>;
    /**
     * Delete an item for good. `DELETE /api/memory/{memoryId}`
     *
     * @throws {NotFoundError} when there is no such item
     */
    delete(memoryId: string, options?: RequestOptions): APIPromise<void>;
}

/** Arguments of `memory.create`. */
export interface MemoryCreateParams {
    type: MemoryType;
    key: string;
    content: string;
    /** Shares the item with a workspace. Without it, it is yours alone. */
    workspaceId?: string | undefined;
}

/** Arguments of `memory.list`. */
export interface MemoryListParams {
    /** Items of this workspace. Without it, your own (A5). */
    workspaceId?: string | undefined;
    /** Items of this type only. */
    type?: MemoryType | undefined;
}

/** What a memory item is. */
export type MemoryType = 'preference' | 'fact' | 'constraint' | 'definition';

/** Arguments of `memory.update`. */
export interface MemoryUpdateParams {
    content: string;
    /** `false` deactivates the item without deleting it. */
    isActive?: boolean | undefined;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** 404: the conversation, message, model, preset or integration does not exist. */
export declare class NotFoundError extends APIError {
    get name(): string;
}

/** What an answer said about its bucket. All fields are absent where no answer came. */
export interface Observation {
    /** Requests a window allows. */
    readonly limit?: number | undefined;
    /** Requests left in the window. */
    readonly remaining?: number | undefined;
    /** Milliseconds until the window ends. */
    readonly untilReset?: number | undefined;
    /** Milliseconds for which nothing may be sent: the hint of a 429. */
    readonly blockedFor?: number | undefined;
}

/** A record the interface does not describe (A3). Pass a `schema` to have it checked and typed as yours. */
export interface OpenRecord {
    id?: string | undefined;
    name?: string | undefined;
    [field: string]: unknown;
}

/** The call waited `waited` ms because the service would have refused it. */
export interface PacedEvent extends CallFacts {
    readonly type: 'paced';
    readonly bucket: string;
    readonly waited: number;
}

/** As much of a streamed completion as had arrived. `finish_reason` is `null` where the choice was still being written. */
export interface PartialChatCompletion {
    readonly id: string | undefined;
    readonly model: string | undefined;
    readonly created: number | undefined;
    readonly choices: ReadonlyArray<{
        readonly index: number;
        readonly message: {
            readonly role: string;
            readonly content: string;
        };
        readonly finish_reason: string | null;
    }>;
}

/** 403: the credential may not do this. */
export declare class PermissionDeniedError extends APIError {
    get name(): string;
}

/** How far a request had come when its connection failed. */
export type Phase = 'connect' | 'headers' | 'body' | 'stream';

/** What a pinned message is. */
export type PinCategory = 'decision' | 'requirement' | 'reference' | 'other';

/** Arguments of `pin`. */
export interface PinParams {
    messageId: string;
    /** Left to the service when absent; its choice is in the answer (A6). */
    category?: PinCategory | undefined;
}

/** A message that stays in the context whatever a compaction removes. */
export interface PinnedMemoryItem {
    id: string;
    messageId: string;
    /** The message's text. */
    content: string;
    category: PinCategory | (string & {});
    /** ISO 8601. */
    pinnedAt: string;
}

/** A template for completions. Undocumented (A3). */
export interface Preset extends OpenRecord {
}

/** Arguments of `presets.execute`. */
export interface PresetExecuteParams {
    /** What the template is filled with. */
    input: string;
    model: string;
}

/** Arguments of `presets.list`. */
export interface PresetListParams {
    /** Presets of this category only. */
    category?: string | undefined;
    /** The longest list. @default 50, by the service */
    limit?: number | undefined;
}

/** What a preset gave. Undocumented (A3): an object, or an array (`Array.isArray` tells). */
export interface PresetResult extends OpenRecord {
}

/** `/v1/presets` */
export declare class Presets {
    #private;
    /** The same, with the raw answer checked and typed by `schema`. */
    list<T>(params: PresetListParams | undefined, options: SchemaOptions<T>): APIPromise<T>;
    /**
     * The stored templates, of one `category` or all, at most `limit` (the service's default is 50). `GET /v1/presets`
     *
     * What a preset holds is not documented (A3): pass a `schema` to have the raw answer checked and typed by it.
     *
     * @throws {RequestValidationError} when `limit` is not a whole number from 1
     */
    list(params?: PresetListParams, options?: RequestOptions): APIPromise<Preset[]>;
    /** The same, with the raw answer checked and typed by `schema`. */
    execute<T>(presetId: string, params: PresetExecuteParams, options: SchemaOptions<T>): APIPromise<T>;
    /**
     * Fill a template with `input` and have `model` answer it. `POST /v1/presets/:presetId/execute`
     *
     * The result's form is not documented (A3): pass a `schema` to have the raw answer checked and typed by it.
     * May take 600 s unless `timeout` says otherwise. Costs tokens, so that a lost connection is not tried again.
     *
     * @throws {NotFoundError} when there is no such preset
     */
    execute(presetId: string, params: PresetExecuteParams, options?: RequestOptions): APIPromise<PresetResult>;
}

/** Hears of every part that left: bytes so far, and in all if known. */
export type ProgressListener = (sent: number, total: number | undefined) => void;

/** A query as the caller gave it; what is `undefined` is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The call begins to wait because the service would refuse it now: the limit of this bucket is used up. */
export interface QueuedEvent extends CallFacts {
    readonly type: 'queued';
    readonly bucket: string;
}

/** The service's rate limit as of one answer (`X-RateLimit-*`). A field is `undefined` where its header is absent or unreadable. */
export interface RateLimit {
    /** Requests allowed in one window. */
    readonly limit: number | undefined;
    /** Requests left in this window. */
    readonly remaining: number | undefined;
    /** When the window ends, by the service's clock. */
    readonly resetAt: Date | undefined;
    /** The three headers as they came. */
    readonly raw: {
        readonly limit: string | undefined;
        readonly remaining: string | undefined;
        readonly reset: string | undefined;
    };
}

/** 429: too many requests. `retryAfter` says how many milliseconds to wait. */
export declare class RateLimitError extends APIError {
    get name(): string;
}

/**
 * Decides when a request may be sent. Every `admit` that lets one go is followed by one `release`.
 * A bucket is a limit of its own: `gateway`, `context`, `compact`.
 */
export interface RateLimiter {
    /** `undefined`: send now. */
    admit(bucket: string): Admission | undefined;
    /** The request is answered, or has failed. */
    release(bucket: string, observed: Observation): void;
}

/** A request to an endpoint that has no method of its own yet. */
export interface RawRequest {
    method: Method;
    /** From the base address on, encoded: `/v1/models`. */
    path: string;
    query?: Query | undefined;
    /** Sent as JSON. */
    body?: unknown;
}

/** Options of `readChatCompletionStream`. */
export interface ReadStreamOptions {
    /** Ends the stream. */
    signal?: AbortSignal | undefined;
    /** Milliseconds the stream may stay silent while it is read. @default 120_000 */
    streamIdleTimeout?: number | undefined;
}

/** Something the conversation refers to. */
export interface Reference {
    /** The kind of reference, such as `file` (A2). */
    type: 'file' | (string & {});
    value: string;
    label: string;
}

/** One attempt is about to be sent. `attempt` counts from 1. */
export interface RequestEvent extends CallFacts {
    readonly type: 'request';
    readonly attempt: number;
}

/** Options of one call, always the last argument; they win over the client's. All times are milliseconds. */
export interface RequestOptions {
    /** Ends the call: its waits, its attempts, its stream. */
    signal?: AbortSignal | undefined;
    /** Milliseconds for one attempt. @see ClientOptions.timeout */
    timeout?: number | undefined;
    /** Milliseconds for the whole call. @default none */
    deadline?: number | undefined;
    /** Milliseconds a stream may stay silent while it is read. @default 120_000 */
    streamIdleTimeout?: number | undefined;
    /** Attempts after the first one, 0 to 5. @default 2 */
    maxRetries?: number | undefined;
    /** Headers of this request, over the client's. */
    headers?: Readonly<Record<string, string | undefined>> | undefined;
    /**
     * Sent with every attempt, so that a service which honours it does the work once. Whether it does is not documented: a request
     * with an effect is still not repeated when its answer is lost. Repeat it yourself, with the same key.
     */
    idempotencyKey?: string | undefined;
}

/** The arguments of a call are not valid. Nothing was sent. */
export declare class RequestValidationError extends ContextGatewayError {
    /** Which argument, and what it has to be. */
    readonly issues: readonly ValidationIssue[];
    constructor(issues: readonly ValidationIssue[], options?: {
        cause?: unknown;
    });
    get name(): string;
    protected facts(): Record<string, unknown>;
}

/** Status and headers of an attempt are here. `duration` in ms. */
export interface ResponseEvent extends CallFacts {
    readonly type: 'response';
    readonly attempt: number;
    readonly status: number;
    readonly duration: number;
    readonly requestId: string | undefined;
}

/** What came with the data: `(await call.withResponse()).response`. */
export interface ResponseInfo {
    readonly status: number;
    readonly headers: Headers;
    /** The id under which the service knows the request (`x-request-id`), if it sent one. */
    readonly requestId: string | undefined;
    /** The rate limit as of this answer, if the service sent one. */
    readonly rateLimit: RateLimit | undefined;
    /** Every attempt of the call; the last one is this answer. */
    readonly attempts: readonly Attempt[];
}

/** A body or a streamed event is larger than this client reads. */
export declare class ResponseTooLargeError extends APIConnectionError {
    get name(): string;
}

/** A success whose body is not what the interface documents. The answer is in `body`. */
export declare class ResponseValidationError extends ContextGatewayError {
    #private;
    /** Where the answer differs. */
    readonly issues: readonly ValidationIssue[];
    constructor(message: string, details: {
        issues?: readonly ValidationIssue[];
        body: unknown;
        retryable?: boolean;
        cause?: unknown;
    });
    get name(): string;
    get retryable(): boolean;
    /** The whole answer as it came. Not part of any printed form. */
    get body(): unknown;
    protected facts(): Record<string, unknown>;
}

/** An attempt failed and is followed by another one after `wait` ms. `reason` is the status, or the name of the error. */
export interface RetryEvent extends CallFacts {
    readonly type: 'retry';
    readonly attempt: number;
    readonly reason: number | string;
    readonly wait: number;
}

/** What the service remembers of a conversation in short. */
export interface RollingSummary {
    goals: string[];
    decisions: Decision[];
    requirements: string[];
    currentPlan: string[];
    openQuestions: string[];
    /** Term to meaning. */
    definitions: Record<string, string>;
    importantReferences: Reference[];
    /** Its fields are not documented (A1). */
    stylePreferences: Record<string, unknown>;
    /** ISO 8601. */
    lastUpdated: string;
    /** Rises by one whenever the summary changes. */
    version: number;
}

/** For answers the interface does not describe: `schema` (zod, valibot, arktype: any Standard Schema) checks the body and types the answer. */
export interface SchemaOptions<T> extends RequestOptions {
    schema: StandardSchema<T>;
}

/** Whether the service can have carried out a request whose answer never came: `no`, `maybe` or `yes`. */
export type Sent = 'no' | 'maybe' | 'yes';

/** One server-sent event. */
export interface ServerSentEvent {
    /** Its `event` field, if it has one. */
    readonly event?: string | undefined;
    readonly data: string;
}

/** What both clients can do. It holds no key: nothing that prints a client can print one. */
declare class ServiceClient {
    #private;
    /** The last known rate limit of each bucket: `gateway`, `context`, `compact`. A bucket appears with its first answer. */
    get rateLimit(): Readonly<Record<string, RateLimit>>;
    /** The same, with the raw answer checked and typed by `schema`. */
    request<T>(request: RawRequest, options: SchemaOptions<T>): APIPromise<T>;
    /**
     * Calls an endpoint that this version does not know, with everything the other methods have: credential, retries, limits,
     * errors. Gives the parsed body as it came; pass a `schema` to have it checked and typed.
     *
     * @throws {RequestValidationError} when `path` is not a plain path
     * @throws {APIError} when the service refuses
     */
    request(request: RawRequest, options?: RequestOptions): APIPromise<unknown>;
    /** Ends calls that are under way with a `ClientClosedError`, refuses later ones, and gives up every connection. */
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

/** 503: the service is not available for the moment. */
export declare class ServiceUnavailableError extends InternalServerError {
    get name(): string;
}

/** How the session token is sent (A8). */
export interface SessionHeader {
    /** The header's name. */
    name: string;
    /** What stands before the token, such as `Bearer`; nothing when absent. */
    scheme?: string | undefined;
}

/** What a Standard Schema says of a value. */
export type StandardResult<Output> = {
    readonly value: Output;
    readonly issues?: undefined;
} | {
    readonly issues: ReadonlyArray<{
        readonly message: string;
        readonly path?: ReadonlyArray<unknown> | undefined;
    }>;
};

/** The part of the Standard Schema interface (standardschema.dev, version 1) that is used here; zod, valibot and arktype have it. */
export interface StandardSchema<Output> {
    readonly '~standard': {
        readonly version: 1;
        readonly vendor: string;
        readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
        readonly types?: {
            readonly input: unknown;
            readonly output: Output;
        } | undefined;
    };
}

/** Why a failed call is not tried again. */
export type StopReason = 'not-repeatable' | 'retries-used-up' | 'hint-too-long' | 'no-time-left' | 'budget-empty';

/** A stream was read a second time. */
export declare class StreamConsumedError extends ContextGatewayError {
    constructor();
    get name(): string;
}

/** The service reported an error inside a stream that had begun well. See `partial` for what had arrived. */
export declare class StreamError extends APIError {
    get name(): string;
}

/** How a stream has gone so far. Times in ms. */
export interface StreamMetrics {
    /** From the request to the first chunk. */
    readonly timeToFirstChunk: number | undefined;
    /** The longest wait for an event after the first chunk. The time the reader takes for itself does not count. */
    readonly largestGap: number | undefined;
    readonly chunks: number;
    /** From the request to now, or to the stream's end. */
    readonly duration: number;
}

/** The stream ended before the completion did: no `[DONE]`, and not every choice had its `finish_reason`. See `partial`. */
export declare class StreamTruncatedError extends ContextGatewayError {
    constructor(message?: string);
    get name(): string;
    get retryable(): boolean;
}

/** A completion put together from a stream. Not every service sends `usage` there (A7). */
export interface StreamedChatCompletion extends Omit<ChatCompletion, 'usage'> {
    usage?: CompletionUsage | undefined;
}

/** Options of `files.upload`. */
export interface UploadOptions extends RequestOptions {
    /** Told the bytes that left, and how many there are (`undefined` for streams). In browsers, at the start and at the end only. */
    onProgress?: ProgressListener | undefined;
}

/** What can be uploaded. A stream is sent once: should its attempt fail, it is not tried again. */
export type Uploadable = Blob | Uint8Array | ArrayBuffer | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>
/** A file on this machine, streamed from disk. On Node, Bun and Deno. */
 | {
    readonly path: string | URL;
};

/** `/v1/usage` */
export declare class Usage {
    #private;
    /**
     * Tokens used in a period, by model, and what is left of those included. `GET /v1/usage`
     *
     * Dates are `'YYYY-MM-DD'`, or a `Date`, which counts as its day in UTC. Without them the service picks the period (A25).
     *
     * @throws {RequestValidationError} when a date does not exist, or the end is before the start
     * @throws {PermissionDeniedError} with a publishable key: it has no access to billing
     */
    retrieve(params?: UsageParams, options?: RequestOptions): APIPromise<UsageReport>;
}

/** Arguments of `usage.retrieve`. A `Date` counts as its day in UTC. */
export interface UsageParams {
    /** The first day: `'2026-01-31'` or a `Date`. */
    start_date?: string | Date | undefined;
    /** The last day, included (A25). */
    end_date?: string | Date | undefined;
}

/** Token use of a period. */
export interface UsageReport {
    /** Dates, the end day included (A25). */
    period: {
        start: string;
        end: string;
    };
    tokens_used: number;
    tokens_included: number;
    tokens_remaining: number;
    overage_tokens: number;
    estimated_overage_cost: number;
    /** Model id to tokens. */
    breakdown_by_model: Record<string, number>;
}

/** Something the service remembers about the user. */
export interface UserMemoryItem {
    id: string;
    type: MemoryType | (string & {});
    key: string;
    content: string;
    /** Not in lists (A24): absent means unknown. */
    isActive?: boolean | undefined;
    /** Not in lists (A24): absent means unknown. */
    workspaceId?: string | null | undefined;
}

/** An answer is not what is documented, and `validation` is `'report'`. */
export interface ValidationEvent extends CallFacts {
    readonly type: 'validation';
    readonly issues: readonly ValidationIssue[];
}

/** Where a value is not what it has to be. `path` leads to the field; the value itself is never repeated. */
export interface ValidationIssue {
    readonly path: readonly (string | number)[];
    readonly message: string;
}

/** Data and what came with it. */
export interface WithResponse<T> {
    readonly data: T;
    readonly response: ResponseInfo;
}

/**
 * Reads a completion that a server of yours relays with `toReadableStream()`: in a browser, without a client or a key.
 * Give it the `Response` of your `fetch`, or a body alone.
 *
 * @throws {RequestValidationError} when it is given neither
 * @throws {APIError} when the response is not a success
 * @throws {ResponseValidationError} when it is not a stream of events
 */
export declare function readChatCompletionStream(source: Response | ReadableStream<Uint8Array>, options?: ReadStreamOptions): Promise<ChatCompletionStream>;
