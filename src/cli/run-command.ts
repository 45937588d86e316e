import { PARTIAL_HINT } from '../errors/stream.js';
import { ContextClient, ContextGatewayError, GatewayClient, RequestValidationError } from '../index.js';
import { helpText, readCommandLine } from './command-line.js';
import { type McpTools, mcpTools } from './mcp-tools.js';
import type { Clients } from './operations.js';
import { inJSON, inTables, printable } from './tables.js';
import type { Terminal } from './talk.js';
import { UsageError } from './usage-error.js';

/** The process of the command. */
export interface CommandContext extends Omit<Terminal, 'report'> {
  readonly version: string;
  /** Serves tools until the input ends. */
  readonly serve: (tools: McpTools, version: string) => Promise<void>;
}

/** Runs a command. Resolves with its exit code. */
export async function runCommand(args: readonly string[], context: CommandContext): Promise<number> {
  const { out, err, version } = context;
  const clients = lazyClients();
  const report = (error: unknown): void => {
    const message = error instanceof Error ? error.message : String(error);
    // The user's own words, such as the name of a file, are in a `UsageError` alone.
    const text = error instanceof UsageError ? message : inTermsOfTheCommand(message);
    err(`context-gateway: ${printable(text)}\n`);
  };
  try {
    const line = readCommandLine(args);
    if (line.kind === 'command') {
      const { command, given, json } = line;
      if (!('effect' in command)) await command.run(clients, line, { ...context, report });
      else {
        const result = await command.run(clients, given);
        out(json ? inJSON(result) : inTables(result));
      }
    } else if (line.kind === 'mcp') await context.serve(mcpTools(clients), version);
    else out(line.kind === 'help' ? helpText(line.command) : `${version}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError) && !ContextGatewayError.is(error)) throw error;
    report(error);
    return error instanceof UsageError || error instanceof RequestValidationError ? 2 : 1;
  } finally {
    await clients.close();
  }
}

/** The clients' messages name their options. Here, these are variables and flags. */
function inTermsOfTheCommand(message: string): string {
  return Object.entries(NAMES).reduce(
    (text, [option, name]) => text.replaceAll(option, name),
    message.replace(/Pass \{.*, or set /, 'Set '),
  );
}

const NAMES = {
  [PARTIAL_HINT]: '', // it has been printed
  baseURL: 'CONTEXT_GATEWAY_BASE_URL',
  apiKey: 'CONTEXT_GATEWAY_API_KEY',
  sessionToken: 'CONTEXT_GATEWAY_SESSION_TOKEN',
  start_date: '--start',
  end_date: '--end',
  'unpin messages, or raise contextWindow': 'send smaller files, or unpin messages',
};

/** Clients with the settings of the environment. */
function lazyClients(): Clients & { close(): Promise<void> } {
  let context: ContextClient | undefined;
  let gateway: GatewayClient | undefined;
  return {
    get context() {
      context ??= new ContextClient();
      return context;
    },
    get gateway() {
      gateway ??= new GatewayClient();
      return gateway;
    },
    close: async () => {
      await Promise.all([context?.close(), gateway?.close()]);
    },
  };
}
