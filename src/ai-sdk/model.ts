import type { GatewayClient, RequestOptions } from '../index.js';
import { toApiCallError } from './api-call-error.js';
import { DIALECTS } from './dialect.js';
import { toGatewayRequest } from './request.js';
import { providerMetadataOf, responseMetadataOf } from './response.js';
import type { AiSdkModel, CallOptions, Specification, Warning } from './specification.js';
import { toPartStream } from './stream-parts.js';

/** A model of the Gateway, for one version of the provider interface. */
export function createModel<Version extends Specification>(
  gateway: GatewayClient<'send'>,
  modelId: string,
  specification: Version,
  sends: boolean,
): AiSdkModel<Version> {
  const dialect = DIALECTS[specification];
  const prepare = (options: CallOptions) => {
    const { params, unsupported } = toGatewayRequest(modelId, options, sends);
    const warnings: Warning<Version>[] = unsupported.map(({ feature, details }) => dialect.warning(feature, details));
    return { params, warnings };
  };
  return {
    specificationVersion: specification,
    provider: 'svc.chat',
    modelId,
    supportedUrls: sends ? { 'image/*': [/^https?:\/\//] } : {},

    async doGenerate(options) {
      const { params, warnings } = prepare(options);
      const body = { ...params, stream: false } as const;
      const call = gateway.chat.completions.create(body, requestOptions(options)).withResponse();
      const { data, response } = await call.catch((error) => Promise.reject(toApiCallError(error, body, gateway)));
      const choice = data.choices.find(({ index }) => index === 0);
      const text = choice?.message.content ?? '';
      return {
        content: [
          ...(text === '' ? [] : [{ type: 'text' as const, text }]),
          ...(choice?.message.tool_calls ?? []).map(({ id, function: { name, arguments: input } }) => ({
            type: 'tool-call' as const,
            toolCallId: id,
            toolName: name,
            input,
          })),
        ],
        finishReason: dialect.finishReason(choice?.finish_reason),
        usage: dialect.usage(data.usage),
        warnings,
        request: { body },
        response: { ...responseMetadataOf(data), headers: Object.fromEntries(response.headers), body: data },
        ...providerMetadataOf(response),
      };
    },

    async doStream(options) {
      const { params, warnings } = prepare(options);
      const body = { ...params, stream: true } as const;
      const call = gateway.chat.completions.create(body, requestOptions(options));
      const completion = await call.catch((error) => Promise.reject(toApiCallError(error, body, gateway)));
      const { includeRawChunks } = options;
      return {
        stream: toPartStream(completion, { specification, warnings, includeRawChunks }),
        request: { body },
        response: { headers: Object.fromEntries(completion.response.headers) },
      };
    },
  };
}

/** The AI SDK retries by itself. With the client's own retries, there would be nine attempts. */
function requestOptions({ abortSignal, headers }: CallOptions): RequestOptions {
  return { maxRetries: 0, signal: abortSignal, headers };
}
