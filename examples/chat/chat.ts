/** A chat in the terminal that stays within its window. Run: npm run chat. Everything runs on this machine. */
import { createInterface } from 'node:readline';
import { APIAbortError, ContextClient, ContextGatewayError, GatewayClient } from 'context-gateway';
import { createConversation } from 'context-gateway/conversation';
import { createEmulator, emulatorStore } from 'context-gateway-emulator';
import { conversation as earlier } from '../demo/conversation.js';
import { paint, print } from '../demo/terminal.js';
import { runCommand } from './commands.js';
import { gauge, printRecalled, printReceipt } from './gauge.js';

/** Small, so that a compaction can be watched. */
const WINDOW = 2000;

const emulator = createEmulator({ pace: { ttft: 150, tokensPerSecond: 60 } });
const { url: baseURL } = await emulator.listen({ port: 0 });
const { id: conversationId, messages } = emulator.conversations.create({ messages: earlier.slice(0, 52) });
/** Turns are stored in the emulator, so that its compactions have them. */
const store = emulatorStore(emulator);

await using gateway = new GatewayClient({ baseURL, apiKey: emulator.apiKeys.secret });
await using context = new ContextClient({ baseURL, sessionToken: emulator.sessionToken });
await using conversation = createConversation({
  context,
  gateway,
  conversationId,
  model: emulator.models.list()[0]?.id ?? '',
  instructions: 'You help a ferry line plan its new booking service.',
  store,
  contextWindow: WINDOW,
  compaction: true,
  onCompaction: printReceipt,
  onError: (error) => print(paint('yellow', `  (${error instanceof Error ? error.message : error})`)),
});

print(paint('bold', `A chat in a window of ${WINDOW} tokens, ${messages.length} messages long already.`));
print(
  'Ask about it ("Which database did we decide on?"), paste something long, or type /help. Ctrl+C stops a reply, Ctrl+D ends.',
);

const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: paint('cyan', '> ') });
let reply: AbortController | undefined;
lines.on('SIGINT', () => {
  if (reply === undefined) lines.close();
  else reply.abort();
});
lines.prompt();
for await (const input of pastes(lines)) {
  if (input.startsWith('/'))
    await runCommand(input, { conversation, context, gateway, history: store.load(conversationId).messages });
  else if (input !== '') await answer(input);
  lines.prompt();
}
print();
await conversation.idle();
await emulator.close();

async function answer(input: string): Promise<void> {
  reply = new AbortController();
  const stream = conversation.stream(input, { signal: reply.signal });
  try {
    for await (const text of stream) process.stdout.write(paint('yellow', text));
  } catch (error) {
    if (!(error instanceof ContextGatewayError)) throw error;
    if (!(error instanceof APIAbortError)) print(paint('red', `\n  ${error.message}`));
    if (stream.text === '') return;
  } finally {
    reply = undefined;
  }
  const turn = await stream.final();
  print(turn.stopped ? paint('dim', ' [stopped]') : '');
  print(gauge(turn.report));
  printRecalled(turn.report);
  await conversation.idle(); // the receipt of a compaction comes before the next question
}

/** The lines of a paste arrive at once: together they are one message. */
async function* pastes(source: AsyncIterable<string>): AsyncGenerator<string> {
  const arrived: string[] = [];
  let wake = (): void => {};
  let ended = false;
  void (async () => {
    for await (const line of source) {
      arrived.push(line);
      wake();
    }
    ended = true;
    wake();
  })();
  while (!ended || arrived.length > 0) {
    if (arrived.length === 0)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    if (process.stdin.isTTY) await new Promise((resolve) => setTimeout(resolve, 50));
    yield arrived
      .splice(0, process.stdin.isTTY ? arrived.length : 1)
      .join('\n')
      .trim();
  }
}
