export { APIPromise } from './base/api-promise.js';
export type { CompletionUsage, PartialChatCompletion } from './base/completion.js';
export type { ErrorData } from './base/error-data.js';
export type { ValidationIssue } from './base/issues.js';
export type { Permit, RateLimiter, RateLimitObservation } from './base/rate-limiter.js';
export type { Attempt, RateLimit, ResponseInfo, WithResponse } from './base/response-info.js';
export { ContextClient, type ContextClientOptions, type SessionHeader } from './context/client.js';
export type { Memory } from './context/memory.js';
export type {
  CompactionLevel,
  CompactionResult,
  CompactParams,
  ContextMetadata,
  ConversationContext,
  Decision,
  MemoryCreateParams,
  MemoryListParams,
  MemoryType,
  MemoryUpdateParams,
  PinCategory,
  PinnedMemoryItem,
  PinParams,
  Reference,
  RollingSummary,
  UserMemoryItem,
} from './context/schemas.js';
export {
  APIError,
  type Area,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServiceUnavailableError,
} from './errors/api.js';
export { ConfigurationError, ContextGatewayError } from './errors/base.js';
export {
  APIAbortError,
  APIConnectionError,
  APITimeoutError,
  ClientClosedError,
  type Phase,
  ResponseTooLargeError,
  type Sent,
} from './errors/connection.js';
export { StreamConsumedError, StreamError, StreamTruncatedError } from './errors/stream.js';
export { RequestValidationError, ResponseValidationError } from './errors/validation.js';
export type { Chat, ChatCompletions } from './gateway/chat.js';
export { GatewayClient, type GatewayClientOptions, type KeyType } from './gateway/client.js';
export type {
  ChatContentPart,
  CompletionTypes,
  ExtendedChatCompletion,
  ExtendedChatCompletionChoice,
  ExtendedChatCompletionChunk,
  ExtendedChatCompletionChunkChoice,
  ExtendedChatCompletionDelta,
  ExtendedChatCompletionParams,
  ExtendedChatMessage,
  ExtendedReply,
  ExtendedStreamedChatCompletion,
  FunctionTool,
  ResponseFormat,
  ToolCall,
  ToolCallDelta,
  ToolChoice,
  Undocumented,
} from './gateway/extended.js';
export type { FileRecord, Files, FileUploadParams, Uploadable, UploadOptions } from './gateway/files.js';
export type { Integration, IntegrationExecuteParams, IntegrationResult, Integrations } from './gateway/integrations.js';
export type { MapOptions, MapResult } from './gateway/map.js';
export type { Preset, PresetExecuteParams, PresetListParams, PresetResult, Presets } from './gateway/presets.js';
export type { OpenRecord } from './gateway/records.js';
export type {
  ChatCompletion,
  ChatCompletionChoice,
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  ChatCompletionDelta,
  ChatCompletionParams,
  ChatMessage,
  ChatRole,
  StreamedChatCompletion,
} from './gateway/schemas.js';
export type { DecodeChunk } from './gateway/stream/chunk.js';
export type { ChatCompletionStream } from './gateway/stream/completion-stream.js';
export { toErrorData, toErrorResponse } from './gateway/stream/error-response.js';
export { type ReadStreamOptions, readChatCompletionStream } from './gateway/stream/relay.js';
export type { ServerSentEvent } from './gateway/stream/sse.js';
export type { StreamMetrics } from './gateway/stream/stream-owner.js';
export type { Usage, UsageParams, UsageReport } from './gateway/usage.js';
export type { DispatcherLike, ProgressListener } from './platform/engine.js';
export type { ClientOptions, Credential } from './transport/arguments/client-options.js';
export type { Method, Query } from './transport/arguments/request.js';
export type { RequestOptions, SchemaOptions } from './transport/arguments/request-options.js';
export type { StandardResult, StandardSchema } from './transport/arguments/validation.js';
export type { DerivedOptions, RawRequest } from './transport/client.js';
export type {
  ClientEvent,
  DequeuedEvent,
  DoneEvent,
  FailureEvent,
  QueuedEvent,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
  StartEvent,
  StopReason,
  ValidationEvent,
} from './transport/events/events.js';
export type { Logger } from './transport/events/logger.js';
