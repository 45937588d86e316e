import type { RequestRecord } from '../../src/http/log/request-record.js';
import { type StreamedReply, streamedMessage } from '../service/reply.js';
import type { SentEvent } from './use-followed.js';

/** A message of a completion, as a page shows it. */
export interface ShownMessage {
  role: string;
  text: string;
  calls: readonly { name: string; args: string }[];
  /** The name of the tool, for the result of a call. */
  resultOf?: string | undefined;
  /** Its place in the prompt, if not all messages are shown. */
  index?: number;
}

/** What a caller may have sent as a message. */
interface Message extends Partial<StreamedReply> {
  role?: unknown;
  tool_call_id?: unknown;
}

/** The messages of a completion, then its reply. If the log does not have the body whole, their beginnings. */
export function messagesOf(
  { body, response, outcome, prompt }: Pick<RequestRecord, 'body' | 'response' | 'outcome' | 'prompt'>,
  events: readonly SentEvent[],
): ShownMessage[] {
  const { messages } = Object(jsonOf(body));
  if (!Array.isArray(messages))
    return prompt?.messages.map(({ index, role, text }) => ({ index, role, text: `${text}…`, calls: [] })) ?? [];
  const whole = Object(Object(jsonOf(response?.body)).choices?.[0]).message;
  const streamed = outcome !== 'pending' && events.length > 0 ? { role: 'assistant', ...streamedMessage(events) } : [];
  const names = new Map<unknown, string>();
  return [messages, whole ?? streamed].flat().map((given: unknown) => {
    const { role, content, tool_calls: calls, tool_call_id: id }: Message = Object(given);
    const shown = (Array.isArray(calls) ? calls : []).map((call: unknown) => {
      const { name, arguments: args } = Object(Object(call).function);
      names.set(Object(call).id, String(name));
      return { name: String(name), args: readable(String(args ?? '')) };
    });
    const text = textOf(content);
    if (role !== 'tool') return { role: String(role), text, calls: shown };
    return { role, text: readable(text), calls: shown, resultOf: names.get(id) ?? String(id) };
  });
}

/** A text, or the text of parts: of an image or a file, its type. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = Array.isArray(content) ? content.map(Object) : [];
  return parts.map(({ type, text }) => (typeof text === 'string' ? text : `[${type ?? 'part'}]`)).join('\n');
}

/** JSON on one line if it is short, else indented. Any other text stays. */
function readable(text: string): string {
  const value = jsonOf(text);
  if (typeof value !== 'object' || value === null) return text;
  return text.length > ONE_LINE ? JSON.stringify(value, null, 2) : text;
}

function jsonOf(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

const ONE_LINE = 60;
