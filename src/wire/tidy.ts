import { isObject } from '../base/objects.js';

/** Reasons for which a reply ends that may have no text. One that ends for others, such as tool calls, is no text. */
const WITHOUT_TEXT: readonly unknown[] = ['stop', 'length', 'content_filter'];

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
  if (Array.isArray(content)) message.content = content.map((part) => Object(part).text ?? '').join('');
  for (const call of Array.isArray(tool_calls) ? tool_calls : []) {
    const { function: called } = Object(call);
    if (isObject(called?.arguments)) called.arguments = JSON.stringify(called.arguments);
  }
}
