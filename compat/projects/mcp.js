/** Asks the MCP server for its tools, and prints how many it has. */
import assert from 'node:assert';
import { spawnSync } from 'node:child_process';

const open = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'compat', version: '1.0.0' } };
const messages = [
  { id: 1, method: 'initialize', params: open },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list' },
];
const input = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
const { stdout, stderr } = spawnSync('npx', ['--no', 'context-gateway', 'mcp'], { input, encoding: 'utf8' });
assert.strictEqual(stderr, '');
const answers = stdout
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
console.log(`${answers.find(({ id }) => id === 2).result.tools.length} tools`);
