import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { ContextGatewayError } from '../index.js';
import { UsageError } from './command-line.js';
import { type Clients, OPERATIONS, type Operation } from './operations.js';

const TOOLS = OPERATIONS.filter(({ tool }) => tool !== undefined);
/** Items of a list for a model, whose window is not filled with them. */
const MOST = 50;

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
    // For an optional parameter, a model may pass null or an empty text.
    const given = Object.fromEntries(
      // Clients add arguments of their own, such as the id of the call.
      sent.filter(([name, value]) => value !== null && value !== '' && Object.hasOwn(operation.parameters, name)),
    );
    const problem = findProblem(operation, given);
    if (problem !== undefined) return failure(problem);
    try {
      const result = await operation.run(clients, given as Record<string, string>, { signal }); // checked by `findProblem`
      return success(operation.lists ? beginningOf(result, params.arguments?.limit) : result);
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

function describe({ tool = '', description, effect, parameters, lists }: Operation) {
  const properties = Object.entries(parameters).map(([name, { description, values }]) => [
    name,
    { type: 'string', description, ...(values && { enum: [...values] }) },
  ]);
  const limit = { type: 'integer', description: `The most items to return, ${MOST} by default` };
  return {
    name: tool,
    description,
    inputSchema: {
      type: 'object' as const,
      properties: { ...Object.fromEntries(properties), ...(lists && { limit }) },
      required: Object.keys(parameters).filter((name) => parameters[name]?.required),
      additionalProperties: false,
    },
    annotations: { readOnlyHint: effect === 'reads', destructiveHint: effect === 'deletes' },
  };
}

/** A model may send anything. */
function findProblem({ parameters }: Operation, given: Record<string, unknown>): string | undefined {
  for (const [name, value] of Object.entries(given)) if (typeof value !== 'string') return `${name} must be a string.`;
  const missing = Object.keys(parameters).find((name) => parameters[name]?.required && !Object.hasOwn(given, name));
  return missing && `${missing} is missing. The parameters are ${Object.keys(parameters).join(', ')}.`;
}

/** The first items of a list, and how many there are. */
function beginningOf(result: unknown, limit: unknown): unknown {
  const most = Number.isSafeInteger(Number(limit)) && Number(limit) > 0 ? Number(limit) : MOST;
  if (!Array.isArray(result) || result.length <= most) return result;
  return { items: result.slice(0, most), total: result.length };
}

function success(result: unknown) {
  return { content: [{ type: 'text' as const, text: JSON.stringify(result) }] };
}

function failure(message: string) {
  return { content: [{ type: 'text' as const, text: message }], isError: true };
}
