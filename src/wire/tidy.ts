import { isObject } from '../base/objects.js';

/** Reasons for which a reply ends that may have no text. One that ends for others, such as tool calls, is no text. */
const WITHOUT_TEXT: readonly unknown[] = ['stop', 'length', 'content_filter'];
const TEXT_TYPES: readonly unknown[] = ['text', 'output_text'];

/** Gives a completion the documented form where services differ: it was paid for. `isText`: a reply has a text, never `null`. */
export function tidyCompletion(completion: unknown, isText: boolean): void {
  const { choices } = Object(completion);
  for (const choice of Array.isArray(choices) ? choices : []) {
    const { message, finish_reason } = Object(choice);
    if (!isObject(message)) continue;
    tidyMessage(message);
    if (isText && WITHOUT_TEXT.includes(finish_reason)) message.content ??= '';
  }
}

/** The same for a message, or what a chunk adds to one: content in parts becomes their text, and arguments JSON. */
export function tidyMessage(message: Record<string, unknown>): void {
  const { content, tool_calls } = message;
  if (Array.isArray(content)) message.content = textOf(content) ?? content;
  for (const call of Array.isArray(tool_calls) ? tool_calls : []) {
    const { function: called } = Object(call);
    // An empty object is what some services send before the pieces of the arguments.
    if (isObject(called?.arguments))
      called.arguments = Object.keys(called.arguments).length === 0 ? '' : JSON.stringify(called.arguments);
  }
}

/** The text of content in parts, if all of them are text. */
function textOf(parts: readonly unknown[]): string | undefined {
  const texts = parts.map((part) => {
    const { type = 'text', text } = Object(typeof part === 'string' ? { text: part } : part);
    return TEXT_TYPES.includes(type) && typeof text === 'string' ? text : undefined;
  });
  return texts.includes(undefined) ? undefined : texts.join('');
}
