import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { builtFile } from '../helpers/programs.js';
import { emulatedService } from '../helpers/world.js';

const world = emulatedService({});
const client = new Client({ name: 'test', version: '1.0.0' });
beforeAll(async () => {
  const env = {
    CONTEXT_GATEWAY_BASE_URL: world.baseURL,
    CONTEXT_GATEWAY_SESSION_TOKEN: world.emulator.sessionToken,
  };
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [builtFile('cli'), 'mcp'], env }));
});
afterAll(() => client.close());
beforeEach(() => {
  const content = 'We decided to write Parquet because the finance team loads it directly.';
  world.emulator.conversations.create({ id: 'talk', messages: [{ id: 'm1', role: 'user', content }] });
});

/** The result of a tool, parsed. */
async function call(name: string, given: Record<string, unknown> = {}) {
  const { content, isError = false } = await client.callTool({ name, arguments: given });
  const [{ text = '' } = {}] = content as { text?: string }[];
  return isError ? { isError, text } : { isError, value: JSON.parse(text) };
}

test('lists its tools, with the parameters and effects of each', async () => {
  const { tools } = await client.listTools();

  expect(client.getServerVersion()).toMatchObject({ name: 'context-gateway' });
  expect(tools.map(({ name }) => name)).toEqual([
    ...['retrieve', 'compact', 'pin', 'unpin', 'exclude', 'include'],
    ...['memory_list', 'memory_save', 'memory_delete', 'search'],
  ]);
  expect(tools.find(({ name }) => name === 'pin')).toMatchObject({
    inputSchema: { required: ['conversationId', 'messageId'], properties: { category: { type: 'string' } } },
    annotations: { readOnlyHint: false },
  });
  const destructive = tools.filter(({ annotations }) => annotations?.destructiveHint).map(({ name }) => name);
  expect(destructive).toEqual(['compact', 'memory_delete']); // a compaction loses statements
});

test('every tool acts on the service', async () => {
  expect((await call('compact', { conversationId: 'talk', level: 'light' })).value).toMatchObject({ success: true });
  expect((await call('pin', { conversationId: 'talk', messageId: 'm1' })).value).toMatchObject({ messageId: 'm1' });
  expect((await call('retrieve', { conversationId: 'talk' })).value.pinnedMemory).toHaveLength(1);
  expect((await call('search', { conversationId: 'talk', query: 'Parquet' })).value[0]).toMatchObject({ id: 'm1' });
  expect((await call('exclude', { conversationId: 'talk', messageId: 'm1' })).value).toEqual({ success: true });
  expect((await call('include', { conversationId: 'talk', messageId: 'm1' })).value).toEqual({ success: true });
  expect((await call('unpin', { conversationId: 'talk', messageId: 'm1' })).value).toEqual({ success: true });
  const item = { type: 'fact', key: 'city', content: 'Oslo' };
  const { value: saved } = await call('memory_save', item);
  for (const nothing of [{}, { type: null, workspaceId: null }, { type: '', workspaceId: '' }])
    expect((await call('memory_list', nothing)).value).toMatchObject([item]);
  expect((await call('memory_delete', { memoryId: saved.id })).value).toEqual({ success: true });
});

test.each([
  { tool: 'retrieve', given: { conversationId: 'nowhere' }, text: '404' },
  { tool: 'retrieve', given: { conversationId: '' }, text: 'conversationId is missing' },
  { tool: 'retrieve', given: { conversationId: 7 }, text: 'conversationId must be a string' },
  { tool: 'pin', given: {}, text: 'conversationId is missing. The parameters are conversationId, messageId, ca' },
  { tool: 'compact', given: { conversationId: 'talk', level: 'hard' }, text: 'level: expected "light"' },
  { tool: 'delete_all', given: {}, text: 'There is no tool delete_all' },
])('$tool with $given is an error that the model can read', async ({ tool, given, text }) => {
  const result = await call(tool, given);

  expect(result.isError).toBe(true);
  expect(result.text).toContain(text);
  expect(result.text).not.toContain(world.emulator.sessionToken);
});

test('arguments that clients add are ignored', async () => {
  const added = { toolCallId: 'call_1', sessionId: 'a1', action: 'sendMessage', chatInput: 'hi' };

  expect((await call('retrieve', { conversationId: 'talk', ...added })).isError).toBe(false);
});

test('a long list is cut, and says how long it is', async () => {
  for (let at = 0; at < 60; at += 1) await call('memory_save', { type: 'fact', key: `key ${at}`, content: 'x' });

  const { items, total } = (await call('memory_list')).value;
  expect([items.length, total]).toEqual([50, 60]);
  expect((await call('memory_list', { limit: 2 })).value.items).toHaveLength(2);
  expect((await call('memory_list', { limit: 100 })).value).toHaveLength(60);
});
