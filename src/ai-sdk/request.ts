import { UnsupportedFunctionalityError } from '@ai-sdk/provider';
import type { ExtendedChatCompletionParams, ExtendedChatMessage, FunctionTool, ToolChoice } from '../index.js';
import { leftOutOf, toContent, toToolCalls, toToolMessages } from './prompt-parts.js';
import type { CallOptions, CallTool, PromptMessage, PromptPart } from './specification.js';

/** A setting that the Gateway does not support. */
interface Unsupported {
  readonly feature: string;
  readonly details: string;
}

/** A call of the AI SDK, converted for the Gateway. */
export interface GatewayRequest {
  readonly params: ExtendedChatCompletionParams;
  readonly unsupported: readonly Unsupported[];
}

const SENDS = 'pass completions: extended to createAiSdkProvider';
const NOT_SENT = `The API does not document it. It was not sent. To send it, ${SENDS}.`;

/**
 * Converts a call. Without `sends`, only documented parameters are sent.
 *
 * @throws {UnsupportedFunctionalityError} when leaving something out would change the question
 */
export function toGatewayRequest(model: string, options: CallOptions, sends: boolean): GatewayRequest {
  const { prompt, temperature, maxOutputTokens, toolChoice } = options;
  if (!sends && (toolChoice?.type === 'required' || toolChoice?.type === 'tool')) {
    throw unsupported(
      'toolChoice',
      `Tools are not documented, so none can be required. Use toolChoice: 'auto', or ${SENDS}.`,
    );
  }
  const params = {
    model,
    messages: sends ? toExtendedMessages(prompt) : prompt.map(toMessage),
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { max_tokens: maxOutputTokens }),
    ...(sends && undocumentedParams(options)),
  };
  return { params, unsupported: sends ? notSendable(options) : ignoredSettings(options) };
}

function toMessage({ role, content }: PromptMessage) {
  if (role === 'tool')
    throw unsupported('tool messages', `Tools are not documented. Remove tool messages, or ${SENDS}.`);
  if (typeof content === 'string') return { role, content };
  const texts = content.flatMap(({ type, text }) => {
    if (type === 'text') return [String(text)];
    if (type === 'reasoning') return []; // `ignoredSettings` adds a warning
    throw unsupported(
      `${type} parts`,
      `Only text is documented, and this ${role} message has a ${type} part. To send it, ${SENDS}.`,
    );
  });
  return { role, content: texts.join('\n') };
}

/** The results of several tools are one message of the AI SDK, and one message each for the Gateway. */
function toExtendedMessages(prompt: readonly PromptMessage[]): ExtendedChatMessage[] {
  const asked = prompt.findLastIndex(({ role }) => role === 'user');
  return prompt.flatMap(({ role, content }, at) => {
    if (typeof content === 'string') return [{ role, content }];
    if (role === 'tool') return toToolMessages(content);
    const tool_calls = toToolCalls(content);
    const text = toContent(role, content);
    if (tool_calls.length === 0) return [{ role, content: text }];
    // Models that reason need their reasoning until they have replied, and reject it after that.
    const reasoning = at > asked ? reasoningOf(content) : '';
    const message = { role, content: text === '' ? null : text, tool_calls };
    return [{ ...message, ...(reasoning !== '' && { reasoning_content: reasoning }) }, ...toToolMessages(content)];
  });
}

function reasoningOf(parts: readonly PromptPart[]): string {
  return parts.flatMap(({ type, text }) => (type === 'reasoning' ? String(text) : [])).join('\n');
}

function undocumentedParams(options: CallOptions): Partial<ExtendedChatCompletionParams> {
  const { topP, topK, presencePenalty, frequencyPenalty, seed, stopSequences, reasoning, providerOptions } = options;
  const tools = options.tools?.filter(isFunction).map(toTool) ?? [];
  const given = {
    top_p: topP,
    top_k: topK,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    seed,
    stop: stopSequences?.length ? stopSequences : undefined,
    reasoning_effort: reasoning === 'provider-default' ? undefined : reasoning,
    response_format: toResponseFormat(options.responseFormat),
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: tools.length === 0 ? undefined : toToolChoice(options.toolChoice),
    ...providerOptions?.svc,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function toTool({ name, description, inputSchema, strict }: CallTool): FunctionTool {
  return {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(inputSchema !== undefined && { parameters: inputSchema }),
      ...(strict !== undefined && { strict }),
    },
  };
}

function toToolChoice(choice: CallOptions['toolChoice']): ToolChoice | undefined {
  if (choice?.type === 'tool') return { type: 'function', function: { name: choice.toolName ?? '' } };
  return choice?.type as 'auto' | 'none' | 'required' | undefined; // the other types of the AI SDK
}

function toResponseFormat(format: CallOptions['responseFormat']): ExtendedChatCompletionParams['response_format'] {
  if (format?.type !== 'json') return undefined;
  const { schema, name = 'response', description } = format;
  if (schema === undefined) return { type: 'json_object' };
  return { type: 'json_schema', json_schema: { name, ...(description !== undefined && { description }), schema } };
}

function unsupported(functionality: string, message: string): UnsupportedFunctionalityError {
  return new UnsupportedFunctionalityError({ functionality, message });
}

/** The given settings that have no effect. */
function ignoredSettings(options: CallOptions): Unsupported[] {
  const { responseFormat, tools, reasoning, providerOptions, prompt } = options;
  const settings = ['stopSequences', 'topP', 'topK', 'presencePenalty', 'frequencyPenalty', 'seed'] as const;
  const features: string[] = settings.filter((name) => options[name] !== undefined);
  if (responseFormat !== undefined && responseFormat.type !== 'text') features.push('responseFormat');
  if (tools !== undefined && tools.length > 0) features.push('tools');
  if (reasoning !== undefined && reasoning !== 'provider-default') features.push('reasoning');
  if (providerOptions?.svc !== undefined) features.push('providerOptions.svc');
  return [...features.map((feature) => ({ feature, details: NOT_SENT })), ...reasoningParts(prompt)];
}

/** What is left out even with `completions: extended`. */
function notSendable({ tools = [], prompt }: CallOptions): Unsupported[] {
  const others = tools.filter((tool) => !isFunction(tool));
  const details = 'It belongs to another provider. It was not sent.';
  const files = new Set(prompt.flatMap(({ content }) => (typeof content === 'string' ? [] : leftOutOf(content))));
  return [
    ...others.map(({ name }) => ({ feature: `tool ${name}`, details })),
    ...[...files].map((type) => ({
      feature: `${type} of a tool`,
      details: 'The Gateway takes none. It was not sent.',
    })),
  ];
}

function reasoningParts(prompt: readonly PromptMessage[]): Unsupported[] {
  const hasReasoning = prompt.some(
    ({ content }) => typeof content !== 'string' && content.some(({ type }) => type === 'reasoning'),
  );
  return hasReasoning ? [{ feature: 'reasoning parts', details: 'The Gateway takes none. They were not sent.' }] : [];
}

function isFunction({ type }: CallTool): boolean {
  return type === 'function';
}
