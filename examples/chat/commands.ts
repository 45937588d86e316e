import { type CompactionLevel, type ContextClient, ContextGatewayError, type GatewayClient } from 'context-gateway';
import type { Conversation, ConversationMessage } from 'context-gateway/conversation';
import { textOf } from 'context-gateway/conversation';
import { cut, fact, list, number, paint, print } from '../demo/terminal.js';

interface Chat {
  conversation: Conversation;
  context: ContextClient;
  gateway: GatewayClient;
  history: readonly ConversationMessage[];
}

interface Command {
  /** Its argument. */
  takes?: string;
  help: string;
  run(argument: string, chat: Chat): Promise<void> | void;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  '/pin': {
    takes: 'WORDS',
    help: 'keep the newest message with these words',
    run: async (words, { conversation, context, history }) => {
      const { content } = await context.pin(conversation.id, find(words, history));
      print(`  pinned: ${cut(content, 90)}`);
    },
  },
  '/exclude': {
    takes: 'WORDS',
    help: 'leave the newest message with these words out of everything',
    run: async (words, { conversation, history }) => {
      const messageId = find(words, history);
      await conversation.exclude(messageId);
      print(`  excluded: ${cut(textOf(history.find(({ id }) => id === messageId) ?? {}), 90)}`);
    },
  },
  '/compact': {
    takes: 'light|deep|aggressive',
    help: 'compact now',
    run: async (level, { conversation }) => {
      await conversation.compact((level || undefined) as CompactionLevel | undefined); // a wrong level is refused by the SDK
    },
  },
  '/memory': {
    takes: 'KEY TEXT',
    help: 'remember a preference; without KEY, list what is remembered',
    run: async (argument, { context }) => {
      const [, key, content] = /^(\S+)\s+(.+)$/s.exec(argument) ?? [];
      if (key !== undefined && content !== undefined) await context.memory.upsert({ type: 'preference', key, content });
      for (const item of await context.memory.list()) fact(`${item.type} ${item.key}`, item.content);
    },
  },
  '/context': {
    help: 'what is known of the conversation',
    run: async (_, { conversation, context }) => {
      const { rollingSummary, pinnedMemory, metadata } = await context.retrieve(conversation.id);
      list('goals', rollingSummary.goals);
      list(
        'decisions',
        rollingSummary.decisions.map(({ decision }) => decision),
        20,
      );
      list('requirements', rollingSummary.requirements, 20);
      list(
        'pinned',
        pinnedMemory.map(({ content }) => content),
        20,
      );
      fact('tokens', `${number(metadata.compressedTokens)} of ${number(metadata.totalTokens)}`);
    },
  },
  '/lost': {
    help: 'what compactions lost; it comes back when you ask about it',
    run: async (_, { conversation }) => {
      const lost = await conversation.lost();
      if (lost.length === 0) print('  nothing so far');
      for (const { section, text, until } of lost) fact(`${section}, in summaries up to ${until}`, cut(text, 100));
    },
  },
  '/usage': {
    help: 'tokens used',
    run: async (_, { gateway }) => {
      const { tokens_used, tokens_included, breakdown_by_model } = await gateway.usage.retrieve();
      for (const [model, tokens] of Object.entries(breakdown_by_model)) fact(model, number(tokens));
      fact('tokens', `${number(tokens_used)} of ${number(tokens_included)}`);
    },
  },
};

/** Runs `/name argument`. What goes wrong is printed. */
export async function runCommand(line: string, chat: Chat): Promise<void> {
  const [name = '', ...words] = line.split(' ');
  const command = COMMANDS[name];
  try {
    if (command === undefined) help(name);
    else await command.run(words.join(' ').trim(), chat);
  } catch (error) {
    if (!(error instanceof ContextGatewayError)) throw error;
    print(paint('red', `  ${error.message}`));
  }
}

function help(asked: string): void {
  if (asked !== '/help') print(`  There is no ${asked}.`);
  for (const [name, { takes, help: what }] of Object.entries(COMMANDS)) fact(`${name} ${takes ?? ''}`.padEnd(32), what);
}

/** The id of the newest message that holds the words. */
function find(words: string, history: readonly ConversationMessage[]): string {
  const found = history.findLast(
    (one) => one.id !== undefined && words !== '' && textOf(one).toLowerCase().includes(words.toLowerCase()),
  );
  if (found?.id === undefined)
    throw new ContextGatewayError(words === '' ? 'Which one? Type some of its words.' : `No message with: ${words}`);
  return found.id;
}
