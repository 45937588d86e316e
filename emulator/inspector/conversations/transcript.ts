import type { MessageInput, MessageRole } from '../../src/store/conversation-records.js';

/** A line that begins a message. */
const LABEL = /^(user|assistant|system):[ \t]*(.*)$/i;

/**
 * Parses a pasted text: messages as JSON, lines that begin with a role, or one message of the user. Throws for JSON that has no
 * messages.
 */
export function readTranscript(text: string): MessageInput[] {
  const trimmed = text.trim();
  if (/^(\[\s*[{\]]|\{\s*["}])/.test(trimmed)) return fromJson(trimmed); // not [10:32] or { an aside }
  const messages: MessageInput[] = [];
  for (const line of trimmed.split(/\r?\n/)) {
    const [, role, content = ''] = LABEL.exec(line) ?? [];
    const last = messages.at(-1);
    if (role !== undefined) messages.push({ role: role.toLowerCase() as MessageRole, content });
    else if (last === undefined) messages.push({ role: 'user', content: line });
    else last.content += `\n${line}`;
  }
  return messages
    .map((message) => ({ ...message, content: message.content.trim() }))
    .filter(({ content }) => content !== '');
}

/** An array of messages, or an object with them. The service checks their other fields. */
function fromJson(text: string): MessageInput[] {
  const value: unknown = JSON.parse(text);
  const messages: unknown = Array.isArray(value) ? value : Object(value).messages;
  if (!Array.isArray(messages)) throw new Error('The JSON must be an array of messages, or an object with "messages".');
  return messages.map((message, i) => {
    const { role, content } = Object(message);
    if (!['user', 'assistant', 'system'].includes(role))
      throw new Error(`Message ${i + 1} has the role ${JSON.stringify(role)}; it needs user, assistant or system.`);
    if (typeof content !== 'string') throw new Error(`Message ${i + 1} needs a text as content.`);
    return message;
  });
}
