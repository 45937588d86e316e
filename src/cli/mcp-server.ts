import { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { McpTools } from './mcp-tools.js';

/** Serves tools on standard input and output. When the input ends, calls in flight end, too. */
export async function serveMcp(tools: McpTools, version: string): Promise<void> {
  const createServer = (): Server => {
    const server = new Server({ name: 'context-gateway', version }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools: tools.list() }));
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
      tools.call(params.name, params.arguments, mcpReq.signal),
    );
    return server;
  };
  const ended = new Promise((resolve) => process.stdin.once('end', resolve).once('close', resolve));
  // Named, because the build is that for pages, whose transport has no default.
  serveStdio(createServer, { transport: new StdioServerTransport(process.stdin, process.stdout) });
  await ended;
}
