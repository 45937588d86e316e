import type { ChatMessage, CompactionLevel, ContextClient, GatewayClient } from 'context-gateway';
import { type Conversation, createConversation, renderContext } from 'context-gateway/conversation';
import type { Emulator } from 'context-gateway-emulator';

/** A way to keep a chat within its window. */
export interface Way {
  name: string;
  open(world: World): Fitting;
}

/** One chat that uses a way. */
interface Fitting {
  /** Sends the input of one exchange. The emulator returns the reply of the meeting. */
  exchange(input: string): Promise<void>;
  /** The prompt for a question. */
  ask(question: string): Promise<ChatMessage[]>;
  /** Finishes background work before the next exchange, as it would finish while a user writes. */
  rest(): Promise<void>;
}

interface World {
  emulator: Emulator;
  context: ContextClient;
  gateway: GatewayClient;
  conversationId: string;
  /** The most tokens a prompt may have. */
  budget: number;
  reserve: number;
  count(messages: readonly ChatMessage[]): number;
}

const INSTRUCTIONS = 'You take part in a meeting of a design team. Answer briefly, from what was said.';
const MODEL = 'atlas-small';

export const WAYS: readonly Way[] = [
  { name: 'last messages only', open: (world) => byHand(world, { summary: false, tail: true }) },
  { name: "the service's summary alone", open: (world) => byHand(world, { summary: true, tail: false }) },
  { name: 'summary and last messages', open: (world) => byHand(world, { summary: true, tail: true }) },
  { name: 'ours without the context', open: (world) => ours({ ...world, context: undefined }) },
  { name: 'ours', open: (world) => ours(world) },
];

function ours({
  context,
  gateway,
  conversationId,
  budget,
  reserve,
}: Omit<World, 'context'> & { context: ContextClient | undefined }): Fitting {
  const conversation: Conversation = createConversation({
    context,
    gateway,
    conversationId,
    model: MODEL,
    instructions: INSTRUCTIONS,
    contextWindow: budget + reserve,
    reserveOutput: reserve,
  });
  return {
    exchange: async (input) => {
      await conversation.send(input);
    },
    ask: async (question) => (await conversation.buildMessages(question)).chatMessages,
    rest: () => conversation.idle(),
  };
}

/** Handwritten code: the newest messages that fit, with the summary or without. */
function byHand(world: World, parts: { summary: boolean; tail: boolean }): Fitting {
  const { context, gateway, conversationId, budget, count } = world;
  const history: ChatMessage[] = [];
  let summary = '';
  const build = (question: string): ChatMessage[] => {
    const system = { role: 'system', content: INSTRUCTIONS };
    const input = { role: 'user', content: question };
    const lines = summary.split('\n');
    const head = (): ChatMessage[] =>
      lines.join('') === '' ? [system] : [system, { role: 'user', content: lines.join('\n') }];
    while (lines.length > 0 && count([...head(), input]) > budget) lines.pop();
    let tail: ChatMessage[] = [];
    for (let from = history.length - 1; parts.tail && from >= 0; from -= 1) {
      const longer = history.slice(from);
      if (count([...head(), ...longer, input]) > budget) break;
      tail = longer;
    }
    return [...head(), ...tail, input];
  };
  /** Compacts at stronger levels until the context fits into the window. */
  const compact = async (): Promise<void> => {
    for (const level of ['light', 'deep', 'aggressive'] satisfies CompactionLevel[]) {
      if ((await context.retrieve(conversationId)).metadata.compressedTokens <= budget) break;
      await context.compact(conversationId, { level });
    }
    summary = renderContext({ summary: await context.summary(conversationId) });
  };
  return {
    exchange: async (input) => {
      const answer = await gateway.chat.completions.create({ model: MODEL, messages: build(input) });
      history.push({ role: 'user', content: input });
      history.push({ role: 'assistant', content: answer.choices[0]?.message.content ?? '' });
    },
    ask: async (question) => build(question),
    rest: () => (parts.summary ? compact() : Promise.resolve()),
  };
}
