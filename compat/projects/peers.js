/** Uses one entry with the peer that is installed, and prints one line. */
import { GatewayClient } from 'context-gateway';

const USES = {
  async otel() {
    const { observeCalls } = await import('context-gateway/otel');
    const gateway = new GatewayClient();
    gateway.withOptions({ onEvent: observeCalls() });
    await gateway.presets.list();
    return 'observed';
  },

  async ai() {
    const { createAiSdkProvider } = await import('context-gateway/ai-sdk');
    const { generateText } = await import('ai');
    const model = createAiSdkProvider(new GatewayClient(), { specification: 'v2' })('atlas-small');
    return (await generateText({ model, prompt: 'Hello', maxRetries: 0 })).text;
  },

  async mcp() {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const client = new Client({ name: 'compat', version: '1.0.0' });
    const args = ['node_modules/context-gateway/dist/cli.js', 'mcp'];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env: process.env }));
    const { tools } = await client.listTools();
    await client.close();
    return `${tools.length} tools`;
  },
};

const line = await USES[process.argv[2]]().catch((error) => `${error.name}: ${error.message}`);
console.log(line);
