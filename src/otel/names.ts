/**
 * Attribute names from OpenTelemetry's semantic conventions, version 1.45.0. `http.*` and `error.type` are stable;
 * `gen_ai.*` and `url.template` are in development. Attributes that the conventions do not define start with
 * `context_gateway`.
 */
export const ATTRIBUTE = {
  httpMethod: 'http.request.method',
  httpStatus: 'http.response.status_code',
  httpResends: 'http.request.resend_count',
  errorType: 'error.type',
  urlTemplate: 'url.template',
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  requestStream: 'gen_ai.request.stream',
  requestTemperature: 'gen_ai.request.temperature',
  requestMaxTokens: 'gen_ai.request.max_tokens',
  outputType: 'gen_ai.output.type',
  responseId: 'gen_ai.response.id',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  tokenType: 'gen_ai.token.type',
  toolName: 'gen_ai.tool.name',
  toolDescription: 'gen_ai.tool.description',
  toolType: 'gen_ai.tool.type',
  toolCallId: 'gen_ai.tool.call.id',
  outcome: 'context_gateway.outcome',
  requestId: 'context_gateway.request_id',
  usageEstimated: 'context_gateway.usage_estimated',
  queued: 'context_gateway.queue_time',
  largestGap: 'context_gateway.largest_gap',
  attempt: 'context_gateway.attempt',
  bucket: 'context_gateway.rate_limit.bucket',
  wait: 'context_gateway.wait',
  reason: 'context_gateway.reason',
  stop: 'context_gateway.stop_reason',
  issues: 'context_gateway.issues',
} as const;

/** The provider name that the conventions require. */
export const PROVIDER = 'context-gateway';

/** The operation of a call to a model, as the conventions name it. Other calls are plain HTTP calls. */
const OPERATIONS: Readonly<Record<string, string>> = {
  '/v1/chat/completions': 'chat',
  '/v1/presets/{presetId}/execute': 'generate_content',
};

export function operationOf(path: string): string | undefined {
  return Object.hasOwn(OPERATIONS, path) ? OPERATIONS[path] : undefined;
}

/** The conventions use seconds. */
export function seconds(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000_000; // to the microsecond
}
