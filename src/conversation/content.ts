import { isObject } from '../base/objects.js';
import type { ChatContentPart, ToolCall } from '../index.js';

/** A text, or parts of which some may be images and files. */
export type Content = string | readonly ChatContentPart[];

/** What a model reads of a message. */
interface Body {
  readonly content: Content;
  readonly tool_calls?: readonly ToolCall[] | null | undefined;
  readonly tool_call_id?: string | null | undefined;
}

/**
 * Returns the text of a message: of several parts, that of those which are text, each on a line of its own. It is what a page
 * shows, and what is searched.
 *
 * @example
 * ```ts
 * import { textOf } from 'context-gateway/conversation';
 * const image = { type: 'image_url', image_url: { url: 'https://example.com/pier.png' } } as const;
 * console.log(textOf({ content: [{ type: 'text', text: 'What is this?' }, image] }));
 * ```
 */
export function textOf({ content }: { readonly content?: Content | null | undefined }): string {
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n');
}

/** Two messages with the same one say the same. A database may return the fields of JSON in another order. */
export function bodyOf({ content, tool_calls, tool_call_id }: Body): string {
  if (typeof content === 'string' && !tool_calls && !tool_call_id) return content;
  return sortedJson([content, tool_calls ?? null, tool_call_id ?? null]);
}

/** As JSON, with the fields of each object in one order. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort()) : part,
  );
}
