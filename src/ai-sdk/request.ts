import type { ChatCompletionParams, ChatMessage, FunctionTool, ResponseFormat, ToolChoice } from '../index.js';
import { leftOutOf, toContent, toToolCalls, toToolMessages } from './prompt-parts.js';
import type { CallOptions, CallTool, PromptMessage, PromptPart } from './specification.js';

/** Converts a call. @throws {UnsupportedFunctionalityError} when leaving something out would change the question */
export function paramsOf(model: string, options: CallOptions): ChatCompletionParams {
  const { stopSequences, reasoning } = options;
  const tools = options.tools?.filter(({ type }) => type === 'function').map(toTool) ?? [];
  return {
    model,
    messages: toMessages(options.prompt),
    temperature: options.temperature,
    max_tokens: options.maxOutputTokens,
    top_p: options.topP,
    top_k: options.topK,
    presence_penalty: options.presencePenalty,
    frequency_penalty: options.frequencyPenalty,
    seed: options.seed,
    stop: stopSequences?.length ? stopSequences : undefined,
    reasoning_effort: reasoning === 'provider-default' ? undefined : reasoning,
    response_format: toResponseFormat(options.responseFormat),
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: tools.length === 0 ? undefined : toToolChoice(options.toolChoice),
    ...options.providerOptions?.svc,
  };
}

/** What is left out. */
export function notSendable({ tools = [], prompt }: CallOptions): { feature: string; details: string }[] {
  const others = tools.filter(({ type }) => type !== 'function').map(({ name }) => `tool ${name}`);
  const files = prompt.flatMap(({ content }) => (typeof content === 'string' ? [] : leftOutOf(content)));
  const ofTools = [...new Set(files)].map((type) => `${type} of a tool`);
  return [
    ...others.map((feature) => ({ feature, details: 'It belongs to another provider. It was not sent.' })),
    ...ofTools.map((feature) => ({ feature, details: 'The Gateway takes none. It was not sent.' })),
  ];
}

/** The results of several tools are one message of the AI SDK, and one message each for the Gateway. */
function toMessages(prompt: readonly PromptMessage[]): ChatMessage[] {
  const asked = prompt.findLastIndex(({ role }) => role === 'user');
  return prompt.flatMap(({ role: given, content }, at): ChatMessage[] => {
    const role = given as ChatMessage['role']; // its roles are among ours
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

function toTool({ name, description, inputSchema: parameters, strict }: CallTool): FunctionTool {
  return { type: 'function', function: { name, description, parameters, strict } };
}

function toToolChoice(choice: CallOptions['toolChoice']): ToolChoice | undefined {
  if (choice?.type === 'tool') return { type: 'function', function: { name: choice.toolName ?? '' } };
  return choice?.type as 'auto' | 'none' | 'required' | undefined; // the other types of the AI SDK
}

function toResponseFormat(format: CallOptions['responseFormat']): ResponseFormat | undefined {
  if (format?.type !== 'json') return undefined;
  const { schema, name = 'response', description } = format;
  return schema === undefined
    ? { type: 'json_object' }
    : { type: 'json_schema', json_schema: { name, description, schema } };
}
