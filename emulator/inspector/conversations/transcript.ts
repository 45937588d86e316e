import type { MessageInput, MessageRole } from '../../src/store/conversation-records.js';

/** A parsed text, and the format it was taken for. */
export interface ReadTranscript {
  messages: MessageInput[];
  form: 'json' | 'transcript' | 'plain';
}

/**
 * Parses a pasted text: JSON in the common formats, a transcript with speakers, or plain text. Throws for invalid JSON.
 */
export function readTranscript(text: string): ReadTranscript {
  const trimmed = text.trim();
  if (trimmed === '') return { messages: [], form: 'plain' };
  if (/^[[{]/.test(trimmed) && !/^\[\d/.test(trimmed)) return { messages: fromJson(trimmed), form: 'json' };
  const messages = fromSpeakers(trimmed);
  if (messages.length > 0) return { messages, form: 'transcript' };
  return { messages: [{ role: 'user', content: trimmed }], form: 'plain' };
}

function fromJson(text: string): MessageInput[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`This looks like JSON, but it cannot be read: ${error instanceof Error ? error.message : ''}`);
  }
  const list = Array.isArray(value) ? value : fieldsOf(value).messages;
  if (!Array.isArray(list)) throw new Error('The JSON needs to be an array of messages, or an object with "messages".');
  return list.map((entry: unknown, i) => {
    const fields = fieldsOf(entry);
    const role = ROLES.get(String(fields.role ?? '').toLowerCase());
    if (role === undefined)
      throw new Error(`Message ${i + 1} has the role ${JSON.stringify(fields.role)}; use user, assistant or system.`);
    return { role, content: contentOf(fields.content, i), ...known(fields) };
  });
}

/** Accepts a string, or an array of parts as in OpenAI's format. */
function contentOf(content: unknown, i: number): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) {
    return content
      .map((part: unknown) => String(fieldsOf(part).text ?? ''))
      .filter(Boolean)
      .join('\n');
  }
  throw new Error(`Message ${i + 1} has no content.`);
}

function known({ id, createdAt }: Record<string, unknown>): Pick<MessageInput, 'id' | 'createdAt'> {
  return { ...(typeof id === 'string' && { id }), ...(typeof createdAt === 'string' && { createdAt }) };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  // Callers only read fields of the object.
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** A line that starts with a speaker starts a message. */
function fromSpeakers(text: string): MessageInput[] {
  const turns: { name: string; lines: string[] }[] = [];
  let isFenced = false;
  for (const line of text.split(/\r?\n/)) {
    const match = isFenced ? null : (HEADING.exec(line) ?? SPEAKER.exec(line));
    if (line.trimStart().startsWith('```')) isFenced = !isFenced;
    if (match?.groups !== undefined) {
      turns.push({ name: (match.groups.name ?? '').trim().toLowerCase(), lines: [match.groups.rest ?? ''] });
    } else turns.at(-1)?.lines.push(line);
  }
  const names = [...new Set(turns.map(({ name }) => name))];
  const areKnown = names.some((name) => ROLES.has(name));
  // A single unknown name before a colon may be any sentence. Two names make a conversation.
  if (!areKnown && names.length !== 2) return [];
  return turns
    .map(({ name, lines }): MessageInput => {
      const role = ROLES.get(name) ?? (areKnown || name === names[0] ? 'user' : 'assistant');
      return { role, content: lines.join('\n').trim() };
    })
    .filter(({ content }) => content !== '');
}

/** `User: …`, `**Assistant:** …`, `[10:02] Anna: …`, `You said:` */
const SPEAKER = /^(?:\[[\d:.\sT-]+\]\s*)?\**(?<name>[A-Z][\w .'-]{0,24}?)\**(?:\s+said)?\s*:\**\s*(?<rest>.*)$/;
/** `## User` */
const HEADING = /^#{1,4}\s*(?<name>User|Human|Assistant|System)\s*:?\s*(?<rest>)$/;

const ROLES = new Map<string, MessageRole>([
  ...['user', 'human', 'you', 'me', 'customer'].map((name): [string, MessageRole] => [name, 'user']),
  ...['assistant', 'ai', 'bot', 'model', 'chatgpt', 'claude', 'agent', 'gpt'].map((name): [string, MessageRole] => [
    name,
    'assistant',
  ]),
  ...['system', 'developer'].map((name): [string, MessageRole] => [name, 'system']),
]);
