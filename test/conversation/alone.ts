import { type ConversationMessage, type ConversationOptions, memoryStore, textOf } from 'context-gateway/conversation';
import type { Runtime } from '../../src/base/runtime.js';
import { type chatWorld, talkWith } from './world.js';

export const user = (content: string, more: Partial<ConversationMessage> = {}): ConversationMessage => ({
  role: 'user',
  content,
  ...more,
});

/** A conversation without a service, in a small window, on a store of its own unless it gets one. */
export function alone(
  history: readonly ConversationMessage[],
  more: Partial<ConversationOptions> = {},
  runtime?: Runtime,
) {
  const store = memoryStore({ talk: history });
  const options = { budget: 650, ...more };
  const { talk: conversation, ...world } = talkWith(more.store ?? store, options, runtime);
  const recalledFor = async (input: string): Promise<string> =>
    (await conversation.prepare(input)).recalled?.content ?? '';
  return { ...world, store, conversation, recalledFor };
}

/** A store that also stores turns in the emulator, as a service has them. */
export function withEmulator(
  store: ReturnType<typeof memoryStore>,
  { emulator }: Pick<ReturnType<typeof chatWorld>, 'emulator'>,
) {
  const append: typeof store.append = (id, messages, place) => {
    const added = store.append(id, messages, place);
    emulator.conversations.append(
      id,
      messages.map((message) => ({ id: message.id, role: message.role as 'user', content: textOf(message) })),
    );
    return added;
  };
  return { ...store, append };
}
