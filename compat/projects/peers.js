/** Uses each entry with the peer that is installed, and prints a line: `peers.js <specification of the provider>`. */
import assert from 'node:assert';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { generateText, streamText } from 'ai';
import { GatewayClient, NotFoundError } from 'context-gateway';
import { createAiSdkProvider } from 'context-gateway/ai-sdk';
import { observeCalls } from 'context-gateway/otel';

const gateway = new GatewayClient({ onEvent: observeCalls() });

const provider = createAiSdkProvider(gateway, { specification: process.argv[2] });
const asked = { model: provider('atlas-small'), prompt: 'We keep invoices in PostgreSQL. Where do we keep invoices?' };
const { text } = await generateText(asked);
assert.match(text, /PostgreSQL/);
let streamed = '';
for await (const piece of streamText(asked).textStream) streamed += piece;
assert.strictEqual(streamed, text);
// All entries share one copy of the error classes.
const { cause } = await generateText({ ...asked, model: provider('no-such-model') }).catch((error) => error);
assert(cause instanceof NotFoundError, `the cause: ${cause}`);
await gateway.close();

const client = new Client({ name: 'compat', version: '1.0.0' });
const args = ['node_modules/context-gateway/dist/cli.js', 'mcp'];
await client.connect(new StdioClientTransport({ command: process.execPath, args, env: process.env }));
const { tools } = await client.listTools();
await client.close();
console.log(`${tools.length} tools`);
