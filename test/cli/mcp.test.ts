import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { builtFile } from '../helpers/programs.js';
import { startNode } from '../helpers/start-node.js';
import { emulatedService } from '../helpers/world.js';

const world = emulatedService({});
const client = new Client({ name: 'test', version: '1.0.0' });
const environment = () => ({
  CONTEXT_GATEWAY_BASE_URL: world.baseURL,
  CONTEXT_GATEWAY_SESSION_TOKEN: world.emulator.sessionToken,
});
const transport = () =>
  new StdioClientTransport({ command: process.execPath, args: [builtFile('cli'), 'mcp'], env: environment() });
beforeAll(() => client.connect(transport()));
afterAll(() => client.close());
beforeEach(() => {
  const content = 'We decided to write Parquet because the finance team loads it directly.';
  world.emulator.conversations.create({ id: 'talk', messages: [{ id: 'm1', role: 'user', content }] });
});

/** The result of a tool: its data, which its text has, too, or the message of an error. */
async function call(name: string, given: Record<string, unknown> = {}) {
  const result = await client.callTool({ name: `context_gateway_${name}`, arguments: given });
  const [{ text = '' } = {}] = result.content as { text?: string }[];
  if (result.isError) return { isError: true, text };
  const value = JSON.parse(text);
  expect(value).toEqual(result.structuredContent);
  return { isError: false, text, value };
}

test('lists its tools, with the parameters and effects of each', async () => {
  const { tools } = await client.listTools();

  expect(client.getServerVersion()).toMatchObject({ name: 'context-gateway' });
  expect(tools.map(({ name }) => name)).toEqual(
    [
      ...['retrieve', 'compact', 'pin', 'unpin', 'exclude', 'include'],
      ...['memory_list', 'memory_save', 'memory_delete', 'search'],
    ].map((name) => `context_gateway_${name}`),
  );
  expect(tools.find(({ name }) => name.endsWith('_pin'))).toMatchObject({
    inputSchema: { required: ['conversationId', 'messageId'], properties: { category: { type: 'string' } } },
    annotations: { readOnlyHint: false },
  });
  const destructive = tools.filter(({ annotations }) => annotations?.destructiveHint).map(({ name }) => name);
  expect(destructive).toEqual(['context_gateway_compact', 'context_gateway_memory_delete']); // a compaction loses statements
});

test('every tool acts on the service', async () => {
  expect((await call('compact', { conversationId: 'talk', level: 'light' })).value).toMatchObject({ success: true });
  expect((await call('pin', { conversationId: 'talk', messageId: 'm1' })).value).toMatchObject({ messageId: 'm1' });
  expect((await call('retrieve', { conversationId: 'talk' })).value.pinnedMemory).toHaveLength(1);
  expect((await call('search', { conversationId: 'talk', query: 'Parquet' })).value).toMatchObject({
    items: [{ id: 'm1' }],
    total: 1,
  });
  expect((await call('exclude', { conversationId: 'talk', messageId: 'm1' })).value).toEqual({ success: true });
  expect((await call('include', { conversationId: 'talk', messageId: 'm1' })).value).toEqual({ success: true });
  expect((await call('unpin', { conversationId: 'talk', messageId: 'm1' })).value).toEqual({ success: true });
  const item = { type: 'fact', key: 'city', content: 'Oslo' };
  const { value: saved } = await call('memory_save', item);
  for (const nothing of [{}, { type: null, workspaceId: null, limit: null }, { type: '', workspaceId: '' }])
    expect((await call('memory_list', nothing)).value).toMatchObject({ items: [item], total: 1 });
  expect((await call('memory_delete', { memoryId: saved.id })).value).toEqual({ success: true });
  expect((await call('memory_list')).value).toEqual({ items: [], total: 0 });
});

