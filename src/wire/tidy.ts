import { isObject } from '../base/objects.js';
import { newToolCallId } from '../base/tool-call-id.js';
import { findIssues, repair } from '../validation/schema-issues.js';
import { completionUsageSchema } from './completions.js';

/** What stands for a detail of a completion that is missing, in a stream as well. */
const UNKNOWN = { id: '', object: 'chat.completion', created: 0, model: '' };
const TEXT_TYPES: readonly unknown[] = ['text', 'output_text'];

/** Gives a completion the form of its schema where services differ: it was paid for. */
export function tidyCompletion(completion: unknown): void {
  if (!isObject(completion) || objectsIn(completion.choices).length === 0) return;
  tidyUsage(completion);
  for (const [index, choice] of objectsIn(completion.choices).entries()) {
    choice.index ??= index;
    // Only a piece has a `delta`, and one that does not end its choice is no reply.
    if (choice.message) choice.finish_reason ??= 'stop';
    else choice.message = choice.delta;
    if (isObject(choice.message))
      tidyMessage(Object.assign(choice.message, { role: choice.message.role ?? 'assistant' }));
  }
  for (const [name, value] of Object.entries(UNKNOWN)) completion[name] ??= value;
  addMissing(completion);
}

/** Removes usage that is not whole, and cannot be made so. Many services send `null` with each chunk but the last. */
export function tidyUsage(reply: Record<string, unknown>): void {
  const { usage } = reply;
  const isRead = (): boolean => findIssues(completionUsageSchema, usage) === undefined;
  if (usage !== undefined && usage !== null && !isRead() && !(repair(completionUsageSchema, usage) && isRead()))
    Reflect.deleteProperty(reply, 'usage');
}

/**
 * The same for a message, or what a chunk adds to one: content in parts becomes their text, arguments become JSON, and `null` or
 * a text in place of tool calls is removed.
 */
export function tidyMessage(message: Record<string, unknown>): void {
  const { content, tool_calls } = message;
  if (Array.isArray(content)) message.content = textOf(content) ?? content;
  if (tool_calls !== undefined && !(tool_calls instanceof Object)) message.tool_calls = undefined;
  for (const { function: called } of objectsIn(tool_calls)) {
    // An empty object is what some services send before the pieces of the arguments.
    if (isObject(called) && isObject(called.arguments))
      called.arguments = Object.keys(called.arguments).length === 0 ? '' : JSON.stringify(called.arguments);
  }
}

/**
 * Adds what replies may lack: a text, unless they call tools, and the id and `arguments` of a call. Only pieces of calls have an
 * index: without it, a call can be sent back in the next request. With `validation: 'report'`, a completion can be anything.
 */
export function addMissing<Completion>(completion: Completion): Completion {
  for (const message of messagesOf(completion)) {
    const calls = objectsIn(message.tool_calls);
    if (calls.length === 0) message.content ??= '';
    for (const call of calls) {
      call.id ||= newToolCallId();
      call.type ??= 'function';
      if (isObject(call.function)) call.function.arguments ||= '{}';
      Reflect.deleteProperty(call, 'index');
    }
  }
  return completion;
}

function messagesOf(completion: unknown): Record<string, unknown>[] {
  return objectsIn(objectsIn(Object(completion).choices).map(({ message }) => message));
}

/** The objects among the entries of a list. */
export function objectsIn(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** The text of content in parts, if all of them are text. */
function textOf(parts: readonly unknown[]): string | undefined {
  const texts = parts.map((part) => {
    const { type = 'text', text } = Object(typeof part === 'string' ? { text: part } : part);
    return TEXT_TYPES.includes(type) && typeof text === 'string' ? text : undefined;
  });
  return texts.includes(undefined) ? undefined : texts.join('');
}
