import { signal } from '@preact/signals';
import type { ChatMessage } from 'context-gateway';
import { renderContext } from 'context-gateway/conversation';
import type { InspectedConversation } from '../../src/control/overview.js';
import { ask, conversationPath } from '../service/control.js';
import type { Run } from './run.js';

/** A message that is being written. The number tells it from the others. */
export interface Draft extends ChatMessage {
  number: number;
}

/** What a conversation's messages are taken as. */
export type Source = 'context' | 'messages';

// What is being written stays when one looks at another view.
export const drafts = signal<readonly Draft[]>([]);
export const model = signal('');
export const isStream = signal(true);
export const temperature = signal('');
export const maxTokens = signal('');
export const conversationId = signal('');
export const source = signal<Source>('context');
export const run = signal<Run | undefined>(undefined);

let numbers = 0;

/** A message to write on. */
export function draft({ role, content }: ChatMessage): Draft {
  numbers += 1;
  return { role, content, number: numbers };
}

drafts.value = [draft({ role: 'user', content: '' })];

/** Take a conversation's messages: as they were said, or as its context with the newest of them. A question is left to be written. */
export async function takeConversation(id: string, as: Source): Promise<void> {
  conversationId.value = id;
  source.value = as;
  const conversation = await ask<InspectedConversation>('GET', conversationPath(id, '/context'));
  // Another one may have been chosen meanwhile.
  if (conversationId.value !== id || source.value !== as) return;
  const question = drafts.value.at(-1);
  const last = question?.role === 'user' ? question : draft({ role: 'user', content: '' });
  drafts.value = [...messagesOf(conversation, as).map(draft), last];
}

function messagesOf({ messages, rollingSummary, pinnedMemory }: InspectedConversation, as: Source): ChatMessage[] {
  const live = messages.filter(({ standing }) => (as === 'context' ? standing === 'recent' : standing !== 'excluded'));
  const spoken = live.map(({ role, content }) => ({ role, content }));
  if (as === 'messages') return spoken;
  const context = renderContext({ summary: rollingSummary, pins: pinnedMemory });
  return context === '' ? spoken : [{ role: 'system', content: context }, ...spoken];
}