test.each([
  { tool: 'retrieve', given: { conversationId: 'nowhere' }, text: '404' },
  { tool: 'retrieve', given: { conversationId: '' }, text: 'conversationId is missing' },
  { tool: 'retrieve', given: { conversationId: 7 }, text: 'conversationId must be a string' },
  {
    tool: 'pin',
    given: {},
    text: 'conversationId is missing. The parameters are conversationId, messageId, category.',
  },
  { tool: 'compact', given: { conversationId: 'talk', level: 'hard' }, text: 'level: expected "light"' },
  {
    tool: 'retrieve',
    given: { conversationId: 'talk', chatInput: null },
    text: 'The parameter chatInput is unknown. The parameters are conversationId.',
  },
  {
    tool: 'memory_list',
    given: { limt: 2 },
    text: 'limt is unknown (did you mean limit?). The parameters are type, workspaceId, limit.',
  },
  { tool: 'memory_list', given: { limit: 0 }, text: 'limit must be a whole number, at least 1.' },
  { tool: 'search', given: { conversationId: 'talk', query: 'x', limit: 2 }, text: 'The parameter limit is unknown' },
  {
    tool: 'delete_all',
    given: {},
    text: 'There is no tool context_gateway_delete_all. The tools are context_gateway_retrieve, ',
  },
])('$tool with $given is an error that the model can read', async ({ tool, given, text }) => {
  const result = await call(tool, given);

  expect(result.isError).toBe(true);
  expect(result.text).toContain(text);
  expect(result.text).not.toContain(world.emulator.sessionToken);
});

test('a long list is cut, and says how long it is', async () => {
  for (let at = 0; at < 60; at += 1) await call('memory_save', { type: 'fact', key: `key ${at}`, content: 'x' });

  const { items, total } = (await call('memory_list')).value;
  expect([items.length, total]).toEqual([50, 60]);
  expect((await call('memory_list', { limit: 2 })).value.items).toHaveLength(2);
  expect((await call('memory_list', { limit: '100' })).value.items).toHaveLength(60);
});

test('a client of the protocol of 2026 finds the same tools', async () => {
  const modern = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  await modern.connect(transport());
  const { tools } = await modern.listTools();
  const { structuredContent } = await modern.callTool({ name: 'context_gateway_memory_list' });

  expect(modern.getNegotiatedProtocolVersion()).toBe('2026-07-28');
  expect(tools).toHaveLength(10);
  expect(structuredContent).toEqual({ items: [], total: 0 });
  await modern.close();
});

test('a call that the client cancels ends', async () => {
  world.emulator.faults.add({ match: { path: '/api/context' }, respond: { type: 'stall' } });
  const cancelled = new AbortController();
  const given = { name: 'context_gateway_retrieve', arguments: { conversationId: 'talk' } };
  const called = client.callTool(given, { signal: cancelled.signal }).catch(({ message }) => message);
  await expect.poll(() => world.emulator.requests).toHaveLength(1);
  cancelled.abort();

  await called;
  await expect.poll(() => world.last.stoppedBy).toBe('client');
  expect((await call('memory_list')).isError).toBe(false); // the server goes on
});

/** A server that gets a call. */
function serverWithCall() {
  const server = startNode([builtFile('cli'), 'mcp'], environment());
  const open = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const given = { name: 'context_gateway_retrieve', arguments: { conversationId: 'talk' } };
  for (const message of [
    { id: 1, method: 'initialize', params: open },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: given },
  ])
    server.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return server;
}

test('calls in flight at the end of its input are answered', async () => {
  const server = serverWithCall();
  server.child.stdin.end();

  expect(await server.ended).toMatchObject({ code: 0 });
  expect(
    server.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toMatchObject([{ id: 1 }, { id: 2, result: { structuredContent: { pinnedMemory: [] } } }]);
});

test.each([
  [
    'the end of its input',
    (server: ReturnType<typeof startNode>) => server.child.stdin.end(),
    { code: 0, signal: null },
  ],
  ['Ctrl-C', ({ child }: ReturnType<typeof startNode>) => child.kill('SIGINT'), { code: null, signal: 'SIGINT' }],
])('%s ends the server and its calls', async (_, end, how) => {
  world.emulator.faults.add({ match: { path: '/api/context' }, respond: { type: 'stall' } });
  const server = serverWithCall();
  await expect.poll(() => world.emulator.requests).toHaveLength(1);
  end(server);

  expect(await server.ended).toMatchObject(how);
  expect(server.err).toBe('');
  await expect.poll(() => world.last.stoppedBy).toBe('client');
});
