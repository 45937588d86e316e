import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { ContextGatewayError } from '../index.js';
import { UsageError } from './command-line.js';
import { type Clients, OPERATIONS, type Operation } from './operations.js';

const TOOLS = OPERATIONS.filter(({ tool }) => tool !== undefined);

/**
 * Creates an MCP server whose tools are the operations.
 *
 * @throws {UsageError} when the SDK, an optional peer, is not installed or has no such files
 */
async function createMcpServer(clients: Clients, version: string): Promise<Server> {
  const { Server, CallToolRequestSchema, ListToolsRequestSchema } = await load();
  const server = new Server({ name: 'context-gateway', version }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS.map(describe) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const operation = TOOLS.find(({ tool }) => tool === params.name);
    if (operation === undefined) return failure(`There is no tool ${params.name}.`);
    const sent = Object.entries(params.arguments ?? {});
    // Models fill in optional parameters with nothing.
    const given = Object.fromEntries(sent.filter(([, value]) => value !== null && value !== ''));
    const problem = findProblem(operation, given);
    if (problem !== undefined) return failure(problem);
    try {
      return success(await operation.run(clients, given as Record<string, string>, { signal })); // checked by `findProblem`
    } catch (error) {
      // The message says how to fix it, and contains no credential.
      if (ContextGatewayError.is(error)) return failure(error.message);
      throw error;
    }
  });
  return server;
}

/** Serves on standard input and output until the input ends. */
export async function serveMcp(clients: Clients, version: string): Promise<void> {
  const server = await createMcpServer(clients, version);
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
    process.stdin.once('end', resolve);
  });
  await server.connect(new StdioServerTransport());
  await closed;
  await server.close();
}

async function load() {
  try {
    const { Server } = await import('@modelcontextprotocol/sdk/server/index.js');
    const { CallToolRequestSchema, ListToolsRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
    return { Server, CallToolRequestSchema, ListToolsRequestSchema };
  } catch (cause) {
    const message =
      'mcp needs the MCP SDK from 1.17 to 1.x: npm install @modelcontextprotocol/sdk@1, in the same project.';
    throw new UsageError(message, { cause });
  }
}

function describe({ tool = '', description, effect, parameters }: Operation) {
  const properties = Object.entries(parameters).map(([name, { description, values }]) => [
    name,
    { type: 'string', description, ...(values && { enum: [...values] }) },
  ]);
  return {
    name: tool,
    description,
    inputSchema: {
      type: 'object' as const,
      properties: Object.fromEntries(properties),
      required: Object.keys(parameters).filter((name) => parameters[name]?.required),
      additionalProperties: false,
    },
    annotations: { readOnlyHint: effect === 'reads', destructiveHint: effect === 'deletes' },
  };
}

/** A model may send anything. */
function findProblem({ parameters }: Operation, given: Record<string, unknown>): string | undefined {
  for (const [name, value] of Object.entries(given)) {
    const known = Object.hasOwn(parameters, name);
    if (!known) return `There is no parameter ${name}. Use ${Object.keys(parameters).join(', ')}.`;
    if (typeof value !== 'string') return `${name} must be a string.`;
  }
  const missing = Object.keys(parameters).find((name) => parameters[name]?.required && !Object.hasOwn(given, name));
  return missing && `${missing} is missing.`;
}

function success(result: unknown) {
  return { content: [{ type: 'text' as const, text: JSON.stringify(result) }] };
}

function failure(message: string) {
  return { content: [{ type: 'text' as const, text: message }], isError: true };
}
