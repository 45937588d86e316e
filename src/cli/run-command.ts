import { ContextClient, ContextGatewayError, GatewayClient } from '../index.js';
import { helpText, readCommandLine, UsageError } from './command-line.js';
import type { Clients } from './operations.js';
import { inJSON, inTables } from './tables.js';

/** The process of the command. */
export interface CommandContext {
  readonly version: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Serves the operations until its input ends. */
  readonly serve: (clients: Clients, version: string) => Promise<void>;
}

/** Runs a command. Resolves with its exit code. */
export async function runCommand(args: readonly string[], context: CommandContext): Promise<number> {
  const { out, err, version } = context;
  const clients = lazyClients();
  try {
    const line = readCommandLine(args);
    if (line.kind === 'operation') {
      const result = await line.operation.run(clients, line.given);
      out(line.json ? inJSON(result) : inTables(result));
    } else if (line.kind === 'mcp') await context.serve(clients, version);
    else out(line.kind === 'help' ? helpText() : `${version}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError) && !ContextGatewayError.is(error)) throw error;
    err(`context-gateway: ${error.message}\n`);
    return error instanceof UsageError ? 2 : 1;
  } finally {
    await clients.close();
  }
}

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
