import { type ChatCompletion, ConfigurationError, type GatewayClient } from '../index.js';
import { toApiCallError } from './api-call-error.js';
import { DIALECTS } from './dialect.js';
import { notSendable, paramsOf } from './request.js';
import { providerMetadataOf, reasoningIn, responseMetadataOf } from './response.js';
import type { AiSdkModel, CallOptions, Specification } from './specification.js';
import { toPartStream } from './stream-parts.js';

/** A model of the Gateway, for one version of the provider interface. */
export function createModel<Version extends Specification>(
  gateway: GatewayClient,
  modelId: string,
  specification: Version,
): AiSdkModel<Version> {
  const dialect = DIALECTS[specification];
  const prepare = <Stream extends boolean>(options: CallOptions, stream: Stream) => {
    // Of the first provider interface, whose results are different. Only the last releases of ai 4 check the version.
    if ('mode' in options)
      throw new ConfigurationError(
        'createAiSdkProvider needs ai 5, 6 or 7, and this call came from ai 4 or older: npm install ai@7.',
      );
    const warnings = notSendable(options).map(({ feature, details }) => dialect.warning(feature, details));
    const requestOptions = { signal: options.abortSignal, headers: options.headers };
    return { body: { ...paramsOf(modelId, options), stream }, warnings, requestOptions };
  };
  return {
    specificationVersion: specification,
    provider: 'svc.chat',
    modelId,
    supportedUrls: { 'image/*': [/^https?:\/\//] },

    async doGenerate(options) {
      const { body, warnings, requestOptions } = prepare(options, false);
      const call = gateway.chat.completions.create(body, requestOptions).withResponse();
      const { data, response } = await call.catch((error) => Promise.reject(toApiCallError(error, body)));
      const choice = data.choices.find(({ index }) => index === 0);
      return {
        content: contentOf(choice?.message),
        finishReason: dialect.finishReason(choice?.finish_reason),
        usage: dialect.usage(data.usage),
        warnings,
        request: { body },
        response: { ...responseMetadataOf(data), headers: Object.fromEntries(response.headers), body: data },
        ...providerMetadataOf(response),
      };
    },

    async doStream(options) {
      const { body, warnings, requestOptions } = prepare(options, true);
      const call = gateway.chat.completions.create(body, requestOptions);
      const completion = await call.catch((error) => Promise.reject(toApiCallError(error, body)));
      return {
        stream: toPartStream(completion, dialect, warnings, options.includeRawChunks),
        request: { body },
        response: { headers: Object.fromEntries(completion.response.headers) },
      };
    },
  };
}

/** The reasoning, the text and the tool calls of a reply. */
function contentOf(reply: ChatCompletion['choices'][number]['message'] | undefined) {
  const { content: text = '', tool_calls: toolCalls = [] } = reply ?? {};
  const reasoning = reasoningIn(reply);
  return [
    ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...(!text ? [] : [{ type: 'text' as const, text }]),
    ...toolCalls.map(({ id: toolCallId, function: { name: toolName, arguments: input } }) => {
      return { type: 'tool-call' as const, toolCallId, toolName, input };
    }),
  ];
}
