// Generated from etc by `npm run reference`.
export { APIAbortError as context_gateway_APIAbortError } from 'context-gateway';
export { APIConnectionError as context_gateway_APIConnectionError } from 'context-gateway';
export { APIError as context_gateway_APIError } from 'context-gateway';
export { type APIPromise as context_gateway_APIPromise } from 'context-gateway';
export { APITimeoutError as context_gateway_APITimeoutError } from 'context-gateway';
export { type Area as context_gateway_Area } from 'context-gateway';
export { type Attempt as context_gateway_Attempt } from 'context-gateway';
export { AuthenticationError as context_gateway_AuthenticationError } from 'context-gateway';
export { BadRequestError as context_gateway_BadRequestError } from 'context-gateway';
export { type Chat as context_gateway_Chat } from 'context-gateway';
export { type ChatCompletion as context_gateway_ChatCompletion } from 'context-gateway';
export { type ChatCompletionChoice as context_gateway_ChatCompletionChoice } from 'context-gateway';
export { type ChatCompletionChunk as context_gateway_ChatCompletionChunk } from 'context-gateway';
export { type ChatCompletionChunkChoice as context_gateway_ChatCompletionChunkChoice } from 'context-gateway';
export { type ChatCompletionDelta as context_gateway_ChatCompletionDelta } from 'context-gateway';
export { type ChatCompletionParams as context_gateway_ChatCompletionParams } from 'context-gateway';
export { type ChatCompletionStream as context_gateway_ChatCompletionStream } from 'context-gateway';
export { type ChatCompletions as context_gateway_ChatCompletions } from 'context-gateway';
export { type ChatContentPart as context_gateway_ChatContentPart } from 'context-gateway';
export { type ChatMessage as context_gateway_ChatMessage } from 'context-gateway';
export { type ChatReply as context_gateway_ChatReply } from 'context-gateway';
export { type ChatRole as context_gateway_ChatRole } from 'context-gateway';
export { ClientClosedError as context_gateway_ClientClosedError } from 'context-gateway';
export { type ClientEvent as context_gateway_ClientEvent } from 'context-gateway';
export { type ClientOptions as context_gateway_ClientOptions } from 'context-gateway';
export { type CompactParams as context_gateway_CompactParams } from 'context-gateway';
export { type CompactionLevel as context_gateway_CompactionLevel } from 'context-gateway';
export { type CompactionResult as context_gateway_CompactionResult } from 'context-gateway';
export { type CompletionUsage as context_gateway_CompletionUsage } from 'context-gateway';
export { ConfigurationError as context_gateway_ConfigurationError } from 'context-gateway';
export { ContextClient as context_gateway_ContextClient } from 'context-gateway';
export { type ContextClientOptions as context_gateway_ContextClientOptions } from 'context-gateway';
export { ContextGatewayError as context_gateway_ContextGatewayError } from 'context-gateway';
export { type ContextMetadata as context_gateway_ContextMetadata } from 'context-gateway';
export { type ConversationContext as context_gateway_ConversationContext } from 'context-gateway';
export { type Decision as context_gateway_Decision } from 'context-gateway';
export { type DecodeChunk as context_gateway_DecodeChunk } from 'context-gateway';
export { type DequeuedEvent as context_gateway_DequeuedEvent } from 'context-gateway';
export { type DerivedOptions as context_gateway_DerivedOptions } from 'context-gateway';
export { type DispatcherLike as context_gateway_DispatcherLike } from 'context-gateway';
export { type DoneEvent as context_gateway_DoneEvent } from 'context-gateway';
export { type EngineKind as context_gateway_EngineKind } from 'context-gateway';
export { type ErrorData as context_gateway_ErrorData } from 'context-gateway';
export { type FailureEvent as context_gateway_FailureEvent } from 'context-gateway';
export { type Fetch as context_gateway_Fetch } from 'context-gateway';
export { type FetchInit as context_gateway_FetchInit } from 'context-gateway';
export { type FetchResponse as context_gateway_FetchResponse } from 'context-gateway';
export { type FileRecord as context_gateway_FileRecord } from 'context-gateway';
export { type FileUploadParams as context_gateway_FileUploadParams } from 'context-gateway';
export { type Files as context_gateway_Files } from 'context-gateway';
export { type FunctionTool as context_gateway_FunctionTool } from 'context-gateway';
export { GatewayClient as context_gateway_GatewayClient } from 'context-gateway';
export { type GatewayClientOptions as context_gateway_GatewayClientOptions } from 'context-gateway';
export { type Integration as context_gateway_Integration } from 'context-gateway';
export { type IntegrationExecuteParams as context_gateway_IntegrationExecuteParams } from 'context-gateway';
export { type IntegrationResult as context_gateway_IntegrationResult } from 'context-gateway';
export { type Integrations as context_gateway_Integrations } from 'context-gateway';
export { InternalServerError as context_gateway_InternalServerError } from 'context-gateway';
export { type Logger as context_gateway_Logger } from 'context-gateway';
export { type MapOptions as context_gateway_MapOptions } from 'context-gateway';
export { type MapResult as context_gateway_MapResult } from 'context-gateway';
export { type Memory as context_gateway_Memory } from 'context-gateway';
export { type MemoryCreateParams as context_gateway_MemoryCreateParams } from 'context-gateway';
export { type MemoryListParams as context_gateway_MemoryListParams } from 'context-gateway';
export { type MemoryType as context_gateway_MemoryType } from 'context-gateway';
export { type MemoryUpdateParams as context_gateway_MemoryUpdateParams } from 'context-gateway';
export { type Method as context_gateway_Method } from 'context-gateway';
export { type MoreEvent as context_gateway_MoreEvent } from 'context-gateway';
export { NotFoundError as context_gateway_NotFoundError } from 'context-gateway';
export { type OpenRecord as context_gateway_OpenRecord } from 'context-gateway';
export { type ParsedChatCompletion as context_gateway_ParsedChatCompletion } from 'context-gateway';
export { type PartialChatCompletion as context_gateway_PartialChatCompletion } from 'context-gateway';
export { PermissionDeniedError as context_gateway_PermissionDeniedError } from 'context-gateway';
export { type Permit as context_gateway_Permit } from 'context-gateway';
export { type Phase as context_gateway_Phase } from 'context-gateway';
export { type PinCategory as context_gateway_PinCategory } from 'context-gateway';
export { type PinParams as context_gateway_PinParams } from 'context-gateway';
export { type PinnedMemoryItem as context_gateway_PinnedMemoryItem } from 'context-gateway';
export { type Preset as context_gateway_Preset } from 'context-gateway';
export { type PresetExecuteParams as context_gateway_PresetExecuteParams } from 'context-gateway';
export { type PresetListParams as context_gateway_PresetListParams } from 'context-gateway';
export { type PresetResult as context_gateway_PresetResult } from 'context-gateway';
export { type Presets as context_gateway_Presets } from 'context-gateway';
export { type ProgressListener as context_gateway_ProgressListener } from 'context-gateway';
export { type Query as context_gateway_Query } from 'context-gateway';
export { type QueuedEvent as context_gateway_QueuedEvent } from 'context-gateway';
export { type RateLimit as context_gateway_RateLimit } from 'context-gateway';
export { RateLimitError as context_gateway_RateLimitError } from 'context-gateway';
export { type RateLimitObservation as context_gateway_RateLimitObservation } from 'context-gateway';
export { type RateLimiter as context_gateway_RateLimiter } from 'context-gateway';
export { type RawRequest as context_gateway_RawRequest } from 'context-gateway';
export { type ReadStreamOptions as context_gateway_ReadStreamOptions } from 'context-gateway';
export { type Reference as context_gateway_Reference } from 'context-gateway';
export { type RequestEvent as context_gateway_RequestEvent } from 'context-gateway';
export { type RequestOptions as context_gateway_RequestOptions } from 'context-gateway';
export { RequestValidationError as context_gateway_RequestValidationError } from 'context-gateway';
export { type ResponseEvent as context_gateway_ResponseEvent } from 'context-gateway';
export { type ResponseFormat as context_gateway_ResponseFormat } from 'context-gateway';
export { type ResponseInfo as context_gateway_ResponseInfo } from 'context-gateway';
export { ResponseTooLargeError as context_gateway_ResponseTooLargeError } from 'context-gateway';
export { ResponseValidationError as context_gateway_ResponseValidationError } from 'context-gateway';
export { type RetryEvent as context_gateway_RetryEvent } from 'context-gateway';
export { type RollingSummary as context_gateway_RollingSummary } from 'context-gateway';
export { type SchemaOptions as context_gateway_SchemaOptions } from 'context-gateway';
export { type Sent as context_gateway_Sent } from 'context-gateway';
export { type ServerSentEvent as context_gateway_ServerSentEvent } from 'context-gateway';
export { ServiceUnavailableError as context_gateway_ServiceUnavailableError } from 'context-gateway';
export { type SessionHeader as context_gateway_SessionHeader } from 'context-gateway';
export { type SkippedEvent as context_gateway_SkippedEvent } from 'context-gateway';
export { type StandardResult as context_gateway_StandardResult } from 'context-gateway';
export { type StandardSchema as context_gateway_StandardSchema } from 'context-gateway';
export { type StartEvent as context_gateway_StartEvent } from 'context-gateway';
export { type StopReason as context_gateway_StopReason } from 'context-gateway';
export { StreamConsumedError as context_gateway_StreamConsumedError } from 'context-gateway';
export { StreamError as context_gateway_StreamError } from 'context-gateway';
export { type StreamMetrics as context_gateway_StreamMetrics } from 'context-gateway';
export { StreamTruncatedError as context_gateway_StreamTruncatedError } from 'context-gateway';
export { type Tool as context_gateway_Tool } from 'context-gateway';
export { type ToolCall as context_gateway_ToolCall } from 'context-gateway';
export { type ToolCallDelta as context_gateway_ToolCallDelta } from 'context-gateway';
export { type ToolChoice as context_gateway_ToolChoice } from 'context-gateway';
export { type ToolContext as context_gateway_ToolContext } from 'context-gateway';
export { type ToolDefinition as context_gateway_ToolDefinition } from 'context-gateway';
export { type UploadOptions as context_gateway_UploadOptions } from 'context-gateway';
export { type Uploadable as context_gateway_Uploadable } from 'context-gateway';
export { type Usage as context_gateway_Usage } from 'context-gateway';
export { type UsageParams as context_gateway_UsageParams } from 'context-gateway';
export { type UsageReport as context_gateway_UsageReport } from 'context-gateway';
export { type UserMemoryItem as context_gateway_UserMemoryItem } from 'context-gateway';
export { type ValidationEvent as context_gateway_ValidationEvent } from 'context-gateway';
export { type ValidationIssue as context_gateway_ValidationIssue } from 'context-gateway';
export { type WithResponse as context_gateway_WithResponse } from 'context-gateway';
export { logTo as context_gateway_logTo } from 'context-gateway';
export { mapCalls as context_gateway_mapCalls } from 'context-gateway';
export { readChatCompletionStream as context_gateway_readChatCompletionStream } from 'context-gateway';
export { toErrorData as context_gateway_toErrorData } from 'context-gateway';
export { toErrorResponse as context_gateway_toErrorResponse } from 'context-gateway';
export { toEventStream as context_gateway_toEventStream } from 'context-gateway';
export { tool as context_gateway_tool } from 'context-gateway';
export const values_context_gateway: Record<keyof typeof import('context-gateway'), 0> = {
  APIAbortError: 0,
  APIConnectionError: 0,
  APIError: 0,
  APITimeoutError: 0,
  AuthenticationError: 0,
  BadRequestError: 0,
  ClientClosedError: 0,
  ConfigurationError: 0,
  ContextClient: 0,
  ContextGatewayError: 0,
  GatewayClient: 0,
  InternalServerError: 0,
  NotFoundError: 0,
  PermissionDeniedError: 0,
  RateLimitError: 0,
  RequestValidationError: 0,
  ResponseTooLargeError: 0,
  ResponseValidationError: 0,
  ServiceUnavailableError: 0,
  StreamConsumedError: 0,
  StreamError: 0,
  StreamTruncatedError: 0,
  logTo: 0,
  mapCalls: 0,
  readChatCompletionStream: 0,
  toErrorData: 0,
  toErrorResponse: 0,
  toEventStream: 0,
  tool: 0,
};
export { chatCompletionChunkSchema as schemas_chatCompletionChunkSchema } from 'context-gateway/schemas';
export { chatCompletionSchema as schemas_chatCompletionSchema } from 'context-gateway/schemas';
export { chatReplySchema as schemas_chatReplySchema } from 'context-gateway/schemas';
export { compactionResultSchema as schemas_compactionResultSchema } from 'context-gateway/schemas';
export { completionUsageSchema as schemas_completionUsageSchema } from 'context-gateway/schemas';
export { contextMetadataSchema as schemas_contextMetadataSchema } from 'context-gateway/schemas';
export { conversationContextSchema as schemas_conversationContextSchema } from 'context-gateway/schemas';
export { decisionSchema as schemas_decisionSchema } from 'context-gateway/schemas';
export { pinnedMemoryItemSchema as schemas_pinnedMemoryItemSchema } from 'context-gateway/schemas';
export { referenceSchema as schemas_referenceSchema } from 'context-gateway/schemas';
export { rollingSummarySchema as schemas_rollingSummarySchema } from 'context-gateway/schemas';
export { usageReportSchema as schemas_usageReportSchema } from 'context-gateway/schemas';
export { userMemoryItemSchema as schemas_userMemoryItemSchema } from 'context-gateway/schemas';
export const values_schemas: Record<keyof typeof import('context-gateway/schemas'), 0> = {
  chatCompletionChunkSchema: 0,
  chatCompletionSchema: 0,
  chatReplySchema: 0,
  compactionResultSchema: 0,
  completionUsageSchema: 0,
  contextMetadataSchema: 0,
  conversationContextSchema: 0,
  decisionSchema: 0,
  pinnedMemoryItemSchema: 0,
  referenceSchema: 0,
  rollingSummarySchema: 0,
  usageReportSchema: 0,
  userMemoryItemSchema: 0,
};
export { type AppendPlace as conversation_AppendPlace } from 'context-gateway/conversation';
export { type BuiltPrompt as conversation_BuiltPrompt } from 'context-gateway/conversation';
export { type ChatStep as conversation_ChatStep } from 'context-gateway/conversation';
export { type ChatTurn as conversation_ChatTurn } from 'context-gateway/conversation';
export { type CompactionReceipt as conversation_CompactionReceipt } from 'context-gateway/conversation';
export { type CompactionReport as conversation_CompactionReport } from 'context-gateway/conversation';
export { type Content as conversation_Content } from 'context-gateway/conversation';
export { type ContextActions as conversation_ContextActions } from 'context-gateway/conversation';
export { ContextBudgetError as conversation_ContextBudgetError } from 'context-gateway/conversation';
export { type ContextParts as conversation_ContextParts } from 'context-gateway/conversation';
export { type ContextSection as conversation_ContextSection } from 'context-gateway/conversation';
export { type Conversation as conversation_Conversation } from 'context-gateway/conversation';
export { ConversationConflictError as conversation_ConversationConflictError } from 'context-gateway/conversation';
export { type ConversationMessage as conversation_ConversationMessage } from 'context-gateway/conversation';
export { type ConversationOptions as conversation_ConversationOptions } from 'context-gateway/conversation';
export { type ConversationSearch as conversation_ConversationSearch } from 'context-gateway/conversation';
export { type ConversationState as conversation_ConversationState } from 'context-gateway/conversation';
export { type ConversationStore as conversation_ConversationStore } from 'context-gateway/conversation';
export { ConversationStoreError as conversation_ConversationStoreError } from 'context-gateway/conversation';
export { type Dropped as conversation_Dropped } from 'context-gateway/conversation';
export { type EntrySection as conversation_EntrySection } from 'context-gateway/conversation';
export { type ExcludeOptions as conversation_ExcludeOptions } from 'context-gateway/conversation';
export { type FinishedReply as conversation_FinishedReply } from 'context-gateway/conversation';
export { type FoundMessage as conversation_FoundMessage } from 'context-gateway/conversation';
export { type LostEntry as conversation_LostEntry } from 'context-gateway/conversation';
export { type Match as conversation_Match } from 'context-gateway/conversation';
export { type MessageSource as conversation_MessageSource } from 'context-gateway/conversation';
export { type MessagesOptions as conversation_MessagesOptions } from 'context-gateway/conversation';
export { type PageTurn as conversation_PageTurn } from 'context-gateway/conversation';
export { type PrepareOptions as conversation_PrepareOptions } from 'context-gateway/conversation';
export { type PreparedTurn as conversation_PreparedTurn } from 'context-gateway/conversation';
export { type PromptMessage as conversation_PromptMessage } from 'context-gateway/conversation';
export { type PromptReport as conversation_PromptReport } from 'context-gateway/conversation';
export { type ReplyPart as conversation_ReplyPart } from 'context-gateway/conversation';
export { type ReplyStream as conversation_ReplyStream } from 'context-gateway/conversation';
export { type ResponseOptions as conversation_ResponseOptions } from 'context-gateway/conversation';
export { type SearchOptions as conversation_SearchOptions } from 'context-gateway/conversation';
export { type StepMessage as conversation_StepMessage } from 'context-gateway/conversation';
export { type StoredConversation as conversation_StoredConversation } from 'context-gateway/conversation';
export { type StoredMessage as conversation_StoredMessage } from 'context-gateway/conversation';
export { type StoredRow as conversation_StoredRow } from 'context-gateway/conversation';
export { type SummaryDiff as conversation_SummaryDiff } from 'context-gateway/conversation';
export { type SummaryEntry as conversation_SummaryEntry } from 'context-gateway/conversation';
export { type TurnEvent as conversation_TurnEvent } from 'context-gateway/conversation';
export { type TurnInput as conversation_TurnInput } from 'context-gateway/conversation';
export { type TurnOptions as conversation_TurnOptions } from 'context-gateway/conversation';
export { type WantedMessages as conversation_WantedMessages } from 'context-gateway/conversation';
export { createConversation as conversation_createConversation } from 'context-gateway/conversation';
export { memoryStore as conversation_memoryStore } from 'context-gateway/conversation';
export { readTurn as conversation_readTurn } from 'context-gateway/conversation';
export { sources as conversation_sources } from 'context-gateway/conversation';
export { textOf as conversation_textOf } from 'context-gateway/conversation';
export { toResponse as conversation_toResponse } from 'context-gateway/conversation';
export { wordsOf as conversation_wordsOf } from 'context-gateway/conversation';
export const values_conversation: Record<keyof typeof import('context-gateway/conversation'), 0> = {
  ContextBudgetError: 0,
  ConversationConflictError: 0,
  ConversationStoreError: 0,
  createConversation: 0,
  memoryStore: 0,
  readTurn: 0,
  sources: 0,
  textOf: 0,
  toResponse: 0,
  wordsOf: 0,
};
export { testStore as conversation_testing_testStore } from 'context-gateway/conversation/testing';
export const values_conversation_testing: Record<keyof typeof import('context-gateway/conversation/testing'), 0> = {
  testStore: 0,
};
export { type AiSdkModel as ai_sdk_AiSdkModel } from 'context-gateway/ai-sdk';
export { type AiSdkProvider as ai_sdk_AiSdkProvider } from 'context-gateway/ai-sdk';
export { type AiSdkProviderOptions as ai_sdk_AiSdkProviderOptions } from 'context-gateway/ai-sdk';
export { type ContextMiddleware as ai_sdk_ContextMiddleware } from 'context-gateway/ai-sdk';
export { type SearchTool as ai_sdk_SearchTool } from 'context-gateway/ai-sdk';
export { type SearchToolOptions as ai_sdk_SearchToolOptions } from 'context-gateway/ai-sdk';
export { type Specification as ai_sdk_Specification } from 'context-gateway/ai-sdk';
export { type TurnMetadata as ai_sdk_TurnMetadata } from 'context-gateway/ai-sdk';
export { type UIMessageChunk as ai_sdk_UIMessageChunk } from 'context-gateway/ai-sdk';
export { type UIMessageStreamOptions as ai_sdk_UIMessageStreamOptions } from 'context-gateway/ai-sdk';
export { contextMiddleware as ai_sdk_contextMiddleware } from 'context-gateway/ai-sdk';
export { createAiSdkProvider as ai_sdk_createAiSdkProvider } from 'context-gateway/ai-sdk';
export { searchTool as ai_sdk_searchTool } from 'context-gateway/ai-sdk';
export { toUIMessageStream as ai_sdk_toUIMessageStream } from 'context-gateway/ai-sdk';
export const values_ai_sdk: Record<keyof typeof import('context-gateway/ai-sdk'), 0> = {
  contextMiddleware: 0,
  createAiSdkProvider: 0,
  searchTool: 0,
  toUIMessageStream: 0,
};
export { type GlideLike as redis_GlideLike } from 'context-gateway/redis';
export { type IoredisLike as redis_IoredisLike } from 'context-gateway/redis';
export { type NodeRedisLike as redis_NodeRedisLike } from 'context-gateway/redis';
export { type RedisClient as redis_RedisClient } from 'context-gateway/redis';
export { type RedisLimiterEvent as redis_RedisLimiterEvent } from 'context-gateway/redis';
export { type RedisLimiterOptions as redis_RedisLimiterOptions } from 'context-gateway/redis';
export { type ScriptArguments as redis_ScriptArguments } from 'context-gateway/redis';
export { redisLimiter as redis_redisLimiter } from 'context-gateway/redis';
export const values_redis: Record<keyof typeof import('context-gateway/redis'), 0> = {
  redisLimiter: 0,
};
export { type PostgresClient as stores_PostgresClient } from 'context-gateway/stores';
export { type PostgresDatabase as stores_PostgresDatabase } from 'context-gateway/stores';
export { type PostgresPool as stores_PostgresPool } from 'context-gateway/stores';
export { type PostgresQueries as stores_PostgresQueries } from 'context-gateway/stores';
export { type SqlStore as stores_SqlStore } from 'context-gateway/stores';
export { type SqlStoreOptions as stores_SqlStoreOptions } from 'context-gateway/stores';
export { type SqliteDatabase as stores_SqliteDatabase } from 'context-gateway/stores';
export { type SqliteStatement as stores_SqliteStatement } from 'context-gateway/stores';
export { postgresStore as stores_postgresStore } from 'context-gateway/stores';
export { sqliteStore as stores_sqliteStore } from 'context-gateway/stores';
export const values_stores: Record<keyof typeof import('context-gateway/stores'), 0> = {
  postgresStore: 0,
  sqliteStore: 0,
};
