import * as z from 'zod/mini';
import { checked } from '../base/checked.js';
import { badRequest, type HttpError } from '../base/errors.js';
import { id, label, namedObject, text } from '../base/fields.js';
import { mention } from '../base/mention.js';
import { MESSAGE_ROLES } from '../store/conversation-records.js';
import type { ChatMessage, CompletionRequest } from '../upstream/model-source.js';

export const chatMessage = namedObject('ChatMessage', { role: z.enum(MESSAGE_ROLES), content: z.string() });
export const completionBody = namedObject('ChatCompletionRequest', {
  model: id,
  messages: z.array(chatMessage).check(z.minLength(1)),
  temperature: z.optional(z.number().check(z.gte(0), z.lte(2))),
  max_tokens: z.optional(z.int().check(z.gte(1))),
  stream: z.optional(z.boolean()),
});

/** Checks a request. Unless `strict`, it may have what the API does not document: other content than text, tools. */
export function completionRequest(body: unknown, strict: boolean): CompletionRequest {
  if (strict) return checked(completionBody, body, strict);
  const request = checked(openCompletionBody, body);
  checkResults(request.messages);
  checkChoice(request);
  return {
    ...request,
    messages: request.messages.map(readable),
    sent: body as Record<string, unknown>, // just checked
  };
}

/** Only what has the type `function` needs one. */
const isWhole = z.refine<{ type: string; function?: unknown }>(
  (one) => one.type !== 'function' || one.function !== undefined,
  {
    path: ['function'],
    error: 'required',
  },
);
const toolCall = z
  .object({ id, type: id, function: z.optional(z.object({ name: text, arguments: z.string() })) })
  .check(isWhole);
const message = z
  .object({
    role: z.enum([...MESSAGE_ROLES, 'developer', 'tool']),
    content: z.optional(
      z.nullable(z.union([z.string(), z.array(z.looseObject({ type: id, text: z.optional(z.unknown()) }))])),
    ),
    tool_calls: z.optional(z.nullable(z.array(toolCall).check(z.minLength(1)))),
    tool_call_id: z.optional(label),
  })
  .check(
    // Only a message that calls tools has none.
    z.refine(({ role, content }) => role === 'assistant' || (content ?? undefined) !== undefined, {
      path: ['content'],
      error: 'required',
    }),
    z.refine(({ role, tool_call_id: id }) => role !== 'tool' || id !== undefined, {
      path: ['tool_call_id'],
      error: 'required',
    }),
  );
const tool = z
  .object({
    type: id,
    function: z.optional(
      z.object({
        name: z.string().check(z.regex(/^[\w-]{1,64}$/, 'expected 1 to 64 letters, digits, _ and -')),
        description: z.optional(z.nullable(z.string())),
        parameters: z.optional(z.nullable(z.looseObject({ type: z.optional(z.literal('object')) }))),
      }),
    ),
  })
  .check(isWhole);
export const openCompletionBody = z.object({
  ...completionBody.shape,
  messages: z.array(message).check(z.minLength(1)),
  tools: z.optional(z.nullable(z.array(tool).check(z.minLength(1)))),
  tool_choice: z.optional(
    z.nullable(
      z.union([z.string(), z.looseObject({ type: id, function: z.optional(z.object({ name: z.string() })) })]),
    ),
  ),
  parallel_tool_calls: z.optional(z.nullable(z.boolean())),
});

type Sent = z.infer<typeof openCompletionBody>;

/** Throws a 400 unless each call has its result before the next message of another role, and each result its call. */
function checkResults(messages: Sent['messages']): void {
  let open = new Set<string>();
  let caller = 0;
  const withoutResult = (): HttpError => {
    const [id = ''] = open;
    const how = 'send a message with the role tool for each of its tool_calls before anything else';
    return badRequest(`messages.${caller}`, `The call ${mention(id)} of messages.${caller} has no result: ${how}`);
  };
  for (const [at, { role, tool_calls: calls, tool_call_id: id = '' }] of messages.entries()) {
    if (role === 'tool') {
      if (open.delete(id)) continue;
      const how = 'send the message of the assistant with its tool_calls first, and one result for each';
      throw badRequest(
        `messages.${at}`,
        `messages.${at} is a result, but no call ${mention(id)} waits for one: ${how}`,
      );
    }
    if (open.size > 0) throw withoutResult();
    open = new Set(role === 'assistant' ? calls?.map((call) => call.id) : []);
    caller = at;
  }
  if (open.size > 0) throw withoutResult();
}

function checkChoice({ tools, tool_choice: choice }: Sent): void {
  if ((choice ?? undefined) === undefined) return;
  if (!tools) throw badRequest('tool_choice', 'tool_choice is only allowed with tools');
  if (typeof choice === 'string' && !['none', 'auto', 'required'].includes(choice))
    throw badRequest('tool_choice', 'tool_choice is not valid: expected none, auto, required, or a function of tools');
  const name = Object(choice).function?.name;
  if (name !== undefined && !tools.some((one) => one.function?.name === name))
    throw badRequest('tool_choice', `tool_choice names the function ${mention(name)}, which is not in tools`);
}

function readable({ role, content, tool_calls: calls, tool_call_id: id }: Sent['messages'][number]): ChatMessage {
  const called = (calls ?? []).flatMap((call) => (call.function ? [{ ...call, function: call.function }] : []));
  return {
    role,
    content: textOf(content),
    ...(called.length > 0 && { tool_calls: called }),
    ...(id !== undefined && { tool_call_id: id }),
  };
}

/** The text of a message's content. */
function textOf(content: Sent['messages'][number]['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap(({ text }) => (typeof text === 'string' ? text : [])).join('\n');
}
