import { UnsupportedFunctionalityError } from '@ai-sdk/provider';
import type { ChatCompletionParams, ChatMessage } from '../index.js';
import type { CallOptions, PromptMessage } from './specification.js';

/** A setting that the Gateway does not support. */
interface Unsupported {
  readonly feature: string;
  readonly details: string;
}

/** A call of the AI SDK, converted for the Gateway. */
export interface GatewayRequest {
  readonly params: ChatCompletionParams;
  readonly unsupported: readonly Unsupported[];
}

/**
 * Converts a call. Only documented parameters are sent.
 *
 * @throws {UnsupportedFunctionalityError} when leaving something out would change the question
 */
export function toGatewayRequest(model: string, options: CallOptions): GatewayRequest {
  const { prompt, temperature, maxOutputTokens, toolChoice } = options;
  if (toolChoice?.type === 'required' || toolChoice?.type === 'tool') {
    throw unsupported(
      'toolChoice',
      "The Gateway does not support tools, so none can be required. Use toolChoice: 'auto'.",
    );
  }
  const params = {
    model,
    messages: prompt.map(toMessage),
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { max_tokens: maxOutputTokens }),
  };
  return { params, unsupported: leftOut(options) };
}

function toMessage({ role, content }: PromptMessage): ChatMessage {
  if (role === 'tool') throw unsupported('tool messages', 'The Gateway does not support tools. Remove tool messages.');
  if (typeof content === 'string') return { role, content };
  const texts = content.flatMap(({ type, text }) => {
    if (type === 'text') return [String(text)];
    if (type === 'reasoning') return []; // `leftOut` adds a warning
    throw unsupported(`${type} parts`, `The Gateway supports text only, and this ${role} message has a ${type} part.`);
  });
  return { role, content: texts.join('\n') };
}

function unsupported(functionality: string, message: string): UnsupportedFunctionalityError {
  return new UnsupportedFunctionalityError({ functionality, message });
}

const NOT_SENT = 'The Gateway has no such parameter. It was not sent.';

/** The given settings that have no effect. */
function leftOut(options: CallOptions): Unsupported[] {
  const { responseFormat, tools, reasoning, providerOptions, prompt } = options;
  const settings = ['stopSequences', 'topP', 'topK', 'presencePenalty', 'frequencyPenalty', 'seed'] as const;
  const features: string[] = settings.filter((name) => options[name] !== undefined);
  if (responseFormat !== undefined && responseFormat.type !== 'text') features.push('responseFormat');
  if (tools !== undefined && tools.length > 0) features.push('tools');
  if (reasoning !== undefined && reasoning !== 'provider-default') features.push('reasoning');
  if (providerOptions?.svc !== undefined) features.push('providerOptions.svc');
  const unsupported = features.map((feature) => ({ feature, details: NOT_SENT }));
  if (prompt.some(({ content }) => typeof content !== 'string' && content.some(({ type }) => type === 'reasoning')))
    unsupported.push({ feature: 'reasoning parts', details: 'The Gateway supports text only. They were not sent.' });
  return unsupported;
}
