import type { MessageInput } from '../../src/store/conversation-records.js';
import { ROLES } from './roles.js';

/**
 * Parses JSON or JSON Lines: messages, requests with their responses as gateways log them, and the exports of ChatGPT and
 * Claude. Throws for anything else.
 */
export function fromJson(text: string): { conversations: MessageInput[][]; form: 'json' | 'lines' } {
  const lines = linesOf(text);
  const form = lines === undefined ? 'json' : 'lines';
  const found = conversationsIn(lines ?? parsed(text));
  if (found.length === 0) throw new Error('The JSON needs to be an array of messages, or an object with "messages".');
  // A log of requests repeats the whole conversation with every turn.
  const conversations = found.filter((one, i) => i === found.length - 1 || !isPrefix(one, found[i + 1] ?? []));
  return { conversations, form };
}

/** The values of JSON Lines; undefined if the text is one value. */
function linesOf(text: string): unknown[] | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length < 2 || !lines.every((line) => /^\s*\{.*\}\s*$/.test(line))) return undefined;
  return lines.map((line, i) => {
    try {
      return JSON.parse(line);
    } catch (error) {
      throw new Error(`Line ${i + 1} of the JSON Lines cannot be read: ${messageOf(error)}`);
    }
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`This looks like JSON, but it cannot be read: ${messageOf(error)}`);
  }
}

function conversationsIn(value: unknown): MessageInput[][] {
  if (!Array.isArray(value)) {
    const one = conversationIn(fieldsOf(value));
    return one === undefined ? [] : [one];
  }
  if (value.length === 0) return [[]];
  const whole = value.map((each) => conversationIn(fieldsOf(each)));
  if (whole.every((one) => one === undefined)) return [messagesFrom(value)];
  return whole.filter((one) => one !== undefined);
}

/** The messages of an object that is a whole conversation, a request or a logged call; undefined if it is none. */
function conversationIn(value: Record<string, unknown>): MessageInput[] | undefined {
  const answer = fieldsOf(fieldsOf(arrayOf(value.choices)?.[0]).message);
  const answers =
    'role' in answer || 'content' in answer ? messagesFrom([{ role: 'assistant', ...answer }]) : undefined;
  const asked = arrayOf(value.messages) ?? arrayOf(value.chat_messages);
  if (asked !== undefined) return [...messagesFrom(asked), ...(answers ?? [])];
  if (answers !== undefined) return answers;
  if (typeof value.mapping === 'object' && value.mapping !== null) return fromTree(value);
  const request = value.request ?? value.body ?? value.input;
  if (request === undefined) return undefined;
  const sent = conversationIn(fieldsOf(request)) ?? (Array.isArray(request) ? messagesFrom(request) : undefined);
  const got = conversationIn(fieldsOf(value.response ?? value.output));
  return sent && [...sent, ...(got ?? [])];
}

/** The export of ChatGPT: a tree of messages, of which one branch is shown. */
function fromTree({ mapping, current_node: current }: Record<string, unknown>): MessageInput[] {
  const nodes = fieldsOf(mapping);
  const branch: unknown[] = [];
  const last = typeof current === 'string' ? current : Object.keys(nodes).at(-1);
  for (let id = last; id !== undefined && branch.length <= Object.keys(nodes).length; ) {
    const node = fieldsOf(nodes[id]);
    if (node.message !== undefined && node.message !== null) branch.unshift(node.message);
    id = typeof node.parent === 'string' ? node.parent : undefined;
  }
  const isEmpty = ({ content }: MessageInput): boolean => content.trim() === '';
  return messagesFrom(branch).filter((message) => !isEmpty(message));
}

function messagesFrom(list: readonly unknown[]): MessageInput[] {
  const tools = new Map<string, string>();
  return list.map((entry, i) => {
    const fields = fieldsOf(entry);
    const given = String(fields.role ?? fieldsOf(fields.author).role ?? fields.sender ?? '').toLowerCase();
    const calls = callsOf(fields);
    for (const { id, name } of calls) if (id !== undefined) tools.set(id, name);
    const isResult = given === 'tool' || given === 'function';
    const role = isResult ? 'assistant' : ROLES.get(given);
    if (role === undefined)
      throw new Error(`Message ${i + 1} has the role ${JSON.stringify(fields.role)}; use user, assistant or system.`);
    const said = contentOf(fields, calls.length > 0, i);
    const parts = [said, ...calls.map(({ name, text }) => `[calls ${name}: ${text}]`)].filter((part) => part !== '');
    const tool = tools.get(String(fields.tool_call_id ?? '')) ?? fields.name ?? 'a tool';
    const content = isResult ? `[${String(tool)} returned: ${said}]` : parts.join('\n');
    return { role, content, ...known(fields) };
  });
}

function callsOf({ tool_calls: many, function_call: one }: Record<string, unknown>) {
  return [...(arrayOf(many) ?? []), ...(one === undefined || one === null ? [] : [{ function: one }])].map((call) => {
    const { id, function: called } = fieldsOf(call);
    const { name, arguments: given } = fieldsOf(called);
    const text = typeof given === 'string' ? given : JSON.stringify(given ?? {});
    return { id: typeof id === 'string' ? id : undefined, name: String(name ?? 'a tool'), text };
  });
}

/** Accepts a string, or an array of parts as in OpenAI's format. A message that calls tools may have none. */
function contentOf(fields: Record<string, unknown>, hasCalls: boolean, i: number): string {
  const content = fields.content ?? fields.text ?? (typeof fields.refusal === 'string' ? fields.refusal : undefined);
  if (typeof content === 'string') return content;
  const parts = arrayOf(content) ?? arrayOf(fieldsOf(content).parts);
  if (parts !== undefined) return parts.map(partText).filter(Boolean).join('\n');
  if (typeof fieldsOf(content).text === 'string') return String(fieldsOf(content).text);
  if (hasCalls) return '';
  throw new Error(`Message ${i + 1} has no content.`);
}

function partText(part: unknown): string {
  if (typeof part === 'string') return part;
  const { text, type, content } = fieldsOf(part);
  if (typeof text === 'string') return text;
  if (typeof content === 'string') return content;
  // A message is text: what it cannot hold is named.
  return typeof type === 'string' ? `[${type}]` : '';
}

function known({
  id,
  createdAt,
  created_at,
  create_time,
}: Record<string, unknown>): Pick<MessageInput, 'id' | 'createdAt'> {
  const seconds = typeof create_time === 'number' ? new Date(create_time * 1000).toISOString() : undefined;
  const time = typeof createdAt === 'string' ? createdAt : typeof created_at === 'string' ? created_at : seconds;
  return { ...(typeof id === 'string' && { id }), ...(time !== undefined && { createdAt: time }) };
}

function isPrefix(one: readonly MessageInput[], other: readonly MessageInput[]): boolean {
  return one.every(({ role, content }, i) => other[i]?.role === role && other[i]?.content === content);
}

function fieldsOf(value: unknown): Record<string, unknown> {
  // Callers only read fields of the object.
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function arrayOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
