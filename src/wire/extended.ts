import * as z from 'zod/mini';
import { isObject } from '../base/objects.js';
import { newToolCallId } from '../base/tool-call-id.js';
import { count, exact, openEnum, requiredText, wireObject } from '../validation/fields.js';
import { choicesOf, chunkOf, completionOf, paramsOf } from './completions.js';
import type { ExtendedChatCompletion, ExtendedChatCompletionChunk, ToolCall, ToolCallDelta } from './extended-types.js';
import type { CompletionForm, ExtendedTypes } from './form.js';

const toolCallSchema = exact<ToolCall>()(
  wireObject({
    id: z.string(),
    type: openEnum<'function'>(),
    function: wireObject({ name: z.string(), arguments: z.string() }),
  }),
);

/** A call as services send it: one without parameters may have no `arguments`, and some have no id. */
const receivedToolCallSchema = wireObject({
  id: z.optional(z.string()),
  type: z.optional(openEnum<'function'>()),
  function: wireObject({ name: z.string(), arguments: z.optional(z.string()) }),
});

const replySchema = wireObject({
  role: openEnum<'system' | 'user' | 'assistant'>(),
  content: z.optional(z.nullable(z.string())),
  tool_calls: z.optional(z.array(receivedToolCallSchema)),
});

const word = z.optional(z.nullable(z.string()));
const toolCallDeltaSchema = exact<ToolCallDelta>()(
  wireObject({
    index: z.optional(count),
    id: word,
    type: z.optional(z.nullable(openEnum<'function'>())),
    function: z.optional(z.nullable(wireObject({ name: word, arguments: word }))),
  }),
);

const extendedChunkSchema = exact<ExtendedChatCompletionChunk>()(
  chunkOf({ tool_calls: z.optional(z.array(toolCallDeltaSchema)) }),
);

/** The tool calls of a completion that was assembled from a stream. */
const streamedSchema = wireObject({ choices: choicesOf(replySchema) });

const contentSchema = z.optional(
  z.custom(isContent, "expected a string, null, or an array of parts such as { type: 'text', text: '…' }"),
);
/** Only the messages are checked: the other undocumented parameters are sent as they are, and the service decides. */
const extendedParamsSchema = paramsOf(
  wireObject({
    role: requiredText,
    content: contentSchema,
    tool_calls: z.optional(z.nullable(z.array(toolCallSchema))),
    tool_call_id: z.optional(requiredText),
  }),
);

/**
 * The form of completions with what the API does not document, as OpenAI documents it: tools, images, JSON formats and
 * sampling parameters. The service may ignore or reject them. Pass it to a client, to `readChatCompletionStream`, or to
 * the provider of the AI SDK.
 *
 * @example
 * ```ts
 * import { extended, GatewayClient } from 'context-gateway';
 * const gateway = new GatewayClient({ completions: extended });
 * const { choices } = await gateway.chat.completions.create({
 *   model: 'atlas-small',
 *   messages: [{ role: 'user', content: [{ type: 'text', text: 'The harbour opens at six. When does it open?' }] }],
 *   seed: 7,
 * });
 * console.log(choices[0]?.message.content);
 * ```
 */
export const extended: CompletionForm<ExtendedTypes> = {
  isExtended: true,
  params: extendedParamsSchema,
  completion: completionOf(replySchema),
  chunk: extendedChunkSchema,
  complete(received) {
    addMissing(received);
    return received as ExtendedChatCompletion; // checked, or reported and returned as it is
  },
  assemble(completion, check) {
    check(streamedSchema, completion);
    addMissing(completion);
    return completion;
  },
};

function isContent(value: unknown): boolean {
  return value === null || typeof value === 'string' || (Array.isArray(value) && value.every(isTyped));
}

function isTyped(value: unknown): boolean {
  return typeof (value as { type?: unknown } | null)?.type === 'string';
}

/**
 * Adds what a call may lack: an id, and its empty `arguments`. Only pieces of calls have an index: without it, a call can be sent back
 * in the next request. With `validation: 'report'`, a completion can be anything.
 */
function addMissing(completion: unknown): void {
  for (const choice of listOf(Object(completion).choices)) {
    for (const call of listOf(Object(Object(choice).message).tool_calls)) {
      if (!isObject(call)) continue;
      call.id ||= newToolCallId();
      call.type ??= 'function';
      if (isObject(call.function)) call.function.arguments ||= '{}';
      Reflect.deleteProperty(call, 'index');
    }
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
