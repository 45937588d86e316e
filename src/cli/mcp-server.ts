import { PassThrough } from 'node:stream';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { type JSONRPCMessage, Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { McpTools } from './mcp-tools.js';

/** Milliseconds for calls in flight after the end of the input. */
const LAST_WAIT = 2_000;

/** Serves tools on standard input and output. When the input ends, calls in flight are answered, or cancelled after two seconds. */
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
  const input = process.stdin.pipe(new PassThrough(), { end: false }); // its end would cancel the calls
  const transport = new AnsweringTransport(input, process.stdout);
  serveStdio(createServer, { transport });
  await ended;
  await setImmediate(); // until the last line is read
  await Promise.race([transport.answered(), setTimeout(LAST_WAIT, undefined, { ref: false })]);
  input.end();
}

/** Knows which requests have no answer yet. */
class AnsweringTransport extends StdioServerTransport {
  readonly #open = new Set<unknown>();
  #answered = (): void => {};

  override async start(): Promise<void> {
    const receive = this.onmessage;
    this.onmessage = (message) => {
      if ('id' in message && 'method' in message) this.#open.add(message.id);
      receive?.(message);
    };
    await super.start();
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message);
    if ('id' in message && !('method' in message)) this.#open.delete(message.id);
    if (this.#open.size === 0) this.#answered();
  }

  /** Resolves when all requests have their answers. */
  answered(): Promise<void> {
    return new Promise((resolve) => {
      this.#answered = resolve;
      if (this.#open.size === 0) resolve();
    });
  }
}
