export type { APIPromise } from './base/api-promise.js';
export type { CompletionUsage, PartialChatCompletion } from './base/completion.js';
export type { ErrorData } from './base/error-data.js';
export type { ValidationIssue } from './base/issues.js';
export type { Attempt, RateLimit, ResponseInfo, WithResponse } from './base/response-info.js';
export { ContextClient, type ContextClientOptions } from './context/client.js';
export type { Memory } from './context/memory.js';
export type { MemoryCreateParams, MemoryUpdateParams } from './context/params.js';
export type {
  CompactionLevel,
  CompactionResult,
  ContextMetadata,
  ConversationContext,
  Decision,
  MemoryType,
  PinCategory,
  PinnedMemoryItem,
  Reference,
  RollingSummary,
  UserMemoryItem,
} from './context/schemas.js';
export {
  APIError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  RequestTooLargeError,
  ServiceUnavailableError,
  UnprocessableEntityError,
} from './errors/api.js';
export { ConfigurationError, ContextGatewayError } from './errors/base.js';
export {
  APIAbortError,
  APIConnectionError,
  APITimeoutError,
  ClientClosedError,
  ResponseTooLargeError,
  type Sent,
} from './errors/connection.js';
export { StreamConsumedError, StreamError, StreamTruncatedError } from './errors/stream.js';
export { RequestValidationError, ResponseValidationError } from './errors/validation.js';
export { toErrorData, toErrorResponse } from './errors/visible.js';
export type { ClientEvent } from './events/events.js';
export { logTo } from './events/log-to.js';
export type { Chat, ChatCompletions, ParsedChatCompletion } from './gateway/chat.js';
export { GatewayClient, type GatewayClientOptions } from './gateway/client.js';
export type { FileRecord, Files, FileUploadParams, Uploadable } from './gateway/files.js';
export type { Integration, IntegrationExecuteParams, IntegrationResult, Integrations } from './gateway/integrations.js';
export { type MapResult, mapCalls } from './gateway/map-calls.js';
export type { Preset, PresetExecuteParams, PresetResult, Presets } from './gateway/presets.js';
export { type Tool, type ToolContext, tool } from './gateway/tool.js';
export type { Usage, UsageReport } from './gateway/usage.js';
export type { Permit, RateLimiter, RateLimitObservation } from './rate-limit/rate-limiter.js';
export type { ClientOptions } from './request/client-options.js';
export type { RequestOptions, SchemaOptions } from './request/request-options.js';
export type { ChatCompletionStream } from './stream/completion-stream.js';
export { toEventStream } from './stream/event-stream.js';
export { readChatCompletionStream } from './stream/relay.js';
export type { StandardSchema } from './validation/validate.js';
export type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionParams,
  ChatContentPart,
  ChatMessage,
  ResponseFormat,
} from './wire/completions.js';
export type { DecodeChunk, ServerSentEvent } from './wire/decode-chunk.js';
export type { FunctionTool, ToolCall, ToolCallDelta, ToolChoice } from './wire/tools.js';
