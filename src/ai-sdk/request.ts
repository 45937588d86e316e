import { UnsupportedFunctionalityError } from '@ai-sdk/provider';
import type { ChatCompletionParams, ChatMessage } from '../index.js';
import type { CallOptions, PromptMessage } from './specification.js';

/** What a call asks for that the Gateway does not have, and what becomes of it. */
interface Unsupported {
  readonly feature: string;
  readonly details: string;
}

/** A call of the AI SDK as the Gateway takes it. */
export interface GatewayRequest {
  readonly params: ChatCompletionParams;
  readonly unsupported: readonly Unsupported[];
}

/**
 * What is sent, and what is left out. Only documented parameters are sent.
 *
 * @throws {UnsupportedFunctionalityError} where leaving something out would change the question
 */
export function toGatewayRequest(model: string, options: CallOptions): GatewayRequest {
  const { prompt, temperature, maxOutputTokens, toolChoice } = options;
  if (toolChoice?.type === 'required' || toolChoice?.type === 'tool') {
    throw unsupported(
      'toolChoice',
      "The Gateway takes no tools, so that none can be required. Use toolChoice: 'auto'.",
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
  if (role === 'tool') throw unsupported('tool messages', 'The Gateway takes no tools. Leave tool messages out.');
  if (typeof content === 'string') return { role, content };
  const texts = content.flatMap(({ type, text }) => {
    if (type === 'text') return [String(text)];
    if (type === 'reasoning') return []; // a warning says so: it is how an answer came about, not the answer
    throw unsupported(`${type} parts`, `The Gateway takes text alone, and this ${role} message has a ${type} part.`);
  });
  return { role, content: texts.join('\n') };
}

function unsupported(functionality: string, message: string): UnsupportedFunctionalityError {
  return new UnsupportedFunctionalityError({ functionality, message });
}

const NOT_SENT = 'The Gateway has no such parameter. It was not sent.';

/** Settings that are set and do nothing. */
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
    unsupported.push({ feature: 'reasoning parts', details: 'The Gateway takes text alone. They were not sent.' });
  return unsupported;
}
