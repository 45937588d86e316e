import { randomUUID } from 'node:crypto';
import { createInterface, type Interface } from 'node:readline';
import { createConversation } from '../conversation/index.js';
import { APIAbortError, ContextGatewayError } from '../index.js';
import { attachedText } from './attached-text.js';
import { modelOf, printReply, TALK_PARAMETERS, type Talk } from './talk.js';

/** A conversation, line by line. */
export const CHAT: Talk = {
  command: 'chat',
  description: 'Talk to a model. Ctrl-C stops a reply, or ends the conversation, as the end of the input does',
  parameters: {
    ...TALK_PARAMETERS,
    conversationId: { description: 'Sends the summary, the pins and the memory of this conversation', format: 'ID' },
  },
  hasNoJSON: true,
  async run(clients, { given, files }, { input, out, err, report }) {
    const { system, conversationId } = given;
    const model = modelOf(given);
    // Not a message, which a long conversation would leave behind.
    const instructions = [system, await attachedText(files)].filter(Boolean).join('\n\n') || undefined;
    if (conversationId !== undefined) await clients.context.retrieve(conversationId); // a wrong id ends here, not beside a paid reply
    const conversation = createConversation({
      model,
      gateway: clients.gateway,
      context: conversationId === undefined ? undefined : clients.context,
      conversationId: conversationId ?? randomUUID(),
      instructions,
      onError: report,
    });
    const isTyped = Boolean(input.isTTY && process.stdout.isTTY);
    const lines = createInterface({ input, terminal: isTyped, ...(isTyped && { output: process.stdout }) });
    let reply: AbortController | undefined;
    const interrupt = (): void => (reply === undefined ? lines.close() : reply.abort());
    lines.on('SIGINT', interrupt); // a terminal that is read key by key sends no signal
    process.on('SIGINT', interrupt);
    if (isTyped) err('Ctrl-C stops a reply, Ctrl-D ends the conversation.\n');
    try {
      for await (const text of messages(lines, isTyped)) {
        if (text === '') continue;
        reply = new AbortController();
        try {
          await printReply(conversation.stream(text, { signal: reply.signal }), out);
        } catch (error) {
          if (APIAbortError.is(error)) err('[stopped]\n');
          else if (isTyped && ContextGatewayError.is(error)) report(error);
          else throw error; // lines that are not typed were written for a reply
        }
        reply = undefined;
      }
    } finally {
      process.off('SIGINT', interrupt);
      lines.close();
      conversation.close();
      if (isTyped) out('\n');
    }
  },
};

/** The lines. Typed ones that arrive at once are a paste: together they are one message. */
async function* messages(lines: Interface, isTyped: boolean): AsyncGenerator<string> {
  const arrived: string[] = [];
  let isClosed = false;
  let wake = (): void => {};
  lines.on('line', (line) => {
    arrived.push(line);
    if (!isTyped) lines.pause(); // a file may have more lines than fit in memory
    wake();
  });
  lines.once('close', () => {
    isClosed = true;
    wake();
  });
  while (!isClosed || arrived.length > 0) {
    if (arrived.length === 0) {
      if (isTyped) lines.prompt();
      else lines.resume();
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    yield arrived
      .splice(0, isTyped ? arrived.length : 1)
      .join('\n')
      .trim();
  }
}
