import type { CompactParams, MemoryListParams, PinParams } from '../context/params.js';
import type { ConversationMessage } from '../conversation/index.js';
import { atOnce, searchMessages } from '../conversation/search/search-messages.js';
import type { ContextClient, GatewayClient, MemoryCreateParams, RequestOptions } from '../index.js';

/** The clients, created when an operation needs one: a missing key must not stop a command that needs none. */
export interface Clients {
  readonly context: ContextClient;
  readonly gateway: GatewayClient;
}

/** A parameter of a command. All are strings. */
export interface Parameter {
  readonly description: string;
  /** Required parameters are positional, in this order; the others are flags. */
  readonly required?: boolean;
  readonly values?: readonly string[];
  /** What the help shows for other values. @default TEXT */
  readonly format?: 'DATE' | 'ID' | 'MODEL' | 'PATH';
  /** Whether the flag may be given several times. */
  readonly repeats?: true;
}

type Arguments = Readonly<Record<string, string | undefined>>;

/** What the command line reads and its help shows. */
export interface Command {
  /** Its words. */
  readonly command: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, Parameter>>;
  /** Whether it has no result that could be printed as JSON. */
  readonly hasNoJSON?: true;
}

/** Something that the command line and the MCP server can do. */
export interface Operation extends Command {
  /** The name of its MCP tool, without the prefix of all. Without one, it is a command only. */
  readonly tool?: string;
  readonly effect: 'reads' | 'writes' | 'deletes';
  /** Whether the result is a list of any length, of which a model gets the beginning. */
  readonly lists?: boolean;
  run(clients: Clients, given: Arguments, options?: RequestOptions): Promise<unknown>;
}

const conversationId: Parameter = { description: 'The id of the conversation', required: true };
const messageId: Parameter = { description: 'The id of the message', required: true };
const workspaceId: Parameter = { description: "The id of a workspace; without it, the user's own", format: 'ID' };
const types = ['preference', 'fact', 'constraint', 'definition'] as const;

/** The casts are for the values of closed lists: the client checks them, and its error names the right ones. */
export const OPERATIONS: readonly Operation[] = [
  {
    command: 'usage',
    description: 'Show the tokens used in a period, by model',
    effect: 'reads',
    parameters: {
      start: { description: 'The first day, as 2026-01-31', format: 'DATE' },
      end: { description: 'The last day, included', format: 'DATE' },
    },
    run: ({ gateway }, { start, end }, options) =>
      run(gateway.usage.retrieve({ start_date: start, end_date: end }, options)),
  },
  {
    command: 'context show',
    tool: 'retrieve',
    description: 'Show the context of a conversation: its summary, pinned messages and token counts',
    effect: 'reads',
    parameters: { conversationId },
    run: ({ context }, { conversationId = '' }, options) => run(context.retrieve(conversationId, options)),
  },
  {
    command: 'compact',
    tool: 'compact',
    description: 'Compact a conversation: older messages become part of its summary, which leaves out details',
    effect: 'deletes', // statements that the summary leaves out
    parameters: {
      conversationId,
      level: { description: 'How much to remove', values: ['light', 'deep', 'aggressive'] },
    },
    run: ({ context }, { conversationId = '', level }, options) =>
      run(context.compact(conversationId, { level } as CompactParams, options)),
  },
  {
    command: 'pin',
    tool: 'pin',
    description: 'Pin a message, so that it stays in the context word for word',
    effect: 'writes',
    parameters: {
      conversationId,
      messageId,
      category: { description: 'Its category', values: ['decision', 'requirement', 'reference', 'other'] },
    },
    run: ({ context }, { conversationId = '', messageId = '', category }, options) =>
      run(context.pin(conversationId, messageId, { category } as PinParams, options)),
  },
  messageOperation('unpin', 'Unpin a message'),
  messageOperation('exclude', 'Exclude a message from the summary of a conversation'),
  messageOperation('include', 'Include an excluded message in the summary again'),
  {
    command: 'memory list',
    tool: 'memory_list',
    description: 'List what the service remembers about the user',
    effect: 'reads',
    parameters: { type: { description: 'Items of this type only', values: types }, workspaceId },
    lists: true,
    run: ({ context }, { type, workspaceId }, options) =>
      run(context.memory.list({ type, workspaceId } as MemoryListParams, options)),
  },
  {
    command: 'memory save',
    tool: 'memory_save',
    description: 'Remember something about the user. An item with the same type and key is updated',
    effect: 'writes',
    parameters: {
      type: { description: 'The type of the item', required: true, values: types },
      key: { description: 'Its name, such as editor', required: true },
      content: { description: 'What to remember', required: true },
      workspaceId,
    },
    run: ({ context }, { type, key, content, workspaceId }, options) =>
      run(context.memory.upsert({ type, key, content, workspaceId } as MemoryCreateParams, options)),
  },
  {
    command: 'memory delete',
    tool: 'memory_delete',
    description: 'Delete a memory item permanently',
    effect: 'deletes',
    parameters: { memoryId: { description: 'The id of the item', required: true } },
    run: ({ context }, { memoryId = '' }, options) => run(context.memory.delete(memoryId, options)),
  },
  {
    command: 'search',
    tool: 'search',
    description:
      'Search the context of a conversation and the memory of the user by words. The best matches come first',
    effect: 'reads',
    parameters: { conversationId, query: { description: 'The words to search for', required: true }, workspaceId },
    run: search,
  },
];

/** An operation that takes a message and nothing more. */
function messageOperation(method: 'unpin' | 'exclude' | 'include', description: string): Operation {
  return {
    command: method,
    tool: method,
    description,
    effect: 'writes',
    parameters: { conversationId, messageId },
    run: ({ context }, { conversationId = '', messageId = '' }, options) =>
      run(context[method](conversationId, messageId, options)),
  };
}

/** The result of a call. Calls without one are done. */
async function run(call: PromiseLike<unknown>): Promise<unknown> {
  return (await call) ?? { success: true };
}

/** The API has no endpoint for messages, so only what the context and the memory hold is searched. */
async function search(
  { context }: Clients,
  { conversationId = '', query = '', workspaceId }: Arguments,
  options?: RequestOptions,
): Promise<unknown> {
  const [{ rollingSummary, pinnedMemory }, memories] = await Promise.all([
    context.retrieve(conversationId, options),
    context.memory.list({ workspaceId }, options),
  ]);
  const { goals, requirements, currentPlan, openQuestions, definitions, ...summary } = rollingSummary;
  const entries: object[] = [];
  const history: ConversationMessage[] = [];
  const add = (section: string, text: string, id?: string): void => {
    entries.push({ section, ...(id !== undefined && { id }), text });
    history.push({ role: 'user', content: text });
  };
  for (const { id, decision, reason } of summary.decisions)
    add('decision', reason ? `${decision} (${reason})` : decision, id);
  for (const text of goals) add('goal', text);
  for (const text of requirements) add('requirement', text);
  for (const text of currentPlan) add('plan', text);
  for (const text of openQuestions) add('open question', text);
  for (const [term, text] of Object.entries(definitions)) add('definition', `${term}: ${text}`);
  for (const { label, value } of summary.importantReferences) add('reference', `${label} ${value}`);
  for (const { messageId, content } of pinnedMemory) add('pinned', content, messageId);
  for (const { type, key, content, id } of memories) add(`memory (${type})`, `${key}: ${content}`, id);
  const now = new Date().toISOString();
  const found = atOnce(searchMessages(history, { text: query, limit: 10, weight: 0, now }));
  return found.messages.flatMap(({ position }) => entries[position] ?? []);
}
